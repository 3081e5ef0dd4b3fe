/* Combinations of access modes that MPI_File_open must refuse. */
#include "check.h"

static int try(int amode)
{
    MPI_File file = MPI_FILE_NULL;
    int code = MPI_File_open(MPI_COMM_WORLD, path("amode"), amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS) MPI_File_close(&file);
    return code;
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("amode");
    FINE(MPI_File_close(&file));
    EXPECT(try(0), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_CREATE), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_WRONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_RDONLY), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_RDONLY | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_AMODE);
    EXPECT(try(MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    FINE(try(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL));
    FINE(try(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL));
    FINE(try(MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_UNIQUE_OPEN));
    FINE(try(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(try(MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    return finish();
}
