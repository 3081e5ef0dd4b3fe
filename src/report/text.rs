//! The report as text, with the labels of `MPICH_MPIIO_STATS`, which scripts look for.

use super::{Counter, Subject};
use crate::hint::Line;
use crate::operation::Direction;
use std::fmt::Write;

const RULE: &str = "+--------------------------------------------------------+\n";

/// The report on one file, for people.
pub fn text(subject: &Subject) -> String {
    let Subject { file, ranks, driver, seconds, .. } = subject;
    let ranks = counted(*ranks as i64, "rank");
    let mut text = format!("{RULE}| mpiio-rs {}: {file}\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "|   {ranks}, driver {driver}, open for {seconds:.3} s");
    text += RULE;
    for direction in [Direction::Write, Direction::Read] {
        if subject.total.independent(direction) + subject.total.collective(direction) > 0 {
            text += &access(subject, direction);
        }
    }
    text += &execution(subject);
    text += &hints(&subject.hints);
    text
}

/// One direction of access.
fn access(subject: &Subject, direction: Direction) -> String {
    let Words { verb, doer, bytes, nanoseconds, system_calls, system_bytes, doers } =
        Words::of(direction);
    let total = &subject.total;
    let mut lines = Lines::new(format!("MPIIO {verb} access patterns for {}", subject.file));
    lines.add(&format!("independent {verb}s"), total.independent(direction));
    lines.add(&format!("collective {verb}s"), total.collective(direction));
    lines.add(&format!("independent {doer}s"), total.get(doers));
    lines.add("aggregators", or_unknown(subject.aggregators));
    lines.add("stripe count", or_unknown(subject.striping_factor));
    lines.add("stripe size", or_unknown(subject.striping_unit));
    let (volume, calls) = (total.get(bytes), total.get(system_calls));
    lines.add(&format!("system {verb}s"), calls);
    lines.add(&format!("total bytes for {verb}s"), volume_text(volume));
    let average = total.get(system_bytes).checked_div(calls);
    lines.add(&format!("ave system {verb} size"), or_unknown(average));
    if direction == Direction::Write {
        lines.add("read-modify-write count", total.get(Counter::WriteWindows));
        lines.add("read-modify-write bytes", total.get(Counter::WriteWindowExtraBytes));
    } else {
        lines.add("windows read with holes", total.get(Counter::ReadWindows));
        lines.add("bytes of their holes", total.get(Counter::ReadWindowExtraBytes));
    }
    let slowest = subject.largest.get(nanoseconds);
    lines.add(&format!("time in {verb}s"), time_text(slowest, volume));
    lines.end()
}

/// The words and counters of a direction.
struct Words {
    verb: &'static str,
    doer: &'static str,
    doers: Counter,
    bytes: Counter,
    nanoseconds: Counter,
    system_calls: Counter,
    system_bytes: Counter,
}

impl Words {
    fn of(direction: Direction) -> Words {
        match direction {
            Direction::Read => Words {
                verb: "read",
                doer: "reader",
                doers: Counter::IndependentReaders,
                bytes: Counter::ReadBytes,
                nanoseconds: Counter::ReadNanoseconds,
                system_calls: Counter::SystemReads,
                system_bytes: Counter::SystemReadBytes,
            },
            Direction::Write => Words {
                verb: "write",
                doer: "writer",
                doers: Counter::IndependentWriters,
                bytes: Counter::WriteBytes,
                nanoseconds: Counter::WriteNanoseconds,
                system_calls: Counter::SystemWrites,
                system_bytes: Counter::SystemWriteBytes,
            },
        }
    }
}

/// How requests were done.
fn execution(subject: &Subject) -> String {
    let total = &subject.total;
    let mut lines = Lines::new("how it was done".into());
    let requests = [
        ("direct", Counter::Direct),
        ("memory gathered", Counter::Gathered),
        ("stretch by stretch", Counter::Vectored),
        ("by all ranks together", Counter::Exchanged),
        ("alone: large pieces", Counter::AloneLargePieces),
        ("alone: little to move", Counter::AloneLittle),
        ("alone: far apart", Counter::AloneSparse),
        ("alone: view or atomic", Counter::AloneView),
        ("alone: no memory", Counter::AloneMemory),
        ("through a buffer", Counter::Bounced),
        ("locks", Counter::Locks),
        ("waits for locks", Counter::LockWaits),
        ("syncs", Counter::Syncs),
        ("bytes past the cache", Counter::UncachedBytes),
        ("advices", Counter::Advices),
        ("advices refused", Counter::AdvicesRefused),
    ];
    for (label, counter) in requests {
        let number = total.get(counter);
        if number > 0 || !(label.starts_with("alone") || counter == Counter::UncachedBytes) {
            lines.add(label, number);
        }
    }
    lines.add("most threads of a rank", subject.largest.get(Counter::Threads).max(1));
    if let Some(engine) = &subject.engine {
        lines.add("together, last", engine);
    }
    lines.end()
}

/// The hints somebody asked for: requested, in force, why.
fn hints(hints: &[Line]) -> String {
    if hints.is_empty() {
        return String::new();
    }
    let mut rows = vec![["hint", "requested", "in force", "asked for by"].map(String::from)];
    rows.extend(hints.iter().map(|line| {
        let in_force = line.in_force.clone().unwrap_or_else(|| "-".into());
        [line.key.into(), line.requested.clone(), in_force, line.source.clone()]
    }));
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let reasons = ["why"].into_iter().chain(hints.iter().map(|line| line.why.as_str()));
    let mut text = String::from("| hints\n");
    for (row, why) in rows.iter().zip(reasons) {
        let mut line = String::from("|   ");
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", (line + why).trim_end());
    }
    text + RULE
}

/// A titled block of aligned lines.
struct Lines(String);

impl Lines {
    fn new(title: String) -> Lines {
        Lines(format!("| {title}\n"))
    }

    fn add(&mut self, label: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "|   {label:<23} = {value}");
    }

    fn end(self) -> String {
        self.0 + RULE
    }
}

