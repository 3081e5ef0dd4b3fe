//! What the launcher tells every process about the job, in variables of the environment.

use super::handles::Comm;
use super::running::has_world;

/// For each launcher, how many processes the job has and how many of them are on this machine.
const COUNTS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_SIZE", "MPI_LOCALNRANKS"),
    ("PMI_SIZE", "PMI_LOCAL_SIZE"),
];

/// Machines of the job; the first is the most exact.
const HOSTS: [&str; 3] = ["SLURM_STEP_NUM_NODES", "SLURM_NNODES", "FLUX_JOB_NNODES"];

/// Processes of the job on this machine, so far as the launcher tells.
pub fn neighbours() -> Option<usize> {
    let counts = COUNTS.iter().map(|(_, here)| *here);
    counts.chain(["SLURM_NTASKS_PER_NODE"]).filter_map(variable).max()
}

/// Whether processes of the job may be on other machines. A communicator such as MPI_COMM_SELF
/// does not tell, and asking the others would take all of them.
pub fn may_have_other_hosts() -> bool {
    // Without MPI_Init there may be sessions, and no world to ask.
    let world = if has_world() { Comm::world().and_then(Comm::size).ok() } else { None };
    other_hosts(world, variable)
}

fn other_hosts(world: Option<usize>, variable: impl Fn(&str) -> Option<usize>) -> bool {
    if world == Some(1) {
        return false;
    }
    // Of several launchers one within the other, some have told of another job.
    let mut counted = None;
    for (all, here) in COUNTS {
        if let (Some(all), Some(here)) = (world.or_else(|| variable(all)), variable(here)) {
            counted = Some(counted == Some(true) || all > here);
        }
    }
    let several = || HOSTS.iter().find_map(|name| variable(name)).map(|hosts| hosts > 1);
    // A launcher that says nothing may have started them anywhere.
    counted.or_else(several).unwrap_or(true)
}

fn variable(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(world: Option<usize>, variables: &[(&str, usize)]) -> bool {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        other_hosts(world, |name| find(name).map(|(_, value)| *value))
    }

    #[test]
    fn each_launcher_tells_whether_there_are_other_hosts() {
        for (all, here) in COUNTS {
            assert!(!told(Some(4), &[(here, 4)]));
            assert!(told(Some(4), &[(here, 2)]));
            assert!(!told(None, &[(all, 4), (here, 4)]), "sessions have no world");
            assert!(told(None, &[(all, 4), (here, 1)]));
        }
        for name in HOSTS {
            assert!(!told(Some(4), &[(name, 1)]));
            assert!(told(Some(4), &[(name, 2)]));
        }
    }

    #[test]
    fn a_step_may_have_fewer_hosts_than_its_job() {
        assert!(!told(Some(4), &[("SLURM_NNODES", 9), ("SLURM_STEP_NUM_NODES", 1)]));
        assert!(!told(Some(4), &[("SLURM_NNODES", 9), ("MPI_LOCALNRANKS", 4)]));
    }

    #[test]
    fn what_one_launcher_left_behind_does_not_hide_what_another_tells() {
        let inherited = ("OMPI_COMM_WORLD_LOCAL_SIZE", 8);
        assert!(told(Some(4), &[inherited, ("MPI_LOCALNRANKS", 2)]));
        assert!(!told(Some(4), &[inherited, ("MPI_LOCALNRANKS", 4)]));
    }

    #[test]
    fn a_silent_launcher_is_taken_for_one_with_other_hosts() {
        assert!(told(Some(2), &[]));
        assert!(told(None, &[]));
        assert!(told(None, &[("OMPI_COMM_WORLD_SIZE", 2)]));
        assert!(
            !told(Some(1), &[("OMPI_COMM_WORLD_LOCAL_SIZE", 1), ("SLURM_NNODES", 2)]),
            "started by hand"
        );
    }
}
