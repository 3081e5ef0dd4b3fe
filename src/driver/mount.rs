//! The mount table: type and options of the file system that holds a device.

use std::fs;

/// One line of the mount table, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Type, with its flavour: "nfs4", "fuse.glusterfs".
    pub kind: String,
    /// What is mounted, as the table writes it.
    pub source: String,
    /// Options of the mount and of the file system, one after the other.
    pub options: String,
}

impl Mount {
    /// Whether this option is among them, with this value if it has one.
    pub(super) fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|present| present == option)
    }
}

/// The mount that shows `device` (a `st_dev`) to this process.
pub(super) fn of_device(device: u64) -> Option<Mount> {
    // The table may hold names that are not text.
    let table = fs::read("/proc/self/mountinfo").ok()?;
    find(&String::from_utf8_lossy(&table), libc::major(device), libc::minor(device))
}

/// Lines are `id parent major:minor root mountpoint options [tag ...] - type source options`;
/// spaces within names are written as `\040`. The last line of a device is the uppermost mount.
fn find(table: &str, major: u32, minor: u32) -> Option<Mount> {
    let device = format!("{major}:{minor}");
    table.lines().rev().find_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        let mut front = front.split(' ');
        if front.nth(2)? != device {
            return None;
        }
        let own_options = front.nth(2)?;
        let mut back = back.split(' ');
        let kind = back.next()?.to_string();
        let source = back.next().unwrap_or("").to_string();
        let shared_options = back.next().unwrap_or("");
        Some(Mount { kind, source, options: format!("{own_options},{shared_options}") })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard
40 27 0:50 / /home rw,nosuid shared:9 - nfs4 server:/home rw,vers=4.2,hard,local_lock=none
41 27 0:51 / /data\\040two rw - fuse.glusterfs pool:/volume rw,user_id=0
42 27 0:52 / /broken
43 27 0:53 / /scratch rw,flock - lustre 10.0.0.1@o2ib:/fs rw,flock,lazystatfs
";

    fn check(major: u32, minor: u32, expected: Option<(&str, &str)>) {
        let found = find(TABLE, major, minor);
        assert_eq!(found.as_ref().map(|m| (m.kind.as_str(), m.options.as_str())), expected);
    }

    #[test]
    fn a_device_is_found_in_the_table() {
        check(254, 0, Some(("ext4", "rw,relatime,rw,discard")));
        check(0, 50, Some(("nfs4", "rw,nosuid,rw,vers=4.2,hard,local_lock=none")));
        check(0, 51, Some(("fuse.glusterfs", "rw,rw,user_id=0")));
        check(0, 52, None);
        check(0, 5, None);
        assert_eq!(find(TABLE, 0, 51).unwrap().source, "pool:/volume");
        assert!(find(TABLE, 0, 53).unwrap().has("flock"));
        assert!(!find(TABLE, 0, 53).unwrap().has("localflock"));
    }

    #[test]
    fn the_table_of_this_process_can_be_read() {
        use std::os::unix::fs::MetadataExt;
        let device = fs::metadata("/proc").unwrap().dev();
        assert_eq!(of_device(device).map(|mount| mount.kind), Some("proc".to_string()));
    }
}
