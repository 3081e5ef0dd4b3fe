/* One split collective at a time, ended by its own end routine. */
#include "check.h"

static char memory[8], other[8];

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("split");
    MPI_Status status;
    int bytes;
    EXPECT(MPI_File_write_all_end(file, memory, &status), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    EXPECT(MPI_File_read_ordered_end(file, memory, &status), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    FINE(MPI_File_write_at_all_begin(file, 8 * rank, memory, 8, MPI_BYTE));
    EXPECT(MPI_File_write_at_all_begin(file, 0, other, 8, MPI_BYTE), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    EXPECT(MPI_File_read_all_begin(file, other, 8, MPI_BYTE), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    EXPECT(MPI_File_write_all_end(file, memory, &status), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    EXPECT(MPI_File_read_at_all_end(file, memory, &status), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    FINE(MPI_File_write_at_all_end(file, memory, &status));
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    TRUE(bytes == 8);
    EXPECT(MPI_File_write_at_all_end(file, memory, &status), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_REQUEST);
    FINE(MPI_File_close(&file));
    return finish();
}
