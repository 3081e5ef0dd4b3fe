//! What the names of `mpi.h` stand for, in each of the three ABIs.
//!
//! Each row below is a name and its values in Open MPI (4 and 5), in the MPICH family (MPICH,
//! Intel MPI and those that promise the same ABI) and in the standard ABI of MPI-5.

use std::ffi::{CStr, c_int};

use crate::error::Class;

/// Which binary interface the MPI underneath has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// Open MPI: handles are pointers, the predefined ones are data symbols.
    OpenMpi,
    /// MPICH, Intel MPI and relatives: handles are ints.
    Mpich,
    /// The standard ABI of MPI-5: handles are pointers with small fixed values.
    Standard,
}

/// A number that no MPI gives to the constant in question.
const ABSENT: c_int = c_int::MIN;

macro_rules! constants {
    ($($name:ident: $type:ty = $open_mpi:expr, $mpich:expr, $standard:expr;)*) => {
        /// The constants of one ABI, under the standard's names in lower case.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // the names are the standard's
        pub struct Constants {
            pub(super) abi: Abi,
            /// Whether the MPI knows the class MPI_ERR_VALUE_TOO_LARGE.
            pub(super) has_value_too_large: bool,
            /// The predefined handles.
            pub handles: Handles,
            $(pub $name: $type,)*
        }

        impl Constants {
            pub(super) fn open_mpi(handles: Handles) -> Constants {
                let (abi, has_value_too_large) = (Abi::OpenMpi, false);
                Constants { abi, has_value_too_large, handles, $($name: $open_mpi,)* }
            }

            pub(super) fn mpich() -> Constants {
                let (abi, has_value_too_large) = (Abi::Mpich, true);
                Constants { abi, has_value_too_large, handles: Handles::MPICH, $($name: $mpich,)* }
            }

            pub(super) fn standard() -> Constants {
                let (abi, has_value_too_large) = (Abi::Standard, true);
                let handles = Handles::STANDARD;
                Constants { abi, has_value_too_large, handles, $($name: $standard,)* }
            }
        }
    };
}

constants! {
    // Sizes in bytes. MPI_File, MPI_Offset, MPI_Aint and MPI_Count take 8 in all.
    handle_width: usize = 8, 4, 8;
    status_size: usize = 24, 20, 32;
    // Where in a status MPI_ERROR stands.
    status_error: usize = 8, 16, 8;

    // Addresses with a meaning.
    bottom: usize = 0, 0, 0;
    in_place: usize = 1, usize::MAX, 1;
    status_ignore: usize = 0, 1, 0;
    statuses_ignore: usize = 0, 1, 0;

    mode_rdonly: c_int = 2, 2, 16;
    mode_rdwr: c_int = 8, 8, 32;
    mode_wronly: c_int = 4, 4, 256;
    mode_create: c_int = 1, 1, 2;
    mode_excl: c_int = 64, 64, 8;
    mode_delete_on_close: c_int = 16, 16, 4;
    mode_unique_open: c_int = 32, 32, 128;
    mode_append: c_int = 128, 128, 1;
    mode_sequential: c_int = 256, 256, 64;

    displacement_current: i64 = -54278278, -54278278, -1;
    seek_set: c_int = 600, 600, 403;
    seek_cur: c_int = 602, 602, 401;
    seek_end: c_int = 604, 604, 402;

    max_datarep_string: usize = 128, 128, 128;
    max_info_key: usize = 36, 255, 256;
    max_info_val: usize = 256, 1024, 1024;
    max_error_string: usize = 256, 512, 512;
    max_object_name: usize = 64, 128, 128;

    order_c: c_int = 0, 56, 12;
    order_fortran: c_int = 1, 57, 15;
    distribute_block: c_int = 0, 121, 17;
    distribute_cyclic: c_int = 1, 122, 18;
    distribute_none: c_int = 2, 123, 16;
    distribute_dflt_darg: c_int = -1, -49767, 19;

    undefined: c_int = -32766, -32766, -32766;
    err_in_status: c_int = 18, 17, 19;
    any_source: c_int = -1, -2, -1;
    any_tag: c_int = -1, -1, -2;
    proc_null: c_int = -2, -1, -3;
    root: c_int = -4, -3, -4;
    keyval_invalid: c_int = -1, 603979776, 0;
    tag_ub: c_int = 0, 1681915905, 501;
    success: c_int = 0, 0, 0;
    err_lastcode: c_int = 92, 1073741823, 16383;

    thread_single: c_int = 0, 0, 0;
    thread_funneled: c_int = 1, 1, 1024;
    thread_serialized: c_int = 2, 2, 2048;
    thread_multiple: c_int = 3, 3, 4096;

    comm_type_shared: c_int = 0, 1, 221;
    ident: c_int = 0, 0, 201;
    congruent: c_int = 1, 1, 202;
    similar: c_int = 2, 2, 203;
    unequal: c_int = 3, 3, 204;
}

