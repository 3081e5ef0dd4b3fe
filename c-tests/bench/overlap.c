/* How much of a nonblocking write is hidden behind computing: overlap DIRECTORY MIB [REPETITIONS]
 *
 * In turn: the write alone, the computing alone, and the write started, computed beside and waited for. Hidden is what is
 * missing in the third of the sum of both, as a share of the write. Computing never calls MPI. Medians of all repetitions.
 * TEST_THREAD_LEVEL asks for a thread level. */
#include "bench.h"

#include "../level.h"

enum { MOST = 200 };

static double unit_seconds; /* one unit of work */

static void compute(long units)
{
    double value = 1.0;
    for (long i = 0; i < units * 1000; i++) value = value * 1.0000001 + 1e-9;
    if (value == 0) puts(""); /* so that it is computed */
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static double slowest(double seconds)
{
    double most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Starts the write, computes so long, waits. */
static double timed(MPI_File file, int together, char *data, int size, long units)
{
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = wall_seconds();
    if (size && together) check(MPI_File_iwrite_at_all(file, 0, data, size, MPI_BYTE, &request), "iwrite_at_all");
    else if (size) check(MPI_File_iwrite_at(file, 0, data, size, MPI_BYTE, &request), "iwrite_at");
    compute(units);
    if (size) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    return slowest(wall_seconds() - start);
}

static void measure(const char *directory, int together, char *data, int size, int repetitions)
{
    static double writes[MOST], computes[MOST], both[MOST];
    char path[4096];
    MPI_File file;
    MPI_Datatype type;
    int piece = 4096;
    snprintf(path, sizeof path, "%s/overlap", directory);
    check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file), "open");
    MPI_Type_vector(size / piece, piece, piece * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    check(MPI_File_set_view(file, together ? (MPI_Offset)rank * piece : (MPI_Offset)rank * size, MPI_BYTE, together ? type : MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
    for (int i = 0; i < 3; i++) writes[i] = timed(file, together, data, size, 0);
    long units = (long)(median(writes, 3) / unit_seconds) + 1;
    for (int i = 0; i < repetitions; i++) {
        writes[i] = timed(file, together, data, size, 0);
        computes[i] = timed(file, together, data, 0, units);
        both[i] = timed(file, together, data, size, units);
    }
    double w = median(writes, repetitions), c = median(computes, repetitions), b = median(both, repetitions);
    double hidden = (w + c - b) / (w < c ? w : c);
    if (rank == 0)
        printf("%s write %.4f compute %.4f both %.4f hidden %.0f %%\n", together ? "iwrite_at_all" : "iwrite_at", w, c, b,
               100 * (hidden > 0 ? hidden : 0));
    MPI_Type_free(&type);
    MPI_File_close(&file);
}

int main(int count, char **words)
{
    start_mpi(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count < 3) return MPI_Finalize() || 2;
    int size = atoi(words[2]) << 20, repetitions = count > 3 ? atoi(words[3]) : 9;
    if (repetitions > MOST) repetitions = MOST;
    char *data = malloc((size_t)size);
    memset(data, rank + 1, (size_t)size);
    double start = wall_seconds();
    compute(200000);
    unit_seconds = slowest((wall_seconds() - start) / 200000);
    measure(words[1], 0, data, size, repetitions);
    measure(words[1], 1, data, size, repetitions);
    free(data);
    return MPI_Finalize();
}
