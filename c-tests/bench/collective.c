/* Collective access in the shapes that applications have.
 *
 * usage: collective mpi|hand FILE PATTERN BYTES_PER_RANK
 * Every rank writes its part of a file with MPI_File_write_all (or many MPI_File_write_at_all), writes it again and reads
 * it back. `hand` is the limit: each rank moves as many bytes with pwrite and pread, contiguous, 1 MiB at a time.
 * Patterns: contiguous, strided-SIZE, calls-SIZE, tile-SIZE, overlap-SIZE, multipartition, subarray, inner, irregular,
 * checkpoint.
 */
#include "bench.h"

enum kind { FRESH, REWRITE, READ };
static const char *const kind_name[] = {"write", "rewrite", "read"};

/* What a rank accesses: its view, its memory, and how many calls it takes. */
struct pattern {
    MPI_Offset displacement;
    MPI_Datatype filetype, memtype;
    long count;       /* of memtype in each call */
    long calls;       /* each at `call_stride` bytes of the view behind the one before */
    long call_stride;
    long memory;      /* bytes of memory in all */
    long size;        /* bytes of data in all */
    /* Where ranks overlap they have the same bytes: rows of a plane, or 0 */
    long row, plane, start;
    char *packed;     /* room for the data where memory has gaps: got once, so that nobody uses it again in between */
};

static char value(int owner, long position)
{
    return (char)(owner * 17 + position * 31 + position / 251);
}

/* A byte of this rank's data. */
static char datum(const struct pattern *pattern, long position)
{
    if (!pattern->row)
        return value(rank, position);
    return value(0, pattern->start + position / pattern->row * pattern->plane + position % pattern->row);
}

/* The ranks as a grid of `dimensions` dimensions, the first the longest; where this rank stands in it. */
static void grid(int dimensions, int *sizes, int *place)
{
    int i, rest = rank;
    memset(sizes, 0, dimensions * sizeof *sizes);
    MPI_Dims_create(ranks, dimensions, sizes);
    for (i = dimensions - 1; i >= 0; i--) {
        place[i] = rest % sizes[i];
        rest /= sizes[i];
    }
}

static void whole_memory(struct pattern *pattern, long bytes)
{
    pattern->memtype = MPI_BYTE;
    pattern->count = pattern->memory = pattern->size = bytes;
}

static void contiguous(struct pattern *pattern, long bytes)
{
    pattern->displacement = (MPI_Offset)rank * bytes;
    whole_memory(pattern, bytes);
}

static void strided(struct pattern *pattern, long bytes, long piece)
{
    MPI_Type_vector(bytes / piece, piece, piece * ranks, MPI_BYTE, &pattern->filetype);
    pattern->displacement = (MPI_Offset)rank * piece;
    whole_memory(pattern, bytes / piece * piece);
}

/* One call for each piece. */
static void many_calls(struct pattern *pattern, long bytes, long piece)
{
    pattern->displacement = (MPI_Offset)rank * piece;
    whole_memory(pattern, bytes / piece * piece);
    pattern->count = piece;
    pattern->calls = bytes / piece;
    pattern->call_stride = piece * ranks;
}

/* A tile of a plane, with rows of `row` bytes. Of `share` rows and columns one belongs to the next tile as well; none if
 * that is 0. */
static void tile(struct pattern *pattern, long bytes, long row, int share)
{
    int tiles[2], place[2];
    grid(2, tiles, place);
    int i, part[2] = {bytes / row, row}, sizes[2], starts[2];
    for (i = 0; i < 2; i++) {
        int overlap = share ? part[i] / share : 0;
        starts[i] = place[i] * (part[i] - overlap);
        sizes[i] = tiles[i] * (part[i] - overlap) + overlap;
    }
    MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_BYTE, &pattern->filetype);
    whole_memory(pattern, (long)part[0] * row);
    if (share) {
        pattern->row = row;
        pattern->plane = sizes[1];
        pattern->start = (long)starts[0] * sizes[1] + starts[1];
    }
}

/* A cube of 5 doubles at each point, dealt out in diagonals of cells as in BT; memory has two ghost cells all around. */
static void multipartition(struct pattern *pattern, long bytes)
{
    int root = 1, cell, i, edge = 1;
    while ((root + 1) * (root + 1) <= ranks)
        root++;
    while ((long)(edge + 1) * (edge + 1) * (edge + 1) * 40 * root <= bytes)
        edge++;
    MPI_Datatype point, cells[64], inside[64];
    MPI_Aint places[64], memory_places[64];
    int lengths[64];
    MPI_Type_contiguous(5, MPI_DOUBLE, &point);
    int all[3] = {edge * root, edge * root, edge * root}, part[3] = {edge, edge, edge};
    int framed[3] = {edge + 4, edge + 4, edge + 4}, inner[3] = {2, 2, 2};
    for (cell = 0; cell < root; cell++) {
        int starts[3] = {cell * edge, (rank / root + cell) % root * edge, (rank + root - cell) % root * edge};
        MPI_Type_create_subarray(3, all, part, starts, MPI_ORDER_C, point, &cells[cell]);
        MPI_Type_create_subarray(3, framed, part, inner, MPI_ORDER_C, point, &inside[cell]);
        places[cell] = 0;
        memory_places[cell] = (MPI_Aint)cell * framed[0] * framed[1] * framed[2] * 40;
        lengths[cell] = 1;
    }
    MPI_Type_create_struct(root, lengths, places, cells, &pattern->filetype);
    MPI_Type_create_struct(root, lengths, memory_places, inside, &pattern->memtype);
    for (i = 0; i < root; i++) {
        MPI_Type_free(&cells[i]);
        MPI_Type_free(&inside[i]);
    }
    MPI_Type_free(&point);
    MPI_Type_commit(&pattern->memtype);
    pattern->count = 1;
    pattern->memory = (long)root * framed[0] * framed[1] * framed[2] * 40;
    pattern->size = (long)root * edge * edge * edge * 40;
}

