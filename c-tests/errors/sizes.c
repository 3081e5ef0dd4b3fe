/* Sizes below zero, and sizes that differ from rank to rank. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("sizes");
    MPI_Offset value;
    FINE(MPI_File_set_size(file, 50));
    EXPECT(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    EXPECT(MPI_File_preallocate(file, -1), MPI_ERR_ARG);
    if (size > 1) {
        EXPECT(MPI_File_set_size(file, 10 + rank), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
        EXPECT(MPI_File_preallocate(file, 100 + rank), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
        EXPECT(MPI_File_set_size(file, rank == 0 ? -1 : 10), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
        EXPECT(MPI_File_set_atomicity(file, rank == 0), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    }
    FINE(MPI_File_get_size(file, &value));
    TRUE(value == 50);
    FINE(MPI_File_close(&file));
    return finish();
}
