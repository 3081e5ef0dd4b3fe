//! Which file system a file lies on, and which driver serves it.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::mount::{self, Mount};
use super::posix::answer;

/// The drivers there are. Ranks of a file must use the same one: where they see different file
/// systems below one name, the greatest is the safe choice for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Plain POSIX, and whatever is not known.
    Ufs = 1,
    /// IBM Storage Scale.
    Gpfs,
    /// Lustre.
    Lustre,
    /// NFS, whose clients cache without asking each other.
    Nfs,
}

impl Kind {
    /// The name users know.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ufs => "ufs",
            Kind::Gpfs => "gpfs",
            Kind::Lustre => "lustre",
            Kind::Nfs => "nfs",
        }
    }

    /// The number that ranks exchange; never zero.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind with this number; an unknown one is plain POSIX.
    pub fn from_code(code: u8) -> Kind {
        let kinds = [Kind::Ufs, Kind::Gpfs, Kind::Lustre, Kind::Nfs];
        kinds.into_iter().find(|kind| kind.code() == code).unwrap_or(Kind::Ufs)
    }
}

/// Whether a lock taken on one machine keeps out another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterLocks {
    /// Nothing is known.
    Unknown,
    /// No other machine has the file: locks are the kernel's own, quick and true.
    NoOther,
    /// It does.
    Works,
    /// It keeps out only processes of the same machine.
    LocalOnly,
}

/// A file system as found below a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filesystem {
    /// What the system calls it: "ext4", "nfs", "fuse.glusterfs"; "unknown" at worst.
    pub name: String,
    /// Its number in statfs; 0 where that could not be asked.
    pub magic: u32,
    /// The driver for it.
    pub kind: Kind,
    /// How far its locks reach.
    pub cluster_locks: ClusterLocks,
    /// Whether machines may remember what a name once meant, and all know a file by the same inode
    /// number.
    pub common_inodes: bool,
}

impl Filesystem {
    /// Whether only this machine has it.
    pub fn is_local(&self) -> bool {
        self.cluster_locks == ClusterLocks::NoOther
    }

    /// Whether machines may keep what they know of a file without asking each other. NFS does,
    /// but has a driver of its own.
    pub fn caches_alone(&self) -> bool {
        let agreeing = ["nfs", "lustre", "gpfs", "ceph", "gfs2", "panfs", "ocfs2"];
        let name = self.name.as_str();
        !self.is_local() && !agreeing.contains(&name) && !CEPH_IN_USER_SPACE.contains(&name)
    }
}

/// What the mount table calls Ceph's client in user space.
const CEPH_IN_USER_SPACE: [&str; 2] = ["fuse.ceph", "fuse.ceph-fuse"];

const NFS: u32 = 0x6969;
const LUSTRE: u32 = 0x0BD0_0BD0;
const FUSE: u32 = 0x6573_5546;
const SMB2: u32 = 0xFE53_4D42;
const CIFS: u32 = 0xFF53_4D42;

/// Number, name, driver and reach of locks.
#[rustfmt::skip]
const KNOWN: &[(u32, &str, Kind, ClusterLocks)] = {
    use ClusterLocks::*;
    use Kind::*;
    &[
        (NFS,         "nfs",       Nfs,    Works),
        (LUSTRE,      "lustre",    Lustre, Unknown),
        (0x4750_4653, "gpfs",      Gpfs,   Works),
        (0x1983_0326, "beegfs",    Ufs,    LocalOnly), // unless tuneUseGlobalFileLocks is set
        (0x2003_0528, "pvfs2",     Ufs,    Unknown),
        (0x00C3_6400, "ceph",      Ufs,    Works),
        (FUSE,        "fuse",      Ufs,    Unknown),
        (0xDA05_AD10, "daos",      Ufs,    Unknown),
        (0xAAD7_AAEA, "panfs",     Ufs,    Unknown),
        (0x0116_1970, "gfs2",      Ufs,    Works),
        (0x0131_11A8, "ibrix",     Ufs,    Unknown),
        (0x0102_1997, "9p",        Ufs,    Unknown),
        (SMB2,        "smb2",      Ufs,    Unknown),
        (CIFS,        "cifs",      Ufs,    Unknown),
        (0x5346_414F, "afs",       Ufs,    Unknown),
        (0x6B41_4653, "afs",       Ufs,    Unknown),
        (0x0000_0187, "autofs",    Ufs,    Unknown),
        (0x5846_5342, "xfs",       Ufs,    NoOther),
        (0x4558_4653, "xfs",       Ufs,    NoOther),
        (0x0000_EF53, "ext4",      Ufs,    NoOther),
        (0x0102_1994, "tmpfs",     Ufs,    NoOther),
        (0x8584_58F6, "ramfs",     Ufs,    NoOther),
        (0x9584_58F6, "hugetlbfs", Ufs,    NoOther),
        (0x9123_683E, "btrfs",     Ufs,    NoOther),
        (0xF2F5_2010, "f2fs",      Ufs,    NoOther),
        (0x2FC1_2FC1, "zfs",       Ufs,    NoOther),
        (0x794C_7630, "overlay",   Ufs,    NoOther),
    ]
};

