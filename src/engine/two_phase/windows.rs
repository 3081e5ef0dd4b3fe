//! The windows of a collective access: which parts of the file are handled one after the other.

use std::ops::Range;

/// A part of the file that is filled, and then written or picked from, as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Counts the windows of an access from 0 on.
    pub number: u64,
    /// Its bytes, as far as anybody wants some of them.
    pub range: Range<u64>,
    /// The ranks whose parts reach into it.
    pub visitors: u64,
}

impl Window {
    /// Whether a rank with this part of the file has to do with the window.
    pub fn concerns(&self, part: &Range<u64>) -> bool {
        meet(&self.range, part)
    }
}

/// All windows of an access, in file order. Every rank computes the same ones from what the
/// ranks told each other about their parts, so nothing else is exchanged about them.
#[derive(Clone, Debug)]
pub struct Windows<'a> {
    /// What each rank accesses lies within its part; empty parts take no part.
    parts: &'a [Range<u64>],
    /// Windows start at multiples of this.
    size: u64,
    number: u64,
    /// What lies before this is done.
    reached: u64,
}

impl<'a> Windows<'a> {
    /// Windows of `size` bytes over `parts`.
    pub fn new(parts: &'a [Range<u64>], size: u64) -> Windows<'a> {
        Windows { parts, size, number: 0, reached: 0 }
    }
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        let left = self.parts.iter().filter(|part| !part.is_empty() && part.end > self.reached);
        let start = left.clone().map(|part| part.start.max(self.reached)).min()?;
        let limit = (start / self.size + 1).saturating_mul(self.size);
        let end = left.filter(|part| part.start < limit).map(|part| part.end.min(limit)).max()?;
        let range = start..end;
        let visitors = self.parts.iter().filter(|part| meet(&range, part)).count() as u64;
        let number = self.number;
        (self.number, self.reached) = (number + 1, limit);
        Some(Window { number, range, visitors })
    }
}

fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_every_part_and_nothing_between() {
        let parts = [5..5, 100..260, 90..120, 1000..1001, 0..0];
        let windows: Vec<_> = Windows::new(&parts, 100).collect();
        let expected = [(0, 90..100, 1), (1, 100..200, 2), (2, 200..260, 1), (3, 1000..1001, 1)];
        let expected = expected.map(|(number, range, visitors)| Window { number, range, visitors });
        assert_eq!(windows, expected);
    }

    #[test]
    fn parts_at_the_end_of_all_files_are_reached_in_a_few_steps() {
        let far = i64::MAX as u64 - 10..i64::MAX as u64;
        let parts = [0..10, far];
        assert_eq!(Windows::new(&parts, 4096).count(), 2);
    }
}
