//! Ranges of bytes in a list.

use std::ops::Range;

/// `ranges` without the bytes of `cut`.
pub fn without(ranges: Vec<Range<u64>>, cut: &Range<u64>) -> Vec<Range<u64>> {
    let mut rest = Vec::with_capacity(ranges.len() + 1);
    for range in ranges {
        let before = range.start..range.end.min(cut.start);
        let after = range.start.max(cut.end)..range.end;
        rest.extend([before, after].into_iter().filter(|part| !part.is_empty()));
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn cutting_leaves_what_is_outside() {
        for (cut, expected) in [
            (0..5, vec![10..20]),
            (0..10, vec![10..20]),
            (20..30, vec![10..20]),
            (5..12, vec![12..20]),
            (12..15, vec![10..12, 15..20]),
            (15..40, vec![10..15]),
            (10..20, vec![]),
            (0..40, vec![]),
        ] {
            assert_eq!(without(vec![10..20], &cut), expected, "{cut:?}");
        }
    }
}
