/* A device without space: the write says so, on every rank if it is collective. */
#include "check.h"

static char memory[1 << 16];

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    FINE(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    EXPECT(MPI_File_write_at(file, 0, memory, sizeof memory, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    int code = MPI_File_write_at_all(file, (MPI_Offset)sizeof memory * rank, memory, sizeof memory, MPI_BYTE, &status);
    EXPECT(code, MPI_ERR_NO_SPACE);
    /* one rank has something to write, all hear that it did not work */
    code = MPI_File_write_at_all(file, 0, memory, rank == 0 ? 100 : 0, MPI_BYTE, &status);
    EXPECT(code, MPI_ERR_NO_SPACE);
    code = MPI_File_iwrite_at(file, 0, memory, 100, MPI_BYTE, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
    EXPECT(code, MPI_ERR_NO_SPACE, MPI_ERR_IO, MPI_ERR_OTHER); /* what a request keeps of a code differs */
    FINE(MPI_File_close(&file));
    return finish();
}
