//! The predefined datatypes: what elements they are made of.

use std::ffi::c_int;

use super::decoder::Leaves;
use crate::view::typemap::{Element, Kind, Typemap};

/// What a predefined datatype is made of. Sizes are asked of the MPI: those of Fortran's types
/// depend on how it was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// So many elements of equal size and of one kind.
    Elements(Kind, u64),
    /// A C struct of one value of this kind and an int, for MPI_MAXLOC and MPI_MINLOC.
    ValueAndInt(Kind),
    /// A marker of MPI-1 for lower and upper bound: no data.
    Marker,
}

const fn one(kind: Kind) -> Layout {
    Layout::Elements(kind, 1)
}

const fn two(kind: Kind) -> Layout {
    Layout::Elements(kind, 2)
}

/// Names without "MPI_", as MPI_Type_get_name gives them in one or another MPI.
const NAMED: &[(&str, Layout)] = &[
    ("BYTE", one(Kind::Byte)),
    ("PACKED", one(Kind::Byte)),
    ("LB", Layout::Marker),
    ("UB", Layout::Marker),
    // C
    ("CHAR", one(Kind::Character)),
    ("SIGNED_CHAR", one(Kind::Signed)),
    ("UNSIGNED_CHAR", one(Kind::Unsigned)),
    ("WCHAR", one(Kind::Wide)),
    ("SHORT", one(Kind::Signed)),
    ("UNSIGNED_SHORT", one(Kind::Unsigned)),
    ("INT", one(Kind::Signed)),
    ("UNSIGNED", one(Kind::Unsigned)),
    ("UNSIGNED_INT", one(Kind::Unsigned)),
    ("LONG", one(Kind::Long)),
    ("UNSIGNED_LONG", one(Kind::UnsignedLong)),
    ("LONG_LONG", one(Kind::Signed)),
    ("LONG_LONG_INT", one(Kind::Signed)),
    ("UNSIGNED_LONG_LONG", one(Kind::Unsigned)),
    ("FLOAT", one(Kind::Float)),
    ("DOUBLE", one(Kind::Float)),
    ("LONG_DOUBLE", one(Kind::LongDouble)),
    ("C_BOOL", one(Kind::Logical)),
    ("INT8_T", one(Kind::Signed)),
    ("INT16_T", one(Kind::Signed)),
    ("INT32_T", one(Kind::Signed)),
    ("INT64_T", one(Kind::Signed)),
    ("UINT8_T", one(Kind::Unsigned)),
    ("UINT16_T", one(Kind::Unsigned)),
    ("UINT32_T", one(Kind::Unsigned)),
    ("UINT64_T", one(Kind::Unsigned)),
    ("C_COMPLEX", two(Kind::Float)),
    ("C_FLOAT_COMPLEX", two(Kind::Float)),
    ("C_DOUBLE_COMPLEX", two(Kind::Float)),
    ("C_LONG_DOUBLE_COMPLEX", two(Kind::LongDouble)),
    ("C_FLOAT16", one(Kind::Float)),
    ("AINT", one(Kind::Signed)),
    ("COUNT", one(Kind::Signed)),
    ("OFFSET", one(Kind::Signed)),
    // C++
    ("CXX_BOOL", one(Kind::Logical)),
    ("CXX_COMPLEX", two(Kind::Float)),
    ("CXX_FLOAT_COMPLEX", two(Kind::Float)),
    ("CXX_DOUBLE_COMPLEX", two(Kind::Float)),
    ("CXX_LONG_DOUBLE_COMPLEX", two(Kind::LongDouble)),
    // Fortran
    ("CHARACTER", one(Kind::Character)),
    ("LOGICAL", one(Kind::Logical)),
    ("LOGICAL1", one(Kind::Logical)),
    ("LOGICAL2", one(Kind::Logical)),
    ("LOGICAL4", one(Kind::Logical)),
    ("LOGICAL8", one(Kind::Logical)),
    ("LOGICAL16", one(Kind::Logical)),
    ("INTEGER", one(Kind::Signed)),
    ("INTEGER1", one(Kind::Signed)),
    ("INTEGER2", one(Kind::Signed)),
    ("INTEGER4", one(Kind::Signed)),
    ("INTEGER8", one(Kind::Signed)),
    ("INTEGER16", one(Kind::Signed)),
    ("REAL", one(Kind::Float)),
    ("REAL2", one(Kind::Float)),
    ("REAL4", one(Kind::Float)),
    ("REAL8", one(Kind::Float)),
    ("REAL16", one(Kind::Float)),
    ("DOUBLE_PRECISION", one(Kind::Float)),
    ("COMPLEX", two(Kind::Float)),
    ("COMPLEX4", two(Kind::Float)),
    ("COMPLEX8", two(Kind::Float)),
    ("COMPLEX16", two(Kind::Float)),
    ("COMPLEX32", two(Kind::Float)),
    ("DOUBLE_COMPLEX", two(Kind::Float)),
    // Pairs for MPI_MAXLOC and MPI_MINLOC
    ("2INT", two(Kind::Signed)),
    ("2INTEGER", two(Kind::Signed)),
    ("2REAL", two(Kind::Float)),
    ("2DOUBLE_PRECISION", two(Kind::Float)),
    ("2COMPLEX", Layout::Elements(Kind::Float, 4)),
    ("2DOUBLE_COMPLEX", Layout::Elements(Kind::Float, 4)),
    ("FLOAT_INT", Layout::ValueAndInt(Kind::Float)),
    ("DOUBLE_INT", Layout::ValueAndInt(Kind::Float)),
    ("LONG_INT", Layout::ValueAndInt(Kind::Long)),
    ("SHORT_INT", Layout::ValueAndInt(Kind::Signed)),
    ("LONG_DOUBLE_INT", Layout::ValueAndInt(Kind::LongDouble)),
];

