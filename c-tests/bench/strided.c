/* Independent strided access: each rank owns every ranks-th row of a file and writes and reads all its
 * rows with one MPI_File_write and one MPI_File_read through a vector view.
 *
 * usage: strided mpi|hand FILE ROW_BYTES BYTES_PER_RANK
 * `hand` is one pwrite or pread for each row. Three cases: a fresh file, the same rows again, reading.
 */
#include "bench.h"

enum kind { FRESH, REWRITE, READ };
static const char *const kind_name[] = {"write", "rewrite", "read"};

static char value(int owner, long position)
{
    return (char)(owner * 17 + position * 31 + position / 251);
}

static void by_hand(int file, char *memory, long row, long bytes, int writing)
{
    long done;
    for (done = 0; done < bytes; done += row) {
        off_t offset = (off_t)done * ranks + (off_t)rank * row;
        ssize_t moved = writing ? pwrite(file, memory + done, row, offset) : pread(file, memory + done, row, offset);
        if (moved != row)
            fail("by hand");
    }
}

static double run_by_hand(const char *name, char *memory, long row, long bytes, int writing, struct measure *measure)
{
    double closing;
    int file = open(name, writing ? O_CREAT | O_WRONLY : O_RDONLY, 0600);
    if (file < 0)
        fail(name);
    start_measure(measure);
    by_hand(file, memory, row, bytes, writing);
    stop_measure(measure);
    closing = wall_seconds();
    close(file);
    return wall_seconds() - closing;
}

static double run_by_mpi(const char *name, char *memory, long row, long bytes, int writing, struct measure *measure,
                         long *wrong)
{
    MPI_File file;
    MPI_Status status;
    MPI_Datatype rows;
    int count;
    double closing;
    MPI_Type_vector(bytes / row, row, row * ranks, MPI_BYTE, &rows);
    MPI_Type_commit(&rows);
    /* Read-write even to write: sieving needs it, and nobody shall be hindered. */
    check(MPI_File_open(MPI_COMM_WORLD, name, writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY,
                        MPI_INFO_NULL, &file), "open");
    check(MPI_File_set_view(file, (MPI_Offset)rank * row, MPI_BYTE, rows, "native", MPI_INFO_NULL), "set_view");
    start_measure(measure);
    if (writing)
        check(MPI_File_write(file, memory, bytes, MPI_BYTE, &status), "write");
    else
        check(MPI_File_read(file, memory, bytes, MPI_BYTE, &status), "read");
    stop_measure(measure);
    MPI_Get_count(&status, MPI_BYTE, &count);
    *wrong += count != bytes;
    closing = wall_seconds();
    check(MPI_File_close(&file), "close");
    MPI_Type_free(&rows);
    return wall_seconds() - closing;
}

static void run(const char *name, char *memory, long row, long bytes, int hand, enum kind kind)
{
    struct measure measure;
    long wrong = 0, position;
    double closing;
    if (kind == READ)
        memset(memory, 0, bytes);
    if (hand)
        closing = run_by_hand(name, memory, row, bytes, kind != READ, &measure);
    else
        closing = run_by_mpi(name, memory, row, bytes, kind != READ, &measure, &wrong);
    for (position = 0; position < bytes; position++)
        wrong += memory[position] != value(rank, position);
    print_measure(kind_name[kind], &measure, closing, wrong);
}

int main(int argc, char **argv)
{
    long position;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) {
        fprintf(stderr, "usage: strided mpi|hand FILE ROW_BYTES BYTES_PER_RANK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int hand = strcmp(argv[1], "hand") == 0;
    const char *name = argv[2];
    long row = atol(argv[3]), bytes = atol(argv[4]) / row * row;
    char *memory = malloc(bytes);
    if (!memory)
        fail("memory");
    for (position = 0; position < bytes; position++)
        memory[position] = value(rank, position);

    if (rank == 0)
        unlink(name);
    start_quiet_barrier(name);
    run(name, memory, row, bytes, hand, FRESH);
    run(name, memory, row, bytes, hand, REWRITE);
    run(name, memory, row, bytes, hand, READ);
    quiet_barrier();
    if (rank == 0)
        unlink(name);
    MPI_Finalize();
    return 0;
}
