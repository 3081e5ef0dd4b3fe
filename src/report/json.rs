//! The report as one line of JSON, for programs.

use super::{Counter, Subject};
use crate::hint::Line;
use std::fmt::Write;

/// Raised when a member changes its meaning or goes away; new members do not raise it.
const SCHEMA: u32 = 1;

/// The report on one file, for programs: one object, one line.
pub fn json(subject: &Subject) -> String {
    let mut members = vec![
        ("schema", SCHEMA.to_string()),
        ("library", string(concat!("mpiio-rs ", env!("CARGO_PKG_VERSION")))),
        ("file", string(&subject.file)),
        ("ranks", subject.ranks.to_string()),
        ("driver", string(&subject.driver)),
        ("seconds", format!("{:.6}", subject.seconds)),
        ("striping_unit", number(subject.striping_unit)),
        ("striping_factor", number(subject.striping_factor)),
        ("aggregators", number(subject.aggregators)),
    ];
    if let Some(engine) = &subject.engine {
        members.push(("engine", string(engine)));
    }
    let hints: Vec<String> = subject.hints.iter().map(hint).collect();
    members.push(("hints", format!("[{}]", hints.join(","))));
    for (name, summary) in [("total", &subject.total), ("largest", &subject.largest)] {
        let counters = Counter::ALL.iter();
        let values = counters.map(|&counter| (counter.name(), summary.get(counter).to_string()));
        members.push((name, object(&values.collect::<Vec<_>>())));
    }
    object(&members) + "\n"
}

fn hint(line: &Line) -> String {
    let in_force = line.in_force.as_deref().map_or_else(|| "null".into(), string);
    object(&[
        ("key", string(line.key)),
        ("requested", string(&line.requested)),
        ("source", string(&line.source)),
        ("in_force", in_force),
        ("why", string(&line.why)),
    ])
}

/// An object of members that are JSON already.
fn object(members: &[(&str, String)]) -> String {
    let members = members.iter().map(|(name, value)| format!("{}:{value}", string(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| "null".into(), |value| value.to_string())
}

fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            control if (control as u32) < 0x20 => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            plain => quoted.push(plain),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_on_one_line() {
        let subject = Subject {
            file: "/scratch/a \"b\"\n\\c\u{1}".into(),
            ranks: 4,
            driver: "ufs".into(),
            seconds: 0.25,
            striping_unit: Some(1048576),
            hints: vec![Line {
                key: "cb_nodes",
                requested: "8".into(),
                source: "MPI_Info".into(),
                in_force: None,
                why: "there are 4 ranks".into(),
            }],
            ..Subject::default()
        };
        let text = json(&subject);
        assert_eq!(text.matches('\n').count(), 1);
        let start = format!(
            "{{\"schema\":1,\"library\":\"mpiio-rs {}\",\
             \"file\":\"/scratch/a \\\"b\\\"\\n\\\\c\\u0001\",\
             \"ranks\":4,\"driver\":\"ufs\",\"seconds\":0.250000,\"striping_unit\":1048576,\
             \"striping_factor\":null,\"aggregators\":null,\"hints\":[{{\"key\":\"cb_nodes\",\
             \"requested\":\"8\",\"source\":\"MPI_Info\",\"in_force\":null,\
             \"why\":\"there are 4 ranks\"}}],\"total\":{{\"reads_blocking\":0,",
            env!("CARGO_PKG_VERSION")
        );
        assert!(text.starts_with(&start), "{text}");
        assert!(text.ends_with("\"independent_writers\":0}}\n"), "{text}");
    }
}
