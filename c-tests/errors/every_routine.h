/* Calls every routine that takes a file with one that is none: MPI_ERR_FILE, and nothing is looked at behind it. */
#ifndef EVERY_ROUTINE_H
#define EVERY_ROUTINE_H

#include "check.h"

#define REFUSED(routine, ...) EXPECT(MPI_File_##routine(__VA_ARGS__), MPI_ERR_FILE)
#define AT(routine) REFUSED(routine, file, 0, memory, 1, MPI_BYTE, &status)
#define HERE(routine) REFUSED(routine, file, memory, 1, MPI_BYTE, &status)
#define LATER_AT(routine) REFUSED(routine, file, 0, memory, 1, MPI_BYTE, &request)
#define LATER(routine) REFUSED(routine, file, memory, 1, MPI_BYTE, &request)

static inline void refuse_accesses(MPI_File file)
{
    static char memory[8];
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    AT(read_at);
    AT(write_at);
    AT(read_at_all);
    AT(write_at_all);
    HERE(read);
    HERE(write);
    HERE(read_all);
    HERE(write_all);
    HERE(read_shared);
    HERE(write_shared);
    HERE(read_ordered);
    HERE(write_ordered);
    LATER_AT(iread_at);
    LATER_AT(iwrite_at);
    LATER_AT(iread_at_all);
    LATER_AT(iwrite_at_all);
    LATER(iread);
    LATER(iwrite);
    LATER(iread_all);
    LATER(iwrite_all);
    LATER(iread_shared);
    LATER(iwrite_shared);
    TRUE(request == MPI_REQUEST_NULL);
    REFUSED(read_at_all_begin, file, 0, memory, 1, MPI_BYTE);
    REFUSED(read_at_all_end, file, memory, &status);
    REFUSED(write_at_all_begin, file, 0, memory, 1, MPI_BYTE);
    REFUSED(write_at_all_end, file, memory, &status);
    REFUSED(read_all_begin, file, memory, 1, MPI_BYTE);
    REFUSED(read_all_end, file, memory, &status);
    REFUSED(write_all_begin, file, memory, 1, MPI_BYTE);
    REFUSED(write_all_end, file, memory, &status);
    REFUSED(read_ordered_begin, file, memory, 1, MPI_BYTE);
    REFUSED(read_ordered_end, file, memory, &status);
    REFUSED(write_ordered_begin, file, memory, 1, MPI_BYTE);
    REFUSED(write_ordered_end, file, memory, &status);
}

static inline void refuse_the_rest(MPI_File file)
{
    MPI_File copy = file;
    MPI_Offset offset;
    MPI_Datatype etype, filetype;
    MPI_Info info;
    MPI_Group group;
    MPI_Aint extent;
    int flag;
    char datarep[MPI_MAX_DATAREP_STRING];
    REFUSED(close, &copy);
    TRUE(copy == file);
    REFUSED(set_size, file, 0);
    REFUSED(preallocate, file, 0);
    REFUSED(get_size, file, &offset);
    REFUSED(get_group, file, &group);
    REFUSED(get_amode, file, &flag);
    REFUSED(set_info, file, MPI_INFO_NULL);
    REFUSED(get_info, file, &info);
    REFUSED(set_view, file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    REFUSED(get_view, file, &offset, &etype, &filetype, datarep);
    REFUSED(seek, file, 0, MPI_SEEK_SET);
    REFUSED(get_position, file, &offset);
    REFUSED(get_byte_offset, file, 0, &offset);
    REFUSED(seek_shared, file, 0, MPI_SEEK_SET);
    REFUSED(get_position_shared, file, &offset);
    REFUSED(get_type_extent, file, MPI_INT, &extent);
    REFUSED(set_atomicity, file, 1);
    REFUSED(get_atomicity, file, &flag);
    REFUSED(sync, file);
}

static inline void refuse(MPI_File file)
{
    refuse_accesses(file);
    refuse_the_rest(file);
}

#endif
