/* Data access: what each rank moves, where it lies, and what must be in the file and in memory afterwards. */
#include "faults.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SIZE = 48 << 10,         /* bytes of one rank: more than a page, so that a part of it can be there */
    LARGE_SIZE = 8 << 20,    /* enough for two threads */
    BLOCK = 12 << 10,        /* of a view with holes */
    GATHERED_PIECE = 1 << 10, VECTORED_PIECE = 16 << 10, TINY_PIECE = 4, GAP = 64
};

MPI_File file;
int file_is_open;
static MPI_Status status;
static char *memory, *seen;
static MPI_Datatype memory_type;
static long memory_size, seen_size;

/* ---- where a byte of the access lies ---------------------------------------------------------------------------- */

long access_size(const struct row *row) { return row->layout == THREADS ? LARGE_SIZE : SIZE; }
long base_size(const struct row *row) { return access_size(row) * size; }

static int strided(const struct row *row)
{
    return row->layout == STRIDED || row->layout == SIEVED || row->layout == ATOMIC_STRIDED;
}

/* In the file. */
static long place(const struct row *row, long i)
{
    if (!strided(row)) return access_size(row) * rank + i;
    return i / BLOCK * BLOCK * size + rank * BLOCK + i % BLOCK;
}

static long piece_size(const struct row *row)
{
    switch (row->layout) {
    case GATHERED: return GATHERED_PIECE;
    case VECTORED: return VECTORED_PIECE;
    case THREADS: return row->direction == WRITES ? TINY_PIECE : LARGE_SIZE;
    default: return SIZE;
    }
}

/* In memory. */
static long address(const struct row *row, long i)
{
    long piece = piece_size(row);
    return i / piece * (piece + (piece == TINY_PIECE ? TINY_PIECE : GAP)) + i % piece;
}

static char base(long offset) { return (char)('a' + offset % 23); }
static char written(long i) { return (char)('A' + (i + 7 * rank) % 23); }

