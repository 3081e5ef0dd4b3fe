//! The judge: compares our table of routines and our constants with the mpi.h of a real MPI.
//!
//! Run it once for each MPI: `MPICC=mpicc.mpich cargo test --features judge --test judge`.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::process::{Command, Output};

use mpiio_rs::abi::{self, Routine};
use mpiio_rs::error::Class;
use mpiio_rs::mpi::{self, Combiner, Constants};

/// The argument and the result of a routine that this mpi.h does not have.
#[repr(transparent)]
struct Absent(#[allow(dead_code)] u8);

/// The bytes of each argument of a C function; none if the function is absent.
trait Signature {
    fn widths() -> Option<Vec<usize>>;
}

macro_rules! signatures {
    ($($(#$argument:ident)*;)*) => {
        $(impl<$($argument,)* Answer: 'static> Signature
            for unsafe extern "C" fn($($argument),*) -> Answer
        {
            fn widths() -> Option<Vec<usize>> {
                let absent = std::any::TypeId::of::<Answer>() == std::any::TypeId::of::<Absent>();
                (!absent).then(|| vec![$(size_of::<$argument>()),*])
            }
        })*
    };
}

signatures! {
    #A;
    #A #B;
    #A #B #C;
    #A #B #C #D;
    #A #B #C #D #E;
    #A #B #C #D #E #F;
}

fn widths<S: Signature>(_function: S) -> Option<Vec<usize>> {
    S::widths()
}

/// Makes `header_routines`: what mpi-sys says of each name. A name that it lacks is found among
/// the absent ones, since an import inside the function goes before what is outside of it.
macro_rules! judged {
    ($($holes:tt => $($name:ident)*;)*) => {
        $($(absent! { $name $holes })*)*

        fn header_routines() -> BTreeMap<&'static str, Vec<usize>> {
            #[allow(unused_imports)]
            use mpi_sys::*;
            let mut found = BTreeMap::new();
            $($(if let Some(widths) = widths(pointer!($name $holes)) {
                found.insert(stringify!($name), widths);
            })*)*
            found
        }
    };
}

macro_rules! absent {
    ($name:ident ($($hole:tt)*)) => {
        #[allow(non_snake_case, dead_code)]
        unsafe extern "C" fn $name($($hole: Absent),*) -> Absent {
            Absent(0)
        }
    };
}

macro_rules! pointer {
    ($name:ident ($($hole:tt)*)) => {
        $name as unsafe extern "C" fn($($hole),*) -> _
    };
}

judged! {
    (_) => MPI_File_c2f MPI_File_close MPI_File_f2c MPI_File_fromint MPI_File_sync MPI_File_toint;
    (_ _) => MPI_File_call_errhandler MPI_File_create_errhandler MPI_File_delete MPI_File_get_amode
        MPI_File_get_atomicity MPI_File_get_errhandler MPI_File_get_group MPI_File_get_info
        MPI_File_get_position MPI_File_get_position_shared MPI_File_get_size MPI_File_preallocate
        MPI_File_set_atomicity MPI_File_set_errhandler MPI_File_set_info MPI_File_set_size;
    (_ _ _) => MPI_Request_get_status MPI_File_get_byte_offset MPI_File_get_type_extent MPI_File_get_type_extent_c
        MPI_File_read_all_end MPI_File_read_at_all_end MPI_File_read_ordered_end MPI_File_seek
        MPI_File_seek_shared MPI_File_write_all_end MPI_File_write_at_all_end
        MPI_File_write_ordered_end;
    (_ _ _ _) => MPI_Request_get_status_all MPI_File_read_all_begin MPI_File_read_all_begin_c MPI_File_read_ordered_begin
        MPI_File_read_ordered_begin_c MPI_File_write_all_begin MPI_File_write_all_begin_c
        MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c MPIX_File_create_errhandler_x;
    (_ _ _ _ _) => MPI_Request_get_status_any MPI_Request_get_status_some MPI_File_get_view MPI_File_iread MPI_File_iread_all MPI_File_iread_all_c
        MPI_File_iread_c MPI_File_iread_shared MPI_File_iread_shared_c MPI_File_iwrite
        MPI_File_iwrite_all MPI_File_iwrite_all_c MPI_File_iwrite_c MPI_File_iwrite_shared
        MPI_File_iwrite_shared_c MPI_File_open MPI_File_read MPI_File_read_all MPI_File_read_all_c
        MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c MPI_File_read_c
        MPI_File_read_ordered MPI_File_read_ordered_c MPI_File_read_shared MPI_File_read_shared_c
        MPI_File_write MPI_File_write_all MPI_File_write_all_c MPI_File_write_at_all_begin
        MPI_File_write_at_all_begin_c MPI_File_write_c MPI_File_write_ordered
        MPI_File_write_ordered_c MPI_File_write_shared MPI_File_write_shared_c
        MPI_Register_datarep MPI_Register_datarep_c;
    (_ _ _ _ _ _) => MPI_File_iread_at MPI_File_iread_at_all MPI_File_iread_at_all_c
        MPI_File_iread_at_c MPI_File_iwrite_at MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c
        MPI_File_iwrite_at_c MPI_File_read_at MPI_File_read_at_all MPI_File_read_at_all_c
        MPI_File_read_at_c MPI_File_set_view MPI_File_write_at MPI_File_write_at_all
        MPI_File_write_at_all_c MPI_File_write_at_c;
}

/// Runs the compiler of the MPI on a program, with these arguments beside it.
fn compile(program: &str, name: &str, arguments: &[&str]) -> Output {
    let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let source = std::env::temp_dir().join(format!("judge-{name}-{}.c", std::process::id()));
    std::fs::write(&source, program).unwrap();
    let output = Command::new(mpicc).arg(&source).args(arguments).output();
    std::fs::remove_file(&source).unwrap();
    let output = output.expect("MPICC names the compiler of an MPI");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Every name in mpi.h that is declared as a function and is ours to replace.
fn names_in_header() -> Vec<String> {
    let output = compile("#include <mpi.h>\n", "names", &["-E", "-P"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut names: Vec<_> = declared_functions(&text).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// The values of C expressions that mpi-sys cannot show, because they have casts in them.
fn values_in_header(name: &str, expressions: &[&str]) -> Vec<i64> {
    let values: String = expressions.iter().map(|e| format!("(long long)({e}), ")).collect();
    let program = format!(
        "#include <mpi.h>\n#include <stdio.h>\nint main(void) {{\n\
         long long values[] = {{ {values} }};\n\
         for (int i = 0; i < {}; i++) printf(\"%lld\\n\", values[i]);\nreturn 0; }}\n",
        expressions.len()
    );
    let path = std::env::temp_dir().join(format!("judge-{name}-{}", std::process::id()));
    compile(&program, name, &["-o", path.to_str().unwrap()]);
    let output = Command::new(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn declared_functions(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split_inclusive(move |c: char| !is_word(c)).filter_map(move |piece| {
        let name = piece.strip_suffix('(')?;
        let ours = ["MPI_File_", "MPI_Register_datarep"];
        ours.iter().any(|prefix| name.starts_with(prefix)).then_some(name)
    })
}

fn our_widths(routine: &Routine) -> Vec<usize> {
    let handle_width = size_of::<mpi_sys::MPI_Datatype>();
    routine.arguments.iter().map(|kind| kind.width(handle_width)).collect()
}

#[test]
fn every_file_routine_of_the_header_is_ours() {
    let ours: Vec<_> = abi::routines().map(|routine| routine.name).collect();
    let names = names_in_header();
    assert!(names.len() >= 62, "mpi.h of MPI 3.1 has 62 file routines, found {names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !ours.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "not in our table: {missing:?}");

    let judged = header_routines();
    let unseen: Vec<_> = names.iter().filter(|name| !judged.contains_key(name.as_str())).collect();
    assert!(unseen.is_empty(), "in mpi.h, but mpi-sys did not show them: {unseen:?}");
}

#[test]
fn arguments_are_as_many_and_as_wide_as_in_the_header() {
    let header = header_routines();
    let mut compared = 0;
    for routine in abi::routines() {
        if let Some(widths) = header.get(routine.name) {
            assert_eq!(&our_widths(routine), widths, "{routine}");
            compared += 1;
        }
    }
    println!("{compared} of {} routines compared", abi::routines().count());
    assert_eq!(compared, header.len());
}

#[test]
fn offsets_counts_and_files_have_eight_bytes() {
    assert_eq!(size_of::<mpi_sys::MPI_Offset>(), 8);
    assert_eq!(size_of::<mpi_sys::MPI_Count>(), 8);
    assert_eq!(size_of::<mpi_sys::MPI_Aint>(), 8);
    assert_eq!(size_of::<mpi_sys::MPI_File>(), 8);
}

/// The constants that we use with the MPI of this header, which is linked into this test.
fn constants() -> &'static Constants {
    // Without a use of it the linker would leave the library away.
    std::hint::black_box(mpi_sys::MPI_Initialized as unsafe extern "C" fn(_) -> _);
    let constants = mpi::library().expect("the MPI of mpi-sys is linked").constants();
    assert_eq!(constants.handle_width, size_of::<mpi_sys::MPI_Comm>());
    assert_eq!(constants.status_size, size_of::<mpi_sys::MPI_Status>());
    constants
}

/// Compares fields of ours with names of mpi-sys.
macro_rules! same {
    ($ours:expr; $($name:ident $theirs:ident),* $(,)?) => {
        $(assert_eq!($ours.$name as i64, mpi_sys::$theirs as i64, stringify!($theirs));)*
    };
}

#[test]
fn numbers_are_those_of_the_header() {
    same! { constants();
        mode_rdonly MPI_MODE_RDONLY, mode_rdwr MPI_MODE_RDWR, mode_wronly MPI_MODE_WRONLY,
        mode_create MPI_MODE_CREATE, mode_excl MPI_MODE_EXCL,
        mode_delete_on_close MPI_MODE_DELETE_ON_CLOSE,
        mode_unique_open MPI_MODE_UNIQUE_OPEN, mode_append MPI_MODE_APPEND,
        mode_sequential MPI_MODE_SEQUENTIAL,
        seek_set MPI_SEEK_SET, seek_cur MPI_SEEK_CUR, seek_end MPI_SEEK_END,
        max_datarep_string MPI_MAX_DATAREP_STRING, max_info_key MPI_MAX_INFO_KEY,
        max_info_val MPI_MAX_INFO_VAL, max_error_string MPI_MAX_ERROR_STRING,
        max_object_name MPI_MAX_OBJECT_NAME,
        order_c MPI_ORDER_C, order_fortran MPI_ORDER_FORTRAN,
        distribute_block MPI_DISTRIBUTE_BLOCK, distribute_cyclic MPI_DISTRIBUTE_CYCLIC,
        distribute_none MPI_DISTRIBUTE_NONE, distribute_dflt_darg MPI_DISTRIBUTE_DFLT_DARG,
        undefined MPI_UNDEFINED, err_in_status MPI_ERR_IN_STATUS, any_source MPI_ANY_SOURCE, any_tag MPI_ANY_TAG,
        proc_null MPI_PROC_NULL, root MPI_ROOT, keyval_invalid MPI_KEYVAL_INVALID,
        tag_ub MPI_TAG_UB, success MPI_SUCCESS, err_lastcode MPI_ERR_LASTCODE,
        thread_single MPI_THREAD_SINGLE, thread_funneled MPI_THREAD_FUNNELED,
        thread_serialized MPI_THREAD_SERIALIZED, thread_multiple MPI_THREAD_MULTIPLE,
        comm_type_shared MPI_COMM_TYPE_SHARED, ident MPI_IDENT, congruent MPI_CONGRUENT,
        similar MPI_SIMILAR, unequal MPI_UNEQUAL,
    }
}

/// A handle or an address as a machine word.
fn word<T: Copy>(handle: T) -> usize {
    let mut word = 0usize;
    assert!(size_of::<T>() <= size_of::<usize>());
    // SAFETY: the word has room for the bytes of the handle; the machines are little endian.
    unsafe { (&raw mut word).cast::<T>().write(handle) };
    word
}

/// Compares handles and addresses of ours with variables of mpi-sys.
macro_rules! same_words {
    ($ours:expr; $($name:ident $theirs:ident),* $(,)?) => {
        // SAFETY: nobody writes to these variables.
        $(assert_eq!($ours.$name, word(unsafe { mpi_sys::$theirs }), stringify!($theirs));)*
    };
}

#[test]
fn handles_are_those_of_the_header() {
    same_words! { constants().handles;
        file_null RSMPI_FILE_NULL, request_null RSMPI_REQUEST_NULL, info_null RSMPI_INFO_NULL,
        comm_null RSMPI_COMM_NULL, comm_world RSMPI_COMM_WORLD, comm_self RSMPI_COMM_SELF,
        group_null RSMPI_GROUP_NULL, win_null RSMPI_WIN_NULL,
        errors_are_fatal RSMPI_ERRORS_ARE_FATAL, errors_return RSMPI_ERRORS_RETURN,
        datatype_null RSMPI_DATATYPE_NULL, int64_t RSMPI_INT64_T, max RSMPI_MAX, sum RSMPI_SUM,
    }
    same_words! { constants();
        status_ignore RSMPI_STATUS_IGNORE, statuses_ignore RSMPI_STATUSES_IGNORE,
    }
}

#[test]
fn error_classes_are_those_of_the_header() {
    macro_rules! same_classes {
        ($($class:ident $theirs:ident),* $(,)?) => {
            [$((Class::$class, mpi_sys::$theirs as i64)),*]
        };
    }
    let classes = same_classes! {
        Buffer MPI_ERR_BUFFER, Count MPI_ERR_COUNT, Type MPI_ERR_TYPE, Comm MPI_ERR_COMM,
        Arg MPI_ERR_ARG, Access MPI_ERR_ACCESS, Amode MPI_ERR_AMODE, BadFile MPI_ERR_BAD_FILE,
        Conversion MPI_ERR_CONVERSION, Disp MPI_ERR_DISP, DupDatarep MPI_ERR_DUP_DATAREP,
        FileExists MPI_ERR_FILE_EXISTS, FileInUse MPI_ERR_FILE_IN_USE, File MPI_ERR_FILE,
        Info MPI_ERR_INFO, InfoKey MPI_ERR_INFO_KEY, InfoValue MPI_ERR_INFO_VALUE,
        Io MPI_ERR_IO, NoMem MPI_ERR_NO_MEM, NotSame MPI_ERR_NOT_SAME, NoSpace MPI_ERR_NO_SPACE,
        NoSuchFile MPI_ERR_NO_SUCH_FILE, Quota MPI_ERR_QUOTA, ReadOnly MPI_ERR_READ_ONLY,
        Request MPI_ERR_REQUEST, UnsupportedDatarep MPI_ERR_UNSUPPORTED_DATAREP,
        UnsupportedOperation MPI_ERR_UNSUPPORTED_OPERATION, Other MPI_ERR_OTHER,
        Intern MPI_ERR_INTERN,
    };
    assert_eq!(classes.len() + 1, Class::ALL.len(), "all but the class that MPI-3 lacks");
    for (class, number) in classes {
        assert_eq!(i64::from(constants().class_code(class)), number, "{class:?}");
    }
}

#[test]
fn combiners_are_those_of_the_header() {
    use Combiner::*;
    let combiners = [
        (Named, "MPI_COMBINER_NAMED"),
        (Dup, "MPI_COMBINER_DUP"),
        (Contiguous, "MPI_COMBINER_CONTIGUOUS"),
        (Vector, "MPI_COMBINER_VECTOR"),
        (Hvector, "MPI_COMBINER_HVECTOR"),
        (Indexed, "MPI_COMBINER_INDEXED"),
        (Hindexed, "MPI_COMBINER_HINDEXED"),
        (IndexedBlock, "MPI_COMBINER_INDEXED_BLOCK"),
        (HindexedBlock, "MPI_COMBINER_HINDEXED_BLOCK"),
        (Struct, "MPI_COMBINER_STRUCT"),
        (Subarray, "MPI_COMBINER_SUBARRAY"),
        (Darray, "MPI_COMBINER_DARRAY"),
        (F90Real, "MPI_COMBINER_F90_REAL"),
        (F90Complex, "MPI_COMBINER_F90_COMPLEX"),
        (F90Integer, "MPI_COMBINER_F90_INTEGER"),
        (Resized, "MPI_COMBINER_RESIZED"),
    ];
    let names = combiners.map(|(_, name)| name);
    for ((combiner, name), value) in combiners.iter().zip(values_in_header("combiners", &names)) {
        assert_eq!(constants().combiner_of(value as c_int), Some(*combiner), "{name}");
    }
}

#[test]
fn values_with_a_cast_are_those_of_the_header() {
    let names = ["MPI_BOTTOM", "MPI_IN_PLACE", "MPI_DISPLACEMENT_CURRENT"];
    let ours = constants();
    let values = [ours.bottom as i64, ours.in_place as i64, ours.displacement_current];
    assert_eq!(values_in_header("values", &names), values);
}

/// Open MPI's are addresses of another process there.
#[test]
fn the_other_handles_of_mpich_are_those_of_the_header() {
    let handles = &constants().handles;
    if constants().handle_width == size_of::<c_int>() {
        let names = ["MPI_BYTE", "MPI_ERRHANDLER_NULL", "MPI_OP_NULL", "MPI_REPLACE", "MPI_NO_OP"];
        let ours = [
            handles.byte,
            handles.errhandler_null,
            handles.op_null,
            handles.replace,
            handles.no_op,
        ];
        assert_eq!(values_in_header("handles", &names), ours.map(|word| word as i64));
    }
}
