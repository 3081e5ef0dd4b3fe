//! Error codes that carry our text into the program.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CString, c_int};
use std::sync::OnceLock;

use parking_lot::Mutex;

use super::constants::Abi;
use super::library::{Library, call, library};
use super::running::{epoch, is_running};
use crate::error::{Class, Error, Result};

/// Codes made for each class at most. The MPI keeps them for ever, so the oldest are reused.
const CODES_PER_CLASS: usize = 100;

/// Codes made at most, counted from the start of the process: where MPI begins anew the old ones may
/// be there or not. MPICH has 2,048, the program's own among them, and ends a program that makes more.
const CODES_AT_ALL: usize = 1000;

/// What MPICH keeps of a text that does not come through MPI_Add_error_string.
const MPICH_LINE: usize = 256;

/// The codes of one class with their texts, the one longest unused first.
type Ring = VecDeque<(c_int, String)>;

static RINGS: Mutex<Rings> = Mutex::new(Rings::new());

/// The codes that the MPI of an epoch knows.
struct Rings {
    epoch: u32,
    made: usize,
    known: BTreeMap<Class, Ring>,
}

/// Where a text finds its code.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// It has one.
    Known(c_int),
    /// It gets one whose text is longest unused.
    Old(c_int),
    /// A code is to be made.
    New,
    /// There may be no more codes.
    None,
}

impl Rings {
    const fn new() -> Rings {
        Rings { epoch: 0, made: 0, known: BTreeMap::new() }
    }

    /// The ring of a class.
    fn ring(&mut self, epoch: u32, class: Class) -> &mut Ring {
        if self.epoch != epoch {
            (self.epoch, self.known) = (epoch, BTreeMap::new());
        }
        self.known.entry(class).or_default()
    }

    /// The place for a text, which is taken: what is old or new is to be put back with its text.
    fn take(&mut self, epoch: u32, class: Class, text: &str) -> Place {
        let full = self.made >= CODES_AT_ALL;
        let ring = self.ring(epoch, class);
        let known = ring.iter().position(|(_, known)| known == text);
        if let Some((code, text)) = known.and_then(|index| ring.remove(index)) {
            ring.push_back((code, text));
            return Place::Known(code);
        }
        if full || ring.len() >= CODES_PER_CLASS {
            return ring.pop_front().map_or(Place::None, |(code, _)| Place::Old(code));
        }
        self.made += 1;
        Place::New
    }
}

/// A code for the program: MPI_Error_class gives the error's class, MPI_Error_string its text.
/// Where the MPI cannot make one, the class is the code.
pub fn error_code(error: &Error) -> c_int {
    let Ok(library) = library() else { return 1 };
    let class = library.constants().class_code(error.class);
    if !is_running() {
        return class;
    }
    match maker(library) {
        Maker::Standard => {
            let text = fit(error.text(), library.constants().max_error_string);
            code_with_text(library, error.class, text).unwrap_or(class)
        }
        Maker::Mpich => mpich_code(library, class, &fit(error.text(), MPICH_LINE)),
        Maker::Nothing => class,
    }
}

/// The same text gives the same code. The MPI is asked while the rings are free: it may hold a lock
/// of its own while it asks us for the code of a failed request.
fn code_with_text(library: &Library, class: Class, text: String) -> Result<c_int> {
    let place = RINGS.lock().take(epoch(), class, &text);
    let number = library.constants().class_code(class);
    let code = match place {
        Place::Known(code) => return Ok(code),
        Place::None => return Ok(number),
        Place::Old(code) => standard_code(library, number, Some(code), &text)?,
        Place::New => standard_code(library, number, None, &text)?,
    };
    RINGS.lock().ring(epoch(), class).push_back((code, text));
    Ok(code)
}

/// How codes with a text can be made.
#[derive(Clone, Copy, Debug)]
enum Maker {
    /// As the standard says, with MPI_Add_error_code and MPI_Add_error_string.
    Standard,
    /// With what MPICH's own file routines use. Before 4.2 it mixes up the texts of codes that
    /// are added to its predefined classes.
    Mpich,
    /// Not at all.
    Nothing,
}

