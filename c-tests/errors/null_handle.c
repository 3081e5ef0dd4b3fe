/* MPI_FILE_NULL is no file: every routine says MPI_ERR_FILE. */
#include "check.h"

static char memory[8];

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = MPI_FILE_NULL;
    MPI_Status status;
    MPI_Request request;
    MPI_Offset offset;
    MPI_Datatype etype, filetype;
    MPI_Info info;
    MPI_Group group;
    MPI_Aint extent;
    int flag;
    char datarep[MPI_MAX_DATAREP_STRING];
    EXPECT(MPI_File_close(&file), MPI_ERR_FILE);
    EXPECT(MPI_File_set_size(file, 0), MPI_ERR_FILE);
    EXPECT(MPI_File_preallocate(file, 0), MPI_ERR_FILE);
    EXPECT(MPI_File_get_size(file, &offset), MPI_ERR_FILE);
    EXPECT(MPI_File_get_group(file, &group), MPI_ERR_FILE);
    EXPECT(MPI_File_get_amode(file, &flag), MPI_ERR_FILE);
    EXPECT(MPI_File_set_info(file, MPI_INFO_NULL), MPI_ERR_FILE);
    EXPECT(MPI_File_get_info(file, &info), MPI_ERR_FILE);
    EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_FILE);
    EXPECT(MPI_File_get_view(file, &offset, &etype, &filetype, datarep), MPI_ERR_FILE);
    EXPECT(MPI_File_read_at(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_read_at_all(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_write_at(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_write_at_all(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_iread_at(file, 0, memory, 1, MPI_BYTE, &request), MPI_ERR_FILE);
    EXPECT(MPI_File_iwrite_at(file, 0, memory, 1, MPI_BYTE, &request), MPI_ERR_FILE);
    EXPECT(MPI_File_iread_at_all(file, 0, memory, 1, MPI_BYTE, &request), MPI_ERR_FILE);
    EXPECT(MPI_File_read(file, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_write_all(file, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_iwrite_all(file, memory, 1, MPI_BYTE, &request), MPI_ERR_FILE);
    EXPECT(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    EXPECT(MPI_File_get_position(file, &offset), MPI_ERR_FILE);
    EXPECT(MPI_File_get_byte_offset(file, 0, &offset), MPI_ERR_FILE);
    EXPECT(MPI_File_read_shared(file, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_write_ordered(file, memory, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    EXPECT(MPI_File_get_position_shared(file, &offset), MPI_ERR_FILE);
    EXPECT(MPI_File_read_all_begin(file, memory, 1, MPI_BYTE), MPI_ERR_FILE);
    EXPECT(MPI_File_read_all_end(file, memory, &status), MPI_ERR_FILE);
    EXPECT(MPI_File_get_type_extent(file, MPI_INT, &extent), MPI_ERR_FILE);
    EXPECT(MPI_File_set_atomicity(file, 1), MPI_ERR_FILE);
    EXPECT(MPI_File_get_atomicity(file, &flag), MPI_ERR_FILE);
    EXPECT(MPI_File_sync(file), MPI_ERR_FILE);
    return finish();
}
