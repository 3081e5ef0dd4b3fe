/* A program may have the whole file locked by fcntl when it opens it: the library's own locks, which are none of the
 * process's, must not wait for that one. */
#define _GNU_SOURCE
#include "lesson.h"

#include <fcntl.h>
#include <unistd.h>

enum { LENGTH = 4096 };

static char mine[LENGTH], back[LENGTH];

/* The file of this rank, with all of it locked by the process until the descriptor is closed. */
static char *locked(const char *name, int kind, int *descriptor)
{
    char own[64];
    snprintf(own, sizeof own, "%s.%d", name, rank);
    char *whole = path(own);
    struct flock all = {.l_type = (short)kind, .l_whence = SEEK_SET};
    *descriptor = open(whole, O_RDWR | O_CREAT, 0666);
    TRUE(*descriptor >= 0 && fcntl(*descriptor, F_SETLK, &all) == 0);
    return whole;
}

/* Whether the lock is still there, as another opening finds it. */
static int still_locked(const char *name, int *other)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    *other = open(name, O_RDWR);
    return fcntl(*other, F_OFD_GETLK, &all) == 0 && all.l_pid == getpid();
}

static void write_and_read(MPI_File file, MPI_Info info)
{
    MPI_Status status;
    MPI_Datatype pieces;
    MPI_Type_create_resized(MPI_INT, 0, 16, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_write_at(file, 0, mine, LENGTH, MPI_BYTE, &status));
    FINE(MPI_File_set_view(file, 0, MPI_INT, pieces, "native", info));
    FINE(MPI_File_write_at(file, 0, mine, LENGTH / 4, MPI_INT, &status));
    memset(back, 0, sizeof back);
    FINE(MPI_File_read_at(file, 0, back, LENGTH / 4, MPI_INT, &status));
    TRUE(bytes_of(&status) == LENGTH && memcmp(mine, back, LENGTH) == 0);
    MPI_Type_free(&pieces);
}

static void sieved(void)
{
    int descriptor;
    char *name = locked("sieved", F_WRLCK, &descriptor);
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "enable");
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    write_and_read(file, info);
    FINE(MPI_File_close(&file));
    MPI_Info_free(&info);
    close(descriptor);
}

static void atomic(void)
{
    int descriptor, other;
    char *name = locked("atomic", F_WRLCK, &descriptor);
    MPI_File file;
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    FINE(MPI_File_set_atomicity(file, 1));
    write_and_read(file, MPI_INFO_NULL);
    TRUE(still_locked(name, &other));
    FINE(MPI_File_close(&file));
    close(other);
    close(descriptor);
}

/* Nobody may write atomically while another may hold a shared lock, and the process does. */
static void atomic_beside_readers(void)
{
    int descriptor;
    char *name = locked("read", F_RDLCK, &descriptor);
    MPI_File file;
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    FINE(MPI_File_write_at(file, 0, mine, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT(MPI_File_set_atomicity(file, 1), MPI_SUCCESS, MPI_ERR_FILE_IN_USE);
    EXPECT(MPI_File_write_at(file, 0, mine, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS, MPI_ERR_FILE_IN_USE);
    FINE(MPI_File_read_at(file, 0, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(memcmp(mine, back, LENGTH) == 0);
    FINE(MPI_File_close(&file));
    close(descriptor);
}

/* One rank has locked the file of all, and keeps the lock: it is no affair of the others. */
static void of_all(void)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int descriptor = open(path("of_all"), O_RDWR | O_CREAT, 0666);
    if (rank == 0) TRUE(fcntl(descriptor, F_SETLK, &all) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_new("of_all");
    MPI_Offset place = (MPI_Offset)rank * LENGTH;
    FINE(MPI_File_write_at(file, place, mine, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_write_at_all(file, place + (MPI_Offset)size * LENGTH, mine, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_read_at(file, place, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(memcmp(mine, back, LENGTH) == 0);
    FINE(MPI_File_close(&file));
    close(descriptor);
}

/* Nor is it theirs if the rows of all lie between each other, and the rank writes and waits below its lock. */
static void between_rows(int kind)
{
    enum { ROW = 4096, ROWS = 32 };
    static char rows[ROW * ROWS], found[ROW * ROWS];
    const char *name = kind == F_WRLCK ? "written" : "only read";
    struct flock own = {.l_type = (short)kind, .l_whence = SEEK_SET, .l_start = ROW * rank, .l_len = 100};
    MPI_File file = open_new(name);
    int descriptor = open(path(name), O_RDWR);
    if (kind == F_RDLCK || rank == size - 1) TRUE(fcntl(descriptor, F_SETLK, &own) == 0);
    MPI_Datatype mine_only;
    MPI_Type_vector(ROWS, ROW, ROW * size, MPI_BYTE, &mine_only);
    MPI_Type_commit(&mine_only);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * ROW, MPI_BYTE, mine_only, "native", MPI_INFO_NULL));
    for (int together = 0; together < 2; together++) {
        memset(rows, 'a' + 2 * rank + together, sizeof rows);
        if (together) FINE(MPI_File_write_at_all(file, 0, rows, sizeof rows, MPI_BYTE, MPI_STATUS_IGNORE));
        else FINE(MPI_File_write_at(file, 0, rows, sizeof rows, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        FINE(MPI_File_read_at(file, 0, found, sizeof rows, MPI_BYTE, MPI_STATUS_IGNORE));
        TRUE(memcmp(rows, found, sizeof rows) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&mine_only);
    close(descriptor);
    FINE(MPI_File_close(&file));
}

int main(int count, char **words)
{
    begin(&count, &words);
    memset(mine, 'a' + rank, sizeof mine);
    sieved();
    atomic();
    atomic_beside_readers();
    of_all();
    between_rows(F_WRLCK);
    between_rows(F_RDLCK);
    return finish();
}
