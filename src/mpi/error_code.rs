//! Error codes that carry our text into the program.

use std::collections::{HashMap, VecDeque};
use std::ffi::{CString, c_int};

use parking_lot::Mutex;

use super::library::{Library, call, is_running, library};
use crate::error::{Class, Error, Result};

/// Codes made for each class at most. The MPI keeps them for ever, so the oldest are reused.
const CODES_PER_CLASS: usize = 100;

/// The codes of one class, the one longest unused first, with their texts.
type Ring = VecDeque<(c_int, String)>;

static RINGS: Mutex<Option<HashMap<Class, Ring>>> = Mutex::new(None);

/// A code for the program: MPI_Error_class gives the error's class, MPI_Error_string its text.
/// The same text gives the same code. Where the MPI cannot make one, the class is the code.
pub fn error_code(error: &Error) -> c_int {
    let Ok(library) = library() else { return 1 };
    let class = library.constants().class_code(error.class);
    if !is_running() {
        return class;
    }
    let text = fit(error.text(), library.constants().max_error_string);
    let mut rings = RINGS.lock();
    let ring = rings.get_or_insert_default().entry(error.class).or_default();
    code_with_text(library, ring, class, text).unwrap_or(class)
}

fn code_with_text(library: &Library, ring: &mut Ring, class: c_int, text: String) -> Result<c_int> {
    if let Some(index) = ring.iter().position(|(_, known)| *known == text) {
        let entry = ring.remove(index).unwrap_or_default();
        let code = entry.0;
        ring.push_back(entry);
        return Ok(code);
    }
    let code = match ring.len() {
        CODES_PER_CLASS.. => ring[0].0,
        _ => {
            let mut code = class;
            call!(library, add_error_code(class, &mut code))?;
            code
        }
    };
    let c_text = CString::new(text.as_str()).unwrap_or_default();
    call!(library, add_error_string(code, c_text.as_ptr()))?;
    if ring.len() >= CODES_PER_CLASS {
        ring.pop_front();
    }
    ring.push_back((code, text));
    Ok(code)
}

/// What of `text` the MPI has room for, its NUL included.
fn fit(text: &str, max_error_string: usize) -> String {
    let mut length = text.len().min(max_error_string - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text[..length].replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(fit("writing", 256), "writing");
        assert_eq!(fit("writing", 5), "writ");
        assert_eq!(fit("ab\u{20ac}c", 5), "ab");
        assert_eq!(fit("a\0b", 5), "a b");
    }
}
