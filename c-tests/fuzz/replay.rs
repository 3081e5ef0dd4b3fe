//! Tries the inputs that the fuzzers have kept: `scripts/fuzz` looks for others.

mod checks;

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/fuzz/corpus").join(target);
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a folder of inputs") {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        check(&fs::read(&path).expect("an input"));
        count += 1;
    }
    assert!(count >= 10, "only {count} inputs in {}", folder.display());
}

#[test]
fn hints() {
    replay("hints", checks::hints::check);
}

#[test]
fn names() {
    replay("names", checks::names::check);
}

#[test]
fn typemaps() {
    replay("typemap", checks::typemap::check);
}

#[test]
fn accesses() {
    replay("access", checks::access::check);
}