/// Tries the standard's way once; two threads that come at the same time both do, since neither
/// may wait for the other (see `code_with_text`).
fn maker(library: &Library) -> Maker {
    static MAKER: OnceLock<Maker> = OnceLock::new();
    if let Some(maker) = MAKER.get() {
        return *maker;
    }
    let (text, class) = ("error of mpiio-rs", library.constants().class_code(Class::Io));
    let trial = standard_code(library, class, None, text);
    let works = trial.is_ok_and(|code| {
        library.class_of_code(code) == Class::Io && library.error_string(code) == text
    });
    let found = match library.abi() {
        _ if works => Maker::Standard,
        Abi::Mpich if library.functions.mpir_err_create_code.is_some() => Maker::Mpich,
        _ => Maker::Nothing,
    };
    *MAKER.get_or_init(|| found)
}

/// Gives the text to a new code, or to an old one.
fn standard_code(library: &Library, class: c_int, old: Option<c_int>, text: &str) -> Result<c_int> {
    let mut code = old.unwrap_or(class);
    if old.is_none() {
        call!(library, add_error_code(class, &mut code))?;
    }
    let text = CString::new(text).unwrap_or_default();
    call!(library, add_error_string(code, text.as_ptr()))?;
    Ok(code)
}

/// A new one each time: MPICH keeps the last 128 of all its codes, so one that is used again may be
/// forgotten before the program has asked for its text. It puts the name of the class before that.
fn mpich_code(library: &Library, class: c_int, text: &str) -> c_int {
    let Some(create_code) = library.functions.mpir_err_create_code else { return class };
    let text = CString::new(text).unwrap_or_default();
    let (routine, generic, format) = (c"mpiio-rs", c"**other", c"%s");
    // SAFETY: the arguments are those of MPICH's own callers; "%s" takes one C string, and all
    // strings are copied.
    unsafe {
        create_code(
            library.constants().success,
            0, // not fatal
            routine.as_ptr(),
            0, // no line
            class,
            generic.as_ptr(),
            format.as_ptr(),
            text.as_ptr(),
        )
    }
}

/// What of `text` the MPI has room for, its NUL included. Too long it is because of a path, which
/// stands in the middle: what was being done comes first, and the cause last.
fn fit(text: &str, room: usize) -> String {
    const CUT: &str = "...";
    let text = text.replace('\0', " ");
    if text.len() < room {
        return text;
    }
    let kept = (room - 1).saturating_sub(CUT.len());
    let mut head = kept / 2;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - (kept - head);
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}{CUT}{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_an_end_to_new_codes_wherever_mpi_begins_anew() {
        let mut rings = Rings::new();
        let mut codes = 0;
        for epoch in 1..2 * CODES_AT_ALL as u32 {
            for text in ["one", "other"] {
                match rings.take(epoch, Class::Arg, text) {
                    Place::New => codes += 1,
                    place => {
                        assert_eq!((codes, place), (CODES_AT_ALL, Place::None));
                        continue;
                    }
                }
                rings.ring(epoch, Class::Arg).push_back((codes as c_int, text.into()));
                assert_eq!(rings.take(epoch, Class::Arg, text), Place::Known(codes as c_int));
            }
        }
        assert_eq!(codes, CODES_AT_ALL);
    }

    #[test]
    fn the_code_longest_unused_gets_the_next_text() {
        let mut rings = Rings::new();
        for code in 0..CODES_PER_CLASS {
            assert_eq!(rings.take(1, Class::Io, &code.to_string()), Place::New);
            rings.ring(1, Class::Io).push_back((code as c_int, code.to_string()));
        }
        assert_eq!(rings.take(1, Class::Io, "0"), Place::Known(0));
        assert_eq!(rings.take(1, Class::Io, "another"), Place::Old(1));
        assert_eq!(rings.take(1, Class::Arg, "another"), Place::New, "each class has its own");
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_is_cut_between_characters() {
        assert_eq!(fit("writing", 256), "writing");
        assert_eq!(fit("writing", 8), "writing");
        assert_eq!(fit("opening /a/b/c: no space", 16), "openin... space");
        assert_eq!(fit("a\u{20ac}\u{20ac}\u{20ac}c", 9), "a...\u{20ac}c");
        assert_eq!(fit("a\0b", 5), "a b");
        let long = format!("writing 8 bytes of {}: no space", "/directory".repeat(100));
        let short = fit(&long, 256);
        assert_eq!(short.len(), 255);
        assert!(short.starts_with("writing 8 bytes of /") && short.ends_with(": no space"));
    }
}
