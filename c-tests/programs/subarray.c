/* 2-D and 3-D arrays cut into blocks, in either order, from memory with ghost cells. */
#include "say.h"

static void cut(const char *name, int dimensions, int order)
{
    int grid[3] = {0}, sizes[3], sub[3], starts[3], ghosts[3], ghost_starts[3], rest = rank, cells = 1, own = 1;
    MPI_Dims_create(size, dimensions, grid);
    for (int i = dimensions - 1; i >= 0; i--) {
        int at = rest % grid[i];
        rest /= grid[i];
        sub[i] = 3 + i;
        sizes[i] = sub[i] * grid[i];
        starts[i] = sub[i] * at;
        ghosts[i] = sub[i] + 2;
        ghost_starts[i] = 1;
        cells *= ghosts[i];
        own *= sub[i];
    }
    MPI_Datatype filetype, memory;
    MPI_Status status;
    MPI_Type_create_subarray(dimensions, sizes, sub, starts, order, MPI_INT, &filetype);
    MPI_Type_create_subarray(dimensions, ghosts, sub, ghost_starts, order, MPI_INT, &memory);
    MPI_Type_commit(&filetype);
    MPI_Type_commit(&memory);
    int *data = malloc(sizeof(int) * (size_t)cells), *back = malloc(sizeof(int) * (size_t)cells);
    for (int i = 0; i < cells; i++) data[i] = 10000 * rank + i, back[i] = -1;
    MPI_File file = open_new(name);
    FINE(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_all(file, data, 1, memory, &status));
    int wrote = count_of(&status, MPI_INT);
    FINE(MPI_File_seek(file, 0, MPI_SEEK_SET));
    FINE(MPI_File_read_all(file, back, 1, memory, &status));
    say("%s: wrote %d of %d, read %d, sum %u", name, wrote, own, count_of(&status, MPI_INT), sum_of(back, sizeof(int) * (size_t)cells));
    FINE(MPI_File_close(&file));
    MPI_Type_free(&filetype);
    MPI_Type_free(&memory);
    free(data);
    free(back);
}

int main(int count, char **words)
{
    begin(&count, &words);
    cut("subarray-2-c", 2, MPI_ORDER_C);
    cut("subarray-2-fortran", 2, MPI_ORDER_FORTRAN);
    cut("subarray-3-c", 3, MPI_ORDER_C);
    cut("subarray-3-fortran", 3, MPI_ORDER_FORTRAN);
    MPI_Finalize();
    return 0;
}
