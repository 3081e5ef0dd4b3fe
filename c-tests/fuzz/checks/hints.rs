//! Hints: whatever stands in an info, in variables and in hint files, the meaning is sound and
//! survives being told to another rank and being given back.

use std::io;

use mpiio_rs::hint::table::{self, TABLE};
use mpiio_rs::hint::{Environment, Facts, Hints, Request};
use mpiio_rs::report::Wanted;

/// Separates the parts of an input: no byte of any UTF-8 text.
const SEPARATOR: u8 = 0xFF;

/// An input: a path, the text of two hint files, then pairs for the info and the environment.
struct World {
    path: String,
    files: [Vec<u8>; 2],
    info: Vec<(String, String)>,
    variables: Vec<(String, String)>,
}

impl World {
    fn of(data: &[u8]) -> World {
        let mut parts = data.split(|&byte| byte == SEPARATOR);
        let mut next = || parts.next().unwrap_or_default().to_vec();
        let path = text(&next());
        let files = [next(), next()];
        let (mut info, mut variables) = (Vec::new(), Vec::new());
        for (index, part) in parts.enumerate() {
            if index % 2 == 0 {
                info.extend(pair(part, |row| TABLE[row].name));
            } else {
                let variable = |row: usize| TABLE[row].variables.first().copied();
                variables.extend(pair(part, |row| variable(row).unwrap_or("MPIIO_RS_HINTS")));
            }
        }
        World { path, files, info, variables }
    }

    fn environment(&self) -> Environment<'_> {
        let variable = |name: &str| match name {
            "ROMIO_HINTS" => Some("second".to_string()),
            _ => self.variables.iter().find(|(key, _)| key == name).map(|(_, v)| v.clone()),
        };
        let contents = |path: &str| match path {
            "second" => Ok(self.files[1].clone()),
            _ if self.files[0].is_empty() => Err(io::Error::from(io::ErrorKind::NotFound)),
            _ => Ok(self.files[0].clone()),
        };
        Environment::new(variable, contents)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `key=value`; a first byte that starts no text names a row of the table, to save the fuzzer
/// the search for its words. Strings in C end at a zero.
fn pair<'a>(part: &'a [u8], word: impl Fn(usize) -> &'a str) -> Option<(String, String)> {
    let part = part.split(|&byte| byte == 0).next()?;
    if let [row @ 0x80..=0xBF, value @ ..] = part {
        return Some((word(usize::from(row & 0x3F) % TABLE.len()).to_string(), text(value)));
    }
    let equals = part.iter().position(|&byte| byte == b'=')?;
    Some((text(&part[..equals]), text(&part[equals + 1..])))
}

pub fn check(data: &[u8]) {
    if let Ok(request) = Request::decode(data) {
        assert_eq!(Request::decode(&request.encode()).unwrap().entries(), request.entries());
        sound(&Hints::from_request(&request));
    }
    let world = World::of(data);
    let request = Request::collect(&world.info, &world.environment(), &world.path);
    let told = Request::decode(&request.encode()).unwrap();
    assert_eq!(told.entries(), request.entries());
    assert_eq!(told.fingerprint(), request.fingerprint());
    assert!((0..i64::MAX).contains(&request.fingerprint()));
    assert!(request.differences(&told).is_empty());
    let mut hints = Hints::from_request(&request);
    sound(&hints);
    given_back(&hints);
    hints.set(&world.info);
    sound(&hints);
    given_back(&hints);
}

fn facts() -> Facts {
    Facts { filename: "file".into(), ranks: 4, driver: "ufs".into(), ..Facts::default() }
}

/// What the other rooms rely on.
fn sound(hints: &Hints) {
    assert!(hints.ind_rd_buffer_size > 0 && hints.ind_wr_buffer_size > 0);
    assert!(hints.cb_buffer_size > 0);
    assert!(hints.cb_nodes != Some(0) && hints.striping_unit != Some(0));
    assert!(hints.striping_factor.is_none_or(|factor| factor > 0 || factor == -1));
    assert!(hints.file_perm.is_none_or(|bits| bits <= 0o7777));
    assert_eq!(Wanted::parse(&hints.report.to_string()).as_ref(), Some(&hints.report));
    for (key, value) in hints.entries(&facts()) {
        assert!(table::find(&key).is_some_and(|row| TABLE[row].name == key), "{key}");
        assert!(value.len() < 256 && !value.contains('\0'), "{key}={value:?}");
    }
    assert!(hints.display(&facts()).ends_with('\n'));
    for line in hints.changed(&facts()) {
        assert!(line.in_force.is_some() || !line.why.is_empty(), "{line:?}");
    }
}

/// Programs open a second file with the info that the first one answered: the same must hold.
fn given_back(hints: &Hints) {
    let entries = hints.entries(&facts());
    let mut same = hints.clone();
    same.set(&entries);
    assert_eq!(same.entries(&facts()), entries);
    // Values that no info has room for are not answered.
    let second = Hints::from_request(&Request::of_info(&entries)).entries(&facts());
    assert!(entries.iter().all(|entry| second.contains(entry)), "{entries:?} gave {second:?}");
}