/// Words that ROMIO and OMPIO take before a colon to choose the file system.
const PREFIXES: &[(&str, Kind)] = &[
    ("ufs", Kind::Ufs),
    ("nfs", Kind::Nfs),
    ("xfs", Kind::Ufs),
    ("pvfs2", Kind::Ufs),
    ("gpfs", Kind::Gpfs),
    ("GPFS", Kind::Gpfs),
    ("panfs", Kind::Ufs),
    ("lustre", Kind::Lustre),
    ("LUSTRE", Kind::Lustre),
    ("daos", Kind::Ufs),
    ("testfs", Kind::Ufs),
    ("ime", Kind::Ufs),
    ("quobyte", Kind::Ufs),
];

/// The path in a file name as given to MPI_File_open, and the file system that it, or the
/// environment, asks for. A word before a colon that is no file system belongs to the path.
pub fn split_name(name: &CStr) -> (Option<Kind>, &CStr) {
    let (named, path) = split_prefix(name);
    (forced_by_environment().or(named), path)
}

/// The file system below a path that may not exist yet. Never fails: what cannot be found out
/// is plain POSIX, and opening the file will tell what is wrong with it.
pub fn filesystem(path: &CStr) -> Filesystem {
    let (magic, device) = existing_part(Path::new(OsStr::from_bytes(path.to_bytes())));
    classify(magic, || mount::of_device(device?))
}

fn split_prefix(name: &CStr) -> (Option<Kind>, &CStr) {
    let bytes = name.to_bytes();
    for (prefix, kind) in PREFIXES {
        let rest = bytes.strip_prefix(prefix.as_bytes()).and_then(|r| r.strip_prefix(b":"));
        if rest.is_some_and(|path| !path.is_empty()) {
            return (Some(*kind), &name[prefix.len() + 1..]);
        }
    }
    (None, name)
}

/// ROMIO's variable, or else Intel MPI's for the same purpose.
fn forced_by_environment() -> Option<Kind> {
    ["ROMIO_FSTYPE_FORCE", "I_MPI_EXTRA_FILESYSTEM_FORCE"]
        .iter()
        .find_map(|variable| named(&std::env::var(variable).ok()?))
}

/// The kind for "ufs" or "ufs:"; other words are nothing.
fn named(word: &str) -> Option<Kind> {
    let word = word.trim().trim_end_matches(':');
    PREFIXES.iter().find(|(prefix, _)| *prefix == word).map(|(_, kind)| *kind)
}

/// What is known of a number; `mount` is asked only where the mount table says more.
fn classify(magic: u32, mount: impl FnOnce() -> Option<Mount>) -> Filesystem {
    let known = KNOWN.iter().find(|(number, ..)| *number == magic);
    let (name, kind, mut cluster_locks) = match known {
        Some((_, name, kind, locks)) => (*name, *kind, *locks),
        None => ("unknown", Kind::Ufs, ClusterLocks::Unknown),
    };
    let mut name = name.to_string();
    // An NFS client has the number from the server.
    let mut common_inodes = magic == NFS;
    if (known.is_none() || matches!(magic, NFS | LUSTRE | FUSE | SMB2 | CIFS))
        && let Some(mount) = mount()
    {
        cluster_locks = locks_of_mount(magic, &mount, cluster_locks);
        common_inodes = common_inodes || has_inodes_of_server(magic, &mount);
        if known.is_none() || magic == FUSE {
            name = mount.kind;
        }
    }
    Filesystem { name, magic, kind, cluster_locks, common_inodes }
}