macro_rules! handles {
    ($($name:ident = $symbol:literal, $mpich:literal, $standard:literal;)*) => {
        /// The predefined handles of one ABI as machine words. Zero where this version of the
        /// MPI has none, which is no handle in any but for MPI_FILE_NULL of the MPICH family.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // the names are the standard's
        pub struct Handles {
            $(pub $name: usize,)*
        }

        impl Handles {
            const MPICH: Handles = Handles { $($name: $mpich,)* };
            const STANDARD: Handles = Handles { $($name: $standard,)* };

            /// Open MPI's handles are the addresses of data symbols.
            pub(super) fn open_mpi(address_of: impl Fn(&CStr) -> usize) -> Handles {
                Handles { $($name: address_of($symbol),)* }
            }
        }
    };
}

handles! {
    file_null = c"ompi_mpi_file_null", 0, 0x118;
    request_null = c"ompi_request_null", 0x2c000000, 0x180;
    info_null = c"ompi_mpi_info_null", 0x1c000000, 0x130;
    info_env = c"ompi_mpi_info_env", 0x5c000001, 0x131;
    comm_null = c"ompi_mpi_comm_null", 0x04000000, 0x100;
    comm_world = c"ompi_mpi_comm_world", 0x44000000, 0x101;
    comm_self = c"ompi_mpi_comm_self", 0x44000001, 0x102;
    group_null = c"ompi_mpi_group_null", 0x08000000, 0x108;
    win_null = c"ompi_mpi_win_null", 0x20000000, 0x110;
    errhandler_null = c"ompi_mpi_errhandler_null", 0x14000000, 0x140;
    errors_are_fatal = c"ompi_mpi_errors_are_fatal", 0x54000000, 0x141;
    errors_abort = c"ompi_mpi_errors_abort", 0x54000003, 0x142;
    errors_return = c"ompi_mpi_errors_return", 0x54000001, 0x143;
    datatype_null = c"ompi_mpi_datatype_null", 0x0c000000, 0x200;
    byte = c"ompi_mpi_byte", 0x4c00010d, 0x247;
    int64_t = c"ompi_mpi_int64_t", 0x4c00083a, 0x258;
    op_null = c"ompi_mpi_op_null", 0x18000000, 0x20;
    max = c"ompi_mpi_op_max", 0x58000001, 0x23;
    sum = c"ompi_mpi_op_sum", 0x58000003, 0x21;
    replace = c"ompi_mpi_op_replace", 0x5800000d, 0x3c;
    no_op = c"ompi_mpi_op_no_op", 0x5800000e, 0x3d;
}

/// The numbers of a class in the three ABIs.
fn class_numbers(class: Class) -> [c_int; 3] {
    match class {
        Class::Buffer => [1, 1, 1],
        Class::Count => [2, 2, 2],
        Class::Type => [3, 3, 3],
        Class::Comm => [5, 5, 5],
        Class::Arg => [13, 12, 13],
        Class::Access => [20, 20, 20],
        Class::Amode => [21, 21, 21],
        Class::BadFile => [23, 22, 23],
        Class::Conversion => [25, 23, 25],
        Class::Disp => [26, 52, 26],
        Class::DupDatarep => [27, 24, 27],
        Class::FileExists => [28, 25, 28],
        Class::FileInUse => [29, 26, 29],
        Class::File => [30, 27, 30],
        Class::Info => [34, 28, 34],
        Class::InfoKey => [31, 29, 31],
        Class::InfoValue => [33, 30, 33],
        Class::Io => [35, 32, 35],
        Class::NoMem => [39, 34, 39],
        Class::NotSame => [40, 35, 40],
        Class::NoSpace => [41, 36, 41],
        Class::NoSuchFile => [42, 37, 42],
        Class::Quota => [44, 39, 44],
        Class::ReadOnly => [45, 40, 45],
        Class::Request => [7, 19, 7],
        Class::UnsupportedDatarep => [51, 43, 54],
        Class::UnsupportedOperation => [52, 44, 55],
        Class::Other => [16, 15, 16],
        Class::Intern => [17, 16, 17],
        Class::ValueTooLarge => [ABSENT, 77, 59],
    }
}

/// How a datatype was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the standard's
pub enum Combiner {
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    Indexed,
    Hindexed,
    IndexedBlock,
    HindexedBlock,
    Struct,
    Subarray,
    Darray,
    F90Real,
    F90Complex,
    F90Integer,
    Resized,
    ValueIndex,
}

impl Combiner {
    /// Handles of such types belong to the MPI and must not be freed.
    pub(super) fn is_predefined(self) -> bool {
        use Combiner::*;
        matches!(self, Named | F90Real | F90Complex | F90Integer | ValueIndex)
    }
}

