/* Names that cannot be opened, and what says so. */
#include "check.h"

#include <sys/stat.h>

static int try(const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    int code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS) MPI_File_close(&file);
    same_class(code, name, __LINE__);
    return code;
}

int main(int count, char **words)
{
    begin(&count, &words);
    static char long_name[8000];
    memset(long_name, 'a', sizeof long_name - 1);
    if (rank == 0) mkdir(path("folder"), 0755);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(try(path("missing"), MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    EXPECT(try(path("missing"), MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    EXPECT(try(path("missing"), MPI_MODE_WRONLY | MPI_MODE_EXCL), MPI_ERR_NO_SUCH_FILE);
    EXPECT(try(path("no/such/folder"), MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_NO_SUCH_FILE, MPI_ERR_BAD_FILE);
    FINE(try(path("exists"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL));
    EXPECT(try(path("exists"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
    EXPECT(try(path("exists/below"), MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_BAD_FILE, MPI_ERR_NO_SUCH_FILE);
    EXPECT(try(path("folder"), MPI_MODE_RDWR), MPI_ERR_BAD_FILE, MPI_ERR_ACCESS, MPI_ERR_FILE, MPI_ERR_IO);
    EXPECT(try("", MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_BAD_FILE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_ARG);
    EXPECT(try(long_name, MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_BAD_FILE);
    EXPECT(MPI_File_delete(path("missing"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    EXPECT(MPI_File_delete(path("no/such/folder"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, MPI_ERR_BAD_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) FINE(MPI_File_delete(path("exists"), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(try(path("exists"), MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    return finish();
}
