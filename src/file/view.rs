//! Setting and asking for the view.

use std::ffi::CStr;
use std::sync::Arc;

use super::File;
use super::info::{Ballot, entries};
use crate::driver::advice::{Ahead, Intent};
use crate::engine::individual::MOST_AHEAD;
use crate::engine::ranks::{Ranks, Survey};
use crate::error::{Class, Error, Result};
use crate::hint::Request;
use crate::mpi::{self, Datatype, Info};
use crate::operation::Direction;
use crate::run::block_on;
use crate::view::datarep::Representation;
use crate::view::layout::View;
use crate::view::typemap::{Monotony, Typemap};

/// A view with what the user called it.
pub(super) struct FileView {
    /// What the engines see.
    pub(super) layout: View,
    pub(super) representation: Representation,
    datarep: String,
    /// Handles of our own: the user may free theirs.
    etype: Datatype,
    filetype: Datatype,
}

impl Drop for FileView {
    fn drop(&mut self) {
        if mpi::is_running() {
            self.etype.free();
            self.filetype.free();
        }
    }
}

impl FileView {
    /// The view of a file that was just opened.
    pub(super) fn of_bytes() -> Result<FileView> {
        let byte = Datatype::byte()?;
        Ok(FileView {
            layout: View::of_bytes(),
            representation: Representation::Native,
            datarep: "native".to_string(),
            etype: byte,
            filetype: byte,
        })
    }

    /// Checks what the user gave.
    fn new(
        displacement: u64,
        etype: Datatype,
        filetype: Datatype,
        datarep: &CStr,
        writable: bool,
    ) -> Result<FileView> {
        for (what, datatype) in [("etype", etype), ("filetype", filetype)] {
            if datatype.is_null() {
                let text = format!("the {what} of a view cannot be MPI_DATATYPE_NULL");
                return Err(Error::new(Class::Type, text));
            }
        }
        let datarep = datarep.to_string_lossy().into_owned();
        let representation = Representation::named(&datarep)?;
        let in_etype = typemap_in_file(etype, &representation)?;
        let in_file = typemap_in_file(filetype, &representation)?;
        check_etype(&in_etype)?;
        check_filetype(&in_file, in_etype.size(), writable)?;
        let layout = View { displacement, etype_size: in_etype.size(), filetype: in_file };
        let (etype, filetype) = (etype.dup()?, filetype.dup()?);
        Ok(FileView { layout, representation, datarep, etype, filetype })
    }

    /// What must be the same on all ranks, as a number: representation and size of an etype.
    fn common(&self) -> i64 {
        let name = self
            .datarep
            .bytes()
            .fold(0i64, |sum, byte| sum.wrapping_mul(31).wrapping_add(i64::from(byte)));
        name ^ (self.layout.etype_size as i64).rotate_left(20)
    }

    /// Refuses `size` bytes from `position` on where they lie in several repetitions of a filetype
    /// that is shorter than its data. Within one it is as good as any other: HDF5 makes such types
    /// of chunks, and never goes beyond the first.
    pub(super) fn check_repetition(
        &self,
        direction: Direction,
        position: u64,
        size: u64,
    ) -> Result<()> {
        let filetype = &self.layout.filetype;
        let repetition = |position: u64| position / filetype.size().max(1);
        if size == 0 || repetition(position) == repetition(position + (size - 1)) {
            return Ok(());
        }
        let wrong = match (filetype.monotony(), direction) {
            (Monotony::None, _) => "go back behind each other",
            (Monotony::Nondecreasing, Direction::Write) => "overlap, and this is a write",
            _ => return Ok(()),
        };
        let text = format!("the repetitions of the view's filetype {wrong}");
        Err(Error::new(Class::Io, text))
    }

    /// Bytes of the view before its etype number `offset`.
    pub(super) fn position_of(&self, offset: i64) -> Result<u64> {
        let offset = u64::try_from(offset).map_err(|_| {
            Error::new(Class::Arg, format!("{offset} is no offset: it is negative"))
        })?;
        let position = offset.checked_mul(self.layout.etype_size);
        position.filter(|position| *position <= i64::MAX as u64).ok_or_else(|| {
            let size = self.layout.etype_size;
            let text = format!("offset {offset} of etypes of {size} bytes lies beyond any file");
            Error::new(Class::Arg, text)
        })
    }
}

/// Where the bytes of a datatype lie in the file.
pub(super) fn typemap_in_file(
    datatype: Datatype,
    representation: &Representation,
) -> Result<Arc<Typemap>> {
    match representation.is_native() {
        true => datatype.typemap(),
        false => datatype
            .typemap_with(&|named, typemap| representation.file_size(named, typemap))
            .map(Arc::new),
    }
}

/// The standard names no class for a type that is none for a view: ROMIO's is MPI_ERR_IO for
/// displacements and MPI_ERR_ARG for sizes, and programs test for that.
fn check_etype(etype: &Typemap) -> Result<()> {
    let wrong = if etype.size() == 0 {
        "has no data"
    } else if etype.span().0 < 0 {
        "has a negative displacement"
    } else if etype.inner_monotony() == Monotony::None {
        "has displacements that decrease"
    } else {
        return Ok(());
    };
    Err(Error::new(Class::Io, format!("the etype of a view {wrong}")))
}

