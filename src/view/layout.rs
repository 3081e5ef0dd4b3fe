//! A view as the engines know it: a typemap laid over the file from a displacement on.

use std::ops::Range;
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

    /// The next pieces from `position` on, as far as they are pieces and not one endless stretch.
    pub fn elements(&self, position: u64, most: usize) -> Vec<Range<u64>> {
        if self.filetype.size() == 0 || self.filetype.contiguous_at().is_some() {
            return Vec::new();
        }
        let mut cursor = self.cursor(position);
        let element = |_| {
            let start = self.displacement.saturating_add_signed(cursor.displacement());
            let length = cursor.left_in_run();
            cursor.next(length);
            start..start.saturating_add(length)
        };
        let elements = (0..most).map(element);
        elements.take_while(|element| element.end < i64::MAX as u64).collect()
    }

    /// Average length of a piece, and distance from one to the next.
    pub fn granularity(&self) -> (u64, u64) {
        let pieces = self.filetype.pieces().max(1);
        (self.filetype.size() / pieces, self.filetype.extent().unsigned_abs() / pieces)
    }
}
