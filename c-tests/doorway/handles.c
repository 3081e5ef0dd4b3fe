/* File handles: stale, foreign and null ones, their Fortran integers, and pointers to nothing. */
#include "check.h"
#include <stdint.h>

#define NAME "doorway_handles.dat"

#if MPI_VERSION < 5 /* the standard ABI has these names only */
#define MPI_File_toint MPI_File_c2f
#define MPI_File_fromint MPI_File_f2c
#define PMPI_File_toint PMPI_File_c2f
#define PMPI_File_fromint PMPI_File_f2c
#endif

static MPI_File open_file(void)
{
    MPI_File fh;
    int code = MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    CHECK(code == MPI_SUCCESS);
    return fh;
}

/* None of these may look behind the handle. */
static void check_refused(MPI_File fh)
{
    char byte = 0;
    int flag;
    MPI_Offset offset;
    MPI_Status status;
    MPI_Errhandler errhandler;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_File copy = fh;

    CHECK(class_of(MPI_File_write_at(fh, 0, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_read_all(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
    CHECK(class_of(PMPI_File_get_size(fh, &offset)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_get_atomicity(fh, &flag)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_write_all_end(fh, &byte, &status)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_iread(fh, &byte, 1, MPI_BYTE, &request)) == MPI_ERR_FILE);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(class_of(MPI_File_close(&copy)) == MPI_ERR_FILE);
    CHECK(copy == fh);
    if (fh != MPI_FILE_NULL) {
        CHECK(class_of(MPI_File_get_errhandler(fh, &errhandler)) == MPI_ERR_FILE);
        CHECK(class_of(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN)) == MPI_ERR_FILE);
        CHECK(class_of(MPI_File_call_errhandler(fh, MPI_ERR_ARG)) == MPI_ERR_FILE);
    }
}

static void check_integers(void)
{
    MPI_File first = open_file(), second = open_file(), stale = first;
    int integer = MPI_File_toint(first);

    CHECK(first != second && first != MPI_FILE_NULL);
    CHECK(integer > 4096 && integer != MPI_File_toint(second));
    CHECK(MPI_File_fromint(integer) == first);
    CHECK(PMPI_File_fromint(PMPI_File_toint(second)) == second);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_File_fromint(0) == MPI_FILE_NULL);

    CHECK(MPI_File_close(&first) == MPI_SUCCESS);
    CHECK(first == MPI_FILE_NULL);
    check_refused(stale);
    first = open_file(); /* may take the place of the stale one, never its name */
    CHECK(first != stale);
    check_refused(stale);
    CHECK(MPI_File_close(&first) == MPI_SUCCESS);
    CHECK(MPI_File_close(&second) == MPI_SUCCESS);
}

static void check_null_pointers(void)
{
    char byte = 'x';
    MPI_File fh;
    MPI_Offset *nowhere = NULL;
    MPI_Request request;

    CHECK(class_of(MPI_File_open(MPI_COMM_NULL, NAME, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh)) == MPI_ERR_COMM);
    CHECK(fh == MPI_FILE_NULL);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, NULL, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_RDONLY, MPI_INFO_NULL, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_close(NULL)) == MPI_ERR_ARG);

    fh = open_file();
    CHECK(class_of(MPI_File_get_size(fh, nowhere)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_get_info(fh, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_get_group(fh, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_get_view(fh, nowhere, NULL, NULL, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_create_errhandler(NULL, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, NULL, MPI_INFO_NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_write_at(fh, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_File_write_at_all(fh, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_File_iwrite_at(fh, 0, &byte, -1, MPI_BYTE, &request)) == MPI_ERR_COUNT);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

/* A request does not write past its own width, and its status tells the bytes. */
static void check_request(void)
{
    struct {
        MPI_Request request;
        unsigned char guard[8];
    } place;
    MPI_Status status;
    int count = -1, four = 4;
    MPI_File fh = open_file();

    memset(&place, 0xa5, sizeof place);
    CHECK(MPI_File_iwrite_at(fh, 0, &four, 1, MPI_INT, &place.request) == MPI_SUCCESS);
    for (int i = 0; i < 8; i++)
        CHECK(place.guard[i] == 0xa5);
    CHECK(MPI_Wait(&place.request, &status) == MPI_SUCCESS);
    CHECK(place.request == MPI_REQUEST_NULL);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == 4);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    check_refused(MPI_FILE_NULL);
    check_refused((MPI_File)(uintptr_t)0xdeadbeef);
    check_refused((MPI_File)(uintptr_t)0x4d50494f00100000);
    check_integers();
    check_null_pointers();
    check_request();

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(NAME, MPI_INFO_NULL) == MPI_SUCCESS);
    return finish();
}
