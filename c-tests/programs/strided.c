/* Ranks interleave blocks of five doubles through a vector view, twice in a row. */
#include "say.h"

enum { BLOCK = 5, BLOCKS = 40, COUNT = BLOCK * BLOCKS };

int main(int count, char **words)
{
    begin(&count, &words);
    double data[COUNT], back[COUNT];
    MPI_Status status;
    MPI_Datatype filetype;
    MPI_File file = open_new("strided");
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * size, MPI_DOUBLE, &filetype);
    MPI_Type_commit(&filetype);
    FINE(MPI_File_set_view(file, 16 + (MPI_Offset)rank * BLOCK * sizeof(double), MPI_DOUBLE, filetype, "native", MPI_INFO_NULL));
    for (int i = 0; i < COUNT; i++) data[i] = rank + i / 1000.0;
    FINE(MPI_File_write_all(file, data, COUNT, MPI_DOUBLE, &status));
    say("write_all wrote %d", count_of(&status, MPI_DOUBLE));
    FINE(MPI_File_read_at_all(file, BLOCK / 2, back, COUNT - BLOCK, MPI_DOUBLE, &status));
    say("read_at_all read %d: %.3f %.3f ... %.3f", count_of(&status, MPI_DOUBLE), back[0], back[BLOCK], back[COUNT - BLOCK - 1]);
    MPI_Offset bytes;
    FINE(MPI_File_get_byte_offset(file, 12, &bytes));
    say("double 12 of the view is byte %lld of the file", (long long)bytes);
    FINE(MPI_File_close(&file));
    MPI_Type_free(&filetype);
    MPI_Finalize();
    return 0;
}
