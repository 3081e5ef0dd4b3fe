//! The C types of the arguments, each with the one way it may be touched.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;

use crate::error::{Class, Error, Result};
use crate::mpi::{self, Comm, Datatype, Errhandler, Group, Info, Request};

/// MPI_Offset, MPI_Count and MPI_Aint: 64 bits in every MPI.
pub(super) type MPI_Offset = i64;

/// What an argument is to the calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// MPI_File: a machine word in every MPI.
    File,
    /// Any other handle: an int in the MPICH family, a pointer elsewhere.
    Handle,
    /// A C int, or a Fortran INTEGER.
    Int,
    /// MPI_Offset, MPI_Count or MPI_Aint.
    Long,
    /// A pointer to anything, a function too.
    Address,
}

impl Kind {
    /// The bytes of it, in an MPI whose handles have `handle_width` bytes.
    pub fn width(self, handle_width: usize) -> usize {
        match self {
            Kind::Handle => handle_width,
            Kind::Int => 4,
            Kind::File | Kind::Long | Kind::Address => 8,
        }
    }

    /// The word for it in a list.
    pub fn name(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Handle => "handle",
            Kind::Int => "int",
            Kind::Long => "long",
            Kind::Address => "address",
        }
    }
}

/// A type that stands in the signature of an exported routine.
pub(super) trait Argument {
    const KIND: Kind;
}

impl Argument for c_int {
    const KIND: Kind = Kind::Int;
}

impl Argument for MPI_Offset {
    const KIND: Kind = Kind::Long;
}

impl<T> Argument for *mut T {
    const KIND: Kind = Kind::Address;
}

/// A pointer to a function, or null.
impl<T> Argument for Option<T> {
    const KIND: Kind = Kind::Address;
}

/// A handle type of the `mpi` room.
pub(super) trait Handle: Copy {
    /// The handle in a register of the caller.
    fn from_register(word: usize) -> Self;

    /// Writes the handle, as wide as the MPI underneath has it.
    ///
    /// # Safety
    /// `place` points to a variable of the handle's type in the MPI underneath.
    unsafe fn write_to(self, place: *mut c_void);
}

macro_rules! handles {
    ($($handle:ident)*) => {
        $(impl Handle for $handle {
            fn from_register(word: usize) -> Self {
                $handle::from_word(word)
            }

            unsafe fn write_to(self, place: *mut c_void) {
                // SAFETY: the same promise.
                unsafe { self.write(place) }
            }
        })*
    };
}

handles! { Comm Datatype Errhandler Group Info Request }

/// A handle that the caller gives.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Given<H> {
    word: usize,
    handle: PhantomData<H>,
}

impl<H> Argument for Given<H> {
    const KIND: Kind = Kind::Handle;
}

impl<H: Handle> Given<H> {
    pub(super) fn handle(self) -> H {
        H::from_register(self.word)
    }
}

/// A place for one value that the caller wants back.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Out<T>(*mut T);

impl<T> Argument for Out<T> {
    const KIND: Kind = Kind::Address;
}

impl<T> Out<T> {
    /// Fills the place; `argument` names it if there is none.
    pub(super) fn set(self, argument: &str, value: T) -> Result<()> {
        self.require(argument)?;
        // SAFETY: not null, so the caller of the routine promises room for a T.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// An error if there is no place.
    pub(super) fn require(&self, argument: &str) -> Result<()> {
        if self.0.is_null() { Err(null_pointer(argument)) } else { Ok(()) }
    }
}

impl<T: Copy> Out<T> {
    /// What is in the place, for arguments that go both ways.
    pub(super) fn get(self, argument: &str) -> Result<T> {
        self.require(argument)?;
        // SAFETY: not null, so the caller of the routine promises a T there.
        Ok(unsafe { self.0.read() })
    }
}

/// A place for a handle of the MPI underneath, as wide as its handles are.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct HandleOut<H> {
    place: *mut c_void,
    handle: PhantomData<H>,
}

impl<H> Argument for HandleOut<H> {
    const KIND: Kind = Kind::Address;
}

impl<H: Handle> HandleOut<H> {
    /// Fills the place; `argument` names it if there is none.
    pub(super) fn set(self, argument: &str, handle: H) -> Result<()> {
        if self.place.is_null() {
            return Err(null_pointer(argument));
        }
        // SAFETY: not null, so the caller promises a variable of the handle's type.
        unsafe { handle.write_to(self.place) };
        Ok(())
    }
}

/// A status that the caller wants filled, MPI_STATUS_IGNORE, or null, which is taken for that.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct StatusOut(*mut c_void);

impl Argument for StatusOut {
    const KIND: Kind = Kind::Address;
}

impl StatusOut {
    /// Says how many bytes were transferred. After a failure it is none that anybody could count
    /// on: what an earlier call left in the status must not be taken for this one's.
    pub(super) fn set(self, bytes: Result<u64>) -> Result<()> {
        let moved = *bytes.as_ref().unwrap_or(&0);
        // SAFETY: the caller promises a status unless it is MPI_STATUS_IGNORE or null.
        let told = unsafe { mpi::set_status(self.0, moved) };
        bytes.and(told)
    }
}

/// A string of the caller.
#[repr(transparent)]
pub(super) struct Text(*const c_char);

impl Argument for Text {
    const KIND: Kind = Kind::Address;
}

impl Text {
    /// The string; `argument` names it if there is none.
    pub(super) fn get(&self, argument: &str) -> Result<&CStr> {
        if self.0.is_null() {
            return Err(null_pointer(argument));
        }
        // SAFETY: not null, so the caller promises a string that ends, until the routine returns.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

/// Room for a string that the caller wants back.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct TextOut(*mut c_char);

impl Argument for TextOut {
    const KIND: Kind = Kind::Address;
}

impl TextOut {
    /// Writes `text`, cut to the `room` bytes that the standard gives it, the final zero included.
    pub(super) fn set(self, argument: &str, text: &str, room: usize) -> Result<()> {
        if self.0.is_null() {
            return Err(null_pointer(argument));
        }
        let length = text.len().min(room - 1);
        // SAFETY: the caller promises `room` bytes; the text is ours and cannot overlap them.
        unsafe {
            self.0.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), length);
            self.0.add(length).write(0);
        }
        Ok(())
    }
}

fn null_pointer(argument: &str) -> Error {
    Error::new(Class::Arg, format!("argument {argument} is a null pointer"))
}
