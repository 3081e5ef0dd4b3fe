/* Limits that the system itself imposes: on the size of files, descriptors, memory, a full device, permissions. */
#define _GNU_SOURCE
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static void set_limit(int which, rlim_t value)
{
    struct rlimit limit;
    getrlimit(which, &limit);
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    if (setrlimit(which, &limit) != 0) wrong("cannot set limit %d", which);
}

/* Files end after an eighth, two eighths, ... of what the ranks write. */
int impose_file_size(const struct row *row, int position)
{
    if (position > 8 || row->direction == READS || row->prepare == NULL) return 0;
    if (row->routine == NO_ACCESS && strncmp(row->name, "set_size, l", 11) != 0 && strcmp(row->name, "preallocate") != 0)
        return 0;
    signal(SIGXFSZ, SIG_IGN);
    if (rank == faulty) set_limit(RLIMIT_FSIZE, (rlim_t)(base_size(row) * position / 8));
    return 1;
}

void lift_file_size(void) { set_limit(RLIMIT_FSIZE, RLIM_INFINITY); }

static int plugs[1 << 16], plug_count;

/* No descriptor left, one left, ... */
int impose_descriptors(const struct row *row, int position)
{
    int opens = strncmp(row->name, "open", 4) == 0, closes = strncmp(row->name, "close", 5) == 0;
    if (position > 6 || !(opens || closes)) return 0;
    if (rank != faulty) return 1;
    int last = dup(STDIN_FILENO);
    close(last);
    set_limit(RLIMIT_NOFILE, (rlim_t)last + 64);
    for (int fd; plug_count < (1 << 16) && (fd = dup(STDIN_FILENO)) >= 0;) plugs[plug_count++] = fd;
    for (int free = 1; free < position && plug_count > 0; free++) close(plugs[--plug_count]);
    return 1;
}

void lift_descriptors(void)
{
    while (plug_count > 0) close(plugs[--plug_count]);
    set_limit(RLIMIT_NOFILE, RLIM_INFINITY);
}

/* The address space may not grow any more, then by a little. Only where the MPI does nothing meanwhile: what it does
 * without memory is not the library's. */
int impose_memory(const struct row *row, int position)
{
    if (position > 4 || row->routine == NO_ACCESS || row->hearing != ALONE) return 0;
    long pages = 0;
    FILE *status = fopen("/proc/self/statm", "r");
    if (!status || fscanf(status, "%ld", &pages) != 1) wrong("cannot read /proc/self/statm");
    if (status) fclose(status);
    if (rank == faulty) set_limit(RLIMIT_AS, (rlim_t)pages * 4096 + (rlim_t)(position - 1) * (128 << 10));
    return 1;
}

void lift_memory(void) { set_limit(RLIMIT_AS, RLIM_INFINITY); }

static char *filler(void)
{
    static char name[4096];
    snprintf(name, sizeof name, "%s/filler", directory);
    return name;
}

/* The device has no page left, then four, ... The file is empty, so that every byte needs room. */
int impose_full(const struct row *row, int position)
{
    struct statfs about;
    if (!getenv("FAULTS_ON_TMPFS") || row->direction == READS || row->layout == THREADS) return 0;
    if (row->routine == NO_ACCESS && strcmp(row->name, "preallocate") != 0) return 0;
    if (4 * (position - 1) * 4096 > base_size(row)) return 0;
    if (rank == 0) {
        if (truncate(path, 0) != 0 || statfs(directory, &about) != 0) wrong("cannot ask for the room on %s", directory);
        int fd = open(filler(), O_WRONLY | O_CREAT, 0600);
        off_t room = ((off_t)about.f_bavail - 4 * (position - 1)) * about.f_bsize;
        if (fd < 0 || posix_fallocate(fd, 0, room) != 0 || close(fd) != 0) wrong("cannot fill %s", directory);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 1;
}

void lift_full(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(filler());
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A directory that nobody may write into, and a user who is not above that. */
int impose_permission(const struct row *row, int position)
{
    int creates = strcmp(row->name, "open, new") == 0 || strcmp(row->name, "open, exclusive") == 0;
    if (position > 1 || !(creates || strcmp(row->name, "delete") == 0)) return 0;
    if (rank == 0 && chmod(directory, 0555) != 0) wrong("cannot change %s", directory);
    MPI_Barrier(MPI_COMM_WORLD);
    if (geteuid() == 0 && seteuid(65534) != 0) wrong("cannot become nobody");
    return 1;
}

void lift_permission(void)
{
    if (getuid() == 0 && seteuid(0) != 0) wrong("cannot become root again");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && chmod(directory, 0755) != 0) wrong("cannot change %s", directory);
    MPI_Barrier(MPI_COMM_WORLD);
}
