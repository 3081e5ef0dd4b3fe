/* MPI_MODE_DELETE_ON_CLOSE deletes the file that was opened: not what its relative name means after chdir, and nothing that
 * somebody has given its name to meanwhile. */
#include "lesson.h"
#include <sys/stat.h>

static MPI_File open_doomed(const char *name)
{
    MPI_File file;
    FINE(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    return file;
}

static void write_other(const char *name)
{
    FILE *other = fopen(name, "w");
    TRUE(other);
    if (other) fclose(other);
}

int main(int count, char **words)
{
    begin(&count, &words);
    if (rank == 0) {
        TRUE(mkdir(path("first"), 0700) == 0);
        TRUE(mkdir(path("results"), 0700) == 0);
        write_other(path("results/scratch"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    TRUE(chdir(path("first")) == 0);
    MPI_File file = open_doomed("scratch");
    TRUE(chdir("../results") == 0);
    FINE(MPI_File_close(&file));
    if (rank == 0) {
        TRUE(access("scratch", F_OK) == 0);
        TRUE(access("../first/scratch", F_OK) != 0);
    }

    file = open_doomed("doomed");
    if (rank == 0) {
        write_other("other");
        TRUE(rename("other", "doomed") == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(MPI_File_close(&file), MPI_ERR_NO_SUCH_FILE);
    if (rank == 0) TRUE(access("doomed", F_OK) == 0);
    return finish();
}
