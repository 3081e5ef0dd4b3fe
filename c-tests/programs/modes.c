/* Creating, exclusive creating, deleting on close: what is allowed and what is left. */
#include "say.h"

static int try(const char *name, int amode)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_WORLD, path(name), amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS) FINE(MPI_File_close(&file));
    return code;
}

int main(int count, char **words)
{
    begin(&count, &words);
    say("reading a missing file: %s", class_name(try("one", MPI_MODE_RDONLY)));
    say("creating: %s", class_name(try("one", MPI_MODE_CREATE | MPI_MODE_WRONLY)));
    say("creating again: %s", class_name(try("one", MPI_MODE_CREATE | MPI_MODE_WRONLY)));
    say("creating exclusively: %s", class_name(try("one", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR)));
    say("creating another exclusively: %s", class_name(try("two", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR)));
    say("deleting on close: %s", class_name(try("two", MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE)));
    MPI_Barrier(MPI_COMM_WORLD);
    say("reading the deleted: %s", class_name(try("two", MPI_MODE_RDONLY)));
    say("two modes at once: %s", class_name(try("one", MPI_MODE_RDONLY | MPI_MODE_RDWR)));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("deleting: %s\n", class_name(MPI_File_delete(path("one"), MPI_INFO_NULL)));
    if (rank == 0) printf("deleting again: %s\n", class_name(MPI_File_delete(path("one"), MPI_INFO_NULL)));
    MPI_Finalize();
    return 0;
}
