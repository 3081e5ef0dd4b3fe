/* Whether writes are sieved is what MPI_File_get_info tells, also if MPI_File_set_info has said so after the view was set.
 *
 * A thread holds a lock on the bytes as another that sieves would: where writes are sieved a write waits for it, on all ranks,
 * and else it does not. Only the last rank has a view with holes. */
#define _GNU_SOURCE
#include "lesson.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/vfs.h>

enum { LENGTH = 1024, PIECE = 8 };

static atomic_int held, released, let_go;
static int longest; /* milliseconds */

static void *hold(void *argument)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)rank * LENGTH, .l_len = LENGTH};
    int file = *(int *)argument;
    if (fcntl(file, F_OFD_SETLK, &lock) != 0) wrong++;
    held = 1;
    for (int waited = 0; waited < longest && !let_go; waited++) usleep(1000);
    released = 1;
    lock.l_type = F_UNLCK;
    fcntl(file, F_OFD_SETLK, &lock);
    return NULL;
}

static int tells(MPI_File file, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    FINE(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "romio_ds_write", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return found && strcmp(value, expected) == 0;
}

/* A write waits for the lock if writes are sieved, and only then. */
static void write_and_see(MPI_File file, int descriptor, int sieved)
{
    char data[LENGTH / 2] = "";
    pthread_t holder;
    held = released = let_go = 0;
    longest = sieved ? 200 : 20000;
    if (pthread_create(&holder, NULL, hold, &descriptor) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    while (!held) usleep(1000);
    FINE(MPI_File_write_at(file, 0, data, LENGTH / 2, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(released == sieved);
    let_go = 1;
    pthread_join(holder, NULL);
}

static MPI_Info sieving(const char *word)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", word);
    return info;
}

static void set_views(MPI_File file, MPI_Info info)
{
    MPI_Datatype pieces;
    int stride = rank == size - 1 ? 2 * PIECE : PIECE;
    MPI_Type_vector(LENGTH / 2 / PIECE, PIECE, stride, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * LENGTH, MPI_BYTE, pieces, "native", info));
    MPI_Type_free(&pieces);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_Info enable = sieving("enable"), disable = sieving("disable");
    const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_UNIQUE_OPEN;
    char *name = path("hint_later");
    MPI_File file;
    /* whether this file system has what it takes */
    FINE(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
    set_views(file, enable);
    const int can = tells(file, "enable");
    struct statfs kind;
    TRUE(statfs(name, &kind) == 0);
    TRUE(can || (kind.f_type != 0x01021994 && kind.f_type != 0xef53)); /* tmpfs, ext4 */
    FINE(MPI_File_close(&file));
    FINE(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
    int descriptor = open(name, O_RDWR);
    set_views(file, disable);
    write_and_see(file, descriptor, 0);
    for (int times = 0; times < 2; times++) {
        FINE(MPI_File_set_info(file, enable));
        TRUE(tells(file, can ? "enable" : "disable"));
        write_and_see(file, descriptor, can);
        FINE(MPI_File_set_info(file, MPI_INFO_NULL));
        write_and_see(file, descriptor, can);
        FINE(MPI_File_set_info(file, disable));
        TRUE(tells(file, "disable"));
        write_and_see(file, descriptor, 0);
        /* what rank 0 says holds for all, and nothing else */
        FINE(MPI_File_set_info(file, rank == 0 ? enable : MPI_INFO_NULL));
        TRUE(tells(file, can ? "enable" : "disable"));
        write_and_see(file, descriptor, can);
        FINE(MPI_File_set_info(file, rank == 0 ? disable : enable));
        TRUE(tells(file, "disable"));
        write_and_see(file, descriptor, 0);
    }
    close(descriptor);
    FINE(MPI_File_close(&file));
    MPI_Info_free(&enable);
    MPI_Info_free(&disable);
    free(name);
    return finish();
}
