//! Data representations: what the bytes of the file mean.

use std::ffi::c_void;
use std::sync::Arc;

use parking_lot::Mutex;

use super::cursor::Cursor;
use super::external32;
use super::typemap::{Element, Typemap};
use crate::error::{Class, Error, Result};
use crate::mpi::Datatype;

/// Converts `count` data items between the user's buffer, from item `position` of the tiled
/// datatype on, and a contiguous buffer in the file's form. Data items are the entries of
/// predefined types in the datatype's signature, as the standard counts them.
pub type ConversionFn =
    Box<dyn Fn(*mut c_void, Datatype, i64, *mut c_void, i64) -> Result<()> + Send + Sync>;

/// Tells how many bytes a predefined datatype takes in the file.
pub type ExtentFn = Box<dyn Fn(Datatype) -> Result<i64> + Send + Sync>;

/// A representation that the application has registered.
pub struct UserRepresentation {
    /// From the file's form; `None` where it is the native one.
    pub read: Option<ConversionFn>,
    /// To the file's form; `None` where it is the native one.
    pub write: Option<ConversionFn>,
    /// Sizes in the file.
    pub extent: ExtentFn,
}

/// What the bytes of the file mean.
#[derive(Clone)]
pub enum Representation {
    /// As in memory; `internal` is the same, since all ranks run on one kind of machine.
    Native,
    /// The standard's portable form.
    External32,
    /// The application's own.
    User(Arc<UserRepresentation>),
}

static REGISTERED: Mutex<Vec<(String, Arc<UserRepresentation>)>> = Mutex::new(Vec::new());

/// The names that every implementation has.
const PREDEFINED: [&str; 3] = ["native", "internal", "external32"];

/// Makes `name` a representation.
pub fn register(name: &str, representation: UserRepresentation) -> Result<()> {
    let mut registered = REGISTERED.lock();
    if PREDEFINED.contains(&name) || registered.iter().any(|(known, _)| known == name) {
        let text = format!("data representation \"{name}\" is defined already");
        return Err(Error::new(Class::DupDatarep, text));
    }
    registered.push((name.to_string(), Arc::new(representation)));
    Ok(())
}

impl Representation {
    /// The representation with this name.
    pub fn named(name: &str) -> Result<Representation> {
        match name {
            "native" | "internal" => return Ok(Representation::Native),
            "external32" => return Ok(Representation::External32),
            _ => {}
        }
        let registered = REGISTERED.lock();
        match registered.iter().find(|(known, _)| known == name) {
            Some((_, representation)) => Ok(Representation::User(representation.clone())),
            None => {
                let text = format!("no data representation is called \"{name}\"");
                Err(Error::new(Class::UnsupportedDatarep, text))
            }
        }
    }

    /// Whether file and memory hold the same bytes.
    pub fn is_native(&self) -> bool {
        matches!(self, Representation::Native)
    }

    /// Bytes that a predefined datatype, whose elements are `typemap`, takes in the file.
    pub fn file_size(&self, named: Datatype, typemap: &Typemap) -> Result<u64> {
        match self {
            Representation::Native => Ok(typemap.size()),
            Representation::External32 => {
                Ok(typemap.weigh(&|element| u64::from(external32::size(element))))
            }
            Representation::User(user) => {
                let extent = (user.extent)(named)?;
                u64::try_from(extent).map_err(|_| {
                    let text = format!("the data representation gives an extent of {extent} bytes");
                    Error::new(Class::Conversion, text)
                })
            }
        }
    }
}

/// The next elements of a stream of memory: `size` bytes there, `external` bytes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// What they are.
    pub element: Element,
    /// Bytes in memory.
    pub size: usize,
    /// Bytes in the file.
    pub external: usize,
}

/// Cuts the stream into elements until the next would make more than `limit` bytes in memory.
/// The cursor walks a typemap that keeps its elements and has `left` bytes before it.
pub fn next_elements(cursor: &mut Cursor<'_>, left: u64, limit: usize) -> Vec<Elements> {
    let mut list = Vec::new();
    let mut room = (limit as u64).min(left);
    loop {
        let element = cursor.element();
        let whole = room - room % u64::from(element.size);
        if whole == 0 {
            return list;
        }
        let size = cursor.next(whole).size();
        let external = size / u64::from(element.size) * u64::from(external32::size(element));
        list.push(Elements { element, size: size as usize, external: external as usize });
        room -= size;
    }
}
