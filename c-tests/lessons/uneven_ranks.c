/* Ranks that do not do alike in a collective routine, and nobody waits for ever.
 *
 * Ranks without data (ompi#7414, hdf5#1227), hints that some ranks give and others do not (ROMIO broadcasts only then),
 * variables that differ from rank to rank (mpich#3736), a file that one rank cannot read to where the others can
 * (mpich#6585). */
#include "lesson.h"

static void without_data(MPI_File file)
{
    char mine[64], back[64] = "";
    MPI_Status status = spoilt();
    int some = rank % 2 == 0 ? 0 : 64;
    memset(mine, 'a' + rank, sizeof mine);
    FINE(MPI_File_write_at_all(file, 64 * rank, some ? mine : NULL, some, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == some);
    status = spoilt();
    FINE(MPI_File_write_all(file, NULL, 0, MPI_DOUBLE, &status));
    TRUE(bytes_of(&status) == 0);
    synchronise(file);
    status = spoilt();
    some = rank == size - 1 ? 64 : 0;
    FINE(MPI_File_read_at_all(file, 64 * (size - 1), back, some, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == (size > 1 && size % 2 == 0 ? some : 0));
    TRUE(some == 0 || size % 2 == 1 || back[63] == 'a' + size - 1);
    synchronise(file);
}

/* Only rank 0, only the last, and different values: the file works, and all ranks are told the same. */
static void uneven_hints(void)
{
    const char *keys[] = {"cb_buffer_size", "cb_nodes", "romio_ds_write", "romio_no_indep_rw", "striping_unit"};
    const char *values[] = {"65536", "1", "disable", "true", "1048576"};
    for (int who = 0; who < 3; who++) {
        MPI_File file;
        MPI_Info info, told;
        char value[MPI_MAX_INFO_VAL + 1] = "none", first[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        MPI_Info_create(&info);
        for (int i = 0; i < 5; i++)
            if ((who == 0 && rank == 0) || (who == 1 && rank == size - 1) || (who == 2 && i % size == rank))
                MPI_Info_set(info, keys[i], values[i]);
        FINE(MPI_File_open(MPI_COMM_WORLD, path("hints"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
        FINE(MPI_File_set_info(file, rank == 0 ? MPI_INFO_NULL : info));
        FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", rank == size - 1 ? info : MPI_INFO_NULL));
        FINE(MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        FINE(MPI_File_get_info(file, &told));
        MPI_Info_get(told, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &found);
        memcpy(first, value, sizeof first);
        MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
        TRUE(strcmp(first, value) == 0);
        MPI_Info_free(&told);
        MPI_Info_free(&info);
        FINE(MPI_File_close(&file));
    }
}

/* The last rank reads what is not there: the others get theirs. */
static void beyond_the_end(void)
{
    MPI_File file = open_new("end");
    char mine[32], back[32];
    MPI_Status status = spoilt();
    memset(mine, 'a' + rank, sizeof mine);
    FINE(MPI_File_write_at_all(file, 32 * rank, mine, 32, MPI_BYTE, MPI_STATUS_IGNORE));
    synchronise(file);
    MPI_Offset from = 32 * rank + (rank == size - 1 ? 20 : 0);
    FINE(MPI_File_read_at_all(file, from, back, 32, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == (rank == size - 1 ? 12 : 32));
    TRUE(memcmp(back, mine, 12) == 0);
    FINE(MPI_File_close(&file));
}

int main(int count, char **words)
{
    begin(&count, &words);
    /* before any file is opened: the library reads variables then */
    if (rank % 2 == 1) setenv("ROMIO_HINTS", "/nowhere/at/all", 1);
    if (rank == size - 1) setenv("MPIIO_RS_HINTS", "cb_nodes=1:romio_ds_read=enable", 1);
    MPI_File file = open_new("uneven");
    without_data(file);
    FINE(MPI_File_close(&file));
    uneven_hints();
    beyond_the_end();
    return finish();
}
