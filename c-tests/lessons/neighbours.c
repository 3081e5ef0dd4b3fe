/* Writers that do not overlap leave each other's bytes alone, however they are mixed.
 *
 * Read-modify-write of a neighbour's bytes without a lock has destroyed files for years: OMPIO's sieving in HDF5 files
 * (ompi#12718) and Darshan's logs (darshan#1064), ROMIO's with one rank's view strided and another's not (ompi#6296,
 * ompi#4148), and the domains of aggregators that overlap when a collective write is tiny (ompi#13376). */
#include "lesson.h"

enum { PIECES = 200, PIECE = 5, ROUNDS = 2 };

/* Byte `at` of the file in the last round, and who owns it: pieces of all ranks in turn. */
static char value_of(int at, int round)
{
    return (char)(1 + (at * 7 + at / PIECE % size * 31 + round) % 100);
}

static void check_all(MPI_File file, const char *what, int round)
{
    static char all[PIECES * PIECE * 64];
    int length = PIECES * PIECE * size, different = 0;
    MPI_Status status;
    synchronise(file);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at(file, 0, all, length, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == length);
    for (int at = 0; at < length; at++) different += all[at] != value_of(at, round);
    if (different) printf("rank %d: %d bytes are wrong after %s\n", rank, different, what);
    wrong += different != 0;
    synchronise(file);
}

/* Strided ranks write all their pieces at once; the others write theirs one by one, without a view. */
static void interleaved(MPI_File file, int strided, int collective, int round)
{
    static char mine[PIECES * PIECE];
    MPI_Datatype pieces = MPI_BYTE;
    if (strided) {
        MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &pieces);
        MPI_Type_commit(&pieces);
    }
    for (int i = 0; i < PIECES * PIECE; i++)
        mine[i] = value_of(i / PIECE * PIECE * size + rank * PIECE + i % PIECE, round);
    FINE(MPI_File_set_view(file, strided ? PIECE * rank : 0, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    if (collective) {
        FINE(MPI_File_write_at_all(file, 0, mine, PIECES * PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    } else if (strided) {
        FINE(MPI_File_write_at(file, 0, mine, PIECES * PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
        for (int i = 0; i < PIECES; i++) {
            MPI_Offset at = (MPI_Offset)PIECE * (i * size + rank);
            FINE(MPI_File_write_at(file, at, mine + i * PIECE, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
        }
    }
    if (strided) MPI_Type_free(&pieces);
}

/* 100 bytes of each rank from an odd place on, again and again. */
static void tiny(MPI_File file, MPI_Offset start)
{
    char mine[100], all[6400];
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int round = 0; round < 3; round++) {
        memset(mine, 'a' + rank + round, sizeof mine);
        FINE(MPI_File_write_at_all(file, start + 100 * rank, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    synchronise(file);
    FINE(MPI_File_read_at_all(file, start, all, 100 * size, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < 100 * size; i++)
        if (all[i] != 'a' + i / 100 + 2) {
            printf("rank %d: byte %d from %lld on is wrong\n", rank, i, (long long)start);
            wrong++;
            break;
        }
    synchronise(file);
}

int main(int count, char **words)
{
    begin(&count, &words);
    const char *const hints[][2] = {
        {NULL, NULL}, {"romio_ds_write", "enable"}, {"ind_wr_buffer_size", "64"},
    };
    for (unsigned h = 0; h < sizeof hints / sizeof *hints; h++) {
        MPI_File file = open_with("neighbours", hints[h][0], hints[h][1]);
        for (int round = 0; round < ROUNDS; round++) {
            interleaved(file, 1, 0, round);
            check_all(file, "strided writes", round);
            interleaved(file, rank % 2 == 0, 0, round + 1);
            check_all(file, "strided beside plain writes", round + 1);
        }
        interleaved(file, 1, 1, ROUNDS + 1);
        check_all(file, "a collective write", ROUNDS + 1);
        tiny(file, 3);
        tiny(file, 1048575);
        FINE(MPI_File_close(&file));
    }
    return finish();
}
