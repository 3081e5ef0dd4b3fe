//! Open, close, delete: where handles come from and go to.

use std::ffi::c_int;

use super::arguments::{Given, Out, Text};
use super::boundary;
use super::errhandlers::Handler;
use super::handles::{self, MPI_File, OpenFile};
use crate::error::{Class, Error, Result};
use crate::file::File;
use crate::mpi::{Comm, Info};

/// Opens a file and puts its handle in `fh`.
fn open(comm: Comm, filename: Text, amode: c_int, info: Info, fh: Out<MPI_File>) -> Result<()> {
    let filename = fh.set("fh", MPI_File::null()).and_then(|()| filename.get("filename"));
    if comm.is_null() {
        return Err(Error::new(Class::Comm, "the communicator is MPI_COMM_NULL"));
    }
    // The other ranks wait for this one even if it has no name: no file has the empty one.
    let opened = File::open(comm, filename.as_ref().map_or(c"", |name| name), amode, info);
    filename?;
    let file = opened?;
    let handler = Handler::inherited(file.comm())?;
    let open_file = OpenFile { file, handler };
    fh.set("fh", handles::insert(open_file)?)
}

routines! {
    fn MPI_File_open(
        comm: Given<Comm>, filename: Text, amode: c_int, info: Given<Info>, fh: Out<MPI_File>
    ) -> c_int = |routine| boundary::on_no_file(routine, || {
        open(comm.handle(), filename, amode, info.handle(), fh)
    });

    fn MPI_File_close(fh: Out<MPI_File>) -> c_int = |routine| {
        let handle = match fh.get("fh") {
            Ok(handle) => handle,
            Err(error) => return boundary::on_no_file(routine, || Err(error)),
        };
        // The handle stays valid for an error handler that hears of a failed close.
        let code = boundary::on_file(routine, handle, |file| file.close());
        boundary::on_no_file(routine, || {
            if let Some(closed) = handles::remove(handle) {
                closed.handler.release();
                fh.set("fh", MPI_File::null())?;
            }
            Ok(())
        });
        code
    };

    fn MPI_File_delete(filename: Text, info: Given<Info>) -> c_int
        = |routine| boundary::on_no_file(routine, || {
            File::delete(filename.get("filename")?, info.handle())
        });
}
