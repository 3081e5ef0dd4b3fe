//! File pointers.

use std::ffi::c_int;

use super::arguments::{MPI_Offset, Out};

file_routines! {
    fn MPI_File_seek(offset: MPI_Offset, whence: c_int) = |file| file.seek(offset, whence);
    fn MPI_File_seek_shared(offset: MPI_Offset, whence: c_int)
        = |file| file.seek_shared(offset, whence);
    fn MPI_File_get_position(offset: Out<MPI_Offset>)
        = |file| offset.set("offset", file.position()?);
    fn MPI_File_get_position_shared(offset: Out<MPI_Offset>)
        = |file| offset.set("offset", file.position_shared()?);
    fn MPI_File_get_byte_offset(offset: MPI_Offset, disp: Out<MPI_Offset>)
        = |file| disp.set("disp", file.byte_offset(offset)?);
}
