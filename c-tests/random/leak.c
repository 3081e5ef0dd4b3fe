/* What a program must not leave behind: open descriptors and memory.
 *
 * Memory is counted over all the programs of a launch, because MPICH keeps pools that grow by some KiB in each of them and
 * are given back by MPI_Finalize; with Open MPI it stays the same to a few bytes.
 * The MPI opens and allocates things of its own when they are first needed, so the first programs of a launch are not
 * held to exact numbers; a descriptor of a file in our directory is always a leak. */
#include "random.h"
#include "allocated.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_PROGRAMS = 8, GROWTH_LIMIT = 1 << 20 };

static int programs;      /* so far in this launch */
static int most;          /* descriptors after any of the first programs */
static size_t in_use;     /* bytes after the first programs */
static long growth;       /* the most of them since then */
static char targets[8192]; /* what the descriptors are of */

/* Counts the descriptors, and complains about one of a file below our directory. */
static int count_descriptors(void)
{
    int count = 0;
    size_t used = 0;
    DIR *all = opendir("/proc/self/fd");
    if (!all) fail("/proc/self/fd cannot be read");
    for (struct dirent *entry; (entry = readdir(all));) {
        char target[4096];
        ssize_t length = readlinkat(dirfd(all), entry->d_name, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = 0;
        /* The C library looks there for a moment when a thread first gives memory back, maybe one that ends just now. */
        if (!strcmp(target, "/proc/sys/vm/overcommit_memory")) continue;
        if (strncmp(target, options.directory, strlen(options.directory)) == 0 && strstr(target, "/random."))
            fail("a descriptor was left open: %s", target);
        count++;
        used += (size_t)snprintf(targets + used, sizeof targets - used, " %s", target);
        if (used >= sizeof targets) used = sizeof targets - 1;
    }
    closedir(all);
    return count;
}

/* Between hosts MPICH makes a pool, the largest of 8 MiB, when the first message of some length comes that a rank does not
 * yet wait for, which may be in any program: here such messages come from each to each before anything is counted. */
static void send_unexpected(void)
{
    static char out[1 << 15], in[1 << 15];
    int rank, ranks, other, length;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (other = 1; other < ranks; other++)
        for (length = 8; length <= (int)sizeof out; length *= 2) {
            int to = (rank + other) % ranks, from = (rank - other + ranks) % ranks, found = 0;
            MPI_Isend(out, length * 3 / 4, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
            while (!found) MPI_Iprobe(from, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            MPI_Recv(in, length, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
}

/* MPICH keeps requests in blocks of 1,024, in MPICH 5 of 2 MiB each, and makes the next one when a program has more of
 * them under way than any before: here there are more than in any program. */
static void have_many_requests(void)
{
    enum { MANY = 1100 };
    static MPI_Request requests[MANY];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MANY; i++) MPI_Irecv(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MANY; i++) MPI_Send(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

void check_leaks(void)
{
    if (programs == 0) {
        send_unexpected();
        have_many_requests();
    }
    int descriptors = count_descriptors();
    size_t bytes = allocated();
    programs++;
    say("%d descriptors, %zu bytes in use after the program", descriptors, bytes);
    if (programs <= FIRST_PROGRAMS) {
        if (descriptors > most) most = descriptors;
        in_use = bytes;
    } else if (descriptors > most)
        fail("%d descriptors are open after the program, %d were before:%s", descriptors, most, targets);
    else if (bytes > in_use + GROWTH_LIMIT)
        fail("%zu bytes are in use, %zu were after the first programs of this launch", bytes, in_use);
    else if ((long)(bytes - in_use) > growth)
        growth = (long)(bytes - in_use);
}

long memory_growth(void)
{
    long highest;
    must(MPI_Allreduce(&growth, &highest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
    return highest;
}
