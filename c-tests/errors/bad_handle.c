/* A handle of a file that was closed, and handles that never were: MPI_ERR_FILE, and no crash. */
#include "every_routine.h"

static char memory[8];

static void refuse_error_handlers(MPI_File file)
{
    MPI_Errhandler errhandler;
    EXPECT(MPI_File_get_errhandler(file, &errhandler), MPI_ERR_FILE);
    EXPECT(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN), MPI_ERR_FILE);
    EXPECT(MPI_File_call_errhandler(file, MPI_ERR_ARG), MPI_ERR_FILE);
}

static void refuse_all(MPI_File file)
{
    refuse(file);
    refuse_error_handlers(file);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("bad_handle"), closed = file;
    FINE(MPI_File_close(&file));
    refuse_all(closed);
    refuse_all((MPI_File)memory);
    refuse_all((MPI_File)(size_t)12345);
    refuse_all((MPI_File)(size_t)-8);
    /* an older handle must not reach the file opened later in its place */
    file = open_new("bad_handle");
    if (file != closed) refuse_all(closed);
    FINE(MPI_File_write_at(file, 0, memory, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_close(&file));
    return finish();
}
