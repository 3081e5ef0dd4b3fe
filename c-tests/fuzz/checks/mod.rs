//! What must hold for every input: the fuzzers look for one for which it does not, and
//! `cargo test` tries those that are kept in `corpus`.

#![allow(dead_code)] // each fuzzer is a program that runs one of them

pub mod access;
pub mod hints;
pub mod names;
pub mod typemap;

/// The numbers that an input is read as; zeros when it is at its end.
pub struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    pub fn new(bytes: &[u8]) -> Numbers<'_> {
        Numbers(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        u64::from(self.byte()) % limit
    }

    /// Mostly small, so that inputs stay readable; after a large byte any 64 bits.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            small @ 0..=239 => i64::from(small) - 40,
            _ => (0..8).fold(0, |number, _| number << 8 | i64::from(self.byte())),
        }
    }

    pub fn count(&mut self) -> u64 {
        match self.byte() {
            small @ 0..=239 => u64::from(small) % 20,
            _ => self.number().unsigned_abs(),
        }
    }
}
