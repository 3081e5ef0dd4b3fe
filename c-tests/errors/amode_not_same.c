/* All ranks must give the same amode; the file must not be open on some of them afterwards. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("amode_not_same");
    FINE(MPI_File_close(&file));
    if (size > 1) {
        int last = rank == size - 1;
        int code = MPI_File_open(MPI_COMM_WORLD, path("amode_not_same"), last ? MPI_MODE_RDWR : MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        EXPECT(code, MPI_ERR_NOT_SAME, MPI_ERR_AMODE);
        SAME_CLASS(code);
        code = MPI_File_open(MPI_COMM_WORLD, path("new"), MPI_MODE_RDWR | (last ? 0 : MPI_MODE_CREATE), MPI_INFO_NULL, &file);
        EXPECT(code, MPI_ERR_NOT_SAME, MPI_ERR_AMODE);
        /* one rank's amode is wrong by itself: all must hear of it */
        code = MPI_File_open(MPI_COMM_WORLD, path("amode_not_same"), last ? 0 : MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        EXPECT(code, MPI_ERR_NOT_SAME, MPI_ERR_AMODE);
        SAME_CLASS(code);
    }
    FINE(MPI_File_open(MPI_COMM_WORLD, path("amode_not_same"), MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    FINE(MPI_File_close(&file));
    return finish();
}
