/* What a program must not leave behind: open descriptors and memory.
 *
 * The MPI opens and allocates things of its own when they are first needed, so the first programs of a launch are not
 * held to exact numbers; a descriptor of a file in our directory is always a leak. */
#include "random.h"

#include <dirent.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_PROGRAMS = 8, GROWTH_LIMIT = 1 << 20 };

static int programs;     /* so far in this launch */
static int most;         /* descriptors after any of the first programs */
static size_t in_use;    /* bytes after the first programs */

/* Counts the descriptors, and complains about one of a file below our directory. */
static int count_descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    if (!all) fail("/proc/self/fd cannot be read");
    for (struct dirent *entry; (entry = readdir(all));) {
        char target[4096];
        ssize_t length = readlinkat(dirfd(all), entry->d_name, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = 0;
        if (strncmp(target, options.directory, strlen(options.directory)) == 0 && strstr(target, "/random."))
            fail("a descriptor was left open: %s", target);
        count++;
    }
    closedir(all);
    return count;
}

static size_t allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
#else
    return 0;
#endif
}

void check_leaks(void)
{
    int descriptors = count_descriptors();
    size_t bytes = allocated();
    programs++;
    say("%d descriptors, %zu bytes in use after the program", descriptors, bytes);
    if (programs <= FIRST_PROGRAMS) {
        if (descriptors > most) most = descriptors;
        in_use = bytes;
    } else if (descriptors > most)
        fail("%d descriptors are open after the program, %d were before", descriptors, most);
    else if (bytes > in_use + GROWTH_LIMIT)
        fail("%zu bytes are in use, %zu were after the first programs of this launch", bytes, in_use);
}
