use super::*;
use crate::driver::Driver;
use crate::driver::detect::Kind;
use crate::driver::open::open;
use crate::driver::scratch::Scratch as Directory;

const BOTH: Bypass = Bypass { reads: true, writes: true };

fn opened(directory: &Directory, name: &str, bypass: Bypass) -> Box<dyn Driver> {
    let mut options = directory.options(name, Kind::Ufs);
    options.tuning.bypass = bypass;
    open(&options).unwrap()
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 4096 + seed) as u8).collect()
}

/// Writes at an offset from memory that lies `shift` bytes off, and reads it back in two pieces.
fn check(directory: &Directory, offset: usize, length: usize, shift: usize, uncached: u64) {
    let name = format!("{offset}-{length}-{shift}");
    let file = opened(directory, &name, BOTH);
    let mut memory = Scratch::new(length + 4096).unwrap();
    let (bytes, whole) = (pattern(length, offset), memory.piece(length + 4096));
    let user = whole.skip(shift).take(length);
    copy_between(user, Piece::of(&bytes));
    file.write_at(offset as u64, &[user]).unwrap();
    let mut expected = vec![0; offset];
    expected.extend(&bytes);
    assert!(directory.bytes(&name) == expected, "written {name}");
    let mut back = vec![0xEE; length + 100];
    let (left, right) = back.split_at_mut(length / 3);
    let count = file.read_at(offset as u64, &[Piece::of_mut(left), Piece::of_mut(right)]).unwrap();
    assert_eq!(count, length as u64, "read {name}");
    assert!(back[..length] == bytes && back[length..].iter().all(|&byte| byte == 0xEE), "{name}");
    assert_eq!(file.why_cached(), None);
    assert_eq!(file.calls().uncached_bytes, uncached, "past the cache {name}");
}

#[test]
fn only_whole_pages_in_the_middle_go_past_the_cache() {
    for directory in Directory::everywhere() {
        let probe = opened(&directory, "probe", BOTH);
        if let Some(why) = probe.why_cached() {
            eprintln!("not here: {why}");
            continue;
        }
        for shift in [0, 1, 512, 4095] {
            check(&directory, 0, 8192, shift, 16384);
            check(&directory, 4096, 4096, shift, 8192);
            check(&directory, 1, 4095, shift, 0);
            check(&directory, 100, 8091, shift, 0);
            check(&directory, 4000, 9000, shift, 8192 + 8192);
            check(&directory, 0, (9 << 20) + 5, shift, 18 << 20);
        }
    }
}

#[test]
fn memory_behind_the_end_of_the_file_stays_as_it_was() {
    for directory in Directory::everywhere() {
        let file = opened(&directory, "a", BOTH);
        let bytes = pattern(9914, 5);
        file.write_at(0, &[Piece::of(&bytes)]).unwrap();
        let mut memory = Scratch::new(20480).unwrap();
        let whole = memory.piece(20480);
        copy_between(whole, Piece::of(&[0xEE; 20480]));
        assert_eq!(file.read_at(0, &[whole]).unwrap(), 9914);
        let found = whole.to_vec();
        assert!(found[..9914] == bytes && found[9914..].iter().all(|&byte| byte == 0xEE));
    }
}

#[test]
fn each_direction_is_a_wish_of_its_own() {
    let directory = Directory::on_disk();
    for (reads, writes) in [(true, false), (false, true), (false, false)] {
        let file = opened(&directory, "a", Bypass { reads, writes });
        if file.why_cached().is_some() {
            return;
        }
        let mut bytes = pattern(8192, 1);
        file.write_at(0, &[Piece::of(&bytes)]).unwrap();
        assert_eq!(file.calls().uncached_bytes, if writes { 8192 } else { 0 });
        file.read_at(0, &[Piece::of_mut(&mut bytes)]).unwrap();
        assert_eq!(bytes, pattern(8192, 1));
        assert_eq!(file.calls().uncached_bytes, if reads || writes { 8192 } else { 0 });
    }
}

#[test]
fn whoever_does_not_take_it_gets_it_through_the_cache() {
    // Devices in memory are opened that way or not; what is read is the same.
    let new = crate::driver::open::OpenOptions::new(c"/dev/zero", Kind::Ufs);
    let mut options = crate::driver::open::OpenOptions { read: true, ..new };
    options.tuning.bypass = BOTH;
    let mut bytes = vec![7; 8192];
    open(&options).unwrap().read_at(0, &[Piece::of_mut(&mut bytes)]).unwrap();
    assert!(bytes.iter().all(|&byte| byte == 0));

    let directory = Directory::on_disk();
    let mut options = directory.options("a", Kind::Nfs);
    options.tuning.bypass = BOTH;
    let file = open(&options).unwrap();
    file.write_at(0, &[Piece::of(&pattern(8192, 3))]).unwrap();
    assert_eq!(directory.bytes("a"), pattern(8192, 3));
    assert!(file.why_cached().unwrap().contains("visible"));
    assert_eq!(file.calls().uncached_bytes, 0);
}

