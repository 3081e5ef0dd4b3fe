/* A data representation of the user: integers with their bytes in reverse. */
#include "check.h"

#define NAME "doorway_datarep.dat"

static int extra;

static void reverse(unsigned char *to, const unsigned char *from, int count)
{
    for (int i = 0; i < count; i++)
        for (int byte = 0; byte < 4; byte++)
            to[4 * i + byte] = from[4 * i + 3 - byte];
}

static int read_reversed(void *user, MPI_Datatype datatype, int count, void *file, MPI_Offset position, void *state)
{
    CHECK(state == &extra);
    if (datatype != MPI_INT)
        return MPI_ERR_CONVERSION;
    reverse((unsigned char *)user + 4 * position, file, count);
    return MPI_SUCCESS;
}

static int write_reversed(void *user, MPI_Datatype datatype, int count, void *file, MPI_Offset position, void *state)
{
    CHECK(state == &extra);
    if (datatype != MPI_INT)
        return MPI_ERR_CONVERSION;
    reverse(file, (unsigned char *)user + 4 * position, count);
    return MPI_SUCCESS;
}

static int extent_of(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    MPI_Aint lower;
    CHECK(state == &extra);
    return MPI_Type_get_extent(datatype, &lower, extent);
}

static void check_registration(void)
{
    CHECK(MPI_Register_datarep("reversed", read_reversed, write_reversed, extent_of, &extra) == MPI_SUCCESS);
    CHECK(class_of(MPI_Register_datarep("reversed", read_reversed, write_reversed, extent_of, &extra)) == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep("native", read_reversed, write_reversed, extent_of, &extra)) == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep(NULL, read_reversed, write_reversed, extent_of, &extra)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Register_datarep("no extent", read_reversed, write_reversed, NULL, &extra)) == MPI_ERR_ARG);
    CHECK(MPI_Register_datarep("unchanged", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, &extra) == MPI_SUCCESS);
}

static void check_view(MPI_File fh, const char *name)
{
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    MPI_Aint extent = 0;
    char datarep[MPI_MAX_DATAREP_STRING];
    CHECK(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep) == MPI_SUCCESS);
    CHECK(disp == 0 && strcmp(datarep, name) == 0);
    CHECK(MPI_File_get_type_extent(fh, MPI_INT, &extent) == MPI_SUCCESS);
    CHECK(extent == 4);
}

static void check_transfer(void)
{
    int rank, numbers[4], back[4] = {0};
    unsigned char bytes[16];
    MPI_File fh;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++)
        numbers[i] = 0x01020304 + 1000 * rank + i;

    CHECK(MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "unheard of", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "reversed", MPI_INFO_NULL) == MPI_SUCCESS);
    check_view(fh, "reversed");
    CHECK(MPI_File_write_at_all(fh, 4 * rank, numbers, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(fh, 4 * rank, back, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(memcmp(numbers, back, sizeof numbers) == 0);

    CHECK(MPI_File_set_view(fh, 16 * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(fh, 0, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    reverse((unsigned char *)back, bytes, 4);
    CHECK(memcmp(numbers, back, sizeof numbers) == 0);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_registration();
    check_transfer();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(NAME, MPI_INFO_NULL) == MPI_SUCCESS);
    return finish();
}
