//! The view of a file, and how long datatypes are in it.

use super::arguments::{Given, HandleOut, MPI_Offset, Out, Text, TextOut};
use crate::error::Result;
use crate::file::File;
use crate::mpi::{self, Datatype, Info};

/// The places that MPI_File_get_view fills.
struct ViewOut {
    disp: Out<MPI_Offset>,
    etype: HandleOut<Datatype>,
    filetype: HandleOut<Datatype>,
    datarep: TextOut,
}

impl ViewOut {
    fn set(self, file: &File) -> Result<()> {
        self.disp.require("disp")?;
        self.etype.require("etype")?;
        self.filetype.require("filetype")?;
        let (disp, etype, filetype, datarep) = file.view()?;
        self.disp.set("disp", disp)?;
        self.etype.set("etype", || Ok(etype))?;
        self.filetype.set("filetype", || Ok(filetype))?;
        let room = mpi::library()?.constants().max_datarep_string;
        self.datarep.set("datarep", &datarep, room)
    }
}

file_routines! {
    fn MPI_File_set_view(
        disp: MPI_Offset, etype: Given<Datatype>, filetype: Given<Datatype>, datarep: Text,
        info: Given<Info>
    ) = |file| {
        let name = datarep.get("datarep");
        // The other ranks wait for this one even if it has no name: there is no empty one.
        let given = name.as_ref().map_or(c"", |name| name);
        let set = file.set_view(disp, etype.handle(), filetype.handle(), given, info.handle());
        name.and(set)
    };

    fn MPI_File_get_view(
        disp: Out<MPI_Offset>, etype: HandleOut<Datatype>, filetype: HandleOut<Datatype>,
        datarep: TextOut
    ) = |file| ViewOut { disp, etype, filetype, datarep }.set(file);

    fn MPI_File_get_type_extent(datatype: Given<Datatype>, extent: Out<MPI_Offset>)
        = |file| extent.set("extent", file.type_extent(datatype.handle())?);
    fn MPI_File_get_type_extent_c(datatype: Given<Datatype>, extent: Out<MPI_Offset>)
        = |file| extent.set("extent", file.type_extent(datatype.handle())?);
}