/* Blocks of a field with several components, as S3D writes them. */
static void subarray(struct pattern *pattern, long bytes)
{
    int blocks[3], place[3], edge = 1, i;
    grid(3, blocks, place);
    while ((long)(edge + 1) * (edge + 1) * (edge + 1) * 8 * 11 <= bytes)
        edge++;
    int sizes[4] = {11}, part[4] = {11, edge, edge, edge}, starts[4] = {0};
    for (i = 0; i < 3; i++) {
        sizes[i + 1] = blocks[i] * edge;
        starts[i + 1] = place[i] * edge;
    }
    MPI_Type_create_subarray(4, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &pattern->filetype);
    whole_memory(pattern, 11L * edge * edge * edge * 8);
}

/* A four-dimensional array that is divided in its two innermost dimensions: rows of 64 bytes. */
static void inner(struct pattern *pattern, long bytes)
{
    int blocks[2], place[2];
    grid(2, blocks, place);
    int outer = bytes / (8 * 8 * 16 * 8);
    int sizes[4] = {outer, 8, blocks[0] * 16, blocks[1] * 8}, part[4] = {outer, 8, 16, 8};
    int starts[4] = {0, 0, place[0] * 16, place[1] * 8};
    MPI_Type_create_subarray(4, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &pattern->filetype);
    whole_memory(pattern, (long)outer * 8 * 16 * 8 * 8);
}

/* Long lists of short pieces without order among the ranks, as in E3SM: 1 to 10 numbers each. */
static void irregular(struct pattern *pattern, long bytes)
{
    long offset = 0, owned = 0, all = 0;
    int count = 0, room = bytes / 8 + 1;
    unsigned state = 12345;
    int *lengths = malloc(room * sizeof *lengths);
    int *places = malloc(room * sizeof *places);
    if (!lengths || !places)
        fail("lists");
    while (all < bytes / 8 * ranks) {
        state = state * 1103515245 + 12345;
        int length = 1 + (state >> 16) % 10, owner = (state >> 24) % ranks;
        if (owner == rank && owned + length <= bytes / 8) {
            lengths[count] = length;
            places[count++] = offset;
            owned += length;
        }
        offset += length;
        all += length;
    }
    MPI_Type_indexed(count, lengths, places, MPI_DOUBLE, &pattern->filetype);
    free(lengths);
    free(places);
    whole_memory(pattern, owned * 8);
}

/* Variables one after the other, each rank with a run of blocks in each; in memory the variables lie side by side, as
 * in FLASH. */
static void checkpoint(struct pattern *pattern, long bytes)
{
    enum { VARIABLES = 24 };
    long points = bytes / VARIABLES / 8;
    MPI_Datatype one;
    MPI_Type_create_hvector(1, points, 0, MPI_DOUBLE, &one);
    MPI_Type_create_hvector(VARIABLES, 1, (MPI_Aint)points * 8 * ranks, one, &pattern->filetype);
    MPI_Type_free(&one);
    pattern->displacement = (MPI_Offset)rank * points * 8;
    MPI_Type_vector(points, 1, VARIABLES, MPI_DOUBLE, &one);
    MPI_Type_create_hvector(VARIABLES, 1, 8, one, &pattern->memtype);
    MPI_Type_commit(&pattern->memtype);
    MPI_Type_free(&one);
    pattern->count = 1;
    pattern->memory = pattern->size = points * VARIABLES * 8;
}

static void make(struct pattern *pattern, const char *name, long bytes)
{
    const char *dash = strchr(name, '-');
    long size = dash ? atol(dash + 1) : 0;
    memset(pattern, 0, sizeof *pattern);
    pattern->calls = 1;
    pattern->filetype = MPI_BYTE;
    if (strcmp(name, "contiguous") == 0)
        contiguous(pattern, bytes);
    else if (strncmp(name, "strided-", 8) == 0)
        strided(pattern, bytes, size);
    else if (strncmp(name, "calls-", 6) == 0)
        many_calls(pattern, bytes, size);
    else if (strncmp(name, "tile-", 5) == 0)
        tile(pattern, bytes, size, 0);
    else if (strncmp(name, "overlap-", 8) == 0)
        tile(pattern, bytes, size, 8);
    else if (strcmp(name, "multipartition") == 0)
        multipartition(pattern, bytes);
    else if (strcmp(name, "subarray") == 0)
        subarray(pattern, bytes);
    else if (strcmp(name, "inner") == 0)
        inner(pattern, bytes);
    else if (strcmp(name, "irregular") == 0)
        irregular(pattern, bytes);
    else if (strcmp(name, "checkpoint") == 0)
        checkpoint(pattern, bytes);
    else
        fail(name);
    if (pattern->filetype != MPI_BYTE)
        MPI_Type_commit(&pattern->filetype);
}

