/* Every rank owns every size-th block of a file: writes its blocks with one collective call through
 * a strided view, reads them back with another, and checks each number.
 *
 * usage: hello [FILE [BLOCKS]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ours when preloaded or linked, absent otherwise. */
const char *mpiio_rs_version(void) __attribute__((weak));
int mpiio_rs_active(void) __attribute__((weak));

enum { BLOCK = 1000 };

static void check(int code, const char *doing)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "hello: %s: %s\n", doing, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int value(int rank, int index)
{
    return rank * 100000000 + index;
}

static long transfer(const char *name, int blocks, int *numbers, int writing)
{
    int rank, size, count;
    MPI_File file;
    MPI_Status status;
    MPI_Datatype filetype;
    int mode = writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(blocks, BLOCK, BLOCK * size, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);

    check(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file), "opening the file");
    check(MPI_File_set_view(file, (MPI_Offset)rank * BLOCK * sizeof(int), MPI_INT, filetype, "native",
                            MPI_INFO_NULL), "setting the view");
    if (writing)
        check(MPI_File_write_all(file, numbers, blocks * BLOCK, MPI_INT, &status), "writing");
    else
        check(MPI_File_read_all(file, numbers, blocks * BLOCK, MPI_INT, &status), "reading");
    MPI_Get_count(&status, MPI_INT, &count);
    check(MPI_File_close(&file), "closing the file");
    MPI_Type_free(&filetype);
    return (long)blocks * BLOCK - count;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "hello.data";
    int blocks = argc > 2 ? atoi(argv[2]) : 100;
    int rank, size, index;
    long wrong = 0, all_wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int *numbers = malloc((size_t)blocks * BLOCK * sizeof(int));
    for (index = 0; index < blocks * BLOCK; index++)
        numbers[index] = value(rank, index);
    wrong += transfer(name, blocks, numbers, 1) != 0;

    memset(numbers, 0xff, (size_t)blocks * BLOCK * sizeof(int));
    wrong += transfer(name, blocks, numbers, 0) != 0;
    for (index = 0; index < blocks * BLOCK; index++)
        wrong += numbers[index] != value(rank, index);

    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        int ours = mpiio_rs_active && mpiio_rs_active();
        printf("%d ranks, %d blocks of %d bytes each, MPI-IO by %s%s: %s\n", size, blocks,
               (int)(BLOCK * sizeof(int)), ours ? "mpiio-rs " : "the MPI library",
               ours && mpiio_rs_version ? mpiio_rs_version() : "", all_wrong ? "WRONG" : "all numbers right");
    }
    free(numbers);
    MPI_Finalize();
    return all_wrong != 0;
}
