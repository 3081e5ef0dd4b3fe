/* A host may remember what a name meant before another host has given it to a new file: all ranks open the file that rank 0
 * opens, and nobody writes to the old one. On a file system of one machine there is nothing to remember: it is scripts/check-hosts that
 * runs this where there is. */
#include "lesson.h"

#include <fcntl.h>

enum { LENGTH = 512 };

static const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;

/* Whether all of a file is as it was when it was renamed. */
static int is_old(const char *name)
{
    char bytes[64];
    int descriptor = open(name, O_RDONLY);
    ssize_t count = descriptor < 0 ? -1 : read(descriptor, bytes, sizeof bytes);
    if (descriptor >= 0) close(descriptor);
    return count == 3 && memcmp(bytes, "old", 3) == 0;
}

/* By MPI or without, rank 0 renames what the last rank has just opened and creates another one. */
static void check(const char *name, int by_mpi)
{
    char *current = path(name), old[4096];
    static char mine[LENGTH], all[64 * LENGTH];
    MPI_File file;
    snprintf(old, sizeof old, "%s.old", current);
    if (rank == size - 1) {
        FINE(MPI_File_open(MPI_COMM_SELF, current, mode, MPI_INFO_NULL, &file));
        FINE(MPI_File_write_at(file, 0, "old", 3, MPI_BYTE, MPI_STATUS_IGNORE));
        FINE(MPI_File_close(&file));
        TRUE(is_old(current));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        TRUE(rename(current, old) == 0);
        if (by_mpi) {
            FINE(MPI_File_open(MPI_COMM_SELF, current, mode | MPI_MODE_EXCL, MPI_INFO_NULL, &file));
            FINE(MPI_File_close(&file));
        } else {
            int descriptor = open(current, O_RDWR | O_CREAT | O_EXCL, 0666);
            TRUE(descriptor >= 0 && close(descriptor) == 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_open(MPI_COMM_WORLD, current, mode, MPI_INFO_NULL, &file));
    memset(mine, 'a' + rank % 26, sizeof mine);
    FINE(MPI_File_write_at(file, (MPI_Offset)rank * LENGTH, mine, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    synchronise(file);
    FINE(MPI_File_read_at(file, 0, all, size * LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < size * LENGTH; i++)
        if (all[i] != 'a' + i / LENGTH % 26) {
            printf("rank %d of %d: byte %d of the new file is %d\n", rank, size, i, all[i]);
            wrong++;
            break;
        }
    FINE(MPI_File_close(&file));
    if (rank == 0) TRUE(is_old(old));
}

int main(int count, char **words)
{
    begin(&count, &words);
    if (size <= 64) {
        check("by_mpi", 1);
        check("without", 0);
    }
    return finish();
}
