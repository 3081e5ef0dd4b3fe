/* Threads of the library take no signal that the program keeps for itself: one that its own threads block from some time on, and
 * wait for, comes to them. To end the program it would be enough that one thread of somebody else's has it open. */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { LENGTH = 9 << 20 }; /* enough for two threads */

static volatile sig_atomic_t heard, heard_elsewhere;
static pthread_t the_program;

static void hear(int number)
{
    (void)number;
    heard++;
    heard_elsewhere += !pthread_equal(pthread_self(), the_program);
}

static void change_mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    TRUE(pthread_sigmask(how, &set, NULL) == 0);
}

/* After these the library has threads. */
static void access_file(MPI_File file, char *data)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Offset at = (MPI_Offset)rank * LENGTH, end = (MPI_Offset)size * LENGTH;
    FINE(MPI_File_iwrite_at(file, at, data, LENGTH, MPI_BYTE, &requests[0]));
    FINE(MPI_File_iwrite_at_all(file, end + at, data, LENGTH, MPI_BYTE, &requests[1]));
    FINE(MPI_Waitall(2, requests, statuses));
    FINE(MPI_File_read_at(file, at, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* So does one rank have while this file is open: it writes for all while they bring it more. */
static MPI_File write_for_all(char *data)
{
    MPI_Datatype pieces;
    MPI_Info info;
    MPI_File file;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "romio_cb_write", "enable");
    FINE(MPI_File_open(MPI_COMM_WORLD, path("together"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    MPI_Type_vector(LENGTH / 512, 512, 512 * size, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * 512, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_all(file, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Type_free(&pieces);
    MPI_Info_free(&info);
    return file;
}

/* The program sends itself a signal that nobody has open, and waits for it. */
static void send_and_wait(void)
{
    sigset_t set;
    struct timespec most = {10, 0};
    int found;
    heard = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    TRUE(kill(getpid(), SIGUSR1) == 0);
    usleep(100000); /* who has it open gets it now */
    do found = sigtimedwait(&set, NULL, &most);
    while (found < 0 && errno == EINTR && heard == 0);
    TRUE(found == SIGUSR1 && heard == 0);
}

int main(int count, char **words)
{
    change_mask(SIG_BLOCK); /* the MPI's threads leave it alone too */
    begin(&count, &words);
    the_program = pthread_self();
    signal(SIGUSR1, hear);
    change_mask(SIG_UNBLOCK);
    char *data = malloc(LENGTH);
    memset(data, 1 + rank, LENGTH);
    MPI_File file = open_with("signals", "mpiio_rs_num_threads", "2");
    access_file(file, data);
    TRUE(kill(getpid(), SIGUSR1) == 0);
    TRUE(heard == 1);
    change_mask(SIG_BLOCK);
    send_and_wait();
    change_mask(SIG_UNBLOCK);
    access_file(file, data);
    MPI_File together = write_for_all(data);
    change_mask(SIG_BLOCK);
    send_and_wait();
    FINE(MPI_File_close(&together));
    TRUE(heard_elsewhere == 0);
    free(data);
    FINE(MPI_File_close(&file));
    return finish();
}
