/* Ranks may start MPI at different thread levels. A nonblocking collective call returns on each of them whatever the others
 * do, and what a rank started by itself beside it completes before they come. */
#include "lesson.h"

enum { LENGTH = 1000 };

/* Rank 0 alone lets all of its threads call MPI; launchers tell ranks before MPI does. */
static void start(int *count, char ***words)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    const char *number = NULL;
    for (int i = 0; i < 3 && !number; i++) number = getenv(names[i]);
    begin_at(number && atoi(number) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, count, words);
}

/* Rank 0 starts first, with this count; the others only when something of its own is done. */
static void start_in_order(MPI_File file, int items)
{
    char data[LENGTH], own[LENGTH];
    MPI_Request together, alone;
    MPI_Status status = spoilt();
    MPI_Offset at = (MPI_Offset)rank * LENGTH;
    memset(data, 'a' + rank, LENGTH);
    memset(own, '0' + rank, LENGTH);
    if (rank > 0) MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && items < 0)
        EXPECT(MPI_File_iwrite_at_all(file, at, data, items, MPI_BYTE, &together), MPI_ERR_COUNT);
    else
        FINE(MPI_File_iwrite_at_all(file, at, data, LENGTH, MPI_BYTE, &together));
    FINE(MPI_File_iwrite_at(file, (MPI_Offset)(size + rank) * LENGTH, own, LENGTH, MPI_BYTE, &alone));
    FINE(MPI_Wait(&alone, &status));
    TRUE(bytes_of(&status) == LENGTH);
    if (rank < size - 1) MPI_Send(NULL, 0, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    if (rank == 0 && items < 0) return;
    doing = "MPI_Wait";
    int waited = MPI_Wait(&together, &status);
    /* Those with right arguments may hear that one had wrong ones. */
    TRUE(waited == MPI_SUCCESS ? bytes_of(&status) == LENGTH : items < 0);
}

/* In several groups, ranks of one machine need messages as those of several do. */
static void check(const char *name, const char *groups)
{
    char back[LENGTH], expected[LENGTH];
    MPI_File file = open_with(name, "mpiio_rs_local_aggregators", groups);
    start_in_order(file, LENGTH);
    synchronise(file);
    for (int other = 0; other < 2 * size; other++) {
        memset(expected, other < size ? 'a' + other : '0' + other - size, LENGTH);
        FINE(MPI_File_read_at_all(file, (MPI_Offset)other * LENGTH, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        TRUE(memcmp(back, expected, LENGTH) == 0);
    }
    start_in_order(file, -1);
    FINE(MPI_File_close(&file));
}

int main(int count, char **words)
{
    start(&count, &words);
    check("one_group", "1");
    check("two_groups", "2");
    return finish();
}
