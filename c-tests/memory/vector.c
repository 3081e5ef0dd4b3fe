/* A view of 10^9 pieces must cost what its description costs, not what its pieces would: a strided
 * view of every second int is set, 1 MiB is written and read back through it.
 *
 * usage: vector [FILE [PIECES]]
 */
#include <mpi.h>
#include "memory.h"

enum { NUMBERS = 1024 * 1024 / sizeof(int) };

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "vector.data";
    int pieces = argc > 2 ? atoi(argv[2]) : 1000000000;
    int index, count, wrong = 0;
    MPI_File file;
    MPI_Status status;
    MPI_Datatype filetype;
    MPI_Offset bytes;

    MPI_Init(&argc, &argv);
    int *numbers = malloc(NUMBERS * sizeof(int));
    for (index = 0; index < NUMBERS; index++)
        numbers[index] = index + 1;
    MPI_Type_vector(pieces, 1, 2, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");

    long before = memory_before();
    check(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL), "set_view");
    check(MPI_File_write(file, numbers, NUMBERS, MPI_INT, &status), "write");
    MPI_Get_count(&status, MPI_INT, &count);
    wrong += count != NUMBERS;
    memset(numbers, 0, NUMBERS * sizeof(int));
    check(MPI_File_read_at(file, 0, numbers, NUMBERS, MPI_INT, &status), "read_at");
    for (index = 0; index < NUMBERS; index++)
        wrong += numbers[index] != index + 1;
    check(MPI_File_get_size(file, &bytes), "get_size");
    wrong += bytes != (MPI_Offset)(2 * NUMBERS - 1) * (MPI_Offset)sizeof(int);
    /* Far inside the view as well: nothing may walk there piece by piece through a list. */
    check(MPI_File_get_byte_offset(file, pieces - 1, &bytes), "get_byte_offset");
    wrong += bytes != (MPI_Offset)(pieces - 1) * 2 * (MPI_Offset)sizeof(int);

    int failed = judge_growth("vector view", before);
    if (wrong)
        printf("vector view: %d wrong values\n", wrong);
    check(MPI_File_close(&file), "close");
    MPI_Type_free(&filetype);
    MPI_Finalize();
    return failed || wrong;
}
