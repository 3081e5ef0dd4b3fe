/* Sixteen threads on one file handle, with blocking and nonblocking accesses of all kinds at once. Each thread has stretches
 * of its own and knows what stands there; the shared pointer gives every access a stretch that nobody else has. */
#include "lesson.h"

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 60, SLOTS = 8, LENGTH = 3000, PENDING = 4 };

static MPI_File file, shared_file;

struct Thread {
    pthread_t id;
    int number, wrong;
    unsigned random;
    char model[SLOTS][LENGTH], data[PENDING][LENGTH];
};

static unsigned draw(struct Thread *mine, unsigned limit)
{
    mine->random = mine->random * 1103515245u + 12345u;
    return (mine->random >> 16) % limit;
}

static MPI_Offset place(struct Thread *mine, int slot)
{
    return (((MPI_Offset)rank * THREADS + mine->number) * SLOTS + slot) * LENGTH;
}

static int whole(MPI_Status *status)
{
    return bytes_of(status) == LENGTH;
}

/* Several requests at once on different slots, completed in one of four ways. */
static void several(struct Thread *mine)
{
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];
    int slots[PENDING], reads[PENDING], first = (int)draw(mine, SLOTS);
    for (int i = 0; i < PENDING; i++) {
        slots[i] = (first + i) % SLOTS;
        reads[i] = (int)draw(mine, 2);
        memset(mine->data[i], reads[i] ? 0 : (int)draw(mine, 255) + 1, LENGTH);
        if (!reads[i]) memcpy(mine->model[slots[i]], mine->data[i], LENGTH);
        int code = reads[i] ? MPI_File_iread_at(file, place(mine, slots[i]), mine->data[i], LENGTH, MPI_BYTE, &requests[i])
                            : MPI_File_iwrite_at(file, place(mine, slots[i]), mine->data[i], LENGTH, MPI_BYTE, &requests[i]);
        mine->wrong += code != MPI_SUCCESS;
    }
    int way = (int)draw(mine, 4), at, done = 0;
    if (way == 0) mine->wrong += MPI_Waitall(PENDING, requests, statuses) != MPI_SUCCESS;
    for (int i = 0; way == 1 && i < PENDING; i++) {
        MPI_Status status;
        mine->wrong += MPI_Waitany(PENDING, requests, &at, &status) != MPI_SUCCESS;
        statuses[at] = status;
    }
    for (int i = PENDING - 1; way == 2 && i >= 0; i--) mine->wrong += MPI_Wait(&requests[i], &statuses[i]) != MPI_SUCCESS;
    while (way == 3 && !done) mine->wrong += MPI_Testall(PENDING, requests, &done, statuses) != MPI_SUCCESS;
    for (int i = 0; i < PENDING; i++) {
        mine->wrong += !whole(&statuses[i]);
        if (reads[i]) mine->wrong += memcmp(mine->data[i], mine->model[slots[i]], LENGTH) != 0;
    }
}

/* One blocking access. */
static void one(struct Thread *mine)
{
    int slot = (int)draw(mine, SLOTS);
    MPI_Status status = spoilt();
    if (draw(mine, 2)) {
        memset(mine->model[slot], (int)draw(mine, 255) + 1, LENGTH);
        mine->wrong += MPI_File_write_at(file, place(mine, slot), mine->model[slot], LENGTH, MPI_BYTE, &status) != MPI_SUCCESS;
    } else {
        mine->wrong += MPI_File_read_at(file, place(mine, slot), mine->data[0], LENGTH, MPI_BYTE, &status) != MPI_SUCCESS;
        mine->wrong += memcmp(mine->data[0], mine->model[slot], LENGTH) != 0;
    }
    mine->wrong += !whole(&status);
}

/* Through the shared pointer of another handle: every stretch has one writer. */
static void shared(struct Thread *mine)
{
    MPI_Status status = spoilt();
    MPI_Request request;
    memset(mine->data[0], 1 + (rank * THREADS + mine->number) % 250, LENGTH);
    if (draw(mine, 2)) mine->wrong += MPI_File_write_shared(shared_file, mine->data[0], LENGTH, MPI_BYTE, &status) != MPI_SUCCESS;
    else {
        mine->wrong += MPI_File_iwrite_shared(shared_file, mine->data[0], LENGTH, MPI_BYTE, &request) != MPI_SUCCESS;
        mine->wrong += MPI_Wait(&request, &status) != MPI_SUCCESS;
    }
    mine->wrong += !whole(&status);
}

static void *work(void *argument)
{
    struct Thread *mine = argument;
    for (int slot = 0; slot < SLOTS; slot++) {
        MPI_Offset size_now = 0;
        memset(mine->model[slot], mine->number + 1, LENGTH);
        mine->wrong += MPI_File_write_at(file, place(mine, slot), mine->model[slot], LENGTH, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        mine->wrong += MPI_File_get_size(file, &size_now) != MPI_SUCCESS || size_now < LENGTH;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 3 == 0) several(mine);
        else if (round % 3 == 1) one(mine);
        else shared(mine);
    }
    return NULL;
}

/* Every stretch of the shared file is one thread's, and every thread has as many as it wrote. */
static int wrong_stretches(void)
{
    static int seen[256], expected = ROUNDS / 3;
    char back[LENGTH];
    int bad = 0, stretches = size * THREADS * expected;
    for (int i = 0; i < stretches; i++) {
        bad += MPI_File_read_at(shared_file, (MPI_Offset)i * LENGTH, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        for (int j = 1; j < LENGTH; j++) bad += back[j] != back[0];
        seen[(unsigned char)back[0]]++;
    }
    for (int i = 0; i < size * THREADS && size * THREADS <= 250; i++) bad += seen[1 + i] != expected;
    return bad;
}

int main(int count, char **words)
{
    if (!begin_at(MPI_THREAD_MULTIPLE, &count, &words)) return finish();
    doing = "accesses of sixteen threads";
    file = open_new("sixteen_threads");
    shared_file = open_new("sixteen_threads_shared");
    static struct Thread threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = i;
        threads[i].random = (unsigned)(rank * THREADS + i + 1);
        TRUE(pthread_create(&threads[i].id, NULL, work, &threads[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        TRUE(pthread_join(threads[i].id, NULL) == 0);
        TRUE(threads[i].wrong == 0);
    }
    synchronise(shared_file);
    TRUE(wrong_stretches() == 0);
    FINE(MPI_File_close(&shared_file));
    FINE(MPI_File_close(&file));
    return finish();
}
