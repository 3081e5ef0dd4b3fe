//! The rules of the house that a compiler does not check: who may know whom, and how long things
//! may get. ARCHITECTURE.md gives the reasons.

use std::fs;
use std::path::{Path, PathBuf};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 100;

/// Rooms, and the rooms each must not know.
const STRANGERS: &[(&str, &[&str])] = &[
    ("view", &["mpi", "engine", "file", "driver", "abi", "hint", "report", "run"]),
    ("memory", &["mpi", "engine", "file", "driver", "abi", "hint", "report", "run"]),
    ("engine", &["mpi", "file", "abi", "hint", "report", "run", "view::datarep"]),
    ("driver", &["mpi", "engine", "file", "abi", "hint", "report", "run", "view", "operation"]),
    ("hint", &["mpi", "engine", "file", "driver", "abi", "run", "view", "memory"]),
    ("report", &["mpi", "engine", "file", "abi", "run", "view", "memory"]),
    ("mpi", &["engine", "file", "driver", "abi", "hint", "report", "run"]),
    ("run", &["file", "driver", "abi", "hint", "report", "view"]),
    ("file", &["abi"]),
];

/// Rooms that may hold unsafe code.
const UNSAFE: &[&str] = &["abi", "mpi", "driver", "memory"];

fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                found.push((path.strip_prefix(SOURCE).expect("below src").to_owned(), text));
            }
        }
    }
    let mut found = Vec::new();
    collect(Path::new(SOURCE), &mut found);
    assert!(found.len() > 50, "only {} sources found", found.len());
    found
}

fn room(path: &Path) -> String {
    let first = path.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// Lines of code, without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.split("//").next().unwrap_or("")))
}

#[test]
fn rooms_know_only_those_they_may_know() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let room = room(&path);
        let Some((_, strangers)) = STRANGERS.iter().find(|(name, _)| *name == room) else {
            continue;
        };
        for (number, line) in code(&text) {
            for stranger in *strangers {
                let known = ["::", ";", " ", ",", "}"]
                    .iter()
                    .any(|end| line.contains(&format!("crate::{stranger}{end}")));
                // Representations convert what the user's types name.
                let allowed = *stranger == "mpi" && path.ends_with("view/datarep.rs");
                if known && !allowed {
                    wrong.push(format!("{}:{number}: {room} knows {stranger}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    for (path, text) in sources() {
        let found = code(&text).find(|(_, line)| {
            line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
        });
        if let Some((number, _)) = found {
            assert!(UNSAFE.contains(&room(&path).as_str()), "{}:{number}", path.display());
        }
    }
}

#[test]
fn threads_are_hired_where_signals_are_seen_to() {
    const HIRES: &str = "engine/threads.rs";
    for (path, text) in sources() {
        let production = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let starts = |line: &str| line.contains("spawn") && !line.contains("hire(");
        let found = code(production).find(|(_, line)| starts(line));
        let tests = room(&path) == "sim" || path.to_string_lossy().ends_with("tests.rs");
        if let (Some((number, line)), false, false) = (found, tests, path.ends_with(HIRES)) {
            panic!("{}:{number} starts a thread by itself: {line}", path.display());
        }
    }
}

#[test]
fn exported_names_stay_in_the_doorway() {
    for (path, text) in sources() {
        let exports = code(&text).any(|(_, line)| line.contains("no_mangle"));
        assert!(!exports || room(&path) == "abi", "{} exports a name", path.display());
    }
}

#[test]
fn files_and_functions_stay_short() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{} has {lines} lines", path.display()));
        }
        let mut start: Option<(usize, usize)> = None;
        for (number, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let words: Vec<&str> = line.split_whitespace().collect();
            if start.is_none() && words.contains(&"fn") && !line.trim_start().starts_with("//") {
                start = Some((number, indent));
            }
            if let Some((first, level)) = start
                && indent == level
                && (line.trim_start().starts_with('}') || line.trim_end().ends_with(';'))
            {
                if number - first + 1 > LONGEST_FUNCTION {
                    wrong.push(format!("{}:{} is too long", path.display(), first + 1));
                }
                start = None;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