/// The combiners' numbers in the three ABIs. Those that MPI-3 removed (integers where
/// displacements are now addresses) stand beside their successors.
const COMBINERS: [(Combiner, [c_int; 3]); 20] = [
    (Combiner::Named, [0, 1, 101]),
    (Combiner::Dup, [1, 2, 102]),
    (Combiner::Contiguous, [2, 3, 103]),
    (Combiner::Vector, [3, 4, 104]),
    (Combiner::Hvector, [5, 6, 105]),
    (Combiner::Hvector, [4, 5, ABSENT]),
    (Combiner::Indexed, [6, 7, 106]),
    (Combiner::Hindexed, [8, 9, 107]),
    (Combiner::Hindexed, [7, 8, ABSENT]),
    (Combiner::IndexedBlock, [9, 10, 108]),
    (Combiner::HindexedBlock, [18, 19, 109]),
    (Combiner::Struct, [11, 12, 110]),
    (Combiner::Struct, [10, 11, ABSENT]),
    (Combiner::Subarray, [12, 13, 111]),
    (Combiner::Darray, [13, 14, 112]),
    (Combiner::F90Real, [14, 15, 113]),
    (Combiner::F90Complex, [15, 16, 114]),
    (Combiner::F90Integer, [16, 17, 115]),
    (Combiner::Resized, [17, 18, 116]),
    (Combiner::ValueIndex, [ABSENT, 20, 117]),
];

impl Constants {
    /// The number that this MPI gives to a class; the nearest one where it has none.
    pub fn class_code(&self, class: Class) -> c_int {
        if class == Class::ValueTooLarge && !self.has_value_too_large {
            return self.class_code(Class::Arg);
        }
        class_numbers(class)[self.abi as usize]
    }

    /// The class with this number, if it is one that file operations return.
    pub fn class_of(&self, code: c_int) -> Option<Class> {
        Class::ALL.into_iter().find(|&class| self.class_code(class) == code)
    }

    /// What `MPI_Type_get_envelope` calls by this number.
    pub fn combiner_of(&self, code: c_int) -> Option<Combiner> {
        let found = COMBINERS.iter().find(|(_, numbers)| numbers[self.abi as usize] == code);
        found.filter(|_| code != ABSENT).map(|(combiner, _)| *combiner)
    }

    /// Intel MPI 2021.18 took some values of its standard ABI from a draft of the standard, in
    /// its header and in its library alike.
    pub(super) fn with_intel_draft(mut self) -> Constants {
        (self.seek_set, self.seek_cur, self.seek_end) = (401, 402, 403);
        self.handles.errors_return = 0x142;
        self.handles.errors_abort = 0x143;
        self
    }

    /// A handle as this ABI compares it: ints come in registers whose upper half is undefined.
    pub(super) fn mask(&self, word: usize) -> usize {
        if self.handle_width == 4 { word & 0xffff_ffff } else { word }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Constants; 3] {
        let handles = Handles::open_mpi(|name| name.to_bytes().as_ptr() as usize);
        [Constants::open_mpi(handles), Constants::mpich(), Constants::standard()]
    }

    #[test]
    fn a_class_comes_back_from_its_number() {
        for constants in all() {
            for class in Class::ALL {
                let expected = match class {
                    Class::ValueTooLarge if !constants.has_value_too_large => Class::Arg,
                    other => other,
                };
                let code = constants.class_code(class);
                assert_eq!(constants.class_of(code), Some(expected), "{:?}", constants.abi);
            }
            assert_eq!(constants.class_of(constants.success), None);
            assert_eq!(constants.class_of(ABSENT), None);
        }
    }

    #[test]
    fn a_combiner_has_one_number_in_each_abi() {
        for constants in all() {
            let mut numbers: Vec<c_int> =
                COMBINERS.iter().map(|(_, numbers)| numbers[constants.abi as usize]).collect();
            numbers.retain(|&number| number != ABSENT);
            for &number in &numbers {
                assert!(constants.combiner_of(number).is_some());
            }
            let count = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), count, "{:?}", constants.abi);
            assert_eq!(constants.combiner_of(ABSENT), None);
        }
    }

    #[test]
    fn modes_are_distinct_bits() {
        for constants in all() {
            let modes = [
                constants.mode_rdonly,
                constants.mode_rdwr,
                constants.mode_wronly,
                constants.mode_create,
                constants.mode_excl,
                constants.mode_delete_on_close,
                constants.mode_unique_open,
                constants.mode_append,
                constants.mode_sequential,
            ];
            assert!(modes.iter().all(|mode| mode.count_ones() == 1));
            assert_eq!(modes.iter().sum::<c_int>(), 511, "{:?}", constants.abi);
        }
    }

    #[test]
    fn only_int_handles_are_masked() {
        let [open_mpi, mpich, standard] = all();
        let dirty = 0xdead_beef_4c00_010d;
        assert_eq!(mpich.mask(dirty), 0x4c00_010d);
        assert_eq!(mpich.mask(dirty), mpich.handles.byte);
        assert_eq!(open_mpi.mask(dirty), dirty);
        assert_eq!(standard.mask(dirty), dirty);
    }
}
