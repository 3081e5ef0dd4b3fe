/* In atomic mode a read sees a write of another rank whole or not at all, also while the same rank reads the same bytes in a
 * second access: locks belong to the opening, so who is done first must not give back what the other still reads under. */
#include "lesson.h"

enum { PIECES = 100, PIECE = 4096, LENGTH = PIECES * PIECE, ROUNDS = 150 };

/* Whether all bytes are those of one write. */
static int is_whole(const char *data)
{
    return memcmp(data, data + 1, LENGTH - 1) == 0;
}

int main(int count, char **words)
{
    begin(&count, &words);
    static char first[LENGTH], second[LENGTH];
    int torn = 0;
    MPI_Datatype pieces;
    MPI_File file = open_with("torn_reads", NULL, NULL);
    MPI_Type_vector(PIECES, PIECE, 2 * PIECE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    FINE(MPI_File_set_atomicity(file, 1));
    memset(first, 'a', LENGTH);
    FINE(MPI_File_write_at_all(file, 0, first, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank % 2) {
            memset(first, 'a' + round % 26, LENGTH);
            FINE(MPI_File_write_at(file, 0, first, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
            continue;
        }
        MPI_Request request;
        FINE(MPI_File_iread_at(file, 0, first, LENGTH, MPI_BYTE, &request));
        FINE(MPI_File_read_at(file, 0, second, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        FINE(MPI_Wait(&request, MPI_STATUS_IGNORE));
        torn += !is_whole(first) + !is_whole(second);
    }
    if (torn) printf("rank %d: %d reads of %d saw parts of two writes\n", rank, torn, 2 * ROUNDS);
    wrong += torn;
    MPI_Type_free(&pieces);
    FINE(MPI_File_close(&file));
    return finish();
}
