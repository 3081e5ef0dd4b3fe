//! What was said about hints, and where: the words before anybody asks what they mean.

use super::environment::Environment;
use super::glob;
use super::table::{self, Kind, TABLE};
use crate::error::{Class, Error, Result};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;

const SITE_FILE: &str = "/etc/romio-hints";
const HINTS_FILE: &str = "ROMIO_HINTS";
const MPICH_HINTS: &str = "MPICH_MPIIO_HINTS";
const OWN_HINTS: &str = "MPIIO_RS_HINTS";

/// ROMIO reads no more of a hint file than this.
const ROMIO_FILE_LIMIT: usize = 4096;

/// Where a hint was said, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Source {
    /// Nowhere: the built-in value.
    Default,
    /// In `/etc/romio-hints`.
    SiteFile,
    /// In the file that `ROMIO_HINTS` names.
    HintsFile,
    /// In a variable of Open MPI, `OMPI_MCA_...`.
    OpenMpi,
    /// In the application's `MPI_Info`.
    Info,
    /// In `MPICH_MPIIO_HINTS` or another variable of the MPICH family.
    Mpich,
    /// In `MPIIO_RS_HINTS` or another variable of this library.
    Own,
}

impl Source {
    const ALL: [Source; 7] = {
        use Source::*;
        [Default, SiteFile, HintsFile, OpenMpi, Info, Mpich, Own]
    };

    fn from_code(code: u8) -> Option<Source> {
        Source::ALL.get(usize::from(code)).copied()
    }

    fn of_variable(name: &str) -> Source {
        match name {
            name if name.starts_with("OMPI_MCA_") => Source::OpenMpi,
            name if name.starts_with("MPIIO_RS_") => Source::Own,
            _ => Source::Mpich,
        }
    }

    /// Whether only the rank that read the file knows it.
    fn is_file(self) -> bool {
        matches!(self, Source::SiteFile | Source::HintsFile)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Default => "default",
            Source::SiteFile => SITE_FILE,
            Source::HintsFile => HINTS_FILE,
            Source::OpenMpi => "OMPI_MCA",
            Source::Info => "MPI_Info",
            Source::Mpich => MPICH_HINTS,
            Source::Own => OWN_HINTS,
        })
    }
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The hint's name, an alias, or an environment variable that means it.
    pub key: String,
    /// Its value, unread.
    pub value: String,
    /// Where it was said.
    pub source: Source,
}

/// Everything that was said about the hints of one file, the strongest last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    entries: Vec<Entry>,
    notes: Vec<String>,
}

impl Request {
    /// What the application's info and the environment say about the file at `path`.
    pub fn collect(
        info: &[(String, String)],
        environment: &Environment<'_>,
        path: &str,
    ) -> Request {
        let mut request = Request::default();
        request.add_file(environment, SITE_FILE, Source::SiteFile);
        if let Some(file) = environment.variable(HINTS_FILE) {
            request.add_file(environment, &file, Source::HintsFile);
        }
        request.add_variables(environment, Source::OpenMpi);
        request.add_pairs(info, Source::Info);
        for (name, source) in [(MPICH_HINTS, Source::Mpich), (OWN_HINTS, Source::Own)] {
            request.add_variables(environment, source);
            if let Some(specification) = environment.variable(name) {
                let pairs = glob::pairs_for(&specification, path);
                request.note_unknown(name, &pairs);
                request.add_pairs(&pairs, source);
            }
        }
        request
    }

    /// What `MPI_File_set_info` or `MPI_File_set_view` was given.
    pub fn of_info(info: &[(String, String)]) -> Request {
        let mut request = Request::default();
        request.add_pairs(info, Source::Info);
        request
    }

    /// What was said, the strongest last.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What the user should know about the places hints were read from.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Keeps the pairs whose key is a hint. Other keys belong to other libraries.
    fn add_pairs(&mut self, pairs: &[(String, String)], source: Source) {
        for (key, value) in pairs {
            let known = table::find(key).is_some_and(|row| TABLE[row].kind != Kind::ReadOnly);
            if known {
                self.entries.push(Entry { key: key.clone(), value: value.clone(), source });
            }
        }
    }

