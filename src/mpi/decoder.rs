//! From a datatype of the MPI to a typemap of ours.

use std::collections::{HashMap, HashSet};

use super::constants::{Combiner, Constants};
use super::contents::Contents;
use super::handles::Datatype;
use super::library::Library;
use super::named::Layout;
use crate::error::{Class, Error, Result};
use crate::view::array::{Darray, Distribution, Order};
use crate::view::typemap::{Kind, Typemap};

/// What becomes of the basic elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// They become bytes, so that unlike neighbours merge.
    Bytes,
    /// They keep their kinds, for data representations that convert.
    Elements,
}

/// Tells how many bytes a predefined datatype, whose elements are given, takes in a file.
pub(super) type SizeInFile<'a> = &'a dyn Fn(Datatype, &Typemap) -> Result<u64>;

/// Where the bytes of `datatype` lie in a file whose representation gives its predefined types
/// other sizes. Displacements that the user gave in bytes stay as they are; all others, and the
/// bounds that nobody set, follow from the sizes.
pub(super) fn decode_in_file(
    library: &Library,
    datatype: Datatype,
    size: SizeInFile<'_>,
) -> Result<Typemap> {
    Decoder::new(library, Leaves::Elements, Some(size)).decode(datatype)
}

/// Where the bytes of `datatype` lie.
pub(super) fn decode(library: &Library, datatype: Datatype, leaves: Leaves) -> Result<Typemap> {
    let mut decoder = Decoder::new(library, leaves, None);
    let typemap = decoder.decode(datatype)?;
    let size = datatype.size()?;
    if typemap.size() != size {
        let text = format!(
            "the datatype {} has {size} bytes of data, but its contents tell of {}",
            datatype.name(),
            typemap.size()
        );
        return Err(Error::new(Class::Intern, text));
    }
    Ok(typemap)
}

/// Decimal digits of an x87 number.
const LONG_DOUBLE_DIGITS: i64 = 18;

struct Decoder<'a> {
    library: &'a Library,
    leaves: Leaves,
    /// Sizes of predefined types in a file, where they are not those of memory.
    size_in_file: Option<SizeInFile<'a>>,
    /// What was decoded already: members of a struct are often the same type.
    known: HashMap<Datatype, Typemap>,
    /// Of these, what has predefined types that lie otherwise in the file than in memory.
    moved: HashSet<Datatype>,
    /// Handles to give back. Not before the end, so that none is reused while it is known.
    children: Vec<Datatype>,
}

/// A datatype whose children are being decoded.
struct Level {
    datatype: Datatype,
    contents: Contents,
    /// Those that are left.
    children: std::vec::IntoIter<Datatype>,
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        for child in self.children.drain(..) {
            child.free();
        }
    }
}