/// A file of so many bytes behind calls that answer in a certain way.
fn answered(refuses: bool, short: usize) -> (u64, Vec<(bool, u64, u64)>, Option<String>) {
    let file = std::fs::File::open("/dev/null").unwrap();
    let opening = Opening { descriptor: file.into(), unit: 4096, memory: 1 };
    let direct = Direct {
        wanted: BOTH,
        opening: Some(opening),
        reason: Mutex::new(None),
        moved: AtomicU64::new(0),
    };
    let bytes = vec![0; 20000];
    let calls = std::cell::RefCell::new(Vec::new());
    let moved = direct.transfer(
        Intent::Write,
        (1000, &[Piece::of(&bytes)]),
        |_, offset, batch| {
            calls.borrow_mut().push((true, offset, total_length(batch)));
            match refuses {
                true => Err(io::Error::from_raw_os_error(libc::EINVAL)),
                false => Ok(short.min(total_length(batch) as usize)),
            }
        },
        |offset, batch| {
            calls.borrow_mut().push((false, offset, total_length(batch)));
            Ok(total_length(batch) as usize)
        },
    );
    (moved.unwrap(), calls.into_inner(), direct.reason())
}

#[test]
fn every_byte_goes_one_way_or_the_other() {
    let ends = |calls: &mut Vec<(bool, u64, u64)>| (calls.remove(0), calls.pop().unwrap());
    let (moved, mut calls, reason) = answered(false, usize::MAX);
    assert_eq!((moved, reason), (20000, None));
    assert_eq!(ends(&mut calls), ((false, 1000, 3096), (false, 20480, 520)));
    assert_eq!(calls, [(true, 4096, 16384)]);
    // Whole units go on that way, the rest of one does not.
    let (moved, mut calls, _) = answered(false, 8192);
    assert_eq!((moved, ends(&mut calls).1), (20000, (false, 20480, 520)));
    assert_eq!(calls, [(true, 4096, 16384), (true, 12288, 8192)]);
    let (moved, mut calls, _) = answered(false, 5000);
    assert_eq!((moved, ends(&mut calls).1), (20000, (false, 9096, 11904)));
    assert_eq!(calls, [(true, 4096, 16384)]);
    let (moved, mut calls, reason) = answered(true, 0);
    assert_eq!((moved, ends(&mut calls).1), (20000, (false, 4096, 16904)));
    assert_eq!(calls, [(true, 4096, 16384)]);
    assert!(reason.unwrap().contains("refused"));
}

#[test]
fn what_takes_several_calls_is_cut_between_units() {
    const UNIT: u64 = 64 << 10;
    let directory = Directory::on_disk();
    let file = std::fs::File::create(directory.path("a").to_str().unwrap()).unwrap();
    let direct = Direct {
        wanted: BOTH,
        opening: Some(Opening { descriptor: file.into(), unit: UNIT, memory: ALIGNED_MEMORY }),
        reason: Mutex::new(None),
        moved: AtomicU64::new(0),
    };
    // SAFETY: nobody touches what they name.
    let piece = |address: usize, units: u64| unsafe {
        Piece::new(address as *mut u8, (units * UNIT) as usize)
    };
    let pieces = [piece(1 << 30, 3), piece(1 << 40, 80_000), piece(1 << 45, 1)];
    let mut calls = Vec::new();
    let call = |_: BorrowedFd, offset: u64, batch: &[Piece]| {
        let length = total_length(batch);
        calls.push((offset / UNIT, length.div_ceil(UNIT)));
        assert!(offset.is_multiple_of(UNIT) && length.is_multiple_of(UNIT));
        Ok(length as usize)
    };
    let cached = |_, _: &[Piece]| panic!("there are only whole units");
    let moved = direct.transfer(Intent::Write, (0, &pieces), call, cached).unwrap();
    assert_eq!((moved, direct.moved()), (80_004 * UNIT, 80_004 * UNIT));
    assert_eq!(calls, [(0, 32_767), (32_767, 32_767), (65_534, 14_470)]);
}
