//! The man page has the hints of the table, as the README has.

use mpiio_rs::hint::roff;

const BEGIN: &str = ".\\\" hints\n";
const END: &str = ".\\\" /hints\n";

/// With UPDATE_README set they are written there first.
#[test]
fn the_man_page_has_the_hints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/install/mpiio_rs.7.in");
    let page = std::fs::read_to_string(path).expect("the man page");
    let (before, rest) = page.split_once(BEGIN).expect("a place for the hints");
    let (hints, after) = rest.split_once(END).expect("an end of that place");
    if hints != roff() && std::env::var_os("UPDATE_README").is_some() {
        let renewed = format!("{before}{BEGIN}{}{END}{after}", roff());
        return std::fs::write(path, renewed).expect("a man page that can be written");
    }
    assert!(hints == roff(), "the hints in {path} are old: UPDATE_README=1 cargo test");
}
