//! Which report is wanted, and where: `MPIIO_RS_REPORT` and the hint of the same meaning.

use std::fmt;

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    Text,
    Json,
}

/// The report a user wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// None.
    #[default]
    Nothing,
    /// One on standard error.
    StandardError(Format),
    /// One appended to this file.
    File(Format, String),
}

impl Wanted {
    /// What a value asks for: `0`, `1`, `text`, `json`, `text:PATH` or `json:PATH`.
    pub fn parse(value: &str) -> Option<Wanted> {
        let value = value.trim();
        if let Some((format, path)) = value.split_once(':') {
            let format = Format::parse(format)?;
            return (!path.is_empty()).then(|| Wanted::File(format, path.into()));
        }
        match value.to_ascii_lowercase().as_str() {
            "0" | "false" | "no" | "off" | "disable" => Some(Wanted::Nothing),
            // 2 is the more detailed form of MPICH_MPIIO_STATS.
            "1" | "2" | "true" | "yes" | "on" | "enable" => {
                Some(Wanted::StandardError(Format::Text))
            }
            other => Format::parse(other).map(Wanted::StandardError),
        }
    }

    /// The form, unless nothing is wanted.
    pub fn format(&self) -> Option<Format> {
        match self {
            Wanted::Nothing => None,
            Wanted::StandardError(format) | Wanted::File(format, _) => Some(*format),
        }
    }

    /// The file, unless it is standard error.
    pub fn path(&self) -> Option<&str> {
        match self {
            Wanted::File(_, path) => Some(path),
            _ => None,
        }
    }
}

impl Format {
    fn parse(word: &str) -> Option<Format> {
        match word.to_ascii_lowercase().as_str() {
            "text" => Some(Format::Text),
            "json" => Some(Format::Json),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Nothing => f.write_str("0"),
            Wanted::StandardError(format) => f.write_str(format.word()),
            Wanted::File(format, path) => write!(f, "{}:{path}", format.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_meaning() {
        let cases = [
            ("0", Some("0")),
            ("1", Some("text")),
            ("2", Some("text")),
            ("TEXT", Some("text")),
            ("json", Some("json")),
            ("json:/a/b:c", Some("json:/a/b:c")),
            ("text:out", Some("text:out")),
            ("text:", None),
            ("xml", None),
            ("", None),
            ("/a/b", None),
        ];
        for (value, expected) in cases {
            let wanted = Wanted::parse(value).map(|wanted| wanted.to_string());
            assert_eq!(wanted.as_deref(), expected, "{value}");
        }
    }
}
