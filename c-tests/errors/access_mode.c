/* Reading what was opened to be written only, and the other way round. */
#include "check.h"

static char memory[16];

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("access_mode");
    MPI_Status status;
    MPI_Request request;
    FINE(MPI_File_write_at_all(file, 0, memory, 16, MPI_BYTE, &status));
    FINE(MPI_File_close(&file));

    FINE(MPI_File_open(MPI_COMM_WORLD, path("access_mode"), MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    EXPECT(MPI_File_read_at(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_ACCESS);
    EXPECT(MPI_File_read(file, memory, 1, MPI_BYTE, &status), MPI_ERR_ACCESS);
    EXPECT(MPI_File_read_shared(file, memory, 1, MPI_BYTE, &status), MPI_ERR_ACCESS);
    EXPECT(MPI_File_read_all(file, memory, 1, MPI_BYTE, &status), MPI_ERR_ACCESS);
    EXPECT(MPI_File_read_at_all(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_ACCESS);
    EXPECT(MPI_File_read_ordered(file, memory, 1, MPI_BYTE, &status), MPI_ERR_ACCESS);
    EXPECT(MPI_File_iread_at(file, 0, memory, 1, MPI_BYTE, &request), MPI_ERR_ACCESS);
    EXPECT(MPI_File_iread_all(file, memory, 1, MPI_BYTE, &request), MPI_ERR_ACCESS);
    EXPECT(MPI_File_read_all_begin(file, memory, 1, MPI_BYTE), MPI_ERR_ACCESS);
    FINE(MPI_File_close(&file));

    FINE(MPI_File_open(MPI_COMM_WORLD, path("access_mode"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    EXPECT(MPI_File_write_at(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_write(file, memory, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_write_shared(file, memory, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_write_all(file, memory, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_write_at_all(file, 0, memory, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_write_ordered(file, memory, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_iwrite_shared(file, memory, 1, MPI_BYTE, &request), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_iwrite_at_all(file, 0, memory, 1, MPI_BYTE, &request), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_write_ordered_begin(file, memory, 1, MPI_BYTE), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_set_size(file, 3), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    EXPECT(MPI_File_preallocate(file, 300), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
    FINE(MPI_File_read_at_all(file, 0, memory, 16, MPI_BYTE, &status));
    FINE(MPI_File_close(&file));
    return finish();
}
