/* Twelve files open at once, on three communicators, closed in another order. */
#include "say.h"

enum { FILES = 12 };

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File files[FILES];
    MPI_Comm half;
    char name[64];
    int place[FILES], back = -1, good = 1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < FILES; i++) {
        MPI_Comm comm = i % 3 == 0 ? MPI_COMM_WORLD : i % 3 == 1 ? half : MPI_COMM_SELF;
        snprintf(name, sizeof name, "many-%d-%d", i, i % 3 == 0 ? 0 : i % 3 == 1 ? rank % 2 : rank);
        FINE(MPI_File_open(comm, path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &files[i]));
        MPI_Comm_rank(comm, &place[i]); /* no holes: OMPIO leaves stale memory in them */
        FINE(MPI_File_write_at_all(files[i], 4 * place[i], &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    for (int i = FILES - 1; i >= 0; i--) {
        FINE(MPI_File_read_at_all(files[i], 4 * place[i], &back, 1, MPI_INT, MPI_STATUS_IGNORE));
        good = good && back == rank;
        FINE(MPI_File_close(&files[i]));
    }
    say("%s", good ? "all right" : "wrong");
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
