//! Access to a file whose representation is not the native one.
//!
//! The conversion works on stretches of the stream in buffers of the library: memory is gathered,
//! converted, and handed to the engine as plain bytes of the view; a read goes the other way.

use std::cell::Cell;
use std::ffi::c_void;

use super::File;
use super::access::Checked;
use crate::error::{Class, Error, Result};
use crate::memory::{Piece, UserMemory};
use crate::operation::Direction;
use crate::view::cursor::Cursor;
use crate::view::datarep::{Elements, Representation, UserRepresentation, next_elements};
use crate::view::external32;

/// Bytes of memory that are converted at a time.
const STRETCH: usize = 1 << 20;

impl File {
    /// Moves the bytes of a checked access; the count is in bytes of memory.
    pub(super) fn convert(&self, checked: &Checked, position: u64) -> Result<u64> {
        match &checked.view.representation {
            Representation::User(user) => self.convert_user(checked, position, user),
            _ => self.convert_external32(checked, position),
        }
    }

    /// Moves packed bytes in the file's form.
    fn move_packed(&self, checked: &Checked, position: u64, packed: &mut [u8]) -> Result<u64> {
        let memory = UserMemory::packed(Piece::of_mut(packed));
        self.transfer(checked, position, &memory)
    }

    fn convert_external32(&self, checked: &Checked, position: u64) -> Result<u64> {
        let typemap = checked.buffer.datatype.typed_typemap()?;
        let total = checked.memory.size();
        let mut kinds = Cursor::new(&typemap, 0);
        let mut memory = checked.memory.cursor(0);
        let mut native = buffer(total.min(STRETCH as u64))?;
        let (mut done, mut position) = (0, position);
        while done < total {
            let elements = next_elements(&mut kinds, total - done, STRETCH);
            let size: usize = elements.iter().map(|part| part.size).sum();
            let mut external = buffer(elements.iter().map(|part| part.external as u64).sum())?;
            let native = &mut native[..size];
            if checked.direction == Direction::Write {
                checked.memory.gather(&mut memory, Piece::of_mut(native));
                encode(&elements, native, &mut external)?;
            }
            let moved = self.move_packed(checked, position, &mut external)?;
            let size = match checked.direction {
                Direction::Write => size,
                Direction::Read => {
                    let size = decode(&elements, &external[..moved as usize], native)?;
                    checked.memory.scatter(&mut memory, Piece::of_mut(&mut native[..size]));
                    size
                }
            };
            done += size as u64;
            position += moved;
            if moved < external.len() as u64 {
                break;
            }
        }
        Ok(done)
    }

    fn convert_user(
        &self,
        checked: &Checked,
        position: u64,
        user: &UserRepresentation,
    ) -> Result<u64> {
        let converts = match checked.direction {
            Direction::Read => &user.read,
            Direction::Write => &user.write,
        };
        let Some(converts) = converts else {
            return self.transfer(checked, position, &checked.memory);
        };
        let datatype = checked.buffer.datatype;
        let address = checked.buffer.address as *mut c_void;
        let Units { total, in_file, in_memory, items } = Units::of(checked)?;
        let most = (STRETCH as u64 / in_file).max(1) as i64;
        let (mut first, mut position) = (0, position);
        while first < total {
            let count = most.min(total - first);
            let mut packed = buffer(count as u64 * in_file)?;
            let file_buffer = packed.as_mut_ptr().cast();
            if checked.direction == Direction::Write {
                converts(address, datatype, count * items, file_buffer, first * items)?;
            }
            let moved = self.move_packed(checked, position, &mut packed)?;
            let whole = (moved / in_file) as i64;
            if checked.direction == Direction::Read && whole > 0 {
                let file_buffer = packed.as_mut_ptr().cast();
                converts(address, datatype, whole * items, file_buffer, first * items)?;
            }
            first += whole;
            position += moved;
            if whole < count {
                break;
            }
        }
        Ok(first as u64 * in_memory)
    }
}

/// What an access is cut into for the functions of the user, which count data items: entries of
/// predefined types. Where all are alike a unit is one of them, else one of the caller's datatype.
struct Units {
    total: i64,
    /// Bytes of one in the file.
    in_file: u64,
    /// Bytes of one in memory.
    in_memory: u64,
    /// Data items in one.
    items: i64,
}

impl Units {
    fn of(checked: &Checked) -> Result<Units> {
        let (seen, alike) = (Cell::new(None), Cell::new(true));
        let representation = &checked.view.representation;
        let items = checked.buffer.datatype.typemap_with(&|named, typemap| {
            let sizes = (typemap.size(), representation.file_size(named, typemap)?);
            let before = seen.replace(Some(sizes));
            alike.set(alike.get() && before.is_none_or(|before| before == sizes));
            Ok(1)
        })?;
        let (count, items) = (checked.buffer.count.max(1), (items.size() as i64).max(1));
        let (total, items) = if alike.get() { (count * items, 1) } else { (count, items) };
        let in_file = (checked.size / total as u64).max(1);
        Ok(Units { total, in_file, in_memory: checked.memory.size() / total as u64, items })
    }
}

/// Memory of the library's own; an error where there is none.
fn buffer(size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let none = |_| Error::new(Class::NoMem, format!("no memory to convert {size} bytes"));
    bytes.try_reserve_exact(size as usize).map_err(none)?;
    bytes.resize(size as usize, 0);
    Ok(bytes)
}

fn encode(elements: &[Elements], native: &[u8], external: &mut [u8]) -> Result<()> {
    let (mut from, mut to) = (0, 0);
    for part in elements {
        let target = &mut external[to..to + part.external];
        external32::encode(part.element, &native[from..from + part.size], target)?;
        (from, to) = (from + part.size, to + part.external);
    }
    Ok(())
}

/// Converts as many whole elements as were read, and tells how many bytes of memory they are.
fn decode(elements: &[Elements], external: &[u8], native: &mut [u8]) -> Result<usize> {
    let (mut from, mut to) = (0, 0);
    for part in elements {
        let each = external32::size(part.element) as usize;
        let whole = (external.len() - from).min(part.external) / each;
        let size = whole * part.element.size as usize;
        let source = &external[from..from + whole * each];
        external32::decode(part.element, source, &mut native[to..to + size])?;
        (from, to) = (from + whole * each, to + size);
        if size < part.size {
            break;
        }
    }
    Ok(to)
}
