//! The files that this process has open through this library.
//!
//! MPI lets `MPI_File_delete` refuse a file that is open. Of other processes nothing certain can
//! be known without a cost at every open; of this one it can.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::Mutex;

/// Device and inode: what a file is, whatever its names are.
pub(super) type Identity = (u64, u64);

static OPEN: LazyLock<Mutex<HashMap<Identity, usize>>> = LazyLock::new(Mutex::default);

/// One opening of a file; dropping it is the closing.
#[derive(Debug)]
pub(super) struct InUse(Identity);

impl InUse {
    pub(super) fn new(identity: Identity) -> InUse {
        *OPEN.lock().entry(identity).or_insert(0) += 1;
        InUse(identity)
    }

    pub(super) fn inode(&self) -> u64 {
        self.0.1
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut open = OPEN.lock();
        if let Some(count) = open.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.0);
            }
        }
    }
}

/// How many openings of the file there are.
pub(super) fn openings(identity: Identity) -> usize {
    OPEN.lock().get(&identity).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_counted() {
        let file = (u64::MAX, 1);
        assert_eq!(openings(file), 0);
        let first = InUse::new(file);
        let second = InUse::new(file);
        assert_eq!(openings(file), 2);
        drop(first);
        assert_eq!(openings(file), 1);
        drop(second);
        assert_eq!(openings(file), 0);
    }
}
