/* A program that uses the shared pointer leaves nothing but its file, and one that does not use it makes nothing else
 * even while the file is open. Lock files and hidden files stay behind on others (ompi#9924, ompi#13823, mpich#2214). */
#include "lesson.h"

#include <dirent.h>

/* Names in the directory. */
static int entries(void)
{
    int found = 0;
    DIR *folder = opendir(directory);
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        found += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (folder) closedir(folder);
    return found;
}

int main(int count, char **words)
{
    begin(&count, &words);
    int before = entries();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_new("no_litter");
    FINE(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(entries() == before + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_set_atomicity(file, 1));
    FINE(MPI_File_write_at(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    TRUE(entries() == before + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) FINE(MPI_File_delete(path("no_litter"), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    TRUE(entries() == before);
    return finish();
}
