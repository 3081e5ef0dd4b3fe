//! The grammar of `MPICH_MPIIO_HINTS`: hints for the files whose name matches a pattern.
//!
//! `pattern:key=value:key=value,pattern:key=value`. Between two `#` colons and commas are plain
//! characters, so that `cb_config_list=#*:2,fast:4#` can be said. Of several patterns the first
//! that matches counts. Two liberties beyond it: pairs before any pattern are for all files, and
//! a comma between pairs is taken for the colon that was meant.

/// The pairs that a specification has for the file at `path`, in the order they were written.
pub(super) fn pairs_for(specification: &str, path: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut part = Part::Everyone;
    for section in split(specification, ',') {
        for (index, word) in split(section, ':').into_iter().enumerate() {
            match pair(word) {
                Some(pair) if matches!(part, Part::Everyone | Part::Ours) => pairs.push(pair),
                Some(_) => {}
                None if index == 0 && !word.trim().is_empty() => {
                    part = part.next(names(&unquoted(word), path));
                }
                None => {}
            }
        }
    }
    pairs
}

/// Whom the pairs now being read are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Everyone,
    Ours,
    Others,
    /// Our pattern has been and gone.
    Done,
}

impl Part {
    fn next(self, matches: bool) -> Part {
        match self {
            Part::Ours | Part::Done => Part::Done,
            Part::Everyone | Part::Others if matches => Part::Ours,
            Part::Everyone | Part::Others => Part::Others,
        }
    }
}

/// Splits where `separator` stands outside of `#` quotes; an open quote runs to the end.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c| {
        quoted ^= c == '#';
        c == separator && !quoted
    })
    .collect()
}

fn pair(word: &str) -> Option<(String, String)> {
    let (key, value) = word.split_once('=')?;
    Some((unquoted(key), unquoted(value)))
}

fn unquoted(text: &str) -> String {
    text.trim().replace('#', "")
}

/// Whether a pattern names the file, by the path it was opened with or by its last part.
fn names(pattern: &str, path: &str) -> bool {
    let base = path.rsplit('/').next().unwrap_or(path);
    let pattern: Vec<char> = pattern.chars().collect();
    [path, base].into_iter().any(|name| matches(&pattern, &name.chars().collect::<Vec<char>>()))
}

/// Shell patterns: `*`, `?`, `[a-z]`, `[!a-z]` and `\` before a character meant as it is.
///
/// When a later piece does not fit, only the last `*` has to take one character more, so the
/// time is at most pattern times name.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut star = None;
    while position < name.len() {
        if pattern.get(at) == Some(&'*') {
            at += 1;
            star = Some((at, position));
        } else if let Some(length) = one(&pattern[at..], name[position]) {
            at += length;
            position += 1;
        } else if let Some((after, taken)) = star {
            star = Some((after, taken + 1));
            (at, position) = (after, taken + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}

/// Length of the first piece of the pattern if it stands for this character.
fn one(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        [] => None,
        ['?', ..] => Some(1),
        ['\\', meant, ..] => (*meant == character).then_some(2),
        ['[', rest @ ..] => match set(rest, character) {
            Some((length, found)) => found.then_some(1 + length),
            None => (character == '[').then_some(1),
        },
        [plain, ..] => (*plain == character).then_some(1),
    }
}

/// Length of a bracketed set, after its `[`, and whether the character is in it.
fn set(pattern: &[char], character: char) -> Option<(usize, bool)> {
    let inverted = matches!(pattern.first(), Some('!' | '^'));
    let start = usize::from(inverted);
    // A `]` that comes first is a member of the set.
    let end = start + 1 + pattern.get(start + 1..)?.iter().position(|&c| c == ']')?;
    let mut members = &pattern[start..end];
    let mut found = false;
    while let Some((&first, rest)) = members.split_first() {
        if let ['-', last, after @ ..] = rest {
            found |= (first..=*last).contains(&character);
            members = after;
        } else {
            found |= first == character;
            members = rest;
        }
    }
    Some((end + 1, found != inverted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(specification: &str, path: &str, expected: &[(&str, &str)]) {
        let pairs = pairs_for(specification, path);
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(pairs, expected, "{specification} for {path}");
    }

    #[test]
    fn the_first_pattern_that_matches_counts() {
        let specification = "*.nc:cb_nodes=8:romio_ds_write=disable,*:cb_nodes=2";
        check(specification, "/scratch/a.nc", &[("cb_nodes", "8"), ("romio_ds_write", "disable")]);
        check(specification, "/scratch/a.h5", &[("cb_nodes", "2")]);
        check("*.nc:cb_nodes=8", "/scratch/a.h5", &[]);
    }

    #[test]
    fn a_pattern_is_for_a_path_or_a_name() {
        check("/scratch/dump.*:cb_nodes=8", "/scratch/dump.12", &[("cb_nodes", "8")]);
        check("dump.*:cb_nodes=8", "/scratch/dump.12", &[("cb_nodes", "8")]);
        check("/home/dump.*:cb_nodes=8", "/scratch/dump.12", &[]);
    }

    #[test]
    fn quoted_colons_and_commas_are_part_of_a_value() {
        check(
            "*:cb_config_list=#*:*#:cb_nodes=4",
            "f",
            &[("cb_config_list", "*:*"), ("cb_nodes", "4")],
        );
        check("*:access_style=#write_once,random#", "f", &[("access_style", "write_once,random")]);
        check("*:cb_config_list=#*:2", "f", &[("cb_config_list", "*:2")]);
    }

    #[test]
    fn pairs_without_a_pattern_are_for_all_files() {
        check(
            "cb_nodes=4:romio_cb_write=enable",
            "f",
            &[("cb_nodes", "4"), ("romio_cb_write", "enable")],
        );
        check("cb_nodes=4,*.nc:cb_nodes=2", "a.nc", &[("cb_nodes", "4"), ("cb_nodes", "2")]);
        check("cb_nodes=4,*.nc:cb_nodes=2", "a.h5", &[("cb_nodes", "4")]);
    }

    #[test]
    fn a_comma_between_pairs_is_understood() {
        check(
            "*:cb_nodes=4,romio_cb_write=enable",
            "f",
            &[("cb_nodes", "4"), ("romio_cb_write", "enable")],
        );
        check("*.h5:cb_nodes=4,romio_cb_write=enable", "f", &[]);
    }

    #[test]
    fn nonsense_is_harmless() {
        for specification in ["", ",", ":", "*", "*:", ":::", "#", "a:b:c", "=", "*:=", "[:a=b"] {
            let _ = pairs_for(specification, "/scratch/f");
        }
    }

    #[test]
    fn patterns() {
        let yes = [
            ("*", ""),
            ("a*b*c", "aXXbYYc"),
            ("?[a-c]", "xb"),
            ("[!a-c]", "d"),
            ("[]]", "]"),
            ("\\*", "*"),
            ("[", "["),
            ("*aab", "aaaab"),
        ];
        let no = [("a*b", "ac"), ("?", ""), ("[a-c]", "d"), ("\\*", "x"), ("a", "ab"), ("ab", "a")];
        for (pattern, name) in yes {
            assert!(names(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in no {
            assert!(!names(pattern, name), "{pattern} {name}");
        }
    }
}
