/* One rank's bad argument to MPI_File_set_view, and ranks that disagree: all return, all with an error. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("views_not_same");
    int last = rank == size - 1;
    int code = MPI_File_set_view(file, last ? -1 : 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    EXPECT(code, MPI_ERR_ARG);
    if (size > 1) {
        code = MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, last ? "native" : "external32", MPI_INFO_NULL);
        EXPECT(code, MPI_ERR_NOT_SAME, MPI_ERR_ARG);
        code = MPI_File_set_view(file, 0, last ? MPI_INT : MPI_BYTE, last ? MPI_INT : MPI_BYTE, "native", MPI_INFO_NULL);
        EXPECT(code, MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    }
    FINE(MPI_File_set_view(file, 4 * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_close(&file));
    return finish();
}
