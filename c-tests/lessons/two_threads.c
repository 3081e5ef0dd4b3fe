/* Two threads with a communicator and a file each, both in collective calls at once. A lock around the whole library
 * lets each rank wait in another file (ompi#6951, mpich#4008). */
#include "lesson.h"

#include <pthread.h>

enum { ROUNDS = 20, LENGTH = 1000 };

struct Work {
    MPI_Comm comm;
    char *name;
    int number, wrong;
};

static void *work(void *argument)
{
    struct Work *mine = argument;
    char data[LENGTH], back[LENGTH];
    MPI_File file;
    mine->wrong += MPI_File_open(mine->comm, mine->name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file) != MPI_SUCCESS;
    for (int round = 0; round < ROUNDS && !mine->wrong; round++) {
        MPI_Offset at = (MPI_Offset)LENGTH * (round * size + rank);
        memset(data, 1 + (round + rank + mine->number) % 100, LENGTH);
        mine->wrong += MPI_File_write_at_all(file, at, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        mine->wrong += MPI_File_write_ordered(file, data, 0, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        mine->wrong += MPI_File_sync(file) != MPI_SUCCESS;
        mine->wrong += MPI_File_read_at_all(file, at, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        mine->wrong += memcmp(data, back, LENGTH) != 0;
    }
    mine->wrong += MPI_File_close(&file) != MPI_SUCCESS;
    return NULL;
}

int main(int count, char **words)
{
    if (!begin_at(MPI_THREAD_MULTIPLE, &count, &words)) return finish();
    doing = "collective calls of two threads";
    struct Work works[2] = {{MPI_COMM_NULL, path("one"), 0, 0}, {MPI_COMM_NULL, path("two"), 1, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
    for (int i = 0; i < 2; i++) TRUE(pthread_create(&threads[i], NULL, work, &works[i]) == 0);
    for (int i = 0; i < 2; i++) TRUE(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&works[i].comm);
    TRUE(works[0].wrong == 0 && works[1].wrong == 0);
    return finish();
}
