//! Names: of files with and without a prefix, of data representations, and in the variables
//! that force a driver.

use std::ffi::{CStr, CString};

use mpiio_rs::driver::detect::{self, Kind};
use mpiio_rs::error::Class;
use mpiio_rs::report::{Subject, json, text};
use mpiio_rs::view::datarep::{Representation, UserRepresentation, register};

/// The words of ROMIO and OMPIO, and what each means here.
const WORDS: [(&str, Kind); 13] = [
    ("ufs", Kind::Ufs),
    ("xfs", Kind::Ufs),
    ("pvfs2", Kind::Ufs),
    ("panfs", Kind::Ufs),
    ("daos", Kind::Ufs),
    ("testfs", Kind::Ufs),
    ("ime", Kind::Ufs),
    ("quobyte", Kind::Ufs),
    ("nfs", Kind::Nfs),
    ("gpfs", Kind::Gpfs),
    ("GPFS", Kind::Gpfs),
    ("lustre", Kind::Lustre),
    ("LUSTRE", Kind::Lustre),
];

fn meaning(word: &[u8]) -> Option<Kind> {
    WORDS.iter().find(|(known, _)| known.as_bytes() == word).map(|(_, kind)| *kind)
}

/// The input is a file's name and, after a zero, the value of the variable; a name of a
/// representation is made of the same bytes.
pub fn check(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == 0);
    let mut next = || CString::new(parts.next().unwrap_or_default()).expect("no zeros are left");
    let (name, forced) = (next(), next());
    prefix(&name, None);
    variable(&name, &forced);
    representation(&String::from_utf8_lossy(name.to_bytes()));
    reports(&String::from_utf8_lossy(name.to_bytes()));
    // Nothing is opened. Names that lead nowhere are plain POSIX.
    let found = detect::filesystem(&name);
    assert!(!found.name.is_empty());
}

fn prefix(name: &CStr, forced: Option<Kind>) {
    let bytes = name.to_bytes();
    let colon = bytes.iter().position(|&byte| byte == b':');
    let parts = colon.map(|colon| (&bytes[..colon], &bytes[colon + 1..]));
    let named = parts.and_then(|(word, path)| Some((meaning(word)?, path)));
    let expected = match named {
        Some((kind, path)) if !path.is_empty() => (forced.or(Some(kind)), path),
        _ => (forced, bytes),
    };
    let (kind, path) = detect::split_name(name);
    assert_eq!((kind, path.to_bytes()), expected, "{name:?}");
}

fn variable(name: &CStr, value: &CStr) {
    const VARIABLE: &str = "ROMIO_FSTYPE_FORCE";
    let Ok(value) = value.to_str() else { return };
    // SAFETY: nothing else in a fuzzer or in the test of the corpus uses the environment.
    unsafe { std::env::set_var(VARIABLE, value) };
    prefix(name, meaning(value.trim().trim_end_matches(':').as_bytes()));
    // SAFETY: as above.
    unsafe { std::env::remove_var(VARIABLE) };
}

fn representation(name: &str) {
    let predefined = ["native", "internal", "external32"].contains(&name);
    // One letter at most, so that the list of names stays short however long a fuzzer runs.
    let mine = name.len() <= 1;
    if predefined || mine {
        let identity =
            || UserRepresentation { read: None, write: None, extent: Box::new(|_| Ok(1)) };
        let first = register(name, identity());
        assert!(mine || first.is_err());
        let again = register(name, identity()).unwrap_err();
        assert_eq!(again.class, Class::DupDatarep);
    }
    match Representation::named(name) {
        Ok(found) => assert!(predefined || mine && !found.is_native()),
        Err(error) => {
            assert!(!predefined && !mine);
            assert_eq!(error.class, Class::UnsupportedDatarep);
        }
    }
}

/// One object on one line, whatever the name; as a line of text too.
fn reports(name: &str) {
    let subject = Subject { file: name.into(), ..Subject::default() };
    let line = json(&subject);
    assert_eq!(line.matches('\n').count(), 1);
    assert!(line.chars().all(|character| character == '\n' || character >= ' '));
    let start = line.find("\"file\":\"").expect("a member for the name") + 8;
    assert_eq!(unquoted(&line[start..]), name);
    assert!(text(&subject).ends_with('\n'));
}

/// The text of a JSON string, up to its closing quote.
fn unquoted(json: &str) -> String {
    let mut text = String::new();
    let mut characters = json.chars();
    loop {
        match characters.next().expect("a closing quote") {
            '"' => return text,
            '\\' => match characters.next().expect("an escaped character") {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'u' => {
                    let digits: String = characters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).expect("four digits");
                    text.push(char::from_u32(code).expect("a character"));
                }
                plain => text.push(plain),
            },
            plain => text.push(plain),
        }
    }
}
