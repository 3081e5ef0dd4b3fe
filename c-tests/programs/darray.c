/* A matrix distributed block-cyclically over a grid of all ranks, as ScaLAPACK does. */
#include "say.h"

static void distribute(const char *name, int first, int second, int argument, int order)
{
    int grid[2] = {0}, sizes[2] = {13, 17}, distributions[2] = {first, second}, elements;
    int arguments[2] = {argument, argument};
    MPI_Dims_create(size, 2, grid);
    for (int i = 0; i < 2; i++)
        if (distributions[i] == MPI_DISTRIBUTE_BLOCK) arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    MPI_Datatype filetype;
    MPI_Status status;
    MPI_Type_create_darray(size, rank, 2, sizes, distributions, arguments, grid, order, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_size(filetype, &elements);
    elements /= (int)sizeof(int);
    int *data = calloc((size_t)elements + 1, sizeof(int)), *back = calloc((size_t)elements + 1, sizeof(int));
    for (int i = 0; i < elements; i++) data[i] = 1000 * (rank + 1) + i;
    MPI_File file = open_new(name);
    FINE(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_all(file, data, elements, MPI_INT, &status));
    FINE(MPI_File_read_at_all(file, 0, back, elements, MPI_INT, &status));
    say("%s: %d elements, read %d, %s", name, elements, count_of(&status, MPI_INT),
        memcmp(data, back, sizeof(int) * (size_t)elements) ? "different" : "the same");
    FINE(MPI_File_close(&file));
    MPI_Type_free(&filetype);
    free(data);
    free(back);
}

int main(int count, char **words)
{
    begin(&count, &words);
    distribute("darray-blocks", MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, 0, MPI_ORDER_C);
    distribute("darray-cyclic", MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, 2, MPI_ORDER_C);
    distribute("darray-mixed", MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, 3, MPI_ORDER_FORTRAN);
    MPI_Finalize();
    return 0;
}
