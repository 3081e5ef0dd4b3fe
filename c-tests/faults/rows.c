/* The call kinds: the rows of the table. */
#include "faults.h"

#include <sys/stat.h>
#include <unistd.h>

static long size_on_disk(void)
{
    struct stat about;
    return stat(path, &about) == 0 ? (long)about.st_size : -1;
}

/* ---- opening, closing, deleting --------------------------------------------------------------------------------- */

static void prepare_nothing(const struct row *row)
{
    (void)row;
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int open_with(int amode)
{
    int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);
    file_is_open = code == MPI_SUCCESS;
    if (code != MPI_SUCCESS && file != MPI_FILE_NULL) wrong("a failed open gives a handle");
    return code;
}

static int open_new(const struct row *row) { return (void)row, open_with(MPI_MODE_RDWR | MPI_MODE_CREATE); }
static int open_exclusive(const struct row *row)
{
    return (void)row, open_with(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
}
static int open_old(const struct row *row) { return (void)row, open_with(MPI_MODE_RDWR); }
static int open_write_only(const struct row *row) { return (void)row, open_with(MPI_MODE_WRONLY); }
static int open_read_only(const struct row *row) { return (void)row, open_with(MPI_MODE_RDONLY); }
static int open_append(const struct row *row) { return (void)row, open_with(MPI_MODE_RDWR | MPI_MODE_APPEND); }

static void verify_open(const struct row *row, int code)
{
    MPI_Offset position = 0, shared = 0, end = row->act == open_append ? base_size(row) : 0;
    if (code != MPI_SUCCESS) return;
    MPI_File_get_position(file, &position);
    MPI_File_get_position_shared(file, &shared);
    if (position != end || shared != end)
        wrong("the file pointers start at %lld and %lld, not at %lld", (long long)position, (long long)shared, (long long)end);
}

static void prepare_open(const struct row *row)
{
    make_base(row);
    if (!file_is_open) open_file(MPI_MODE_RDWR);
}

static void prepare_delete_on_close(const struct row *row)
{
    make_base(row);
    open_file(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
}

static int close_it(const struct row *row)
{
    (void)row;
    int code = MPI_File_close(&file);
    file_is_open = 0;
    if (file != MPI_FILE_NULL) wrong("after closing the handle is not MPI_FILE_NULL");
    return code;
}

static void verify_deleted(const struct row *row, int code)
{
    (void)row;
    if (code == MPI_SUCCESS && size_on_disk() >= 0) wrong("the file is still there");
}

/* One rank deletes. */
static int delete_it(const struct row *row)
{
    (void)row;
    return rank == faulty ? MPI_File_delete(path, MPI_INFO_NULL) : MPI_SUCCESS;
}

static void verify_delete(const struct row *row, int code)
{
    if (rank == faulty && code == MPI_SUCCESS && size_on_disk() >= 0) wrong("the file is still there");
    if (rank == faulty && code != MPI_SUCCESS && size_on_disk() != base_size(row)) wrong("the file is gone");
}

/* ---- view, size, sync, pointers --------------------------------------------------------------------------------- */

static int set_view(const struct row *row)
{
    MPI_Datatype filetype;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", row->layout == SIEVED ? "enable" : "automatic");
    MPI_Type_vector(4, 64, 64 * size, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    int code = MPI_File_set_view(file, 64 * rank, MPI_BYTE, filetype, "native", info);
    MPI_Type_free(&filetype);
    MPI_Info_free(&info);
    return code;
}

static void verify_view(const struct row *row, int code)
{
    MPI_Offset place = 0;
    (void)row;
    MPI_File_get_byte_offset(file, 64, &place);
    if (code == MPI_SUCCESS && place != 64 * rank + 64 * size) wrong("byte 64 of the view is at %lld", (long long)place);
}

static int set_size(const struct row *row) { return MPI_File_set_size(file, base_size(row) / 2); }
static int grow(const struct row *row) { return MPI_File_set_size(file, base_size(row) * 2); }
static int preallocate(const struct row *row) { return MPI_File_preallocate(file, base_size(row) * 2); }

static void verify_size(const struct row *row, int code)
{
    long asked = row->act == set_size ? base_size(row) / 2 : base_size(row) * 2, found = size_on_disk();
    if (code == MPI_SUCCESS && found != asked) wrong("success, and the file has %ld bytes, not %ld", found, asked);
    if (code != MPI_SUCCESS && found != base_size(row) && row->act != preallocate)
        wrong("a failure, and the file has %ld bytes", found);
}

static int sync_it(const struct row *row) { return (void)row, MPI_File_sync(file); }

static MPI_Offset got;

static int get_size(const struct row *row) { return (void)row, got = -1, MPI_File_get_size(file, &got); }

static int seek_end(const struct row *row)
{
    (void)row;
    int code = MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &got);
    return code;
}

static int seek_shared_end(const struct row *row)
{
    (void)row;
    int code = MPI_File_seek_shared(file, 0, MPI_SEEK_END);
    MPI_File_get_position_shared(file, &got);
    return code;
}

static void verify_end(const struct row *row, int code)
{
    if (code == MPI_SUCCESS && got != base_size(row)) wrong("the end is said to be at %lld", (long long)got);
}

static int set_atomicity(const struct row *row) { return (void)row, MPI_File_set_atomicity(file, 1); }

static void verify_atomicity(const struct row *row, int code)
{
    int atomic = -1;
    (void)row;
    MPI_File_get_atomicity(file, &atomic);
    if (atomic != (code == MPI_SUCCESS)) wrong("atomicity is %d", atomic);
    close_file();
}

static void verify_nothing(const struct row *row, int code) { (void)row, (void)code; }

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define FILE_ROW(name, hearing, prepare, act, verify) \
    {name, hearing, NO_ACCESS, WRITES, CONTIGUOUS, prepare, act, verify}
#define ACCESS(name, hearing, routine, direction, layout) \
    {name, hearing, routine, direction, layout, prepare_access, access_act, verify_access}
#define BOTH(name, hearing, routine, layout) \
    ACCESS("read" name, hearing, routine, READS, layout), ACCESS("write" name, hearing, routine, WRITES, layout)
#define I_BOTH(name, hearing, routine) \
    ACCESS("iread" name, hearing, routine, READS, CONTIGUOUS), ACCESS("iwrite" name, hearing, routine, WRITES, CONTIGUOUS)
#define LAYOUT(name, layout) BOTH("_at" name, ALONE, AT, layout), BOTH("_at_all" name, ALL, AT_ALL, layout)

const struct row rows[] = {
    FILE_ROW("open, new", ALL, prepare_nothing, open_new, verify_open),
    FILE_ROW("open, exclusive", ALL, prepare_nothing, open_exclusive, verify_open),
    FILE_ROW("open, existing", ALL, make_base, open_old, verify_open),
    FILE_ROW("open, write only", ALL, make_base, open_write_only, verify_open),
    FILE_ROW("open, read only", ALL, make_base, open_read_only, verify_open),
    FILE_ROW("open, append", ALL, make_base, open_append, verify_open),
    FILE_ROW("close", ALL, prepare_open, close_it, verify_nothing),
    FILE_ROW("close, delete on close", ALL, prepare_delete_on_close, close_it, verify_deleted),
    FILE_ROW("delete", ALONE, make_base, delete_it, verify_delete),
    FILE_ROW("set_view", ALL, prepare_open, set_view, verify_view),
    {"set_view, sieving", ALL, NO_ACCESS, WRITES, SIEVED, prepare_open, set_view, verify_view},
    FILE_ROW("set_size, smaller", ALL, prepare_open, set_size, verify_size),
    FILE_ROW("set_size, larger", ALL, prepare_open, grow, verify_size),
    FILE_ROW("preallocate", ALL, prepare_open, preallocate, verify_size),
    FILE_ROW("sync", ALL, prepare_open, sync_it, verify_nothing),
    FILE_ROW("get_size", ALONE, prepare_open, get_size, verify_end),
    FILE_ROW("seek, end", ALONE, prepare_open, seek_end, verify_end),
    FILE_ROW("seek_shared, end", ALL, prepare_open, seek_shared_end, verify_end),
    FILE_ROW("set_atomicity", ALL, prepare_open, set_atomicity, verify_atomicity),
    BOTH("_at", ALONE, AT, CONTIGUOUS),
    BOTH("", ALONE, INDIVIDUAL, CONTIGUOUS),
    BOTH("_shared", ALONE, SHARED, CONTIGUOUS),
    BOTH("_at_all", ALL, AT_ALL, CONTIGUOUS),
    BOTH("_all", ALL, ALL_POINTERS, CONTIGUOUS),
    BOTH("_ordered", ALL, ORDERED, CONTIGUOUS),
    I_BOTH("_at", ALONE, I_AT),
    I_BOTH("", ALONE, I_INDIVIDUAL),
    I_BOTH("_shared", ALONE, I_SHARED),
    I_BOTH("_at_all", ALL, I_AT_ALL),
    I_BOTH("_all", ALL, I_ALL),
    BOTH("_at_all_begin", ALL, SPLIT_AT_ALL, CONTIGUOUS),
    BOTH("_all_begin", ALL, SPLIT_ALL, CONTIGUOUS),
    BOTH("_ordered_begin", ALL, SPLIT_ORDERED, CONTIGUOUS),
    LAYOUT(", strided", STRIDED),
    LAYOUT(", sieved", SIEVED),
    LAYOUT(", gathered", GATHERED),
    LAYOUT(", vectored", VECTORED),
    LAYOUT(", external32", EXTERNAL32),
    LAYOUT(", atomic", ATOMIC),
    LAYOUT(", atomic strided", ATOMIC_STRIDED),
    BOTH("_at, threads", ALONE, AT, THREADS),
};

const int row_count = sizeof rows / sizeof *rows;
