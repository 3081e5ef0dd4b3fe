/* A sequential file knows the shared pointer only. */
#include "check.h"

static char memory[8] = "abcdefg";

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_Offset value;
    FINE(MPI_File_open(MPI_COMM_WORLD, path("sequential"), MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
    EXPECT(MPI_File_write(file, memory, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_write_at(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_write_all(file, memory, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_write_at_all(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_iwrite(file, memory, 1, MPI_BYTE, &request), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_iwrite_at(file, 0, memory, 1, MPI_BYTE, &request), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_write_all_begin(file, memory, 1, MPI_BYTE), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_write_at_all_begin(file, 0, memory, 1, MPI_BYTE), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_get_position(file, &value), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_get_position_shared(file, &value), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_get_byte_offset(file, 0, &value), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_set_size(file, 0), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_preallocate(file, 10), MPI_ERR_UNSUPPORTED_OPERATION);
    FINE(MPI_File_write_ordered(file, memory, 4, MPI_BYTE, &status));
    FINE(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_ordered(file, memory + 4, 2, MPI_BYTE, &status));
    FINE(MPI_File_close(&file));
    FINE(MPI_File_open(MPI_COMM_WORLD, path("sequential"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    FINE(MPI_File_get_size(file, &value));
    TRUE(value == 6 * size);
    FINE(MPI_File_read_at(file, 4 * size, memory, 2, MPI_BYTE, &status));
    TRUE(memory[0] == 'e' && memory[1] == 'f');
    FINE(MPI_File_close(&file));
    return finish();
}
