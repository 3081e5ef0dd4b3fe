/* To itself a rank's accesses through one handle come one after the other, collective or not, without MPI_File_sync.
 *
 * In collective calls another rank may access the file for it, maybe on another host. Where hosts keep pages of the file
 * without asking each other, one of them has old bytes then, or sends its own too late. A size that all set, and room that
 * they make, leave alone what was written before. */
#include "lesson.h"

enum { PIECES = 400, PIECE = 64, LENGTH = PIECES * PIECE, ROUNDS = 6 };

static char value_of(int at, int round)
{
    return (char)(1 + (at * 13 + rank * 41 + round * 17) % 119);
}

static void fill(char *data, int round)
{
    for (int i = 0; i < LENGTH; i++) data[i] = value_of(i, round);
}

static void compare(const char *data, int round, const char *what)
{
    int different = 0;
    for (int i = 0; i < LENGTH; i++) different += data[i] != value_of(i, round);
    if (different) printf("rank %d: %d bytes are wrong in round %d: %s\n", rank, different, round, what);
    wrong += different != 0;
}

/* The room that all make, and the size that all set, when some have just written. */
static void sizes(MPI_File file, const char *mine)
{
    char back[LENGTH];
    MPI_Status status;
    MPI_Offset end = (MPI_Offset)LENGTH * size * 4, length;
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_at(file, end - LENGTH * (rank + 1), mine, LENGTH, MPI_BYTE, &status));
    FINE(MPI_File_preallocate(file, end + LENGTH));
    FINE(MPI_File_read_at(file, end - LENGTH * (rank + 1), back, LENGTH, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == LENGTH);
    compare(back, ROUNDS, "what was written before room was made");
    FINE(MPI_File_write_at(file, end + LENGTH * rank, mine, LENGTH, MPI_BYTE, &status));
    FINE(MPI_File_set_size(file, end));
    synchronise(file);
    FINE(MPI_File_get_size(file, &length));
    TRUE(length == end);
}

int main(int count, char **words)
{
    static char mine[LENGTH], back[LENGTH];
    begin(&count, &words);
    MPI_File file = open_with("own_bytes", "romio_cb_write", "enable");
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Datatype pieces;
    MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_set_view(file, PIECE * rank, MPI_BYTE, pieces, "native", info));
    for (int round = 0; round < ROUNDS; round += 2) {
        MPI_Status status;
        fill(mine, round);
        FINE(MPI_File_write_at_all(file, 0, mine, LENGTH, MPI_BYTE, &status));
        FINE(MPI_File_read_at(file, 0, back, LENGTH, MPI_BYTE, &status));
        compare(back, round, "write_at_all, read_at");
        fill(mine, round + 1);
        FINE(MPI_File_write_at(file, 0, mine, LENGTH, MPI_BYTE, &status));
        memset(back, 0, LENGTH);
        FINE(MPI_File_read_at_all(file, 0, back, LENGTH, MPI_BYTE, &status));
        compare(back, round + 1, "write_at, read_at_all");
    }
    fill(mine, ROUNDS);
    sizes(file, mine);
    MPI_Type_free(&pieces);
    MPI_Info_free(&info);
    FINE(MPI_File_close(&file));
    return finish();
}
