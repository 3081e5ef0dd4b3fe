use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::driver::scratch::Scratch;
use crate::memory::Piece;

const READ: Access = Access { read: true, write: false };
const WRITE: Access = Access { read: false, write: true };
const BOTH: Access = Access { read: true, write: true };

fn check_attempts(asked: Access, refused: &[(Access, i32)], expected: &[Access], opens: bool) {
    let mut attempts = Vec::new();
    let outcome = open_with(asked, |access| {
        attempts.push(access);
        match refused.iter().find(|(kind, _)| *kind == access) {
            Some((_, errno)) => Err(io::Error::from_raw_os_error(*errno)),
            None => Ok(()),
        }
    });
    assert_eq!(attempts, expected);
    let last = *expected.last().unwrap();
    assert_eq!(outcome.ok().map(|((), access)| access), opens.then_some(last));
}

#[test]
fn writing_only_is_opened_for_both_where_that_is_allowed() {
    check_attempts(READ, &[], &[READ], true);
    check_attempts(BOTH, &[], &[BOTH], true);
    check_attempts(WRITE, &[], &[BOTH], true);
    check_attempts(WRITE, &[(BOTH, libc::EACCES)], &[BOTH, WRITE], true);
    check_attempts(WRITE, &[(BOTH, libc::EACCES), (WRITE, libc::EACCES)], &[BOTH, WRITE], false);
    check_attempts(WRITE, &[(BOTH, libc::EEXIST)], &[BOTH], false);
    check_attempts(BOTH, &[(BOTH, libc::EACCES)], &[BOTH], false);
}

/// Opens and expects to fail in this way.
fn check_failure(options: &OpenOptions, class: Class, text: &str) {
    let error = open(options).err().expect("an error");
    assert_eq!(error.class, class, "{error}");
    assert_eq!(error.text(), text);
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    let scratch = Scratch::on_disk();
    let at = |name: &str| OpenOptions::new(&scratch.path(name), Kind::Ufs);
    let shown = |name: &str| scratch.path(name).into_string().unwrap();
    check_failure(
        &OpenOptions { write: true, ..at("missing") },
        Class::NoSuchFile,
        &format!(
            "opening {} for writing: No such file or directory (os error 2)",
            shown("missing")
        ),
    );
    check_failure(
        &OpenOptions { read: true, ..at(".") },
        Class::BadFile,
        &format!("opening {} for reading: it is a directory", shown(".")),
    );
    check_failure(
        &OpenOptions { read: true, write: true, ..at(".") },
        Class::BadFile,
        &format!("opening {} for reading and writing: Is a directory (os error 21)", shown(".")),
    );
    let exclusive = OpenOptions { exclusive: true, ..scratch.options("new", Kind::Ufs) };
    open(&exclusive).unwrap();
    check_failure(
        &exclusive,
        Class::FileExists,
        &format!("opening {} for reading and writing: File exists (os error 17)", shown("new")),
    );
    check_failure(
        &OpenOptions { read: true, ..at("new/below") },
        Class::BadFile,
        &format!("opening {} for reading: Not a directory (os error 20)", shown("new/below")),
    );
}

#[test]
fn a_new_file_has_the_permissions_asked_for() {
    let scratch = Scratch::on_disk();
    open(&OpenOptions { permissions: 0o600, ..scratch.options("a", Kind::Ufs) }).unwrap();
    let metadata = std::fs::metadata(scratch.path("a").to_str().unwrap()).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_was_opened_for_writing_can_be_read_around() {
    let scratch = Scratch::on_disk();
    let options = OpenOptions { read: false, ..scratch.options("a", Kind::Ufs) };
    let file = open(&options).unwrap();
    assert!(file.readable());
    file.write_at(0, &[Piece::of(b"abc")]).unwrap();
    let mut bytes = [0; 3];
    assert_eq!(file.read_at(0, &[Piece::of_mut(&mut bytes)]).unwrap(), 3);
    assert_eq!(&bytes, b"abc");
}

#[test]
fn a_descriptor_does_not_reach_child_programs() {
    let scratch = Scratch::on_disk();
    let file = open_posix(&scratch.options("a", Kind::Ufs)).unwrap();
    use std::os::fd::AsRawFd;
    // SAFETY: plain numbers, and the descriptor is open.
    let flags = unsafe { libc::fcntl(file.descriptor.as_raw_fd(), libc::F_GETFD) };
    assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
}

#[test]
fn the_driver_asked_for_is_the_driver_that_opens() {
    for scratch in Scratch::everywhere() {
        for kind in [Kind::Ufs, Kind::Nfs, Kind::Lustre, Kind::Gpfs] {
            let file = scratch.open("a", kind);
            assert_eq!(file.name(), kind.name());
            let layout = file.layout();
            assert!(layout.stripe_size > 0 && layout.stripe_count > 0 && layout.alignment > 0);
            file.write_at(0, &[Piece::of(kind.name().as_bytes())]).unwrap();
            file.sync().unwrap();
            file.close().unwrap();
        }
    }
}

#[test]
fn a_file_that_is_open_is_not_deleted() {
    for scratch in Scratch::everywhere() {
        let path = scratch.path("a");
        let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Nfs));
        assert!(in_use(&path));
        let error = delete(&path).unwrap_err();
        assert_eq!(error.class, Class::FileInUse);
        assert!(error.text().ends_with("a: this process has it open (2 times)"), "{error}");
        drop(one);
        assert_eq!(delete(&path).unwrap_err().class, Class::FileInUse);
        scratch.link("a", "link");
        delete(&scratch.path("link")).unwrap(); // the link, not the file
        drop(two);
        assert!(!in_use(&path));
        delete(&path).unwrap();
        let error = delete(&path).unwrap_err();
        assert_eq!(error.class, Class::NoSuchFile);
        assert!(error.text().starts_with("deleting /"), "{error}");
        let error = delete(&scratch.path(".")).unwrap_err();
        assert_eq!(error.class, Class::BadFile);
    }
}

#[test]
fn a_failed_opening_is_no_opening() {
    let scratch = Scratch::on_disk();
    let directory = scratch.path(".");
    assert!(open(&OpenOptions { read: true, ..OpenOptions::new(&directory, Kind::Ufs) }).is_err());
    assert!(!in_use(&directory));
}

#[test]
fn a_file_that_another_machine_made_is_waited_for() {
    let scratch = Scratch::on_disk();
    let options = OpenOptions { read: true, ..OpenOptions::new(&scratch.path("late"), Kind::Nfs) };
    assert_eq!(open(&options).err().unwrap().class, Class::NoSuchFile);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            open(&OpenOptions { create: true, write: true, ..options.clone() }).map(drop)
        });
        open(&OpenOptions { known: Known::Exists, ..options.clone() }).map(drop).unwrap();
    });
}
