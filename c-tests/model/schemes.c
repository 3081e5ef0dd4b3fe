/* Writes a file in one of the thesis's ways and reads it back: schemes FILE KIND BYTES TIMES
 *
 *     1d        each rank has one stretch of BYTES; collective
 *     2d        tiles of a matrix, 16 rows of BYTES / 16; collective
 *     holes     each rank has 64 bytes of every 256, in turn; collective
 *     unique    the same with MPI_MODE_UNIQUE_OPEN
 *     alone1d   as 1d, each rank for itself
 *     alone2d   as 2d, each rank for itself
 *     reads     scattered pieces, read by each rank for itself */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        if ((call) != MPI_SUCCESS) { fprintf(stderr, "failed: %s\n", #call); MPI_Abort(MPI_COMM_WORLD, 1); } \
    } while (0)

enum { ROWS = 16 };

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *kind = words[2];
    int bytes = atoi(words[3]), times = atoi(words[4]);
    int alone = !strncmp(kind, "alone", 5) || !strcmp(kind, "reads"), tiles = strstr(kind, "2d") || !strcmp(kind, "reads");
    char *data = malloc((size_t)bytes), *back = malloc((size_t)bytes);
    MPI_File file;
    MPI_Datatype tile = MPI_BYTE;
    int unique = !strcmp(kind, "unique"), mode = MPI_MODE_CREATE | MPI_MODE_RDWR | (unique ? MPI_MODE_UNIQUE_OPEN : 0);
    CHECK(MPI_File_open(MPI_COMM_WORLD, words[1], mode, MPI_INFO_NULL, &file));
    if (tiles) {
        int side = 1;
        while (side * side < ranks) side++;
        int down = (ranks + side - 1) / side;
        int whole[2] = {down * ROWS, side * (bytes / ROWS)}, part[2] = {ROWS, bytes / ROWS};
        int start[2] = {rank / side * ROWS, rank % side * (bytes / ROWS)};
        MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_BYTE, &tile);
        MPI_Type_commit(&tile);
        CHECK(MPI_File_set_view(file, 0, MPI_BYTE, tile, "native", MPI_INFO_NULL));
    } else if (unique || !strcmp(kind, "holes")) {
        MPI_Datatype some, spread;
        MPI_Type_contiguous(64, MPI_BYTE, &some);
        MPI_Type_create_resized(some, 0, (MPI_Aint)256 * ranks, &spread);
        MPI_Type_commit(&spread);
        CHECK(MPI_File_set_view(file, (MPI_Offset)rank * 256, MPI_BYTE, spread, "native", MPI_INFO_NULL));
        MPI_Type_free(&some);
        MPI_Type_free(&spread);
    } else {
        CHECK(MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    }
    for (int time = 0; time < times; time++) {
        for (int i = 0; i < bytes; i++) data[i] = (char)(i * 7 + rank * 31 + time);
        if (alone) CHECK(MPI_File_write_at(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        else CHECK(MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!strcmp(kind, "reads") || getenv("MODEL_READ")) {
        CHECK(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_File_read_at(file, 0, back, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        if (memcmp(data, back, (size_t)bytes)) { fprintf(stderr, "rank %d reads other bytes\n", rank); MPI_Abort(MPI_COMM_WORLD, 1); }
    }
    if (tiles) MPI_Type_free(&tile);
    CHECK(MPI_File_close(&file));
    MPI_Finalize();
    if (rank == 0) printf("No Errors\n");
    return 0;
}
