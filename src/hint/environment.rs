//! Where hints that are not in `MPI_Info` come from: variables and files, as two functions, so
//! that a test needs neither.

use super::value;
use std::io::{self, Read};

/// Far more than any hint file; keeps a mistaken name, such as a device, from filling memory.
const LARGEST_FILE: u64 = 1 << 20;

type Variable<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;
type Contents<'a> = Box<dyn Fn(&str) -> io::Result<Vec<u8>> + 'a>;

/// The world outside of the call: environment variables and small files.
pub struct Environment<'a> {
    variable: Variable<'a>,
    contents: Contents<'a>,
}

impl<'a> Environment<'a> {
    /// An environment made of a way to look up a variable and a way to read a file.
    pub fn new(
        variable: impl Fn(&str) -> Option<String> + 'a,
        contents: impl Fn(&str) -> io::Result<Vec<u8>> + 'a,
    ) -> Environment<'a> {
        Environment { variable: Box::new(variable), contents: Box::new(contents) }
    }

    /// The environment of this process.
    pub fn of_process() -> Environment<'static> {
        Environment::new(|name| std::env::var(name).ok(), small_file)
    }

    /// The same without files. Only one rank needs to read them: hints that come from files are
    /// then not missed in a comparison of requests, see `Request::differences`.
    pub fn without_files(self) -> Environment<'a> {
        Environment {
            contents: Box::new(|_| Err(io::Error::from(io::ErrorKind::NotFound))),
            ..self
        }
    }

    /// The value of a variable that is set and not blank.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.trim().is_empty())
    }

    /// Whether a variable says yes. What is no answer to that is none.
    pub fn says_yes(&self, name: &str) -> bool {
        self.variable(name).and_then(|value| value::truth(value.trim())).unwrap_or(false)
    }

    /// What is in a file.
    pub(super) fn contents(&self, path: &str) -> io::Result<Vec<u8>> {
        (self.contents)(path)
    }
}

fn small_file(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_does_not_fill_memory() {
        let bytes = Environment::of_process().contents("/dev/zero").unwrap();
        assert_eq!(bytes.len() as u64, LARGEST_FILE);
    }

    #[test]
    fn who_says_no_is_not_taken_to_say_yes() {
        let says_yes = |value: &str| {
            Environment::new(|_| Some(value.to_string()), small_file).says_yes("VERBOSE")
        };
        for no in ["0", " 0 ", "false", "no", "OFF", "disable", "", " ", "perhaps"] {
            assert!(!says_yes(no), "{no}");
        }
        for yes in ["1", "2", " 1", "true", "Yes", "on", "enable"] {
            assert!(says_yes(yes), "{yes}");
        }
        assert!(!Environment::new(|_| None, small_file).says_yes("VERBOSE"));
    }

    #[test]
    fn a_rank_can_leave_the_files_to_another() {
        let environment = Environment::of_process().without_files();
        assert!(environment.contents("/dev/null").is_err());
    }
}
