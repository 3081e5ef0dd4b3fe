//! Compares include/lustre.h and include/gpfs.h, as the C compiler reads them, with the structures
//! and numbers of the drivers.
//!
//! The stand-ins are built from the headers and the library from src/driver/*/abi.rs. Both check
//! themselves against tables; this checks each field and number of one against the other.

use std::io::Write;
use std::mem::offset_of;
use std::process::{Command, Stdio};

use mpiio_rs::driver::{gpfs::abi as gpfs, lustre::abi as lustre};

/// What C must say about an expression.
type Expected = Vec<(String, u64)>;

fn width_of<Whole, Field>(_: impl Fn(&Whole) -> *const Field) -> u64 {
    size_of::<Field>() as u64
}

/// Size of a structure, and place and size of each field. A field that is not named here does not
/// compile, and since no byte of these structures is between fields, C has no others either.
macro_rules! structure {
    ($expected:ident, $room:ident::$name:ident = $c:literal { $($field:ident: $there:literal),* $(,)? }) => {{
        fn _all(of: $room::$name) {
            let $room::$name { $($field: _),* } = of;
        }
        let mut sum = 0;
        $(
            let width = width_of(|of: &$room::$name| &raw const of.$field);
            sum += width;
            let place = offset_of!($room::$name, $field) as u64;
            $expected.push((format!("offsetof({}, {})", $c, $there), place));
            $expected.push((format!("sizeof((({} *)0)->{})", $c, $there), width));
        )*
        assert_eq!(sum, size_of::<$room::$name>() as u64, "bytes between fields of {}", $c);
        $expected.push((format!("sizeof({})", $c), sum));
    }};
}

macro_rules! numbers {
    ($expected:ident, $($value:expr => $name:literal),* $(,)?) => {
        $($expected.push(($name.to_string(), $value as u64));)*
    };
}

/// Compiles a program that prints each expression, and compares.
fn check(header: &str, expected: &Expected) {
    let mut program = format!("#include \"{header}\"\n#include <stdio.h>\nint main(void)\n{{\n");
    for (expression, _) in expected {
        program += &format!("    printf(\"%llu\\n\", (unsigned long long)({expression}));\n");
    }
    program += "    return 0;\n}\n";
    let binary = format!("{}/{header}.check", env!("CARGO_TARGET_TMPDIR"));
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=gnu11", "-Wall", "-Werror", "-x", "c", "-", "-o", &binary])
        .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/include")])
        .stdin(Stdio::piped())
        .spawn()
        .expect("a C compiler");
    compiler.stdin.take().expect("a pipe").write_all(program.as_bytes()).expect("the program");
    assert!(compiler.wait().expect("its end").success(), "{header} does not compile");
    let said = Command::new(&binary).output().expect("the program runs").stdout;
    let said = String::from_utf8(said).expect("numbers");
    let said: Vec<u64> = said.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(said.len(), expected.len());
    for ((expression, ours), theirs) in expected.iter().zip(said) {
        assert_eq!(*ours, theirs, "{expression}: ours, then that of {header}");
    }
}

#[test]
fn lustre_is_the_same_in_c_and_in_rust() {
    let mut expected = Expected::new();
    structure!(expected, lustre::LovUserMd = "struct lov_user_md" {
        magic: "lmm_magic", pattern: "lmm_pattern", object_id: "lmm_oi", stripe_size: "lmm_stripe_size",
        stripe_count: "lmm_stripe_count", stripe_offset: "lmm_stripe_offset",
    });
    structure!(expected, lustre::LovUserOstData = "struct lov_user_ost_data" {
        object_id: "l_ost_oi", generation: "l_ost_gen", index: "l_ost_idx",
    });
    structure!(expected, lustre::LovCompMd = "struct lov_comp_md" {
        magic: "lcm_magic", size: "lcm_size", generation: "lcm_layout_gen", flags: "lcm_flags",
        entry_count: "lcm_entry_count", mirror_count: "lcm_mirror_count", ec_count: "lcm_ec_count",
        padding: "lcm_padding",
    });
    structure!(expected, lustre::LovCompMdEntry = "struct lov_comp_md_entry" {
        id: "lcme_id", flags: "lcme_flags", start: "lcme_start", end: "lcme_end", offset: "lcme_offset",
        size: "lcme_size", generation: "lcme_layout_gen", timestamp: "lcme_timestamp", extra: "lcme_extra",
    });
    structure!(expected, lustre::Ladvise = "struct llapi_lu_ladvise" {
        advice: "lla_advice", mode: "lla_lockahead_mode", flags: "lla_peradvice_flags", start: "lla_start",
        end: "lla_end", result: "lla_lockahead_result", value4: "lla_value4",
    });
    structure!(expected, lustre::LadviseHeader = "struct llapi_ladvise_hdr" {
        magic: "lah_magic", count: "lah_count", flags: "lah_flags", value1: "lah_value1",
        value2: "lah_value2", value3: "lah_value3",
    });
    numbers!(expected,
        lustre::LOV_USER_MAGIC_V1 => "LOV_USER_MAGIC_V1",
        lustre::LOV_USER_MAGIC_COMP_V1 => "LOV_USER_MAGIC_COMP_V1",
        lustre::O_LOV_DELAY_CREATE => "LUSTRE_O_LOV_DELAY_CREATE",
        lustre::LADVISE_MAGIC => "LADVISE_MAGIC",
        lustre::MOST_ADVICES => "LAH_COUNT_MAX - 1",
        lustre::LU_LADVISE_LOCKNOEXPAND => "LU_LADVISE_LOCKNOEXPAND",
        lustre::LU_LADVISE_LOCKAHEAD => "LU_LADVISE_LOCKAHEAD",
        lustre::MODE_READ_USER => "MODE_READ_USER",
        lustre::MODE_WRITE_USER => "MODE_WRITE_USER",
        lustre::LF_ASYNC => "LF_ASYNC",
        lustre::LF_UNSET => "LF_UNSET",
        lustre::LLA_RESULT_SENT => "LLA_RESULT_SENT",
        lustre::LL_IOC_LOV_SETSTRIPE => "LL_IOC_LOV_SETSTRIPE",
        lustre::LL_IOC_LOV_GETSTRIPE => "LL_IOC_LOV_GETSTRIPE",
        lustre::LL_IOC_GROUP_LOCK => "LL_IOC_GROUP_LOCK",
        lustre::LL_IOC_GROUP_UNLOCK => "LL_IOC_GROUP_UNLOCK",
        lustre::LL_IOC_LADVISE => "LL_IOC_LADVISE",
    );
    check("lustre.h", &expected);
}

