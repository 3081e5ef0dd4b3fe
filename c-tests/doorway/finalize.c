/* Files are written while MPI ends: in the callbacks of attributes of MPI_COMM_SELF, which MPI_Finalize deletes first. Libraries
 * flush and close their files there. */
#include "check.h"

static const char *directory;
static int rank, size, called;
static MPI_File left_open;

/* Opens a file inside MPI_Finalize, writes and reads it. */
static void check_new_file(MPI_Comm comm, const char *name, int own)
{
    char path[4096];
    int value = 1000 + rank, back = -1;
    MPI_File fh;
    MPI_Status status;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    CHECK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all(fh, own * 4, &value, 1, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_sync(fh) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(fh, own * 4, &back, 1, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(back == value);
    CHECK(MPI_File_seek_shared(fh, size * 4, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_write_shared(fh, &value, 1, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

/* Also through a file that was opened long before, with an error handler of its own. */
static int at_the_end(MPI_Comm comm, int keyval, void *value, void *state)
{
    char name[64];
    int number = 2000 + rank;
    (void) comm, (void) keyval, (void) state;
    called++;
    snprintf(name, sizeof name, "finalize_world_%s", (const char *) value);
    check_new_file(MPI_COMM_WORLD, name, rank);
    snprintf(name, sizeof name, "finalize_self_%s_%d", (const char *) value, rank);
    check_new_file(MPI_COMM_SELF, name, 0);
    if (left_open != MPI_FILE_NULL) {
        CHECK(MPI_File_write_at_all(left_open, rank * 4, &number, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(class_of(MPI_File_write_at(left_open, -1, &number, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        CHECK(MPI_File_close(&left_open) == MPI_SUCCESS);
    }
    return MPI_SUCCESS;
}

static void call_at_the_end(char *value)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value);
}

/* After MPI has ended only the file itself can tell. */
static void check_left(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    for (int i = 0, number; file && i < size; i++)
        CHECK(fread(&number, sizeof number, 1, file) == 1 && number == 2000 + i);
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    char path[4096];
    MPI_Errhandler errhandler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    directory = argc > 1 ? argv[1] : ".";
    snprintf(path, sizeof path, "%s/finalize_left", directory);

    /* Once before the library has been asked for anything, and once after. */
    call_at_the_end("first");
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &left_open) == MPI_SUCCESS);
    CHECK(MPI_File_get_errhandler(left_open, &errhandler) == MPI_SUCCESS && errhandler == MPI_ERRORS_RETURN);
    call_at_the_end("last");

    MPI_Finalize();
    CHECK(called == 2);
    check_left(path);
    if (rank == 0 && errors == 0)
        puts("No Errors");
    return errors != 0;
}
