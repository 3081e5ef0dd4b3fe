/* A 4-D array of doubles cut into single columns: 10^8 pieces of 8 bytes in the view, which must not
 * cost memory by the piece. 1 MiB is written and read back from its beginning and its end.
 *
 * usage: subarray [FILE]
 */
#include <mpi.h>
#include "memory.h"

enum { NUMBERS = 1024 * 1024 / sizeof(double) };

static double value(long position)
{
    return (double)position + 0.5;
}

static long transfer(MPI_File file, MPI_Offset first, double *numbers)
{
    long index, wrong = 0;
    int count;
    MPI_Status status;
    for (index = 0; index < NUMBERS; index++)
        numbers[index] = value(first + index);
    check(MPI_File_write_at(file, first, numbers, NUMBERS, MPI_DOUBLE, &status), "write_at");
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    wrong += count != NUMBERS;
    memset(numbers, 0, NUMBERS * sizeof(double));
    check(MPI_File_read_at(file, first, numbers, NUMBERS, MPI_DOUBLE, &status), "read_at");
    for (index = 0; index < NUMBERS; index++)
        wrong += numbers[index] != value(first + index);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "subarray.data";
    int sizes[4] = {100, 100, 10000, 2}, subsizes[4] = {100, 100, 10000, 1}, starts[4] = {0, 0, 0, 1};
    long wrong = 0, pieces = 100L * 100 * 10000;
    MPI_File file;
    MPI_Datatype filetype;

    MPI_Init(&argc, &argv);
    double *numbers = malloc(NUMBERS * sizeof(double));
    memset(numbers, 0, NUMBERS * sizeof(double));
    MPI_Type_create_subarray(4, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &filetype);
    MPI_Type_commit(&filetype);
    check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");

    long before = memory_before();
    check(MPI_File_set_view(file, 0, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL), "set_view");
    wrong += transfer(file, 0, numbers);
    wrong += transfer(file, pieces - NUMBERS, numbers);

    int failed = judge_growth("4-D subarray view", before);
    if (wrong)
        printf("4-D subarray view: %ld wrong values\n", wrong);
    check(MPI_File_close(&file), "close");
    MPI_Type_free(&filetype);
    MPI_Finalize();
    return failed || wrong;
}