/// Whether the inode numbers come from the servers: those of GlusterFS and MooseFS do, and SMB's
/// where the mount says so. Most other file systems in user space let each mount number files as it
/// meets them, as `fuse.sshfs` does, so of those that are not known nothing can be said.
fn has_inodes_of_server(magic: u32, mount: &Mount) -> bool {
    match magic {
        // MooseFS has been "fuse" with this source, and "fuse.mfs".
        FUSE if mount.kind == "fuse" => {
            ["mfs#", "mfs\\043"].iter().any(|start| mount.source.starts_with(start))
        }
        FUSE => ["fuse.glusterfs", "fuse.mfs"].contains(&mount.kind.as_str()),
        SMB2 | CIFS => mount.has("serverino"),
        _ => false,
    }
}

/// Options that change how far locks reach.
fn locks_of_mount(magic: u32, mount: &Mount, otherwise: ClusterLocks) -> ClusterLocks {
    let local = ["nolock", "local_lock=all", "local_lock=posix"];
    match magic {
        NFS if local.iter().any(|option| mount.has(option)) => ClusterLocks::LocalOnly,
        LUSTRE if mount.has("localflock") => ClusterLocks::LocalOnly,
        LUSTRE if mount.has("flock") => ClusterLocks::Works,
        FUSE if mount.kind == "fuse.glusterfs" => ClusterLocks::Works,
        FUSE if CEPH_IN_USER_SPACE.contains(&mount.kind.as_str()) => ClusterLocks::Works,
        _ => otherwise,
    }
}

/// Number and device of the file, or of the directory that it would be created in.
fn existing_part(path: &Path) -> (u32, Option<u64>) {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match retry_stale(|| magic_of(&path)) {
            Ok(magic) => return (magic, device_of(&path)),
            Err(cause) if cause.raw_os_error() == Some(libc::ENOENT) => {}
            Err(_) => break,
        }
        // A link to a file that is not there yet: it will be created where the link points to.
        match std::fs::read_link(&path) {
            Ok(target) => path = parent(&path).join(target),
            Err(_) => {
                let directory = parent(&path);
                let magic = retry_stale(|| magic_of(&directory)).unwrap_or(0);
                return (magic, device_of(&directory));
            }
        }
    }
    (0, None)
}

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory.to_path_buf(),
        Some(_) => PathBuf::from("."),
        None => path.to_path_buf(),
    }
}

fn device_of(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|metadata| metadata.dev())
}