static void by_hand(const char *name, char *memory, long bytes, int writing, struct measure *measure)
{
    long done, length, start = 0;
    MPI_Exscan(&bytes, &start, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int file = open(name, writing ? O_CREAT | O_WRONLY : O_RDONLY, 0600);
    if (file < 0)
        fail(name);
    start_measure(measure);
    for (done = 0; done < bytes; done += length) {
        length = bytes - done < 1 << 20 ? bytes - done : 1 << 20;
        off_t offset = (off_t)start + done;
        ssize_t moved = writing ? pwrite(file, memory + done, length, offset) : pread(file, memory + done, length, offset);
        if (moved != length)
            fail("by hand");
    }
    stop_measure(measure);
    close(file);
}

static long by_mpi(const char *name, char *memory, const struct pattern *pattern, int writing, struct measure *measure)
{
    MPI_File file;
    MPI_Status status;
    long call, wrong = 0;
    int size, moved;
    check(MPI_File_open(MPI_COMM_WORLD, name, writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY,
                        MPI_INFO_NULL, &file), "open");
    check(MPI_File_set_view(file, pattern->displacement, MPI_BYTE, pattern->filetype, "native", MPI_INFO_NULL), "set_view");
    MPI_Type_size(pattern->memtype, &size);
    start_measure(measure);
    for (call = 0; call < pattern->calls; call++) {
        char *from = memory + call * pattern->count;
        MPI_Offset offset = call * pattern->call_stride;
        if (writing)
            check(MPI_File_write_at_all(file, offset, from, pattern->count, pattern->memtype, &status), "write");
        else
            check(MPI_File_read_at_all(file, offset, from, pattern->count, pattern->memtype, &status), "read");
        MPI_Get_count(&status, pattern->memtype, &moved);
        wrong += moved != pattern->count;
    }
    stop_measure(measure);
    check(MPI_File_close(&file), "close");
    return wrong;
}

/* How many bytes of data are not what they were. */
static long compare(const struct pattern *pattern, char *memory)
{
    long wrong = 0, position;
    int packed = 0, size = pattern->size;
    if (pattern->memtype == MPI_BYTE) {
        for (position = 0; position < pattern->size; position++)
            wrong += memory[position] != datum(pattern, position);
        return wrong;
    }
    MPI_Pack(memory, pattern->count, pattern->memtype, pattern->packed, size, &packed, MPI_COMM_WORLD);
    for (position = 0; position < pattern->size; position++)
        wrong += pattern->packed[position] != datum(pattern, position);
    return wrong;
}

static void prepare(const struct pattern *pattern, char *memory)
{
    long position;
    int packed = 0;
    char *data = pattern->memtype == MPI_BYTE ? memory : pattern->packed;
    for (position = 0; position < pattern->size; position++)
        data[position] = datum(pattern, position);
    if (data == memory)
        return;
    MPI_Unpack(data, pattern->size, &packed, memory, pattern->count, pattern->memtype, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct pattern pattern;
    struct measure measure;
    int kind;
    long before = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) {
        fprintf(stderr, "usage: collective mpi|hand FILE PATTERN BYTES_PER_RANK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int hand = strcmp(argv[1], "hand") == 0;
    const char *name = argv[2];
    make(&pattern, argv[3], atol(argv[4]));
    char *memory = malloc(pattern.memory);
    pattern.packed = malloc(pattern.size);
    if (!memory || !pattern.packed)
        fail("memory");
    memset(memory, 'x', pattern.memory); /* its pages are the user's, also those that hold no data */
    prepare(&pattern, memory);
    if (rank == 0)
        unlink(name);
    start_quiet_barrier(name);
    for (kind = FRESH; kind <= READ; kind++) {
        long wrong = 0;
        if (kind == READ)
            memset(memory, 0, pattern.memory);
        if (hand)
            by_hand(name, memory, pattern.size, kind != READ, &measure);
        else
            wrong = by_mpi(name, memory, &pattern, kind != READ, &measure);
        /* What an access has left in use counts in the next one too. */
        if (kind == FRESH)
            before = measure.memory_before;
        measure.memory_kibibytes += measure.memory_before - before;
        if (!hand || kind != READ || pattern.memtype == MPI_BYTE)
            wrong += compare(&pattern, memory);
        print_measure(kind_name[kind], &measure, 0, wrong);
    }
    quiet_barrier();
    if (rank == 0)
        unlink(name);
    MPI_Finalize();
    return 0;
}