impl Layout {
    /// The layout of the predefined datatype of this name and size. A name that is not known
    /// (the program may have changed it) leaves bytes, with a pair's hole where the extent
    /// tells that there is one.
    pub(super) fn of(name: &str, size: u64, extent: i64) -> Layout {
        let bare = name.strip_prefix("MPI_").or_else(|| name.strip_prefix("MPIX_"));
        let known = bare.and_then(|bare| NAMED.iter().find(|(known, _)| *known == bare));
        match known {
            Some((_, layout)) => *layout,
            None if size > INT_SIZE && size as i64 != extent => Layout::ValueAndInt(Kind::Byte),
            None if size == 0 => Layout::Marker,
            None => Layout::Elements(Kind::Byte, size),
        }
    }

    /// Where the bytes of a predefined datatype lie that has this layout and size.
    pub(super) fn typemap(self, size: u64, leaves: Leaves) -> Typemap {
        match self {
            Layout::Marker => Typemap::empty(),
            Layout::Elements(kind, count) => leaves.elements(kind, size / count, count),
            Layout::ValueAndInt(kind) => {
                let value_size = size.saturating_sub(INT_SIZE);
                let value = leaves.elements(kind, value_size, 1);
                let int = leaves.elements(Kind::Signed, INT_SIZE, 1);
                let int_displacement = value_size.next_multiple_of(INT_SIZE) as i64;
                Typemap::structure(&[(0, 1, value), (int_displacement, 1, int)])
            }
        }
    }
}

const INT_SIZE: u64 = size_of::<c_int>() as u64;

impl Leaves {
    fn elements(self, kind: Kind, size: u64, count: u64) -> Typemap {
        match self {
            Leaves::Bytes => Typemap::element(Element::BYTE).contiguous(size * count),
            Leaves::Elements => {
                Typemap::element(Element { kind, size: size as u32 }).contiguous(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, size: u64, extent: i64, layout: Layout) {
        assert_eq!(Layout::of(name, size, extent), layout, "{name}");
        assert_eq!(layout.typemap(size, Leaves::Bytes).size(), size, "{name}");
        assert_eq!(layout.typemap(size, Leaves::Elements).size(), size, "{name}");
    }

    #[test]
    fn a_name_tells_the_elements() {
        check("MPI_INT", 4, 4, one(Kind::Signed));
        check("MPI_C_COMPLEX", 8, 8, two(Kind::Float));
        check("MPI_2DOUBLE_COMPLEX", 32, 32, Layout::Elements(Kind::Float, 4));
        check("MPIX_C_FLOAT16", 2, 2, one(Kind::Float));
        check("MPI_UB", 0, 0, Layout::Marker);
        check("MPI_SHORT_INT", 6, 8, Layout::ValueAndInt(Kind::Signed));
    }

    #[test]
    fn a_renamed_type_is_bytes_and_keeps_its_hole() {
        check("my favourite", 8, 8, Layout::Elements(Kind::Byte, 8));
        check("my pair", 12, 16, Layout::ValueAndInt(Kind::Byte));
        check("", 0, 0, Layout::Marker);
    }

    #[test]
    fn the_int_of_a_pair_is_aligned() {
        for (value_size, displacement) in [(2, 4), (4, 4), (8, 8), (16, 16)] {
            let pair = Layout::ValueAndInt(Kind::Signed);
            let typemap = pair.typemap(value_size + 4, Leaves::Bytes);
            assert_eq!(typemap.lb() + typemap.extent(), displacement + 4);
        }
    }

    #[test]
    fn no_name_stands_twice() {
        for (index, (name, _)) in NAMED.iter().enumerate() {
            assert!(NAMED[..index].iter().all(|(before, _)| before != name), "{name}");
        }
    }
}
