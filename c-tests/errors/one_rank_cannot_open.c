/* Ranks that name different files, some of which are missing: nobody has an open file, everybody returns. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("present");
    FINE(MPI_File_close(&file));
    const char *name = rank == size - 1 ? path("missing") : path("present");
    int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    EXPECT(code, MPI_ERR_NO_SUCH_FILE, MPI_ERR_NOT_SAME, MPI_ERR_BAD_FILE);
    SAME_CLASS(code);
    FINE(MPI_File_open(MPI_COMM_WORLD, path("present"), MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    FINE(MPI_File_close(&file));
    return finish();
}
