/* A file cannot be opened by an intercommunicator, nor by none. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file;
    EXPECT(MPI_File_open(MPI_COMM_NULL, path("x"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file), MPI_ERR_COMM);
    if (size > 1) {
        MPI_Comm half, both;
        int second = rank >= size / 2;
        MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : size / 2, 7, &both);
        EXPECT(MPI_File_open(both, path("x"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file), MPI_ERR_COMM);
        MPI_Comm_free(&both);
        MPI_Comm_free(&half);
    }
    return finish();
}
