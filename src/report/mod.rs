//! What happened to a file: counted while it is open, added up over the ranks at close, and told
//! as text or as a line of JSON.
//!
//! Everything but [`write`] takes values and gives values.

#![forbid(unsafe_code)]

mod counters;
mod json;
mod text;
mod wanted;

pub use counters::{COUNT, Counter, Counters, Summary};
pub use json::json;
pub use text::text;
pub use wanted::{Format, Wanted};

use crate::error::{Doing, Result};
use crate::hint::Line;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// Tells the user something, in one write so that the lines of other ranks do not come between.
pub fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes()); // there is nobody else to tell
}

/// Everything a report tells about one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The name the file was opened with.
    pub file: String,
    /// Ranks that opened it.
    pub ranks: u64,
    /// The driver's name.
    pub driver: String,
    /// Seconds from open to close, on rank 0.
    pub seconds: f64,
    /// Bytes on one device before the next, where the file system has stripes.
    pub striping_unit: Option<u64>,
    /// Devices that hold the file, where the file system has stripes.
    pub striping_factor: Option<u64>,
    /// Ranks that accessed the file in collective calls, where they are not all of them.
    pub aggregators: Option<u64>,
    /// What the last access of all ranks together was done with, and why.
    pub engine: Option<String>,
    /// Hints somebody said something about.
    pub hints: Vec<Line>,
    /// Counters added up over the ranks.
    pub total: Summary,
    /// The largest of each counter on any rank.
    pub largest: Summary,
}

/// The report in the form that is wanted; nothing where none is.
pub fn render(subject: &Subject, wanted: &Wanted) -> String {
    match wanted.format() {
        None => String::new(),
        Some(Format::Text) => text(subject),
        Some(Format::Json) => json(subject),
    }
}

/// Hands a rendered report to where it is wanted: appended to a file in one write, so that
/// programs running side by side may share it, or to standard error.
pub fn write(report: &str, wanted: &Wanted) -> Result<()> {
    let Some(path) = wanted.path() else {
        return io::stderr().write_all(report.as_bytes()).doing(|| "writing a report");
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(report.as_bytes()))
        .doing(|| format!("appending a report to {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_appended_to_its_file() {
        let path = std::env::temp_dir().join(format!("mpiio-rs-report-{}", std::process::id()));
        let wanted = Wanted::parse(&format!("json:{}", path.display())).unwrap();
        let _ = std::fs::remove_file(&path);
        write("one\n", &wanted).unwrap();
        write("two\n", &wanted).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_report_that_cannot_be_written_says_where() {
        let wanted = Wanted::parse("text:/nowhere/at/all").unwrap();
        let error = write("one\n", &wanted).unwrap_err();
        assert!(error.text().starts_with("appending a report to /nowhere/at/all: "), "{error}");
    }

    #[test]
    fn nothing_is_rendered_when_nothing_is_wanted() {
        assert_eq!(render(&Subject::default(), &Wanted::Nothing), "");
    }
}
