//! Moves all of a list of pieces through system calls that may move less.

use std::io;

use crate::memory::Piece;

/// Linux moves at most this many bytes in one call, whatever was asked for.
pub(super) const LONGEST_CALL: usize = 0x7fff_f000;

/// IOV_MAX of Linux: the most pieces one call takes.
pub(super) const MOST_PIECES: usize = 1024;

/// A transfer that failed on its way.
#[derive(Debug)]
pub(super) struct Stopped {
    /// Bytes that had been moved before.
    pub moved: u64,
    /// What the system said.
    pub cause: io::Error,
}

/// Calls `call` with an offset and the pieces that go there until all bytes are moved, and
/// returns how many were: fewer than asked for where `call` answered zero, which is the end of
/// the file for a read. Signals and short counts are not the caller's business.
pub(super) fn transfer(
    offset: u64,
    pieces: &[Piece],
    mut call: impl FnMut(u64, &[Piece]) -> io::Result<usize>,
) -> Result<u64, Stopped> {
    let mut rest = Rest { pieces, consumed: 0 };
    let mut scratch = Vec::new();
    let mut moved = 0;
    while let Some(batch) = rest.batch(&mut scratch) {
        match call(offset + moved, batch) {
            Ok(0) => break,
            Ok(count) => {
                moved += count as u64;
                rest.advance(count);
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(Stopped { moved, cause }),
        }
    }
    Ok(moved)
}

/// What a transfer moved, for a write of `length` bytes, where a call that moves nothing is a
/// failure: to call again could go on for ever.
pub(super) fn all_of(length: u64, moved: Result<u64, Stopped>) -> Result<(), Stopped> {
    let moved = moved?;
    if moved == length {
        return Ok(());
    }
    let cause = io::Error::new(io::ErrorKind::WriteZero, "the system accepted no bytes");
    Err(Stopped { moved, cause })
}

/// The bytes of all pieces; more than a u64 holds counts as the most it holds.
pub(super) fn total_length(pieces: &[Piece]) -> u64 {
    pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.len() as u64))
}

/// Calls again for as long as a signal is what ended the call.
pub(super) fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// What has not been moved yet.
struct Rest<'a> {
    pieces: &'a [Piece],
    /// Bytes of the first piece that have been moved.
    consumed: usize,
}

