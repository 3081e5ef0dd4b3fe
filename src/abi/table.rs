//! The table of routines: what is exported, and with which arguments.

use super::arguments::Kind;
use super::{data_access, datarep, errhandlers, file, handles, open, pointers, request, view};

/// One routine of the C interface.
#[derive(Clone, Copy, Debug)]
pub struct Routine {
    /// Its name; it is exported with a `P` before it as well.
    pub name: &'static str,
    /// What its arguments are, in order.
    pub arguments: &'static [Kind],
}

impl std::fmt::Display for Routine {
    /// One line for scripts: the name, then the kinds.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        self.arguments.iter().try_for_each(|kind| write!(f, " {}", kind.name()))
    }
}

/// Every exported C routine.
pub fn routines() -> impl Iterator<Item = &'static Routine> {
    [
        data_access::ROUTINES,
        datarep::ROUTINES,
        errhandlers::ROUTINES,
        file::ROUTINES,
        handles::ROUTINES,
        open::ROUTINES,
        pointers::ROUTINES,
        request::ROUTINES,
        view::ROUTINES,
    ]
    .into_iter()
    .flatten()
}

/// A type that has the name of a routine and tells its arguments, so that a table can be made of
/// names alone.
pub(super) trait Described {
    const ROUTINE: Routine;
}

/// Makes one routine: `fn NAME(arguments) -> answer = |routine| expression;`
///
/// Neither symbol calls the other: a tool that interposes `MPI_x` and calls `PMPI_x` would be
/// called again without end.
macro_rules! routine {
    (fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $answer:ty = |$routine:ident| $body:expr) => {
        pub(super) enum $name {}

        impl $crate::abi::table::Described for $name {
            const ROUTINE: $crate::abi::table::Routine = $crate::abi::table::Routine {
                name: stringify!($name),
                arguments: &[$(<$type as $crate::abi::arguments::Argument>::KIND),*],
            };
        }

        const _: () = {
            fn body($($argument: $type),*) -> $answer {
                let $routine = stringify!($name);
                $body
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $answer {
                body($($argument),*)
            }

            #[unsafe(export_name = concat!("P", stringify!($name)))]
            unsafe extern "C-unwind" fn profiled($($argument: $type),*) -> $answer {
                body($($argument),*)
            }
        };
    };
}

/// Makes routines whose answer is not simply that of a file, and the list of them.
macro_rules! routines {
    ($(fn $name:ident $arguments:tt -> $answer:ty = |$routine:ident| $body:expr;)*) => {
        $(routine! { fn $name $arguments -> $answer = |$routine| $body })*

        pub(super) const ROUTINES: &[$crate::abi::table::Routine] =
            &[$(<$name as $crate::abi::table::Described>::ROUTINE),*];
    };
}

/// Makes routines that ask something of an open file: `fn` gets the file, the rest is as it is.
macro_rules! file_routines {
    ($(fn $name:ident($($argument:ident: $type:ty),*) = |$file:ident| $body:expr;)*) => {
        routines! {
            $(fn $name(fh: $crate::abi::handles::MPI_File $(, $argument: $type)*) -> ::std::ffi::c_int
                = |routine| $crate::abi::boundary::on_file(routine, fh, |$file| $body);)*
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_standard_has_94_file_routines() {
        let names: HashSet<_> = routines().map(|routine| routine.name).collect();
        let standard = names.iter().filter(|name| name.starts_with("MPI_"));
        // The others ask for the status of requests.
        assert_eq!(standard.count(), 94 + 4);
        assert_eq!(names.len(), routines().count(), "a name stands in the table twice");
    }

    #[test]
    fn a_row_reads_as_a_line() {
        let row = routines().find(|routine| routine.name == "MPI_File_write_at_all_c").unwrap();
        assert_eq!(
            row.to_string(),
            "MPI_File_write_at_all_c file long address long handle address"
        );
    }
}
