//! The hint table as documentation.

use super::table::{Effect, Row, TABLE};
use std::fmt::Write;

/// The table in Markdown, for README.md.
pub fn markdown() -> String {
    let mut text = String::from("| hint | values | default | in force | meaning |\n");
    text += "|---|---|---|---|---|\n";
    for row in TABLE {
        let default = if row.default.is_empty() { "" } else { &format!("`{}`", row.default) };
        let (name, values) = (row.name, row.kind.values());
        let (effect, meaning) = (effect(row), meaning(row, |word| format!("`{word}`")));
        let _ = writeln!(text, "| `{name}` | {values} | {default} | {effect} | {meaning} |");
    }
    text
}

/// The table in roff, for the man page.
pub fn roff() -> String {
    let mut text = String::new();
    for row in TABLE {
        let _ = writeln!(text, ".TP\n.BR {} \" ({}", escape(row.name), escape(row.kind.values()));
        text.pop();
        if !row.default.is_empty() {
            let _ = write!(text, "; default {}", escape(row.default));
        }
        let meaning = meaning(row, |word| format!("\\fB{word}\\fR"));
        let _ = writeln!(text, ")\"\n{}", escape(&meaning.replace('`', "")));
        match row.effect {
            Effect::Now => {}
            Effect::Later(why) => text += &format!("Not in force yet: {}.\n", escape(why)),
            Effect::Never(why) => text += &format!("Not in force: {}.\n", escape(why)),
        }
    }
    text
}

fn effect(row: &Row) -> String {
    match row.effect {
        Effect::Now => "yes".into(),
        Effect::Later(why) => format!("not yet: {why}"),
        Effect::Never(why) => format!("no: {why}"),
    }
}

/// The row's sentence and its other names.
fn meaning(row: &Row, word: impl Fn(&str) -> String) -> String {
    let names = row.aliases.iter().chain(row.variables).map(|name| word(name));
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => row.doc.into(),
        false => format!("{} Also {}.", row.doc, names.join(", ")),
    }
}

/// Keeps roff from taking a hyphen for a dash. No text here starts a line with a full stop.
fn escape(text: &str) -> String {
    text.replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With UPDATE_README set it is written there first.
    #[test]
    fn the_readme_has_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
        let readme = include_str!("../../README.md");
        let (before, rest) = readme.split_once("<!-- hints -->\n").expect("a place for the hints");
        let (table, after) = rest.split_once("<!-- /hints -->").expect("an end of that place");
        let table = table.trim().to_string() + "\n";
        if table != markdown() && std::env::var_os("UPDATE_README").is_some() {
            let renewed = format!("{before}<!-- hints -->\n{}<!-- /hints -->{after}", markdown());
            return std::fs::write(path, renewed).expect("a README that can be written");
        }
        assert!(table == markdown(), "the hints in README.md are old: UPDATE_README=1 cargo test");
    }

    #[test]
    fn every_hint_is_one_line_of_markdown() {
        let text = markdown();
        assert_eq!(text.lines().count(), TABLE.len() + 2);
        for line in text.lines() {
            assert_eq!(line.matches('|').count(), 6, "{line}");
        }
    }

    #[test]
    fn roff_has_no_accidental_request() {
        let text = roff();
        assert_eq!(text.matches(".TP\n").count(), TABLE.len());
        for line in text.lines() {
            let request = line.starts_with('.') || line.starts_with('\'');
            assert!(!request || line == ".TP" || line.starts_with(".BR "), "{line}");
        }
    }
}
