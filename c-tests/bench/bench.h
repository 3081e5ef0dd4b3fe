/* What both benchmark programs need: clocks, peak memory, and a barrier that does not spin.
 *
 * A rank that waits in MPI_Barrier polls and takes the core of one that still works, more so in one
 * MPI than in the other. Here waiting ranks sleep, so the contenders differ only in the call measured. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;

/* Ours when preloaded, absent otherwise: scripts/bench must know whom it has measured. */
int mpiio_rs_active(void) __attribute__((weak));

static void fail(const char *doing)
{
    perror(doing);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char *doing)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", doing, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* A line such as "VmHWM:   1234 kB" of /proc/self/status. */
static long status_kibibytes(const char *key)
{
    char line[256];
    long value = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, key, strlen(key)) == 0)
            value = atol(line + strlen(key) + 1);
    if (status)
        fclose(status);
    return value;
}

/* Peak memory counts from here on (Linux: writing 5 resets VmHWM). */
static long start_peak(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY);
    if (file < 0 || write(file, "5", 1) != 1)
        fprintf(stderr, "cannot reset the memory peak\n");
    if (file >= 0)
        close(file);
    return status_kibibytes("VmRSS");
}

/* Arrivals of all barriers so far, in memory shared by the ranks of this node. */
static atomic_long *arrivals;

static void start_quiet_barrier(const char *file_of_data)
{
    char name[4096];
    int file;
    snprintf(name, sizeof name, "%s.barrier", file_of_data);
    if (rank == 0) {
        file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || ftruncate(file, sizeof *arrivals) != 0)
            fail(name);
        close(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file = open(name, O_RDWR);
    if (file < 0)
        fail(name);
    arrivals = mmap(NULL, sizeof *arrivals, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (arrivals == MAP_FAILED)
        fail(name);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
}

static void quiet_barrier(void)
{
    const struct timespec nap = {0, 100000};
    long goal = atomic_fetch_add(arrivals, 1) / ranks * ranks + ranks;
    while (atomic_load(arrivals) < goal)
        nanosleep(&nap, NULL);
}

/* One measured call. */
struct measure {
    double wall, cpu;
    long memory_before, memory_kibibytes;
};

static void start_measure(struct measure *measure)
{
    measure->memory_before = start_peak();
    quiet_barrier();
    measure->cpu = cpu_seconds();
    measure->wall = wall_seconds();
}

static void stop_measure(struct measure *measure)
{
    measure->wall = wall_seconds() - measure->wall;
    measure->cpu = cpu_seconds() - measure->cpu;
    measure->memory_kibibytes = status_kibibytes("VmHWM") - measure->memory_before;
    quiet_barrier();
}

/* Slowest rank, CPU time of all, greediest rank: one line for scripts/bench. */
static void print_measure(const char *name, const struct measure *measure, double close_wall, long wrong)
{
    double slowest[2] = {measure->wall, close_wall}, cpu;
    long memory, all_wrong;
    MPI_Reduce(rank ? slowest : MPI_IN_PLACE, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&measure->cpu, &cpu, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&measure->memory_kibibytes, &memory, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("{\"case\": \"%s\", \"wall\": %.6f, \"cpu\": %.6f, \"close_wall\": %.6f, "
               "\"memory_kib\": %ld, \"wrong\": %ld, \"ours\": %d}\n",
               name, slowest[0], cpu, slowest[1], memory, all_wrong, mpiio_rs_active && mpiio_rs_active());
}
