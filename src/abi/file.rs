//! What a file is: its size, group, access mode, info and atomicity.

use std::ffi::c_int;

use super::arguments::{Given, HandleOut, MPI_Offset, Out};
use crate::mpi::{Group, Info};

file_routines! {
    fn MPI_File_set_size(size: MPI_Offset) = |file| file.set_size(size);
    fn MPI_File_preallocate(size: MPI_Offset) = |file| file.preallocate(size);
    fn MPI_File_get_size(size: Out<MPI_Offset>) = |file| size.set("size", file.size()?);
    fn MPI_File_get_group(group: HandleOut<Group>) = |file| group.set("group", || file.group());
    fn MPI_File_get_amode(amode: Out<c_int>) = |file| amode.set("amode", file.amode());
    fn MPI_File_set_info(info: Given<Info>) = |file| file.set_info(info.handle());
    fn MPI_File_get_info(info_used: HandleOut<Info>)
        = |file| info_used.set("info_used", || file.info());
    fn MPI_File_set_atomicity(flag: c_int) = |file| file.set_atomicity(flag != 0);
    fn MPI_File_get_atomicity(flag: Out<c_int>)
        = |file| flag.set("flag", c_int::from(file.atomicity()));
    fn MPI_File_sync() = |file| file.sync();
}
