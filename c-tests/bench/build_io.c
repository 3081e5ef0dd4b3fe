/* Build IO: one rank writes and reads many small pieces of memory, 4 bytes apart, to a contiguous
 * file. What costs time here is turning the memory type into file accesses.
 *
 * usage: build_io mpi|hand|raw FILE PIECE_BYTES TOTAL_BYTES
 * `hand` is the limit: a packing loop and pwrite in chunks of 256 KiB, as a programmer would write it.
 * `raw` is its pwrite and pread alone, without the packing: what the system asks for moving so many bytes.
 */
#include "bench.h"

enum { GAP = 4, CHUNK = 256 * 1024 };

/* With the size known to the compiler the loop is plain moves. */
#define COPY_LOOP(SIZE)                                                                       \
    for (index = 0; index < pieces; index++)                                                  \
        if (packing)                                                                          \
            memcpy(chunk + index * (SIZE), memory + index * ((SIZE) + GAP), (SIZE));          \
        else                                                                                  \
            memcpy(memory + index * ((SIZE) + GAP), chunk + index * (SIZE), (SIZE));

static void copy_pieces(char *restrict chunk, char *restrict memory, long pieces, long size, int packing)
{
    long index;
    switch (size) {
    case 1: COPY_LOOP(1) break;
    case 4: COPY_LOOP(4) break;
    case 8: COPY_LOOP(8) break;
    case 16: COPY_LOOP(16) break;
    default: COPY_LOOP(size)
    }
}

static void by_hand(int file, char *memory, long size, long total, int writing, int packs)
{
    static char chunk[CHUNK] __attribute__((aligned(4096)));
    long done, pieces_each = CHUNK / size, bytes_each = pieces_each * size;
    for (done = 0; done < total; done += bytes_each) {
        long bytes = total - done < bytes_each ? total - done : bytes_each;
        char *from = memory + done / size * (size + GAP);
        if (writing && packs)
            copy_pieces(chunk, from, bytes / size, size, 1);
        if ((writing ? pwrite(file, chunk, bytes, done) : pread(file, chunk, bytes, done)) != bytes)
            fail("by hand");
        if (!writing && packs)
            copy_pieces(chunk, from, bytes / size, size, 0);
    }
}

static char value(long position)
{
    return (char)(position * 31 + position / 251);
}

/* Pieces get values, gaps get 0x55; after reading both must be so again. */
static void fill(char *memory, long size, long total)
{
    long index, byte;
    for (index = 0; index < total / size; index++) {
        for (byte = 0; byte < size; byte++)
            memory[index * (size + GAP) + byte] = value(index * size + byte);
        memset(memory + index * (size + GAP) + size, 0x55, GAP);
    }
}

static long count_wrong(const char *memory, long size, long total)
{
    long index, byte, wrong = 0;
    for (index = 0; index < total / size; index++) {
        const char *piece = memory + index * (size + GAP);
        for (byte = 0; byte < size; byte++)
            wrong += piece[byte] != value(index * size + byte);
        for (byte = size; byte < size + GAP; byte++)
            wrong += piece[byte] != 0x55;
    }
    return wrong;
}

static void run(const char *name, char *memory, long size, long total, const char *engine, int writing)
{
    int raw = strcmp(engine, "raw") == 0;
    struct measure measure;
    double closing;
    long wrong = 0;
    if (raw || strcmp(engine, "hand") == 0) {
        int file = open(name, writing ? O_CREAT | O_TRUNC | O_WRONLY : O_RDONLY, 0600);
        if (file < 0)
            fail(name);
        start_measure(&measure);
        by_hand(file, memory, size, total, writing, !raw);
        stop_measure(&measure);
        closing = wall_seconds();
        close(file);
    } else {
        MPI_File file;
        MPI_Status status;
        MPI_Datatype pieces;
        MPI_Count count;
        MPI_Type_create_hvector(total / size, size, size + GAP, MPI_BYTE, &pieces);
        MPI_Type_commit(&pieces);
        check(MPI_File_open(MPI_COMM_SELF, name, writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                            MPI_INFO_NULL, &file), "open");
        start_measure(&measure);
        if (writing)
            check(MPI_File_write_at(file, 0, memory, 1, pieces, &status), "write_at");
        else
            check(MPI_File_read_at(file, 0, memory, 1, pieces, &status), "read_at");
        stop_measure(&measure);
        MPI_Get_elements_x(&status, MPI_BYTE, &count);
        wrong += count != total;
        closing = wall_seconds();
        check(MPI_File_close(&file), "close");
        MPI_Type_free(&pieces);
    }
    closing = wall_seconds() - closing;
    if (!writing && !raw)
        wrong += count_wrong(memory, size, total);
    print_measure(writing ? "write" : "read", &measure, closing, wrong);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5 || ranks != 1) {
        fprintf(stderr, "usage, on one rank: build_io mpi|hand|raw FILE PIECE_BYTES TOTAL_BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char *engine = argv[1], *name = argv[2];
    long size = atol(argv[3]), total = atol(argv[4]);
    char *memory = malloc(total / size * (size + GAP));
    if (!memory)
        fail("memory");

    unlink(name);
    start_quiet_barrier(name);
    fill(memory, size, total);
    run(name, memory, size, total, engine, 1);
    memset(memory, 0x55, total / size * (size + GAP));
    run(name, memory, size, total, engine, 0);
    unlink(name);
    MPI_Finalize();
    return 0;
}
