//! Open, close, delete: where handles come from and go to.

use std::ffi::c_int;

use super::arguments::{Given, Out, Text};
use super::boundary;
use super::errhandlers::Handler;
use super::handles::{self, MPI_File, OpenFile};
use crate::error::{Class, Error, Result};
use crate::file::File;
use crate::mpi::{Comm, Info};

fn open(comm: Comm, filename: Text, amode: c_int, info: Info) -> Result<MPI_File> {
    if comm.is_null() {
        return Err(Error::new(Class::Comm, "the communicator is MPI_COMM_NULL"));
    }
    let file = File::open(comm, filename.get("filename")?, amode, info)?;
    handles::insert(OpenFile { file, handler: Handler::inherited()? })
}

routines! {
    fn MPI_File_open(
        comm: Given<Comm>, filename: Text, amode: c_int, info: Given<Info>, fh: Out<MPI_File>
    ) -> c_int = |routine| boundary::on_no_file(routine, || {
        fh.set("fh", MPI_File::null())?;
        fh.set("fh", open(comm.handle(), filename, amode, info.handle())?)
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