/* External32 turns the bytes of an int round. */
static long twin(const struct row *row, long i) { return row->layout == EXTERNAL32 ? (i & ~3L) + 3 - i % 4 : i; }

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* A new file, or the open one as it was at first. */
void make_base(const struct row *row)
{
    /* what others still write to see that the file is of use goes before */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        long length = base_size(row);
        char *bytes = malloc((size_t)length);
        for (long i = 0; i < length; i++) bytes[i] = base(i);
        if (!file_is_open) unlink(path);
        int fd = open(path, O_WRONLY | O_CREAT, 0666);
        if (fd < 0 || write(fd, bytes, (size_t)length) != length || ftruncate(fd, length) != 0 || close(fd) != 0)
            wrong("cannot make %s", path);
        free(bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fine(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    wrong("%s without a fault fails: %s", what, text);
}

static MPI_Info hints(const struct row *row)
{
    MPI_Info info;
    const char *sieving = row->layout == SIEVED ? "enable" : "disable";
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", sieving);
    MPI_Info_set(info, "romio_ds_read", sieving);
    MPI_Info_set(info, "ind_wr_buffer_size", "65536");
    MPI_Info_set(info, "ind_rd_buffer_size", "65536");
    if (row->layout == THREADS) MPI_Info_set(info, "mpiio_rs_num_threads", "2");
    return info;
}

void open_file(int amode)
{
    int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);
    fine(code, "MPI_File_open");
    file_is_open = code == MPI_SUCCESS;
}

void close_file(void)
{
    if (!file_is_open) return;
    fine(MPI_File_close(&file), "MPI_File_close");
    file_is_open = 0;
}

static void set_view(const struct row *row)
{
    MPI_Info info = hints(row);
    MPI_Datatype etype = row->layout == EXTERNAL32 ? MPI_INT : MPI_BYTE, filetype = etype;
    const char *datarep = row->layout == EXTERNAL32 ? "external32" : "native";
    MPI_Offset start = 0;
    if (strided(row)) {
        MPI_Type_vector(SIZE / BLOCK, BLOCK, BLOCK * size, MPI_BYTE, &filetype);
        MPI_Type_commit(&filetype);
        start = BLOCK * rank;
    }
    fine(MPI_File_set_view(file, start, etype, filetype, datarep, info), "MPI_File_set_view");
    if (strided(row)) MPI_Type_free(&filetype);
    MPI_Info_free(&info);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void make_memory(const struct row *row)
{
    long length = access_size(row), piece = piece_size(row);
    memory_size = address(row, length - 1) + 1;
    /* an odd address is what a large read is bounced for */
    memory = (char *)malloc((size_t)memory_size + 1) + 1;
    memset(memory, '#', (size_t)memory_size);
    if (row->direction == WRITES)
        for (long i = 0; i < length; i++) memory[address(row, i)] = written(i);
    if (row->layout == EXTERNAL32) MPI_Type_contiguous((int)length / 4, MPI_INT, &memory_type);
    else MPI_Type_create_hvector((int)(length / piece), (int)piece, address(row, piece), MPI_BYTE, &memory_type);
    MPI_Type_commit(&memory_type);
}

static void drop_memory(void)
{
    free(memory - 1);
    MPI_Type_free(&memory_type);
}

static void open_for_access(const struct row *row)
{
    open_file(MPI_MODE_RDWR);
    set_view(row);
    if (row->layout == ATOMIC || row->layout == ATOMIC_STRIDED)
        fine(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity");
}

/* The file stays open from one position to the next: each call is made on a handle that had the faults before it. */
void prepare_access(const struct row *row)
{
    make_base(row);
    if (!file_is_open) open_for_access(row);
    switch (row->routine) {
    case INDIVIDUAL: case ALL_POINTERS: case I_INDIVIDUAL: case I_ALL: case SPLIT_ALL:
        fine(MPI_File_seek(file, access_size(row) * rank, MPI_SEEK_SET), "MPI_File_seek");
        break;
    case SHARED: case I_SHARED: case ORDERED: case SPLIT_ORDERED:
        fine(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
        break;
    default:
        break;
    }
    make_memory(row);
    /* what an earlier call may have left there */
    MPI_Status_set_elements(&status, MPI_BYTE, 1 << 30);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

#define EITHER(routine, ...) \
    (row->direction == READS ? MPI_File_read##routine(__VA_ARGS__) : MPI_File_write##routine(__VA_ARGS__))
#define I_EITHER(routine, ...) \
    wait_for(row->direction == READS ? MPI_File_iread##routine(__VA_ARGS__) : MPI_File_iwrite##routine(__VA_ARGS__))
#define SPLIT(routine, ...)                                                                         \
    do {                                                                                            \
        int code = EITHER(routine##_begin, __VA_ARGS__);                                            \
        return code == MPI_SUCCESS ? EITHER(routine##_end, file, memory, &status) : code;           \
    } while (0)

static MPI_Request request;

/* The error of a request comes in its status. */
static int wait_for(int code)
{
    if (code != MPI_SUCCESS) return code;
    code = MPI_Wait(&request, &status);
    return class_of(code) == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
}

static MPI_Offset first_offset(const struct row *row)
{
    return strided(row) ? 0 : access_size(row) * rank / (row->layout == EXTERNAL32 ? 4 : 1);
}

static int call(const struct row *row)
{
    MPI_Offset at = first_offset(row);
    switch (row->routine) {
    case AT: return EITHER(_at, file, at, memory, 1, memory_type, &status);
    case INDIVIDUAL: return EITHER(, file, memory, 1, memory_type, &status);
    case SHARED: return EITHER(_shared, file, memory, 1, memory_type, &status);
    case AT_ALL: return EITHER(_at_all, file, at, memory, 1, memory_type, &status);
    case ALL_POINTERS: return EITHER(_all, file, memory, 1, memory_type, &status);
    case ORDERED: return EITHER(_ordered, file, memory, 1, memory_type, &status);
    case I_AT: return I_EITHER(_at, file, at, memory, 1, memory_type, &request);
    case I_INDIVIDUAL: return I_EITHER(, file, memory, 1, memory_type, &request);
    case I_SHARED: return I_EITHER(_shared, file, memory, 1, memory_type, &request);
    case I_AT_ALL: return I_EITHER(_at_all, file, at, memory, 1, memory_type, &request);
    case I_ALL: return I_EITHER(_all, file, memory, 1, memory_type, &request);
    case SPLIT_AT_ALL: SPLIT(_at_all, file, at, memory, 1, memory_type);
    case SPLIT_ALL: SPLIT(_all, file, memory, 1, memory_type);
    case SPLIT_ORDERED: SPLIT(_ordered, file, memory, 1, memory_type);
    default: return MPI_ERR_OTHER;
    }
}

/* Ranks take the shared pointer in the order of ranks, so that it is known who has which bytes. */
int access_act(const struct row *row)
{
    if (row->routine != SHARED && row->routine != I_SHARED) return call(row);
    int token = 0;
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int code = call(row);
    if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    return code;
}

/* ---- afterwards ------------------------------------------------------------------------------------------------- */

static void look_at_file(void)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0) wrong("cannot look at %s", path);
    seen_size = about.st_size;
    seen = malloc((size_t)seen_size + 1);
    if (pread(fd, seen, (size_t)seen_size, 0) != seen_size) wrong("cannot read %s", path);
    close(fd);
}

static int byte_at(long offset) { return offset < seen_size ? (unsigned char)seen[offset] : -1; }

/* Every byte of this rank is the old or the new one; returns how many new ones there are before the first old one. */
static long check_written(const struct row *row)
{
    long length = access_size(row), there = length;
    int may_be_empty = fault_now->effect == CUTS || fault_now->impose == impose_full;
    for (long i = 0; i < length; i++) {
        long offset = place(row, i);
        int byte = byte_at(offset);
        if (byte == written(twin(row, i))) continue;
        if (there == length) there = i;
        if (byte == base(offset) || (may_be_empty && byte <= 0)) continue;
        wrong("byte %ld of the file is %d, neither old nor new", offset, byte);
        break;
    }
    return there;
}

static long check_read(const struct row *row)
{
    long length = access_size(row), there = length;
    for (long i = 0; i < length && there == length; i++)
        if (memory[address(row, i)] != base(place(row, twin(row, i)))) there = i;
    for (long i = 0, next = 0; i < memory_size; i++) {
        if (next < length && i == address(row, next)) next++;
        else if (memory[i] != '#') {
            wrong("byte %ld of memory was changed, and nobody named it", i);
            break;
        }
    }
    return there;
}

/* A failure of one call is none of the next. */
static void use_view(const struct row *row)
{
    int ints[2] = {1 + rank, 2 + rank}, back[2] = {0, 0};
    MPI_Datatype type = row->layout == EXTERNAL32 ? MPI_INT : MPI_BYTE;
    int count = row->layout == EXTERNAL32 ? 2 : 8;
    fine(MPI_File_write_at(file, first_offset(row), ints, count, type, MPI_STATUS_IGNORE), "MPI_File_write_at");
    fine(MPI_File_read_at(file, first_offset(row), back, count, type, MPI_STATUS_IGNORE), "MPI_File_read_at");
    if (memcmp(ints, back, sizeof ints) != 0) wrong("afterwards a rank does not read what it wrote");
}

void verify_access(const struct row *row, int code)
{
    int count = 0, cut = fault_now->effect == CUTS;
    long length = access_size(row);
    look_at_file();
    long there = row->direction == WRITES ? check_written(row) : check_read(row);
    int nothing = code != MPI_SUCCESS && row->routine >= I_AT;
    MPI_Get_elements(&status, MPI_BYTE, &count);
    if (nothing) count = 0; /* no request or no end, so no status */
    /* what was written before the cut is gone again */
    int gone = cut && row->direction == WRITES;
    if (count > there && !gone) {
        wrong("the status counts %d bytes, %ld are there, the class is %d", count, there, class_of(code));
        if (row->direction == READS)
            wrong("byte %ld is %d, must be %d", there, memory[address(row, there)], base(place(row, twin(row, there))));
    }
    if (code == MPI_SUCCESS && count < length && !(cut && row->direction == READS))
        wrong("success, and the status counts %d bytes of %ld", count, length);
    free(seen);
    drop_memory();
    use_view(row);
}
