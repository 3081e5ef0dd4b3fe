/* Threads of several ranks write ranges that cross, to a file that they may not read: locks that cannot be shared are not
 * kept while waiting for more. */
#define _GNU_SOURCE
#include "lesson.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

enum { WRITES = 2000, LENGTH = 100000, THREADS = 2 };

static char data[LENGTH];
static MPI_File file;
static int failed[THREADS];

static void *work(void *argument)
{
    int number = (int)((int *)argument - failed);
    unsigned seed = (unsigned)(rank * THREADS + number + 1);
    for (int i = 0; i < WRITES && !failed[number]; i++) {
        int at = rand_r(&seed) % LENGTH, length = 1 + rand_r(&seed) % LENGTH;
        failed[number] = MPI_File_write_at(file, at, data, length, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    return NULL;
}

int main(int count, char **words)
{
    if (!begin_at(MPI_THREAD_MULTIPLE, &count, &words)) return finish();
    char folder[] = "/tmp/crossing_writes.XXXXXX", name[64];
    if (rank == 0 && (!mkdtemp(folder) || chmod(folder, 0755) != 0)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/data", folder);
    if (rank == 0) {
        int descriptor = open(name, O_RDWR | O_CREAT, 0600);
        TRUE(descriptor >= 0 && fchmod(descriptor, 0222) == 0 && close(descriptor) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    int root = geteuid() == 0;
    if (root) TRUE(seteuid(65534) == 0);
    FINE(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    if (root) TRUE(seteuid(0) == 0);
    pthread_t threads[THREADS];
    doing = "writes of two threads";
    for (int i = 0; i < THREADS; i++) TRUE(pthread_create(&threads[i], NULL, work, &failed[i]) == 0);
    for (int i = 0; i < THREADS; i++) TRUE(pthread_join(threads[i], NULL) == 0 && !failed[i]);
    FINE(MPI_File_close(&file));
    if (rank == 0) TRUE(unlink(name) == 0 && rmdir(folder) == 0);
    return finish();
}
