/* A program may have the whole file locked by fcntl when it opens it: the library's own locks, which are none of the
 * process's, must not wait for that one. */
#include "lesson.h"

#include <fcntl.h>
#include <unistd.h>

enum { LENGTH = 4096 };

int main(int count, char **words)
{
    static char mine[LENGTH], back[LENGTH], name[4096];
    begin(&count, &words);
    snprintf(name, sizeof name, "%s.%d", path("locked_file"), rank);
    memset(mine, 'a' + rank, sizeof mine);
    int descriptor = open(name, O_RDWR | O_CREAT, 0666);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    TRUE(descriptor >= 0 && fcntl(descriptor, F_SETLK, &all) == 0);

    MPI_File file;
    MPI_Status status;
    MPI_Datatype pieces;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "enable");
    MPI_Type_create_resized(MPI_INT, 0, 16, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    FINE(MPI_File_write_at(file, 0, mine, LENGTH, MPI_BYTE, &status));
    FINE(MPI_File_set_view(file, 0, MPI_INT, pieces, "native", info));
    FINE(MPI_File_write_at(file, 0, mine, LENGTH / 4, MPI_INT, &status));
    FINE(MPI_File_read_at(file, 0, back, LENGTH / 4, MPI_INT, &status));
    TRUE(bytes_of(&status) == LENGTH && memcmp(mine, back, LENGTH) == 0);
    FINE(MPI_File_close(&file));
    MPI_Info_free(&info);
    MPI_Type_free(&pieces);
    close(descriptor);
    return finish();
}