fn magic_of(path: &Path) -> io::Result<u32> {
    let path = CString::new(path.to_path_buf().into_os_string().into_vec())?;
    // SAFETY: all zeros is a valid `struct statfs`, and the call fills it.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte, and `status` is a local.
    let answer = unsafe { libc::statfs(path.as_ptr(), &mut status) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    // The type of the field differs between systems, and values with the top bit may be negative.
    Ok(status.f_type as u32)
}

/// The number of the file system that an open file lies on.
pub(super) fn magic_of_file(file: BorrowedFd) -> io::Result<u32> {
    // SAFETY: all zeros is a valid `struct statfs`, and the call fills it.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and `status` is a local.
    answer(unsafe { libc::fstatfs(file.as_raw_fd(), &mut status) })?;
    Ok(status.f_type as u32)
}

/// Whether such a file system keeps its files on a disk of this machine.
pub(super) fn is_disk(magic: u32) -> bool {
    let local = |known: &&(u32, &str, Kind, ClusterLocks)| known.3 == ClusterLocks::NoOther;
    let known = KNOWN.iter().find(|known| known.0 == magic).filter(local);
    known.is_some_and(|known| !["tmpfs", "ramfs", "hugetlbfs"].contains(&known.1))
}

/// Calls again while an NFS server says that it does not know a handle any more, which passes
/// when the name has been looked up anew.
pub(super) fn retry_stale<T>(call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let stale = |cause: &io::Error| cause.raw_os_error() == Some(libc::ESTALE);
    retry_while(Duration::from_secs(1), stale, call)
}

/// Calls again while it fails in a way that `passes`; gives up after about `patience`.
pub(super) fn retry_while<T>(
    patience: Duration,
    passes: impl Fn(&io::Error) -> bool,
    mut call: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    loop {
        match call() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            // Pauses that double are together as long as the next.
            Err(cause) if passes(&cause) && pause < patience => {
                thread::sleep(pause);
                pause *= 2;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    fn check_prefix(name: &CStr, kind: Option<Kind>, path: &CStr) {
        assert_eq!(split_prefix(name), (kind, path));
    }

    #[test]
    fn only_known_words_before_a_colon_are_prefixes() {
        check_prefix(c"/a/b", None, c"/a/b");
        check_prefix(c"ufs:/a/b", Some(Kind::Ufs), c"/a/b");
        check_prefix(c"nfs:b", Some(Kind::Nfs), c"b");
        check_prefix(c"lustre:/a:b", Some(Kind::Lustre), c"/a:b");
        check_prefix(c"LUSTRE:/a", Some(Kind::Lustre), c"/a");
        check_prefix(c"gpfs:/a", Some(Kind::Gpfs), c"/a");
        check_prefix(c"GPFS:/a", Some(Kind::Gpfs), c"/a");
        for word in ["xfs", "pvfs2", "panfs", "daos", "testfs", "ime", "quobyte"] {
            let name = CString::new(format!("{word}:x")).unwrap();
            check_prefix(&name, Some(Kind::Ufs), c"x");
        }
        check_prefix(c"wrfout_d01_2026-09-01_00:00:00", None, c"wrfout_d01_2026-09-01_00:00:00");
        check_prefix(c"00:00:00", None, c"00:00:00");
        check_prefix(c"chfs:/a", None, c"chfs:/a");
        check_prefix(c"/x/ufs:/a", None, c"/x/ufs:/a");
        check_prefix(c"Ufs:/a", None, c"Ufs:/a");
        check_prefix(c"ufsx:/a", None, c"ufsx:/a");
        check_prefix(c"ufs:nfs:a", Some(Kind::Ufs), c"nfs:a"); // one prefix at most
        check_prefix(c"ufs:", None, c"ufs:");
        check_prefix(c"", None, c"");
    }

    #[test]
    fn the_environment_may_or_may_not_have_the_colon() {
        assert_eq!(named("ufs:"), Some(Kind::Ufs));
        assert_eq!(named("nfs"), Some(Kind::Nfs));
        assert_eq!(named("LUSTRE:"), Some(Kind::Lustre));
        assert_eq!(named("chfs:"), None);
        assert_eq!(named(""), None);
    }

    fn mount(kind: &str, source: &str, options: &str) -> Mount {
        let [kind, source, options] = [kind, source, options].map(str::to_string);
        Mount { kind, source, options }
    }

    fn check_mount(magic: u32, (kind, options): (&str, &str), name: &str, locks: ClusterLocks) {
        let found = classify(magic, || Some(mount(kind, "server", options)));
        assert_eq!((found.name.as_str(), found.cluster_locks), (name, locks));
        assert_eq!(found.is_local(), locks == ClusterLocks::NoOther, "{name}");
    }

    #[test]
    fn a_disk_is_local_and_no_memory() {
        for (magic, expected) in [(0xEF53, true), (0x5846_5342, true), (0x0102_1994, false)] {
            assert_eq!(is_disk(magic), expected, "{magic:#x}");
        }
        assert!(![NFS, LUSTRE, FUSE, 0].into_iter().any(is_disk));
    }

    #[test]
    fn mount_options_tell_how_far_locks_reach() {
        use ClusterLocks::*;
        check_mount(NFS, ("nfs4", "rw,hard,local_lock=none"), "nfs", Works);
        check_mount(NFS, ("nfs", "rw,nolock"), "nfs", LocalOnly);
        check_mount(NFS, ("nfs", "rw,local_lock=all"), "nfs", LocalOnly);
        check_mount(LUSTRE, ("lustre", "rw,flock"), "lustre", Works);
        check_mount(LUSTRE, ("lustre", "rw,localflock"), "lustre", LocalOnly);
        check_mount(LUSTRE, ("lustre", "rw"), "lustre", Unknown);
        check_mount(FUSE, ("fuse.glusterfs", "rw"), "fuse.glusterfs", Works);
        check_mount(FUSE, ("fuse.ceph-fuse", "rw"), "fuse.ceph-fuse", Works);
        check_mount(FUSE, ("fuse.daos", "rw"), "fuse.daos", Unknown);
        check_mount(0x1234, ("weka", "rw"), "weka", Unknown);
        check_mount(0xEF53, ("ext4", "rw"), "ext4", NoOther);
    }

    fn check_inodes(magic: u32, (kind, source, options): (&str, &str, &str), common: bool) {
        let found = classify(magic, || Some(mount(kind, source, options)));
        assert_eq!(found.common_inodes, common, "{kind} {source} {options}");
    }

    #[test]
    fn some_file_systems_have_one_number_for_a_file_everywhere() {
        check_inodes(NFS, ("nfs4", "server:/home", "rw"), true);
        assert!(classify(NFS, || None).common_inodes);
        check_inodes(FUSE, ("fuse.glusterfs", "pool:/volume", "rw"), true);
        check_inodes(FUSE, ("fuse.mfs", "master:9421", "rw"), true);
        check_inodes(FUSE, ("fuse", "mfs#master:9421", "rw"), true);
        check_inodes(FUSE, ("fuse", "mfs\\043master:9421", "rw"), true);
        check_inodes(FUSE, ("fuse", "other", "rw"), false);
        check_inodes(FUSE, ("fuse.sshfs", "host:/home", "rw"), false);
        assert!(!classify(FUSE, || None).common_inodes);
        check_inodes(SMB2, ("cifs", "//server/home", "rw,serverino"), true);
        check_inodes(SMB2, ("cifs", "//server/home", "rw"), false);
        check_inodes(CIFS, ("smb3", "//server/home", "rw,serverino"), true);
        // They agree about names by themselves, or no other machine has them.
        check_inodes(LUSTRE, ("lustre", "10.0.0.1@o2ib:/fs", "rw"), false);
        check_inodes(0xEF53, ("ext4", "/dev/vda", "rw"), false);
        check_inodes(0x1234, ("weka", "fs", "rw"), false);
    }

    #[test]
    fn numbers_name_file_systems() {
        for (magic, name, kind) in [
            (0x6969_i64, "nfs", Kind::Nfs),
            (0x0BD0_0BD0, "lustre", Kind::Lustre),
            (0x4750_4653, "gpfs", Kind::Gpfs),
            (0x1983_0326, "beegfs", Kind::Ufs),
            (0x0102_1994, "tmpfs", Kind::Ufs),
            (-0x6ED_C97C2, "btrfs", Kind::Ufs), // as a signed 32-bit field gives it
            (0, "unknown", Kind::Ufs),
        ] {
            let found = classify(magic as u32, || None);
            assert_eq!((found.name.as_str(), found.kind), (name, kind), "{magic:#x}");
        }
        assert_eq!(classify(0x1983_0326, || None).cluster_locks, ClusterLocks::LocalOnly);
        for (index, row) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..index].iter().all(|other| other.0 != row.0), "{:#x} twice", row.0);
        }
    }

    #[test]
    fn a_kind_survives_the_journey_to_another_rank() {
        for kind in [Kind::Ufs, Kind::Gpfs, Kind::Lustre, Kind::Nfs] {
            assert_eq!(Kind::from_code(kind.code()), kind);
        }
        assert_eq!(Kind::from_code(0), Kind::Ufs);
        assert_eq!([Kind::Lustre, Kind::Nfs, Kind::Ufs].into_iter().max(), Some(Kind::Nfs));
    }

    #[test]
    fn a_file_that_does_not_exist_has_the_file_system_of_its_directory() {
        for scratch in Scratch::everywhere() {
            let there = filesystem(&scratch.path("."));
            assert_ne!(there.magic, 0);
            assert_eq!(filesystem(&scratch.path("missing")), there);
            scratch.link("missing too", "link");
            assert_eq!(filesystem(&scratch.path("link")), there);
            scratch.link("round", "round");
            assert_eq!(filesystem(&scratch.path("round")).kind, Kind::Ufs);
        }
        if Path::new("/dev/shm").exists() {
            assert_eq!(filesystem(c"/dev/shm/missing").name, "tmpfs");
            let scratch = Scratch::on_disk();
            scratch.link("/dev/shm/missing", "link");
            assert_eq!(filesystem(&scratch.path("link")).name, "tmpfs");
        }
        assert_eq!(filesystem(c"/no/such/directory/file").kind, Kind::Ufs);
        assert_eq!(filesystem(c"").kind, Kind::Ufs);
        assert_ne!(filesystem(c"relative").magic, 0);
    }

    #[test]
    fn a_stale_handle_is_tried_again() {
        let mut left = 3;
        let outcome = retry_stale(|| {
            left -= 1;
            if left == 0 { Ok(7) } else { Err(io::Error::from_raw_os_error(libc::ESTALE)) }
        });
        assert_eq!(outcome.unwrap(), 7);
    }
}