    /// A key we do not know is no business of ours in an info; in a variable that only hints are
    /// put in, it is a mistake.
    fn note_unknown(&mut self, variable: &str, pairs: &[(String, String)]) {
        let unknown = pairs.iter().filter(|(key, _)| table::find(key).is_none());
        self.notes.extend(unknown.map(|(key, _)| format!("{variable}: no hint is named '{key}'")));
    }

    /// The variables of the table that speak with this strength.
    fn add_variables(&mut self, environment: &Environment<'_>, source: Source) {
        for name in TABLE.iter().flat_map(|row| row.variables) {
            if Source::of_variable(name) != source {
                continue;
            }
            // Open MPI writes "choose yourself" as 0 or -1.
            let unset = |value: &String| source == Source::OpenMpi && is_unset(name, value);
            if let Some(value) = environment.variable(name).filter(|value| !unset(value)) {
                self.entries.push(Entry { key: (*name).into(), value, source });
            }
        }
    }

    /// Adds the hints of a file: lines of a key and a value, `#` before a comment. The first of
    /// several lines for one key counts, as in ROMIO.
    fn add_file(&mut self, environment: &Environment<'_>, path: &str, source: Source) {
        let bytes = match environment.contents(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.notes.push(format!("reading hints from {path}: {error}")),
        };
        if bytes.len() > ROMIO_FILE_LIMIT {
            let length = bytes.len();
            self.notes.push(format!("{path} has {length} bytes of hints; ROMIO reads 4096"));
        }
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut known = HashSet::new();
        let mut malformed = Vec::new();
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                // No info could answer it.
                _ if line.contains('\0') => malformed.push(number + 1),
                [key, value] if known.insert(key.to_string()) => {
                    pairs.push((key.into(), value.into()));
                }
                [_, _] => {}
                _ => malformed.push(number + 1),
            }
        }
        // One note, however many lines: the name may be that of some other file.
        if let Some(first) = malformed.first() {
            let count = malformed.len();
            let note = format!("{path}, line {first}: not a key and a value ({count} such in all)");
            self.notes.push(note);
        }
        self.add_pairs(&pairs, source);
    }

    /// The entries as bytes, for another rank.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in &self.entries {
            bytes.push(entry.source as u8);
            for text in [&entry.key, &entry.value] {
                // Longer than any info value or variable a system allows.
                let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                bytes.extend(length.to_le_bytes());
                bytes.extend(&text.as_bytes()[..length as usize]);
            }
        }
        bytes
    }

    /// The request another rank encoded. Notes stay with the rank that made them.
    pub fn decode(bytes: &[u8]) -> Result<Request> {
        let mut request = Request::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let entry = decode_entry(&mut rest).ok_or_else(|| {
                let at = bytes.len() - rest.len();
                Error::new(Class::Intern, format!("hints of rank 0 make no sense at byte {at}"))
            })?;
            request.entries.push(entry);
        }
        Ok(request)
    }

    /// A number that is the same where the request is the same. Never negative and never the
    /// largest, so that ranks can agree with one reduction of it and its negative.
    pub fn fingerprint(&self) -> i64 {
        // FNV-1a: every rank computes the same, whatever it was built with.
        let start = 0xcbf2_9ce4_8422_2325_u64;
        let hash = self.encode().iter().fold(start, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        (hash >> 2) as i64
    }

    /// The hints that rank 0 was told otherwise. Hints from files do not count: one rank reads
    /// them for all.
    pub fn differences(&self, rank0: &Request) -> Vec<String> {
        let (ours, theirs) = (self.strongest(), rank0.strongest());
        let rows = 0..TABLE.len();
        rows.filter(|row| ours.get(row) != theirs.get(row))
            .map(|row| TABLE[row].name.to_string())
            .collect()
    }

    fn strongest(&self) -> BTreeMap<usize, &str> {
        let said = self.entries.iter().filter(|entry| !entry.source.is_file());
        said.filter_map(|entry| Some((table::find_word(&entry.key)?, entry.value.as_str())))
            .collect()
    }
}

