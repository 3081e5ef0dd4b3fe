//! What is known about an open file, which decides over what was asked for.

/// Longest value every MPI can hold in an info: Open MPI's MPI_MAX_INFO_VAL, less a terminator.
pub(super) const LONGEST_VALUE: usize = 255;

/// What other rooms found out about a file, for the answers to `MPI_File_get_info` and reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The name the file was opened with.
    pub filename: String,
    /// Ranks that opened it.
    pub ranks: u64,
    /// The driver's name, such as "ufs".
    pub driver: String,
    /// Whether a finished write is at once visible to the other ranks.
    pub visibility_immediate: bool,
    /// Bytes on one device before the next, where the file system has stripes.
    pub striping_unit: Option<u64>,
    /// Devices that hold the file, where the file system has stripes.
    pub striping_factor: Option<u64>,
    /// First of these devices.
    pub start_iodevice: Option<u64>,
    /// Ranks that access the file in collective calls, once there are any.
    pub aggregators: Option<Vec<u64>>,
    /// Threads a rank uses.
    pub num_threads: Option<u64>,
    /// Hints that another room had to decide otherwise.
    pub overrides: Vec<Override>,
}

/// A hint that cannot have the value that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The hint's name in the table.
    pub key: &'static str,
    /// The value in force.
    pub value: String,
    /// Why, for users.
    pub why: String,
}

/// What the facts say about one hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Nothing: what was asked for stands.
    Silent,
    /// The hint has no value, for this reason.
    Absent(String),
    /// The hint has this value; the reason is for those who asked for another.
    Is(String, String),
}

impl Facts {
    /// What the facts say about the hint of this name, given the value it would have.
    pub(super) fn word(&self, name: &str, held: Option<&str>) -> Word {
        if let Some(found) = self.overrides.iter().find(|found| found.key == name) {
            return Word::Is(found.value.clone(), found.why.clone());
        }
        match name {
            "filename" => fact(Some(self.filename.clone())),
            "romio_filesystem_type" => fact(Some(self.filesystem_type())),
            "romio_visibility_immediate" => fact(Some(self.visibility_immediate.to_string())),
            "romio_aggregator_list" => fact(self.aggregators.as_deref().map(list)),
            "cb_nodes" => match self.aggregators.as_ref().map(|ranks| ranks.len().to_string()) {
                Some(count) if Some(&*count) == held => Word::Silent,
                Some(count) => Word::Is(count, "so many access the file".into()),
                None => self.all_ranks(held),
            },
            "striping_unit" => layout(self.striping_unit),
            "striping_factor" => layout(self.striping_factor),
            "start_iodevice" => layout(self.start_iodevice),
            "mpiio_rs_num_threads" => match self.num_threads {
                Some(number) => Word::Is(number.to_string(), format!("a rank has {number}")),
                None => Word::Silent,
            },
            _ => Word::Silent,
        }
    }

    /// ROMIO's form: the prefix that would force this driver, then what it is.
    fn filesystem_type(&self) -> String {
        format!("{}: mpiio-rs", self.driver.to_uppercase())
    }

    /// Where no certain ranks access the file, why not as many as was asked for.
    fn all_ranks(&self, held: Option<&str>) -> Word {
        let asked: u64 = held.and_then(|held| held.parse().ok()).unwrap_or(0);
        let why = match asked {
            0 => "0 means all ranks".into(),
            asked if asked < self.ranks => "cb_config_list names none, so all ranks do".into(),
            _ => format!("there are {} ranks", self.ranks),
        };
        Word::Is(self.ranks.to_string(), why)
    }
}

fn fact(value: Option<String>) -> Word {
    match value {
        Some(value) if value.len() <= LONGEST_VALUE => Word::Is(value, String::new()),
        Some(_) => Word::Absent("the value is too long for an info".into()),
        None => Word::Absent("there are none".into()),
    }
}

fn layout(known: Option<u64>) -> Word {
    match known {
        Some(known) => Word::Is(known.to_string(), "the layout of the file as it is".into()),
        None => Word::Absent("the file system shows no stripes".into()),
    }
}

/// Ranks separated by blanks, as many as fit.
fn list(ranks: &[u64]) -> String {
    const MORE: &str = " ...";
    let mut text = String::new();
    for (index, rank) in ranks.iter().enumerate() {
        let word = if index == 0 { rank.to_string() } else { format!(" {rank}") };
        if text.len() + word.len() + MORE.len() > LONGEST_VALUE {
            return text + MORE;
        }
        text += &word;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_aggregators_is_cut_between_ranks() {
        assert_eq!(list(&[0, 4, 8]), "0 4 8");
        let ranks: Vec<u64> = (1000..2000).collect();
        let text = list(&ranks);
        assert!(text.len() <= LONGEST_VALUE && text.ends_with(" ..."), "{text}");
        assert!(text.starts_with("1000 1001 "));
    }

    #[test]
    fn no_more_aggregators_than_ranks() {
        let facts = Facts { ranks: 4, ..Facts::default() };
        let why = |text: &str| Word::Is("4".into(), text.into());
        assert_eq!(facts.word("cb_nodes", Some("0")), why("0 means all ranks"));
        assert_eq!(facts.word("cb_nodes", Some("8")), why("there are 4 ranks"));
        assert_eq!(
            facts.word("cb_nodes", Some("2")),
            why("cb_config_list names none, so all ranks do")
        );
        let facts = Facts { aggregators: Some(vec![0, 2]), ..facts };
        let expected = Word::Is("2".into(), "so many access the file".into());
        assert_eq!(facts.word("cb_nodes", Some("3")), expected);
        assert_eq!(facts.word("cb_nodes", Some("2")), Word::Silent);
    }

    #[test]
    fn another_room_decides() {
        let overrides = vec![Override {
            key: "romio_ds_write",
            value: "disable".into(),
            why: "the file system has no locks".into(),
        }];
        let facts = Facts { overrides, ..Facts::default() };
        let expected = Word::Is("disable".into(), "the file system has no locks".into());
        assert_eq!(facts.word("romio_ds_write", Some("enable")), expected);
    }
}
