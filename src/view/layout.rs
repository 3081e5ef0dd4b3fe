//! A view as the engines know it: a typemap laid over the file from a displacement on.

use std::sync::Arc;

use super::cursor::Cursor;
use super::typemap::Typemap;

/// Which bytes of the file a rank sees, in which order. Positions count the bytes it sees.
#[derive(Clone, Debug)]
pub struct View {
    /// Where in the file the first tile starts.
    pub displacement: u64,
    /// Bytes of an etype in the file.
    pub etype_size: u64,
    /// The tile.
    pub filetype: Arc<Typemap>,
}

impl View {
    /// The view a file has when it is opened: all of its bytes.
    pub fn of_bytes() -> View {
        View { displacement: 0, etype_size: 1, filetype: Arc::new(Typemap::bytes(1)) }
    }

    /// A walk over the file; displacements count from `self.displacement`.
    pub fn cursor(&self, position: u64) -> Cursor<'_> {
        Cursor::new(&self.filetype, position)
    }

    /// Where in the file the byte at `position` lies.
    pub fn offset_of(&self, position: u64) -> u64 {
        self.displacement.saturating_add_signed(self.cursor(position).displacement())
    }

    /// Bytes seen below `offset` of the file.
    pub fn size_before(&self, offset: u64) -> u64 {
        let limit = i64::try_from(offset).unwrap_or(i64::MAX);
        self.filetype.size_before(limit.saturating_sub(self.displacement as i64))
    }

    /// Whether `size` bytes from `position` on are one stretch of the file.
    pub fn is_contiguous(&self, position: u64, size: u64) -> bool {
        self.filetype.contiguous_at().is_some() || self.cursor(position).left_in_run() >= size
    }

    /// Average length of a piece, and distance from one to the next.
    pub fn granularity(&self) -> (u64, u64) {
        let pieces = self.filetype.pieces().max(1);
        (self.filetype.size() / pieces, self.filetype.extent().unsigned_abs() / pieces)
    }
}