impl<'a> Decoder<'a> {
    fn new(
        library: &'a Library,
        leaves: Leaves,
        size_in_file: Option<SizeInFile<'a>>,
    ) -> Decoder<'a> {
        let (known, moved, children) = (HashMap::new(), HashSet::new(), Vec::new());
        Decoder { library, leaves, size_in_file, known, moved, children }
    }

    /// From the innermost types outwards, and not by recursion: programs may nest types deeper than
    /// a stack is.
    fn decode(&mut self, datatype: Datatype) -> Result<Typemap> {
        let mut open = vec![self.enter(datatype)?];
        while let Some(level) = open.last_mut() {
            match level.children.next() {
                Some(child) if self.known.contains_key(&child) => {}
                Some(child) => open.push(self.enter(child)?),
                None => {
                    let typemap = self.typemap(level.datatype, &level.contents)?;
                    self.known.insert(level.datatype, typemap);
                    open.pop();
                }
            }
        }
        self.known(datatype)
    }

    fn enter(&mut self, datatype: Datatype) -> Result<Level> {
        let contents = Contents::of(self.library, datatype)?;
        self.children.extend(&contents.datatypes);
        Ok(Level { datatype, children: contents.datatypes.clone().into_iter(), contents })
    }

    /// What was decoded before that which contains it.
    fn known(&self, datatype: Datatype) -> Result<Typemap> {
        let missing = || Error::new(Class::Intern, "part of a datatype was not decoded");
        self.known.get(&datatype).cloned().ok_or_else(missing)
    }

    /// Of a datatype whose children are known.
    fn typemap(&mut self, datatype: Datatype, contents: &Contents) -> Result<Typemap> {
        let typemap = match contents.combiner {
            Combiner::Named => {
                let (size, (_, extent)) = (datatype.size()?, datatype.extent()?);
                Layout::of(&datatype.name(), size, extent).typemap(size, self.leaves)
            }
            Combiner::F90Real => self.real(datatype, contents, 1)?,
            Combiner::F90Complex => self.real(datatype, contents, 2)?,
            Combiner::F90Integer => self.elements(datatype, Kind::Signed, 1)?,
            Combiner::ValueIndex => self.value_index(contents)?,
            _ => self.constructed(contents)?,
        };
        if contents.datatypes.iter().any(|child| self.moved.contains(child)) {
            self.moved.insert(datatype);
        }
        self.bounded(datatype, contents.combiner, typemap)
    }

    fn bounded(&mut self, datatype: Datatype, made: Combiner, typemap: Typemap) -> Result<Typemap> {
        match self.size_in_file {
            // The representation knows what a predefined type takes.
            Some(size) if made.is_predefined() => {
                let size = size(datatype, &typemap)?;
                // A pair has a hole in memory, and none in the file.
                if datatype.extent()? != (0, size as i64) {
                    self.moved.insert(datatype);
                }
                Ok(Typemap::bytes(size))
            }
            // Where nothing in it is larger or smaller, the MPI's bounds hold for the file as well.
            Some(_) if made != Combiner::Resized && self.moved.contains(&datatype) => Ok(typemap),
            // The rules for bounds, and for the padding at the end, are the MPI's.
            _ => {
                let (lb, extent) = datatype.extent()?;
                Ok(typemap.resized(lb, extent))
            }
        }
    }

    /// Real numbers that Fortran chose by their decimal digits. With 16 bytes they are C's
    /// `long double` if that has enough of them.
    fn real(&self, datatype: Datatype, contents: &Contents, count: u64) -> Result<Typemap> {
        let digits = contents.numbers.first().copied().unwrap_or_default();
        let long = datatype.size()? / count == 16 && digits <= LONG_DOUBLE_DIGITS;
        self.elements(datatype, if long { Kind::LongDouble } else { Kind::Float }, count)
    }

    fn elements(&self, datatype: Datatype, kind: Kind, count: u64) -> Result<Typemap> {
        let size = datatype.size()?;
        Ok(Layout::Elements(kind, count).typemap(size, self.leaves))
    }

    /// A C struct of a value and an index, made by MPI_Type_get_value_index.
    fn value_index(&self, contents: &Contents) -> Result<Typemap> {
        let [value, index] = contents.datatypes[..] else { return Err(malformed(contents)) };
        let (value, index) = (self.known(value)?, self.known(index)?);
        let alignment = (index.extent() as u64).max(1);
        let displacement = (value.extent() as u64).next_multiple_of(alignment);
        Ok(Typemap::structure(&[(0, 1, value), (displacement as i64, 1, index)]))
    }

    fn constructed(&self, contents: &Contents) -> Result<Typemap> {
        let arguments = Numbers { contents, next: 0 };
        if contents.combiner == Combiner::Struct {
            return self.structure(arguments);
        }
        let child = *contents.datatypes.first().ok_or_else(|| malformed(contents))?;
        let child = self.known(child)?;
        match contents.combiner {
            Combiner::Subarray => subarray(&child, arguments, self.library.constants()),
            Combiner::Darray => darray(&child, arguments, self.library.constants()),
            _ => regular(&child, arguments),
        }
    }

    fn structure(&self, mut arguments: Numbers<'_>) -> Result<Typemap> {
        let count = arguments.count()?;
        let blocklengths = arguments.counts(count)?;
        let displacements = arguments.list(count)?;
        let datatypes = &arguments.contents.datatypes;
        if datatypes.len() as u64 != count {
            return Err(malformed(arguments.contents));
        }
        let mut members = Vec::with_capacity(datatypes.len());
        for (index, &datatype) in datatypes.iter().enumerate() {
            members.push((displacements[index], blocklengths[index], self.known(datatype)?));
        }
        Ok(Typemap::structure(&members))
    }
}

