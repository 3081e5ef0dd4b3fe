/* Who writes beside an opening that sieves takes a lock, whatever its own view and hints have been meanwhile.
 *
 * A thread holds a lock on the bytes as if it were that opening, in the middle of reading, changing and writing them back: a
 * write that does not wait for it would be lost. */
#define _GNU_SOURCE
#include "lesson.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum { LENGTH = 1000, PIECE = 8 };

static atomic_int held, released, let_go;
static int longest = 200; /* milliseconds */

static void *hold(void *argument)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = LENGTH};
    int file = *(int *)argument;
    if (fcntl(file, F_OFD_SETLK, &lock) != 0) wrong++;
    held = 1;
    for (int waited = 0; waited < longest && !let_go; waited++) usleep(1000);
    released = 1;
    lock.l_type = F_UNLCK;
    fcntl(file, F_OFD_SETLK, &lock);
    return NULL;
}

/* A write while somebody else, who has the file open as `descriptor`, holds the lock of its bytes. */
static void write_and_wait(MPI_File file, int descriptor)
{
    char data[LENGTH] = "";
    pthread_t holder;
    held = released = 0;
    if (pthread_create(&holder, NULL, hold, &descriptor) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    while (!held) usleep(1000);
    FINE(MPI_File_write_at(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(released);
    pthread_join(holder, NULL);
}

/* A view of every other piece, with a hint about sieving or without. */
static void set_scattered(MPI_File file, const char *sieving)
{
    MPI_Datatype pieces;
    MPI_Info info = MPI_INFO_NULL;
    if (sieving) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_ds_write", sieving);
    }
    MPI_Type_vector(LENGTH / PIECE / 2, PIECE, 2 * PIECE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, pieces, "native", info));
    MPI_Type_free(&pieces);
    if (sieving) MPI_Info_free(&info);
}

static char *own_file(const char *name)
{
    char own[64];
    snprintf(own, sizeof own, "%s.%d", name, rank);
    return path(own);
}

/* The other opening sieves; this one did for a while, because it was told to. */
static void after_sieving(void)
{
    MPI_File sieves, beside;
    char *name = own_file("two_openings");
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    FINE(MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &sieves));
    set_scattered(sieves, "enable");
    FINE(MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &beside));
    set_scattered(beside, "enable");
    FINE(MPI_File_set_view(beside, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    int descriptor = open(name, O_RDWR);
    write_and_wait(beside, descriptor);
    close(descriptor);
    FINE(MPI_File_close(&beside));
    FINE(MPI_File_close(&sieves));
    free(name);
}

/* One asks to sieve when there is `beside` already, which does not know and takes no locks: so it does not sieve, and needs no
 * lock. */
static void ask_too_late(const char *name, MPI_File beside)
{
    char data[LENGTH] = "";
    MPI_File sieves;
    pthread_t holder;
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &sieves));
    set_scattered(sieves, "enable");
    int descriptor = open(name, O_RDWR);
    held = released = 0;
    longest = 20000;
    if (pthread_create(&holder, NULL, hold, &descriptor) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    while (!held) usleep(1000);
    FINE(MPI_File_write_at(sieves, 0, data, LENGTH / 4, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(!released);
    let_go = 1;
    pthread_join(holder, NULL);
    let_go = 0;
    longest = 200;
    close(descriptor);
    FINE(MPI_File_close(&sieves));
    FINE(MPI_File_close(&beside));
}

static void asked_too_late(void)
{
    char *name = own_file("too_late");
    MPI_File beside;
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &beside));
    ask_too_late(name, beside);
    free(name);
}

/* An opening made and used while the program had all of the file locked, which it has no longer. */
static MPI_File opened_while_locked(const char *name)
{
    MPI_File file;
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int descriptor = open(name, O_RDWR | O_CREAT, 0666);
    TRUE(descriptor >= 0 && fcntl(descriptor, F_SETLK, &all) == 0);
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    FINE(MPI_File_write_at(file, 0, "first", 5, MPI_BYTE, MPI_STATUS_IGNORE));
    close(descriptor);
    return file;
}

/* Such an opening could not be seen, but must be as soon as it writes without that lock; and before it does it must look whether
 * somebody else has begun to sieve. */
static void after_a_lock(void)
{
    char *name = own_file("after_a_lock");
    MPI_File sieves, beside = opened_while_locked(name);
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &sieves));
    set_scattered(sieves, "enable");
    int descriptor = open(name, O_RDWR);
    write_and_wait(beside, descriptor);
    close(descriptor);
    FINE(MPI_File_close(&beside));
    FINE(MPI_File_close(&sieves));
    free(name);

    name = own_file("seen_after_a_lock");
    beside = opened_while_locked(name);
    FINE(MPI_File_write_at(beside, 0, "second", 6, MPI_BYTE, MPI_STATUS_IGNORE));
    ask_too_late(name, beside);
    free(name);
}

/* The user may write the file and not read it, so others cannot see that it is open and may sieve at any time. */
static void write_only(void)
{
    char folder[] = "/tmp/two_openings.XXXXXX", name[64];
    MPI_File file;
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    snprintf(name, sizeof name, "%s/data", folder);
    int descriptor = open(name, O_RDWR | O_CREAT, 0600), root = geteuid() == 0;
    TRUE(descriptor >= 0 && fchmod(descriptor, 0222) == 0);
    if (root) TRUE(seteuid(65534) == 0);
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    if (root) TRUE(seteuid(0) == 0);
    write_and_wait(file, descriptor);
    close(descriptor);
    FINE(MPI_File_close(&file));
    TRUE(unlink(name) == 0 && rmdir(folder) == 0);
}

int main(int count, char **words)
{
    begin(&count, &words);
    after_sieving();
    asked_too_late();
    after_a_lock();
    write_only();
    return finish();
}