impl<'a> Rest<'a> {
    /// The pieces for the next call, within the limits of the system, or `None` at the end. The
    /// caller's list is used as it is; only where a piece must be cut the batch is copied.
    fn batch<'b>(&mut self, scratch: &'b mut Vec<Piece>) -> Option<&'b [Piece]>
    where
        'a: 'b,
    {
        // A batch without a byte would answer zero, which means something else.
        while self.pieces.first()?.len() == self.consumed {
            self.pieces = &self.pieces[1..];
            self.consumed = 0;
        }
        let mut end = 0;
        let mut room = LONGEST_CALL + self.consumed;
        let mut cut = false;
        for piece in self.pieces.iter().take(MOST_PIECES) {
            if room == 0 {
                break;
            }
            end += 1;
            cut = piece.len() > room;
            if cut {
                break;
            }
            room -= piece.len();
        }
        if self.consumed == 0 && !cut {
            return Some(&self.pieces[..end]);
        }
        scratch.clear();
        scratch.extend_from_slice(&self.pieces[..end]);
        if cut {
            scratch[end - 1] = scratch[end - 1].take(room);
        }
        scratch[0] = scratch[0].skip(self.consumed);
        Some(scratch)
    }

    /// Takes `count` bytes off the front.
    fn advance(&mut self, count: usize) {
        self.consumed += count;
        while let [first, tail @ ..] = self.pieces {
            if self.consumed < first.len() {
                break;
            }
            self.consumed -= first.len();
            self.pieces = tail;
        }
        assert!(self.consumed == 0 || !self.pieces.is_empty(), "more bytes moved than asked for");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the next call of the fake does.
    #[derive(Clone, Copy)]
    enum Answer {
        All,
        Short(usize),
        Errno(i32),
    }
    use Answer::*;

    /// Pieces of these lengths, one byte of address space apart, that nobody looks into.
    fn pieces(lengths: &[usize]) -> Vec<Piece> {
        let mut address = 0x1000_usize;
        let place = |&length: &usize| {
            // SAFETY: the fake never touches what a piece names.
            let piece = unsafe { Piece::new(address as *mut u8, length) };
            address += length + 1;
            piece
        };
        lengths.iter().map(place).collect()
    }

    /// Runs a transfer against `answers` (then `All`) and checks that every byte goes exactly
    /// once, in order, to its place; returns the outcome and the calls as (bytes, pieces).
    fn run(lengths: &[usize], answers: &[Answer]) -> (Result<u64, Stopped>, Vec<(usize, usize)>) {
        const START: u64 = 100;
        let pieces = pieces(lengths);
        let mut expected: Vec<(usize, usize)> =
            pieces.iter().map(|p| (p.address() as usize, p.len())).rev().collect();
        let mut answers = answers.iter();
        let mut calls = Vec::new();
        let mut moved = 0;
        let outcome = transfer(START, &pieces, |offset, batch| {
            assert_eq!(offset, START + moved as u64);
            let asked: usize = batch.iter().map(Piece::len).sum();
            assert!(asked > 0 && asked <= LONGEST_CALL && batch.len() <= MOST_PIECES);
            calls.push((asked, batch.len()));
            let count = match answers.next().unwrap_or(&All) {
                All => asked,
                Short(count) => asked.min(*count),
                Errno(errno) => return Err(io::Error::from_raw_os_error(*errno)),
            };
            take_in_order(&mut expected, batch, count);
            moved += count;
            Ok(count)
        });
        (outcome, calls)
    }

    /// Checks that the first `count` bytes of `batch` are those expected next.
    fn take_in_order(expected: &mut Vec<(usize, usize)>, batch: &[Piece], mut count: usize) {
        for piece in batch {
            let taken = piece.len().min(count);
            if taken == 0 {
                continue;
            }
            while expected.last().unwrap().1 == 0 {
                expected.pop();
            }
            let (address, length) = expected.last_mut().unwrap();
            assert_eq!(*address, piece.address() as usize);
            assert!(taken <= *length);
            *address += taken;
            *length -= taken;
            count -= taken;
        }
        assert_eq!(count, 0);
    }

    fn check(lengths: &[usize], answers: &[Answer], moved: u64, calls: &[(usize, usize)]) {
        let (outcome, made) = run(lengths, answers);
        assert_eq!(outcome.unwrap(), moved);
        assert_eq!(made, calls);
    }

    #[test]
    fn a_short_count_goes_on_inside_the_right_piece() {
        check(&[10], &[], 10, &[(10, 1)]);
        check(&[10], &[Short(3), Short(1)], 10, &[(10, 1), (7, 1), (6, 1)]);
        check(&[4, 4, 4], &[Short(4)], 12, &[(12, 3), (8, 2)]);
        check(&[4, 4, 4], &[Short(5), Short(4)], 12, &[(12, 3), (7, 2), (3, 1)]);
        check(&[4, 4, 4], &[Short(11)], 12, &[(12, 3), (1, 1)]);
    }

    #[test]
    fn a_signal_is_not_a_failure() {
        check(&[10], &[Errno(libc::EINTR), Errno(libc::EINTR)], 10, &[(10, 1); 3]);
        check(&[4, 4], &[Short(6), Errno(libc::EINTR)], 8, &[(8, 2), (2, 1), (2, 1)]);
    }

    #[test]
    fn zero_is_the_end() {
        check(&[10], &[Short(0)], 0, &[(10, 1)]);
        check(&[4, 4], &[Short(5), Short(0)], 5, &[(8, 2), (3, 1)]);
    }

    #[test]
    fn a_write_that_moves_nothing_fails() {
        let mut answers = [5, 0].into_iter();
        let moved = transfer(0, &pieces(&[4, 4]), |_, _| Ok(answers.next().unwrap()));
        let stopped = all_of(8, moved).unwrap_err();
        assert_eq!((stopped.moved, stopped.cause.kind()), (5, io::ErrorKind::WriteZero));
        all_of(8, transfer(0, &pieces(&[4, 4]), |_, _| Ok(8))).unwrap();
        all_of(0, transfer(0, &[], |_, _| unreachable!())).unwrap();
    }

    #[test]
    fn nothing_to_move_is_no_call() {
        check(&[], &[], 0, &[]);
        check(&[0, 0, 0], &[], 0, &[]);
        check(&[0; 3000], &[], 0, &[]);
    }

    #[test]
    fn empty_pieces_never_look_like_the_end() {
        let mut lengths = vec![0; 2000];
        lengths.push(7);
        lengths.extend([0; 1500]);
        lengths.push(9);
        check(&lengths, &[], 16, &[(7, 1024), (9, 1)]);
        check(&[0, 4, 0, 4, 0], &[Short(4)], 8, &[(8, 4), (4, 2)]);
    }

    #[test]
    fn a_call_stays_within_the_limits_of_the_system() {
        const GIB: usize = 1 << 30;
        check(&[LONGEST_CALL], &[], LONGEST_CALL as u64, &[(LONGEST_CALL, 1)]);
        check(&[LONGEST_CALL, 5], &[], LONGEST_CALL as u64 + 5, &[(LONGEST_CALL, 1), (5, 1)]);
        check(
            &[5 * GIB],
            &[],
            5 << 30,
            &[(LONGEST_CALL, 1), (LONGEST_CALL, 1), (5 * GIB - 2 * LONGEST_CALL, 1)],
        );
        check(&[GIB, 2 * GIB], &[], 3 << 30, &[(LONGEST_CALL, 2), (3 * GIB - LONGEST_CALL, 1)]);
        // a cut piece whose first call is short
        check(
            &[3 * GIB],
            &[Short(GIB)],
            3 << 30,
            &[(LONGEST_CALL, 1), (LONGEST_CALL, 1), (2 * GIB - LONGEST_CALL, 1)],
        );
        check(&[1; 2500], &[], 2500, &[(1024, 1024), (1024, 1024), (452, 452)]);
    }

    #[test]
    fn a_failure_tells_how_far_it_came() {
        for errno in [libc::ENOSPC, libc::EDQUOT, libc::EIO, libc::EFBIG] {
            let (outcome, _) = run(&[4, 4], &[Short(5), Errno(errno)]);
            let stopped = outcome.unwrap_err();
            assert_eq!((stopped.moved, stopped.cause.raw_os_error()), (5, Some(errno)));
        }
    }

    #[test]
    fn random_short_counts_move_every_byte_once() {
        let mut state = 0x2545_f491_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let lengths: Vec<usize> = (0..random(40)).map(|_| random(9) as usize).collect();
            let answers: Vec<Answer> = (0..random(60))
                .map(|_| match random(4) {
                    0 => Errno(libc::EINTR),
                    _ => Short(1 + random(12) as usize),
                })
                .collect();
            let (outcome, _) = run(&lengths, &answers);
            assert_eq!(outcome.unwrap(), lengths.iter().sum::<usize>() as u64, "{lengths:?}");
        }
    }
}
