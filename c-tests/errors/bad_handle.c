/* A handle of a file that was closed, and handles that never were: MPI_ERR_FILE, and no crash. */
#include "check.h"

static char memory[8];

static void refuse(MPI_File file)
{
    MPI_Offset offset;
    MPI_File copy = file;
    EXPECT(MPI_File_write_at(file, 0, memory, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT(MPI_File_get_size(file, &offset), MPI_ERR_FILE);
    EXPECT(MPI_File_sync(file), MPI_ERR_FILE);
    EXPECT(MPI_File_close(&copy), MPI_ERR_FILE);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("bad_handle"), closed = file;
    FINE(MPI_File_close(&file));
    refuse(closed);
    refuse((MPI_File)memory);
    refuse((MPI_File)(size_t)12345);
    refuse((MPI_File)(size_t)-8);
    /* an older handle must not reach the file opened later in its place */
    file = open_new("bad_handle");
    if (file != closed) refuse(closed);
    FINE(MPI_File_write_at(file, 0, memory, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_close(&file));
    return finish();
}
