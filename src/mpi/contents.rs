//! How a datatype was made: the arguments of its constructor, in one order for all MPIs.

use std::ffi::{CStr, c_int};

use super::constants::Combiner;
use super::handles::{Datatype, Slots};
use super::library::{Library, call};
use crate::error::{Class, Error, Result};

/// How many arguments of each sort the constructor had.
#[derive(Clone, Copy, Debug, Default)]
struct Envelope {
    integers: i64,
    addresses: i64,
    counts: i64,
    datatypes: i64,
    combiner: c_int,
}

/// The constructor and its arguments. The datatypes must be freed unless they are predefined.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) combiner: Combiner,
    /// All numbers in the order of the constructor's C arguments, whether they were ints,
    /// addresses or large counts.
    pub(super) numbers: Vec<i64>,
    pub(super) datatypes: Vec<Datatype>,
}

/// The constructor alone.
pub(super) fn combiner(library: &Library, datatype: Datatype) -> Result<Combiner> {
    let envelope = envelope(library, datatype)?;
    known_combiner(library, envelope.combiner)
}

fn known_combiner(library: &Library, code: c_int) -> Result<Combiner> {
    library.constants().combiner_of(code).ok_or_else(|| {
        Error::new(Class::Type, format!("a datatype was made by the unknown combiner {code}"))
    })
}

impl Contents {
    pub(super) fn of(library: &Library, datatype: Datatype) -> Result<Contents> {
        let envelope = envelope(library, datatype)?;
        let combiner = known_combiner(library, envelope.combiner)?;
        if combiner == Combiner::Named {
            return Ok(Contents { combiner, numbers: Vec::new(), datatypes: Vec::new() });
        }
        let mut arguments = Arguments {
            integers: vec![0; envelope.integers as usize + 1],
            addresses: vec![0; envelope.addresses as usize + 1],
            counts: vec![0; envelope.counts as usize + 1],
            datatypes: Slots::new(envelope.datatypes as usize),
        };
        arguments.fetch(library, datatype, &envelope)?;
        arguments.integers.truncate(envelope.integers as usize);
        arguments.addresses.truncate(envelope.addresses as usize);
        arguments.counts.truncate(envelope.counts as usize);
        let datatypes = arguments.datatypes.words(library.constants());
        Ok(Contents {
            combiner,
            numbers: arguments.in_order(combiner),
            datatypes: datatypes.into_iter().map(Datatype).collect(),
        })
    }
}

fn envelope(library: &Library, datatype: Datatype) -> Result<Envelope> {
    let mut answer = Envelope::default();
    if let Some(get_envelope) = library.functions.type_get_envelope_c {
        // SAFETY: a handle of this MPI and pointers to living variables.
        let code = unsafe {
            get_envelope(
                datatype.0,
                &mut answer.integers,
                &mut answer.addresses,
                &mut answer.counts,
                &mut answer.datatypes,
                &mut answer.combiner,
            )
        };
        library.check(c"PMPI_Type_get_envelope_c", code)?;
        return Ok(answer);
    }
    let (mut integers, mut addresses, mut datatypes) = (0, 0, 0);
    let combiner = &mut answer.combiner;
    call!(
        library,
        type_get_envelope(datatype.0, &mut integers, &mut addresses, &mut datatypes, combiner)
    )?;
    answer.integers = integers.into();
    answer.addresses = addresses.into();
    answer.datatypes = datatypes.into();
    Ok(answer)
}

/// The lists that the MPI fills, each one entry longer than needed so that none is empty.
struct Arguments {
    integers: Vec<c_int>,
    addresses: Vec<i64>,
    counts: Vec<i64>,
    datatypes: Slots,
}

impl Arguments {
    fn fetch(&mut self, library: &Library, datatype: Datatype, sizes: &Envelope) -> Result<()> {
        const LARGE: &CStr = c"PMPI_Type_get_contents_c";
        let (integers, addresses) = (self.integers.as_mut_ptr(), self.addresses.as_mut_ptr());
        let datatypes = self.datatypes.pointer();
        if let Some(get_contents) = library.functions.type_get_contents_c {
            let counts = self.counts.as_mut_ptr();
            // SAFETY: a handle of this MPI and lists of the sizes that its envelope gave.
            let code = unsafe {
                get_contents(
                    datatype.0,
                    sizes.integers,
                    sizes.addresses,
                    sizes.counts,
                    sizes.datatypes,
                    integers,
                    addresses,
                    counts,
                    datatypes,
                )
            };
            return library.check(LARGE, code);
        }
        let (integer_count, address_count, datatype_count) =
            (sizes.integers as c_int, sizes.addresses as c_int, sizes.datatypes as c_int);
        call!(
            library,
            type_get_contents(
                datatype.0,
                integer_count,
                address_count,
                datatype_count,
                integers,
                addresses,
                datatypes
            )
        )
    }

    /// Ints come before addresses in every constructor that has both, and one with large counts
    /// has all its numbers among them, except where the numbers of arrays stand between ints.
    fn in_order(&self, combiner: Combiner) -> Vec<i64> {
        let integers: Vec<i64> = self.integers.iter().map(|&integer| integer.into()).collect();
        if self.counts.is_empty() {
            return [integers, self.addresses.clone()].concat();
        }
        let before = match combiner {
            Combiner::Subarray => 1.min(integers.len()),
            Combiner::Darray => 3.min(integers.len()),
            _ => integers.len(),
        };
        [&integers[..before], &self.counts, &self.addresses, &integers[before..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        combiner: Combiner,
        integers: &[c_int],
        addresses: &[i64],
        counts: &[i64],
    ) -> Vec<i64> {
        let arguments = Arguments {
            integers: integers.to_vec(),
            addresses: addresses.to_vec(),
            counts: counts.to_vec(),
            datatypes: Slots::new(0),
        };
        arguments.in_order(combiner)
    }

    #[test]
    fn small_and_large_constructors_give_one_order() {
        let hvector = [3, 2, 40];
        assert_eq!(check(Combiner::Hvector, &[3, 2], &[40], &[]), hvector);
        assert_eq!(check(Combiner::Hvector, &[], &[], &hvector), hvector);
        let hindexed = [2, 5, 6, 80, 160];
        assert_eq!(check(Combiner::Hindexed, &[2, 5, 6], &[80, 160], &[]), hindexed);
        assert_eq!(check(Combiner::Hindexed, &[], &[], &hindexed), hindexed);
    }

    #[test]
    fn the_counts_of_arrays_stand_between_the_ints() {
        let subarray = [2, 10, 20, 3, 4, 1, 2, 56];
        assert_eq!(check(Combiner::Subarray, &[2, 56], &[], &subarray[1..7]), subarray);
        let darray = [4, 1, 1, 100, 121, -49767, 4, 56];
        let integers = [4, 1, 1, 121, -49767, 4, 56];
        assert_eq!(check(Combiner::Darray, &integers, &[], &[100]), darray);
    }
}