#[test]
fn gpfs_is_the_same_in_c_and_in_rust() {
    let mut expected = Expected::new();
    structure!(expected, gpfs::Header = "gpfsFcntlHeader_t" {
        total_length: "totalLength", version: "fcntlVersion", error_offset: "errorOffset",
        reserved: "fcntlReserved",
    });
    structure!(expected, gpfs::BlockRange = "gpfsRangeArray_t" {
        block_number: "blockNumber", start: "start", length: "length", is_write: "isWrite",
        padding: "padding",
    });
    structure!(expected, gpfs::AccessRange = "gpfsAccessRange_t" {
        length_of_entry: "structLen", kind_of_entry: "structType", start: "start", length: "length",
        is_write: "isWrite", padding: "padding",
    });
    structure!(expected, gpfs::FreeRange = "gpfsFreeRange_t" {
        length_of_entry: "structLen", kind_of_entry: "structType", start: "start", length: "length",
    });
    structure!(expected, gpfs::MultipleAccessRange = "gpfsMultipleAccessRange_t" {
        length_of_entry: "structLen", kind_of_entry: "structType", access_count: "accRangeCnt",
        release_count: "relRangeCnt", access: "accRangeArray", release: "relRangeArray",
    });
    structure!(expected, gpfs::ClearFileCache = "gpfsClearFileCache_t" {
        length_of_entry: "structLen", kind_of_entry: "structType",
    });
    structure!(expected, gpfs::FineGrainWriteSharing = "gpfsFineGrainWriteSharing_t" {
        length_of_entry: "structLen", kind_of_entry: "structType", enable: "enable", task: "taskId",
        tasks: "totalTasks", record_size: "recordSize",
    });
    structure!(expected, gpfs::DataShipStart = "gpfsDataShipStart_t" {
        length_of_entry: "structLen", kind_of_entry: "structType", instances: "numInstances",
        reserved: "reserved",
    });
    structure!(expected, gpfs::DataShipMap = "gpfsDataShipMap_t" {
        length_of_entry: "structLen", kind_of_entry: "structType", partition_size: "partitionSize",
        agent_count: "agentCount",
    });
    structure!(expected, gpfs::DataShipStop = "gpfsDataShipStop_t" {
        length_of_entry: "structLen", kind_of_entry: "structType",
    });
    numbers!(expected,
        gpfs::VERSION => "GPFS_FCNTL_CURRENT_VERSION",
        gpfs::LONGEST => "GPFS_MAX_FCNTL_LENGTH",
        gpfs::MOST_RANGES => "GPFS_MAX_RANGE_COUNT",
        gpfs::AccessRange::KIND => "GPFS_ACCESS_RANGE",
        gpfs::FreeRange::KIND => "GPFS_FREE_RANGE",
        gpfs::MultipleAccessRange::KIND => "GPFS_MULTIPLE_ACCESS_RANGE",
        gpfs::ClearFileCache::KIND => "GPFS_CLEAR_FILE_CACHE",
        gpfs::FineGrainWriteSharing::KIND => "GPFS_FINE_GRAIN_WRITE_SHARING",
        gpfs::DataShipStart::KIND => "GPFS_DATA_SHIP_START",
        gpfs::DataShipMap::KIND => "GPFS_DATA_SHIP_MAP",
        gpfs::DataShipStop::KIND => "GPFS_DATA_SHIP_STOP",
    );
    check("gpfs.h", &expected);
}
