/* MPI_MODE_APPEND: both pointers start at the end. */
#include "say.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("append");
    MPI_Status status;
    MPI_Offset individual, shared, value;
    FINE(MPI_File_set_size(file, 77));
    FINE(MPI_File_close(&file));
    FINE(MPI_File_open(MPI_COMM_WORLD, path("append"), MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
    FINE(MPI_File_get_position(file, &individual));
    FINE(MPI_File_get_position_shared(file, &shared));
    if (rank == 0) printf("individual %lld, shared %lld\n", (long long)individual, (long long)shared);
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_write_ordered(file, "xyz", 3, MPI_CHAR, &status));
    synchronise(file);
    FINE(MPI_File_get_size(file, &value));
    if (rank == 0) printf("grown by 3 for each rank: %s\n", value == 77 + 3 * size ? "yes" : "no");
    FINE(MPI_File_seek(file, 0, MPI_SEEK_SET));
    FINE(MPI_File_get_position(file, &individual));
    if (rank == 0) printf("after a seek %lld\n", (long long)individual);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