fn check_filetype(filetype: &Typemap, etype_size: u64, writable: bool) -> Result<()> {
    let size = filetype.size();
    if !size.is_multiple_of(etype_size) {
        let text = format!(
            "the filetype of a view has {size} bytes, which is not a multiple of the etype's \
             {etype_size}"
        );
        return Err(Error::new(Class::Arg, text));
    }
    let wrong = if size == 0 {
        return Ok(());
    } else if filetype.span().0 < 0 {
        format!("has a negative displacement: {}", filetype.span().0)
    } else if filetype.extent() <= 0 && size > 0 {
        format!("has an extent of {} bytes", filetype.extent())
    } else if filetype.inner_monotony() == Monotony::None {
        "has displacements that decrease".to_string()
    } else if filetype.inner_monotony() == Monotony::Nondecreasing && writable {
        "overlaps itself, and the file is open for writing".to_string()
    } else {
        return Ok(());
    };
    Err(Error::new(Class::Io, format!("the filetype of a view {wrong}")))
}

impl File {
    /// Sets the view of this rank. Collective.
    pub fn set_view(
        &self,
        displacement: i64,
        etype: Datatype,
        filetype: Datatype,
        datarep: &CStr,
        info: Info,
    ) -> Result<()> {
        self.settle();
        if self.amode.sequential {
            // The shared pointer is where the new view starts: everybody must have left it there.
            block_on(&self.ranks, self.ranks.max(Box::new([0])))?;
        }
        let view = self.checked_displacement(displacement).and_then(|displacement| {
            FileView::new(displacement, etype, filetype, datarep, self.amode.write)
        });
        let said = entries(info);
        let own = said.as_ref().map_or_else(|_| Request::of_info(&[]), |own| Request::of_info(own));
        let mut survey = Survey::new(&self.ranks);
        let common = survey.same(view.as_ref().map_or(0, FileView::common));
        let sieving = self.ask_about_sieving(&mut survey, view.as_ref().ok(), &own);
        let ballot = Ballot::ask(&mut survey, own, self.ranks.rank());
        let verdict = view.and_then(|view| said.map(|_| view));
        let (view, answers) = block_on(&self.ranks, survey.hold(verdict))?;
        if !answers.same(common) {
            let text =
                format!("the ranks of {} set unlike data representations or etypes", self.name);
            return Err(Error::new(Class::NotSame, text));
        }
        let unanimous = ballot.is_unanimous(&answers);
        let request = ballot.count(&self.ranks, &answers)?;
        self.state.lock().hints.update(&request);
        let sieving = match unanimous {
            true => self.agree_on_sieving(sieving, &answers)?,
            false => self.agree_once_more(&view)?,
        };
        // All ranks have come here, so nobody uses the shared pointer with the old view.
        let reset = if self.ranks.rank() == 0 { self.store_shared(0) } else { Ok(()) };
        {
            let mut state = self.state.lock();
            (state.view, state.position, state.sieving) = (Arc::new(view), 0, sieving);
            self.make_plan(&mut state);
        }
        self.tell_of_view();
        self.agree(reset)
    }

    /// Tells the driver of the pieces of the view, one tile of it.
    fn tell_of_view(&self) {
        let Ok(driver) = self.driver() else { return };
        if self.amode.write && driver.listens(Ahead::View, Intent::Write) {
            let view = &self.state_view().layout;
            let pieces = usize::try_from(view.filetype.pieces()).unwrap_or(usize::MAX);
            let elements = view.elements(0, pieces.min(MOST_AHEAD));
            driver.will_access(Ahead::View, Intent::Write, &elements);
        }
    }

    /// `MPI_DISPLACEMENT_CURRENT` is the place of the shared pointer, in sequential mode only.
    fn checked_displacement(&self, displacement: i64) -> Result<u64> {
        self.no_split_access()?;
        let current = mpi::library()?.constants().displacement_current;
        if displacement == current && self.amode.sequential {
            let view = self.state_view();
            let position = view.position_of(self.load_shared()?)?;
            return Ok(view.layout.offset_of(position));
        }
        if self.amode.sequential {
            let text = "a sequential file takes its view from MPI_DISPLACEMENT_CURRENT on only";
            return Err(Error::new(Class::Disp, text));
        }
        u64::try_from(displacement).map_err(|_| {
            let text = format!("the displacement {displacement} of a view is negative");
            Error::new(Class::Arg, text)
        })
    }

    /// Displacement, etype, filetype and data representation; the caller frees the datatypes.
    pub fn view(&self) -> Result<(i64, Datatype, Datatype, String)> {
        let view = self.state_view();
        let displacement = i64::try_from(view.layout.displacement).unwrap_or(i64::MAX);
        Ok((displacement, view.etype.dup()?, view.filetype.dup()?, view.datarep.clone()))
    }

    /// The extent of a datatype in the file.
    pub fn type_extent(&self, datatype: Datatype) -> Result<i64> {
        if datatype.is_null() {
            return Err(Error::new(Class::Type, "MPI_DATATYPE_NULL has no extent"));
        }
        let view = self.state_view();
        Ok(typemap_in_file(datatype, &view.representation)?.extent())
    }
}
