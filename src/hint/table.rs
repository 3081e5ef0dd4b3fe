//! What a row of the hint table says, and how a row is found.

pub use super::rows::TABLE;

/// What the value of a hint looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// `enable`, `disable` or `automatic`.
    Toggle,
    /// Bytes, at least this many; a suffix K, M or G multiplies by 1024.
    Size(i64),
    /// A whole number, not less than this.
    Count(i64),
    /// One of these, separated by commas.
    Choice(&'static str),
    /// Permission bits, in octal.
    Permissions,
    /// Where the report goes: `0`, `text`, `json`, `text:PATH`, `json:PATH`.
    Report,
    /// Anything.
    Text,
    /// Answered by `MPI_File_get_info`, never set through it.
    ReadOnly,
}

impl Kind {
    /// The values, as documentation shows them.
    pub fn values(self) -> &'static str {
        match self {
            Kind::Boolean => "true, false",
            Kind::Toggle => "enable, disable, automatic",
            Kind::Size(_) => "bytes",
            Kind::Count(_) => "number",
            Kind::Choice(names) => names,
            Kind::Permissions => "octal",
            Kind::Report => "0, text, json, text:PATH, json:PATH",
            Kind::Text => "text",
            Kind::ReadOnly => "read only",
        }
    }
}

/// When a hint may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At open and later, by `MPI_File_set_info` or `MPI_File_set_view`.
    Anytime,
    /// Only at open.
    Open,
}

/// What becomes of a hint that was given. The reasons are sentences for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is in force.
    Now,
    /// It is accepted and answered, and not in force yet.
    Later(&'static str),
    /// It is accepted, and has no meaning in this library.
    Never(&'static str),
}

/// One hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key `MPI_File_get_info` answers.
    pub name: &'static str,
    /// Other keys that mean the same.
    pub aliases: &'static [&'static str],
    /// Environment variables that mean the same.
    pub variables: &'static [&'static str],
    /// What its value looks like.
    pub kind: Kind,
    /// The value when nobody says anything; empty where there is none.
    pub default: &'static str,
    /// When it may be given.
    pub when: When,
    /// What becomes of it.
    pub effect: Effect,
    /// One sentence for users.
    pub doc: &'static str,
}

impl Row {
    /// A hint that may be given at any time, under one name.
    pub(super) const fn new(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        effect: Effect,
        doc: &'static str,
    ) -> Row {
        Row { name, aliases: &[], variables: &[], kind, default, when: When::Anytime, effect, doc }
    }

    /// The same, also known under these keys.
    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Row {
        self.aliases = aliases;
        self
    }

    /// The same, also set by these environment variables.
    pub(super) const fn variables(mut self, variables: &'static [&'static str]) -> Row {
        self.variables = variables;
        self
    }

    /// The same, only listened to at open.
    pub(super) const fn at_open(mut self) -> Row {
        self.when = When::Open;
        self
    }

    /// Whether an info key means this hint.
    pub fn answers_to(&self, key: &str) -> bool {
        self.name == key || self.aliases.contains(&key)
    }
}

/// Index of the row that an info key means.
pub fn find(key: &str) -> Option<usize> {
    TABLE.iter().position(|row| row.answers_to(key))
}

/// Index of the row that an info key or an environment variable means.
pub(super) fn find_word(word: &str) -> Option<usize> {
    find(word).or_else(|| TABLE.iter().position(|row| row.variables.contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::value;
    use std::collections::HashSet;

    /// The smallest MPI_MAX_INFO_KEY of the MPIs we run below, terminator included.
    const MAX_INFO_KEY: usize = 36;

    #[test]
    fn every_key_fits_every_mpi() {
        for row in TABLE {
            assert!(row.name.len() < MAX_INFO_KEY, "{}", row.name);
            assert!(row.default.len() < 256, "{}", row.name);
        }
    }

    #[test]
    fn a_word_means_one_hint() {
        let mut seen = HashSet::new();
        for row in TABLE {
            let words = [row.name].into_iter().chain(row.aliases.iter().copied());
            for word in words.chain(row.variables.iter().copied()) {
                assert!(seen.insert(word), "{word} is in two rows");
            }
        }
    }

    #[test]
    fn defaults_are_values_of_their_kind() {
        for row in TABLE.iter().filter(|row| !row.default.is_empty()) {
            assert_eq!(value::canonical(row.kind, row.default).as_deref(), Ok(row.default));
        }
    }

    #[test]
    fn documentation_is_one_sentence() {
        for row in TABLE {
            assert!(row.doc.ends_with('.'), "{}", row.name);
            assert!(row.doc.len() > 10 && !row.doc.contains('\n'), "{}", row.name);
            if let Effect::Later(why) | Effect::Never(why) = row.effect {
                assert!(!why.is_empty() && !why.ends_with('.'), "{}", row.name);
            }
        }
    }

    #[test]
    fn aliases_and_variables_lead_to_the_same_row() {
        let unit = find("striping_unit");
        assert_eq!(find("stripe_size"), unit);
        assert_eq!(find_word("OMPI_MCA_fs_lustre_stripe_size"), unit);
        assert_eq!(find("OMPI_MCA_fs_lustre_stripe_size"), None);
        assert_eq!(find("nc_header_align_size"), None);
    }
}