/// The constructors with one datatype and no dimensions.
fn regular(child: &Typemap, mut arguments: Numbers<'_>) -> Result<Typemap> {
    let extent = child.extent();
    let in_bytes = |displacement: i64| displacement.saturating_mul(extent);
    Ok(match arguments.contents.combiner {
        Combiner::Dup | Combiner::Resized => child.clone(),
        Combiner::Contiguous => child.contiguous(arguments.count()?),
        Combiner::Vector => {
            let (count, blocklength) = (arguments.count()?, arguments.count()?);
            child.hvector(count, blocklength, in_bytes(arguments.number()?))
        }
        Combiner::Hvector => {
            child.hvector(arguments.count()?, arguments.count()?, arguments.number()?)
        }
        Combiner::Indexed => {
            let mut blocks = arguments.blocks()?;
            blocks.iter_mut().for_each(|block| block.0 = in_bytes(block.0));
            child.hindexed(&blocks)
        }
        Combiner::Hindexed => child.hindexed(&arguments.blocks()?),
        Combiner::IndexedBlock => {
            let mut blocks = arguments.equal_blocks()?;
            blocks.iter_mut().for_each(|block| block.0 = in_bytes(block.0));
            child.hindexed(&blocks)
        }
        Combiner::HindexedBlock => child.hindexed(&arguments.equal_blocks()?),
        _ => return Err(malformed(arguments.contents)),
    })
}

fn subarray(child: &Typemap, mut numbers: Numbers<'_>, constants: &Constants) -> Result<Typemap> {
    let dimensions = numbers.count()?;
    let sizes = numbers.counts(dimensions)?;
    let subsizes = numbers.counts(dimensions)?;
    let starts = numbers.counts(dimensions)?;
    let order = numbers.order(constants)?;
    Ok(child.subarray(&sizes, &subsizes, &starts, order))
}

fn darray(child: &Typemap, mut numbers: Numbers<'_>, constants: &Constants) -> Result<Typemap> {
    let (size, rank, dimensions) = (numbers.count()?, numbers.count()?, numbers.count()?);
    let gsizes = numbers.counts(dimensions)?;
    let distributions = numbers.list(dimensions)?;
    let arguments = numbers.list(dimensions)?;
    let psizes = numbers.counts(dimensions)?;
    let order = numbers.order(constants)?;
    let distribution = |(distribution, argument): (&i64, &i64)| {
        let default = *argument == i64::from(constants.distribute_dflt_darg);
        let block = (!default).then_some(*argument as u64);
        match *distribution {
            block_wise if block_wise == i64::from(constants.distribute_block) => {
                Distribution::Block(block)
            }
            cyclic if cyclic == i64::from(constants.distribute_cyclic) => {
                Distribution::Cyclic(block)
            }
            _ => Distribution::None,
        }
    };
    let distribs = distributions.iter().zip(&arguments).map(distribution).collect();
    Ok(child.darray(&Darray { size, rank, gsizes, distribs, psizes, order }))
}

fn malformed(contents: &Contents) -> Error {
    let (combiner, numbers) = (contents.combiner, &contents.numbers);
    Error::new(
        Class::Intern,
        format!("the MPI gives {numbers:?} as arguments of a datatype made by {combiner:?}"),
    )
}

/// Takes the arguments of a constructor one after the other.
struct Numbers<'a> {
    contents: &'a Contents,
    next: usize,
}

impl Numbers<'_> {
    fn number(&mut self) -> Result<i64> {
        let number = self.contents.numbers.get(self.next).copied();
        self.next += 1;
        number.ok_or_else(|| malformed(self.contents))
    }

    fn count(&mut self) -> Result<u64> {
        u64::try_from(self.number()?).map_err(|_| malformed(self.contents))
    }

    fn list(&mut self, count: u64) -> Result<Vec<i64>> {
        (0..count).map(|_| self.number()).collect()
    }

    fn counts(&mut self, count: u64) -> Result<Vec<u64>> {
        (0..count).map(|_| self.count()).collect()
    }

    /// Count, lengths, displacements.
    fn blocks(&mut self) -> Result<Vec<(i64, u64)>> {
        let count = self.count()?;
        let lengths = self.counts(count)?;
        Ok(self.list(count)?.into_iter().zip(lengths).collect())
    }

    /// Count, one length for all, displacements.
    fn equal_blocks(&mut self) -> Result<Vec<(i64, u64)>> {
        let (count, length) = (self.count()?, self.count()?);
        let displacements = self.list(count)?;
        Ok(displacements.into_iter().map(|displacement| (displacement, length)).collect())
    }

    fn order(&mut self, constants: &Constants) -> Result<Order> {
        let order = self.number()?;
        Ok(if order == i64::from(constants.order_fortran) { Order::Fortran } else { Order::C })
    }
}
