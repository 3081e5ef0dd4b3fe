//! What requests mean, what is answered, and what is told.

use super::*;
use crate::hint::Environment;
use crate::hint::facts::Override;
use crate::report::Format;
use std::io;

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// Hints of a file opened with this info, these variables and this file of ROMIO_HINTS.
fn open(info: &[(&str, &str)], variables: &[(&str, &str)], file: &str) -> Hints {
    let variable = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.to_string())
    };
    let contents = |path: &str| match path {
        "hintfile" => Ok(file.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let environment = Environment::new(variable, contents);
    Hints::from_request(&Request::collect(&pairs(info), &environment, "/scratch/a.nc"))
}

/// An unstriped file.
fn facts(ranks: u64) -> Facts {
    Facts {
        filename: "/scratch/a.nc".into(),
        ranks,
        driver: "ufs".into(),
        visibility_immediate: true,
        ..Facts::default()
    }
}

fn answer(hints: &Hints, facts: &Facts, key: &str) -> Option<String> {
    hints.entries(facts).into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn why(hints: &Hints, facts: &Facts, key: &str) -> String {
    let changed = hints.changed(facts);
    let line = changed.iter().find(|line| line.key == key).expect("somebody asked");
    format!("{:?} {}", line.in_force, line.why)
}

#[test]
fn what_romio_answers_to_no_info() {
    for ranks in [1, 4] {
        let hints = open(&[], &[], "");
        let expected = [
            ("romio_ds_read", "automatic"),
            ("romio_ds_write", "automatic"),
            ("ind_rd_buffer_size", "4194304"),
            ("ind_wr_buffer_size", "524288"),
            ("mpiio_rs_num_threads", "0"),
            ("mpiio_rs_progress", "automatic"),
            ("cb_buffer_size", "16777216"),
            ("cb_nodes", &ranks.to_string()),
            ("cb_config_list", "*:1"),
            ("mpiio_rs_layers", "automatic"),
            ("mpiio_rs_local_aggregators", "0"),
            ("mpiio_rs_partitioning", "automatic"),
            ("mpiio_rs_transfer", "automatic"),
            ("mpiio_rs_overlap", "automatic"),
            ("romio_cb_read", "automatic"),
            ("romio_cb_write", "automatic"),
            ("romio_no_indep_rw", "false"),
            ("mpiio_rs_verbose", "false"),
            ("mpiio_rs_report", "0"),
            ("filename", "/scratch/a.nc"),
            ("romio_filesystem_type", "UFS: mpiio-rs"),
            ("romio_visibility_immediate", "true"),
        ];
        assert_eq!(hints.entries(&facts(ranks)), pairs(&expected));
        assert_eq!(hints.changed(&facts(ranks)), []);
    }
}

/// What ROMIO's file_info.c sets and then checks.
#[test]
fn what_romio_answers_to_file_info() {
    for ranks in [1u64, 4] {
        let nodes = (ranks / 2).to_string();
        let info = [
            ("cb_buffer_size", "8388608"),
            ("cb_nodes", nodes.as_str()),
            ("ind_rd_buffer_size", "2097152"),
            ("ind_wr_buffer_size", "1048576"),
            ("striping_factor", "0"),
            ("striping_unit", "131072"),
            ("cb_config_list", "*:*"),
            ("start_iodevice", "-2"),
            ("pfs_svr_buf", "true"),
        ];
        let hints = open(&info, &[], "");
        let aggregators = (ranks == 4).then(|| vec![0, 2]);
        let facts = Facts { aggregators, ..facts(ranks) };
        let answered = |key| answer(&hints, &facts, key);
        assert_eq!(answered("cb_buffer_size").as_deref(), Some("8388608"));
        assert_eq!(answered("ind_rd_buffer_size").as_deref(), Some("2097152"));
        assert_eq!(answered("ind_wr_buffer_size").as_deref(), Some("1048576"));
        assert_eq!(answered("cb_config_list").as_deref(), Some("*:*"));
        assert_eq!(answered("romio_no_indep_rw").as_deref(), Some("false"));
        assert_eq!(answered("romio_ds_read").as_deref(), Some("automatic"));
        // The program takes a missing stripe count for 0 and wants 0 again.
        assert_eq!(answered("striping_factor"), None);
        for absent in ["romio_cb_pfr", "romio_cb_fr_types", "pfs_svr_buf", "start_iodevice"] {
            assert_eq!(answered(absent), None);
        }
        assert_eq!(answered("cb_nodes").as_deref(), Some(if ranks == 1 { "1" } else { "2" }));
    }
}

/// What ROMIO's syshints.c sets and then checks.
#[test]
fn what_romio_answers_to_syshints() {
    let file = "romio_cb_read enable\n# multiple\nind_rd_buffer_size 49\n\
                ind_rd_buffer_size 60\nromio_no_indep_rw true\n";
    let hints = open(&[("romio_cb_read", "disable")], &[("ROMIO_HINTS", "hintfile")], file);
    assert_eq!(answer(&hints, &facts(1), "ind_rd_buffer_size").as_deref(), Some("49"));
    assert_eq!(answer(&hints, &facts(1), "romio_no_indep_rw").as_deref(), Some("true"));
    assert_eq!(answer(&hints, &facts(1), "romio_cb_read").as_deref(), Some("disable"));
    assert_eq!((hints.ind_rd_buffer_size, hints.no_indep_rw), (49, true));
}

#[test]
fn fields_are_what_was_said() {
    let info = [
        ("stripe_size", "1M"),
        ("stripe_width", "-1"),
        ("romio_lustre_start_iodevice", "3"),
        ("romio_ds_read", "DISABLE"),
        ("cb_nodes", "8"),
        ("file_perm", "640"),
        ("access_style", "write_once,random"),
        ("mpiio_rs_num_threads", "2"),
        ("mpiio_rs_report", "json:/a"),
    ];
    let hints = open(&info, &[("ROMIO_FSTYPE_FORCE", "UFS:"), ("ROMIO_PRINT_HINTS", "1")], "");
    assert_eq!(hints.striping_unit, Some(1 << 20));
    assert_eq!(hints.striping_factor, Some(-1));
    assert_eq!(hints.start_iodevice, Some(3));
    assert_eq!((hints.romio_ds_read, hints.romio_ds_write), (Toggle::Disable, Toggle::Automatic));
    assert_eq!(hints.cb_nodes, Some(8));
    assert_eq!(hints.file_perm, Some(0o640));
    assert_eq!(hints.access_style.as_deref(), Some("write_once,random"));
    assert_eq!(hints.num_threads, 2);
    assert_eq!(hints.report, Wanted::File(Format::Json, "/a".into()));
    assert_eq!(hints.filesystem.as_deref(), Some("ufs"));
    assert!(hints.verbose);
}

#[test]
fn a_variable_that_says_no_prints_nothing() {
    for name in ["MPIIO_RS_VERBOSE", "ROMIO_PRINT_HINTS", "MPICH_MPIIO_HINTS_DISPLAY"] {
        for value in ["0", "false", "no", "off", "disable", "", "perhaps"] {
            assert!(!open(&[], &[(name, value)], "").verbose, "{name}={value}");
        }
        assert!(open(&[], &[(name, "2")], "").verbose, "{name}");
    }
}

#[test]
fn a_bad_value_is_left_out_and_told() {
    let hints = open(&[("ind_rd_buffer_size", "abc"), ("romio_ds_read", "-")], &[], "");
    assert_eq!(hints.ind_rd_buffer_size, 4194304);
    let told = why(&hints, &facts(4), "ind_rd_buffer_size");
    assert_eq!(told, "Some(\"4194304\") 'abc' is not a number of bytes");

    // A bad value does not take away what a weaker place said.
    let variables = [("MPIIO_RS_HINTS", "ind_rd_buffer_size=-1")];
    let hints = open(&[("ind_rd_buffer_size", "49")], &variables, "");
    assert_eq!(hints.ind_rd_buffer_size, 49);
    assert_eq!(why(&hints, &facts(4), "ind_rd_buffer_size"), "Some(\"49\") -1 is less than 1");
}

#[test]
fn what_is_not_in_force_is_told() {
    let info = [("cb_nodes", "8"), ("romio_cb_pfr", "enable"), ("romio_ds_write", "enable")];
    let hints = open(&info, &[("ROMIO_FSTYPE_FORCE", "ufs:")], "");
    let mut facts = facts(4);
    assert_eq!(why(&hints, &facts, "cb_nodes"), "Some(\"4\") there are 4 ranks");
    assert_eq!(answer(&hints, &facts, "cb_nodes").as_deref(), Some("4"));
    assert_eq!(
        why(&hints, &facts, "romio_cb_pfr"),
        "None no data stays in an aggregator between calls"
    );
    assert_eq!(why(&hints, &facts, "romio_ds_write"), "Some(\"enable\") ");
    assert_eq!(why(&hints, &facts, "romio_filesystem_type"), "Some(\"UFS: mpiio-rs\") ");

    let why_not = "the file system has no locks";
    facts.overrides.push(Override {
        key: "romio_ds_write",
        value: "disable".into(),
        why: why_not.into(),
    });
    let told = format!("Some(\"disable\") {why_not}");
    assert_eq!(why(&hints, &facts, "romio_ds_write"), told);
    assert_eq!(answer(&hints, &facts, "romio_ds_write").as_deref(), Some("disable"));
}

#[test]
fn the_layout_is_answered_as_it_is() {
    let hints = open(&[("striping_unit", "131072")], &[], "");
    let facts = Facts {
        striping_unit: Some(1 << 20),
        striping_factor: Some(4),
        aggregators: Some(vec![0, 2]),
        ..facts(4)
    };
    assert_eq!(answer(&hints, &facts, "striping_unit").as_deref(), Some("1048576"));
    assert_eq!(answer(&hints, &facts, "striping_factor").as_deref(), Some("4"));
    assert_eq!(answer(&hints, &facts, "romio_aggregator_list").as_deref(), Some("0 2"));
}

#[test]
fn hints_after_open() {
    let mut hints = open(&[("cb_nodes", "2")], &[("MPIIO_RS_HINTS", "romio_ds_read=disable")], "");
    hints.set(&pairs(&[
        ("ind_rd_buffer_size", "100"),
        ("cb_nodes", "3"),
        ("romio_ds_read", "enable"),
    ]));
    assert_eq!(hints.ind_rd_buffer_size, 100);
    assert_eq!((hints.cb_nodes, hints.romio_ds_read), (Some(2), Toggle::Disable));
    let two = Facts { aggregators: Some(vec![0, 2]), ..facts(4) };
    let told = why(&hints, &two, "cb_nodes");
    assert_eq!(told, "Some(\"2\") it is only listened to at open");
    let told = why(&hints, &facts(4), "romio_ds_read");
    assert_eq!(told, "Some(\"disable\") MPIIO_RS_HINTS is stronger");
}

#[test]
fn what_was_answered_may_be_set_again() {
    let mut hints = open(&[("cb_nodes", "9"), ("romio_ds_read", "enable")], &[], "");
    let before = hints.clone();
    let info = pairs(&[("cb_nodes", "9"), ("romio_ds_read", "enable")]);
    hints.set(&info);
    assert_eq!(hints, before);
    let facts = facts(4);
    hints.set(&hints.entries(&facts));
    assert_eq!(hints.entries(&facts), before.entries(&facts));
}

#[test]
fn answers_fit_every_mpi() {
    let long = "x".repeat(300);
    let hints = open(&[("cb_config_list", &long), ("access_style", &long)], &[], "");
    let facts = Facts { filename: long.clone(), ..facts(4) };
    for (key, value) in hints.entries(&facts) {
        assert!(key.len() < 36 && value.len() < 256, "{key} {value}");
    }
    assert_eq!(hints.cb_config_list, Some(long));
}

#[test]
fn the_display() {
    let info = [("ind_rd_buffer_size", "abc"), ("stripe_size", "1M"), ("cb_buffer_size", "8M")];
    let variables = [("MPICH_MPIIO_HINTS_DISPLAY", "1"), ("MPIIO_RS_HINTS", "romio_ds_raed=0")];
    let text = open(&info, &variables, "").display(&facts(4));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "PE 0: MPIIO hints for /scratch/a.nc:");
    for line in [
        "          romio_ds_read            = automatic",
        "          ind_rd_buffer_size       = 4194304  (MPI_Info: abc; 'abc' is not a number of bytes)",
        "          cb_buffer_size           = 8388608  (MPI_Info: 8M)",
        "          mpiio_rs_verbose         = true  (MPICH_MPIIO_HINTS_DISPLAY: 1)",
        "          striping_unit            = 1M  (stripe_size in MPI_Info; not in force: the file \
         system shows no stripes)",
        "          MPIIO_RS_HINTS: no hint is named 'romio_ds_raed'",
    ] {
        assert!(lines.contains(&line), "{line}\nis missing from\n{text}");
    }
}
