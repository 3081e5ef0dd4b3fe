/* One rank makes a mistake in a collective call: it is told so, and no rank waits for ever. */
#include "check.h"

#define NAME "doorway_lonely.dat"

static int rank, size;

static MPI_File open_file(void)
{
    MPI_File fh;
    int code = MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    CHECK(code == MPI_SUCCESS);
    return fh;
}

static void check_open(int lonely)
{
    MPI_File fh = MPI_FILE_NULL;
    const char *name = rank == lonely ? NULL : NAME;
    int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    CHECK(code != MPI_SUCCESS && fh == MPI_FILE_NULL);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_ARG);

    code = MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, rank == lonely ? NULL : &fh);
    CHECK(code != MPI_SUCCESS && fh == MPI_FILE_NULL);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_ARG);
}

static void check_view(MPI_File fh, int lonely)
{
    const char *datarep = rank == lonely ? NULL : "native";
    int code = MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, datarep, MPI_INFO_NULL);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_ARG);
}

static void check_access(MPI_File fh, int lonely)
{
    int number = rank, code;
    MPI_Request request;
    int count = rank == lonely ? -1 : 1;

    code = MPI_File_write_at_all(fh, 4 * rank, &number, count, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_COUNT);
    code = MPI_File_read_all(fh, &number, count, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_COUNT);
    code = MPI_File_write_ordered(fh, &number, count, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_COUNT);
    code = MPI_File_iwrite_at_all(fh, 4 * rank, &number, count, MPI_INT, &request);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_COUNT && request == MPI_REQUEST_NULL);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE); /* the others may hear of it here */
    CHECK(rank != lonely || code == MPI_SUCCESS);
    code = MPI_File_iwrite_at_all(fh, 4 * rank, &number, 1, MPI_INT, rank == lonely ? NULL : &request);
    if (rank == lonely)
        CHECK(class_of(code) == MPI_ERR_ARG);
    else
        CHECK(code == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_File fh;
    MPI_Init(&argc, &argv);
    /* where errors of requests go that are not of a file to the MPI */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fh = open_file();
    for (int lonely = 0; lonely < size; lonely++) {
        check_open(lonely);
        check_view(fh, lonely);
        check_access(fh, lonely);
    }
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(NAME, MPI_INFO_NULL) == MPI_SUCCESS);
    return finish();
}