/// Whether this value of an Open MPI variable means that nothing was chosen.
fn is_unset(name: &str, value: &str) -> bool {
    let row = table::find_word(name).map(|row| TABLE[row].kind);
    let number = matches!(row, Some(Kind::Size(_) | Kind::Count(_)));
    number && matches!(value.trim(), "0" | "-1")
}

fn decode_entry(rest: &mut &[u8]) -> Option<Entry> {
    let (&code, after) = rest.split_first()?;
    let source = Source::from_code(code)?;
    *rest = after;
    let key = decode_text(rest)?;
    let value = decode_text(rest)?;
    Some(Entry { key, value, source })
}

fn decode_text(rest: &mut &[u8]) -> Option<String> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let text = after.get(..length)?;
    *rest = &after[length..];
    String::from_utf8(text.to_vec()).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    /// A request as text, one `source key=value` an entry.
    fn said(
        info: &[(&str, &str)],
        variables: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> (Vec<String>, Vec<String>) {
        let request = Request::collect(&pairs(info), &world(variables, files), "/scratch/a.nc");
        let show = |entry: &Entry| format!("{} {}={}", entry.source, entry.key, entry.value);
        (request.entries().iter().map(show).collect(), request.notes().to_vec())
    }

    fn world<'a>(variables: &'a [(&str, &str)], files: &'a [(&str, &str)]) -> Environment<'a> {
        let look_up = |list: &[(&str, &str)], name: &str| {
            list.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
        };
        Environment::new(
            move |name| look_up(variables, name),
            move |path| {
                let contents = look_up(files, path).map(String::into_bytes);
                contents.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
            },
        )
    }

    #[test]
    fn the_strongest_comes_last() {
        let variables = [
            ("ROMIO_HINTS", "/home/hints"),
            ("OMPI_MCA_io_ompio_num_aggregators", "3"),
            ("MPICH_MPIIO_HINTS", "*.nc:cb_nodes=5"),
            ("MPIIO_RS_HINTS", "cb_nodes=6"),
        ];
        let files = [("/etc/romio-hints", "cb_nodes 1\n"), ("/home/hints", "cb_nodes 2\n")];
        let (entries, notes) = said(&[("cb_nodes", "4")], &variables, &files);
        assert_eq!(
            entries,
            [
                "/etc/romio-hints cb_nodes=1",
                "ROMIO_HINTS cb_nodes=2",
                "OMPI_MCA OMPI_MCA_io_ompio_num_aggregators=3",
                "MPI_Info cb_nodes=4",
                "MPICH_MPIIO_HINTS cb_nodes=5",
                "MPIIO_RS_HINTS cb_nodes=6",
            ]
        );
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn a_hint_file_is_read_as_romio_reads_it() {
        let text = "# comment\n\nromio_cb_read enable\nind_rd_buffer_size\t49\r\n\
                    ind_rd_buffer_size 60\nlonely\nnc_key 4\na b c\n";
        let (entries, notes) = said(&[], &[], &[("/etc/romio-hints", text)]);
        assert_eq!(
            entries,
            ["/etc/romio-hints romio_cb_read=enable", "/etc/romio-hints ind_rd_buffer_size=49",]
        );
        let note = "/etc/romio-hints, line 6: not a key and a value (2 such in all)";
        assert_eq!(notes, [note]);
    }

    #[test]
    fn a_long_hint_file_is_read_to_its_end() {
        let text = format!("#{}\ncb_nodes 4\n", "x".repeat(5000));
        let (entries, notes) = said(&[], &[], &[("/etc/romio-hints", &text)]);
        assert_eq!(entries, ["/etc/romio-hints cb_nodes=4"]);
        assert_eq!(notes, ["/etc/romio-hints has 5013 bytes of hints; ROMIO reads 4096"]);
    }

    #[test]
    fn a_hint_file_that_may_not_be_read_is_told_and_a_missing_one_is_not() {
        let refuse = |path: &str| match path {
            "/home/hints" => Err(io::Error::from_raw_os_error(libc::EACCES)),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let variable = |name: &str| (name == HINTS_FILE).then(|| "/home/hints".to_string());
        let request = Request::collect(&[], &Environment::new(variable, refuse), "f");
        let note = "reading hints from /home/hints: Permission denied (os error 13)";
        assert_eq!(request.notes(), [note]);
    }

    #[test]
    fn keys_of_other_libraries_and_answers_of_ours_are_left_out() {
        let info = [("nc_header_align_size", "4"), ("romio_filesystem_type", "NFS:")];
        assert_eq!(said(&info, &[], &[]), (vec![], vec![]));
    }

    #[test]
    fn a_misspelt_hint_in_the_environment_is_told() {
        let (entries, notes) = said(&[], &[("MPIIO_RS_HINTS", "cb_nodez=4")], &[]);
        assert_eq!(entries, [""; 0]);
        assert_eq!(notes, ["MPIIO_RS_HINTS: no hint is named 'cb_nodez'"]);
    }

    #[test]
    fn a_file_system_is_forced_by_its_variable() {
        let (entries, _) = said(&[], &[("ROMIO_FSTYPE_FORCE", "ufs:")], &[]);
        assert_eq!(entries, ["MPICH_MPIIO_HINTS ROMIO_FSTYPE_FORCE=ufs:"]);
    }

    #[test]
    fn an_unset_variable_of_open_mpi_says_nothing() {
        let variables = [
            ("OMPI_MCA_fs_lustre_stripe_size", "0"),
            ("OMPI_MCA_io_ompio_num_aggregators", "-1"),
            ("OMPI_MCA_fbtl_posix_read_datasieving", "0"),
        ];
        let (entries, _) = said(&[], &variables, &[]);
        assert_eq!(entries, ["OMPI_MCA OMPI_MCA_fbtl_posix_read_datasieving=0"]);
    }

    #[test]
    fn a_request_survives_the_journey_to_another_rank() {
        let info = pairs(&[("cb_nodes", "4"), ("cb_config_list", "häuser:*"), ("chunked", "")]);
        let request = Request::of_info(&info);
        let bytes = request.encode();
        assert_eq!(Request::decode(&bytes).unwrap(), request);
        assert_eq!(Request::decode(&[]).unwrap(), Request::default());
        for end in 1..bytes.len() {
            // Cut anywhere it is an error or a shorter request, never a panic.
            assert!(Request::decode(&bytes[..end]).map_or(true, |cut| cut != request));
        }
        assert_eq!(Request::decode(&[9]).unwrap_err().class, Class::Intern);
    }

    #[test]
    fn requests_differ_in_what_was_said_last() {
        let request = |info: &[(&str, &str)], variables: &[(&str, &str)]| {
            Request::collect(&pairs(info), &world(variables, &[]), "f")
        };
        let one = request(&[("cb_nodes", "4"), ("stripe_size", "1")], &[]);
        let other = request(&[("cb_nodes", "8"), ("striping_unit", "1")], &[]);
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert!(one.fingerprint() >= 0 && one.fingerprint() < i64::MAX);
        assert_eq!(one.differences(&other), ["cb_nodes"]);
        assert_eq!(one.differences(&one.clone()), [""; 0]);

        // Where the environment decides on both, the infos do not matter.
        let variables = [("MPIIO_RS_HINTS", "cb_nodes=2")];
        let one = request(&[("cb_nodes", "4")], &variables);
        let other = request(&[("cb_nodes", "8")], &variables);
        assert_eq!(one.differences(&other), [""; 0]);
    }

    #[test]
    fn one_rank_may_read_the_files_for_all() {
        let files = [("/etc/romio-hints", "cb_nodes 1\n")];
        let reader = Request::collect(&[], &world(&[], &files), "f");
        let other = Request::collect(&[], &world(&[], &files).without_files(), "f");
        assert_ne!(reader.fingerprint(), other.fingerprint());
        assert_eq!(other.differences(&reader), [""; 0]);
    }
}