fn or_unknown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "NA".into(), |value| value.to_string())
}

fn counted(number: i64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Bytes, and what they are in larger units once they fill one.
fn volume_text(bytes: i64) -> String {
    let mut text = bytes.to_string();
    for (shift, unit) in [(20, "MiB"), (30, "GiB")] {
        if bytes >> shift > 0 {
            let _ = write!(text, " = {} {unit}", bytes >> shift);
        }
    }
    text
}

/// The time of the slowest rank, and the bandwidth all ranks had in it.
fn time_text(nanoseconds: i64, bytes: i64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    let mut text = format!("{seconds:.6} s on the slowest rank");
    if nanoseconds > 0 && bytes > 0 {
        let bandwidth = bytes as f64 / seconds / f64::from(1 << 20);
        let _ = write!(text, " = {bandwidth:.1} MiB/s");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;

    fn summary(values: &[(Counter, i64)]) -> Summary {
        let mut summary = Summary::default();
        for &(counter, value) in values {
            summary.values_mut()[counter as usize] = value;
        }
        summary
    }

    #[test]
    fn a_written_file() {
        let line = |key, requested: &str, in_force: Option<&str>, why: &str| Line {
            key,
            requested: requested.into(),
            source: "MPI_Info".into(),
            in_force: in_force.map(String::from),
            why: why.into(),
        };
        let subject = Subject {
            file: "/scratch/a.nc".into(),
            ranks: 4,
            driver: "ufs".into(),
            seconds: 1.5,
            hints: vec![
                line("romio_ds_write", "disable", Some("disable"), ""),
                line("cb_nodes", "8", None, "collective calls use the individual engine"),
            ],
            total: summary(&[
                (Counter::WritesBlocking, 3),
                (Counter::WritesCollective, 4),
                (Counter::IndependentWriters, 1),
                (Counter::WriteBytes, 3 << 20),
                (Counter::SystemWrites, 6),
                (Counter::SystemWriteBytes, 3 << 20),
                (Counter::Direct, 7),
            ]),
            largest: summary(&[(Counter::WriteNanoseconds, 500_000_000)]),
            ..Subject::default()
        };
        let expected = "\
+--------------------------------------------------------+
| mpiio-rs VERSION: /scratch/a.nc
|   4 ranks, driver ufs, open for 1.500 s
+--------------------------------------------------------+
| MPIIO write access patterns for /scratch/a.nc
|   independent writes      = 3
|   collective writes       = 4
|   independent writers     = 1
|   aggregators             = NA
|   stripe count            = NA
|   stripe size             = NA
|   system writes           = 6
|   total bytes for writes  = 3145728 = 3 MiB
|   ave system write size   = 524288
|   read-modify-write count = 0
|   read-modify-write bytes = 0
|   time in writes          = 0.500000 s on the slowest rank = 6.0 MiB/s
+--------------------------------------------------------+
| how it was done
|   direct                  = 7
|   memory gathered         = 0
|   stretch by stretch      = 0
|   by all ranks together   = 0
|   through a buffer        = 0
|   locks                   = 0
|   waits for locks         = 0
|   syncs                   = 0
|   advices                 = 0
|   advices refused         = 0
|   most threads of a rank  = 1
+--------------------------------------------------------+
| hints
|   hint            requested  in force  asked for by  why
|   romio_ds_write  disable    disable   MPI_Info
|   cb_nodes        8          -         MPI_Info      collective calls use the individual engine
+--------------------------------------------------------+
";
        assert_eq!(text(&subject), expected.replace("VERSION", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn an_untouched_file_has_no_access_patterns() {
        let text = text(&Subject { ranks: 1, ..Subject::default() });
        assert!(text.contains("|   1 rank, driver"), "{text}");
        assert!(!text.contains("access patterns"), "{text}");
    }

    #[test]
    fn averages_of_nothing() {
        let total = summary(&[(Counter::ReadsCollective, 4)]);
        let text = text(&Subject { total, ..Subject::default() });
        assert!(text.contains("|   ave system read size    = NA\n"), "{text}");
        assert!(text.contains("|   time in reads           = 0.000000 s on the slowest rank\n"));
    }
}
