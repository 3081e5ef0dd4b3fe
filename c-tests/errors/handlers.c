/* Error handlers of files: the default, one of our own, that of MPI_FILE_NULL for MPI_File_open and MPI_File_delete. */
#include "check.h"

static int calls, last_class;
static MPI_File last_file;

static void handle(MPI_File *file, int *code, ...)
{
    calls++;
    last_class = class_of(*code);
    last_file = *file;
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file;
    MPI_Errhandler ours, found;
    char memory[4];
    FINE(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    TRUE(found == MPI_ERRORS_RETURN);
    FINE(MPI_File_create_errhandler(handle, &ours));
    FINE(MPI_File_set_errhandler(MPI_FILE_NULL, ours));
    EXPECT(MPI_File_open(MPI_COMM_WORLD, path("missing"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    TRUE(calls == 1 && last_class == MPI_ERR_NO_SUCH_FILE && last_file == MPI_FILE_NULL);
    EXPECT(MPI_File_delete(path("missing"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    TRUE(calls == 2);
    file = open_new("handlers"); /* inherits the handler of MPI_FILE_NULL */
    EXPECT(MPI_File_read_at(file, -1, memory, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    TRUE(calls == 3 && last_file == file && last_class == MPI_ERR_ARG);
    FINE(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    EXPECT(MPI_File_delete(path("missing"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    TRUE(calls == 3);
    FINE(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    EXPECT(MPI_File_read_at(file, -1, memory, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    TRUE(calls == 3);
    FINE(MPI_File_set_errhandler(file, ours));
    FINE(MPI_Errhandler_free(&ours)); /* in use by the file still */
    FINE(MPI_File_call_errhandler(file, MPI_ERR_NO_SPACE));
    TRUE(calls == 4 && last_class == MPI_ERR_NO_SPACE && last_file == file);
    FINE(MPI_File_get_errhandler(file, &found));
    TRUE(found != MPI_ERRORS_RETURN);
    FINE(MPI_Errhandler_free(&found));
    EXPECT(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    TRUE(calls == 5);
    FINE(MPI_File_close(&file));
    return finish();
}
