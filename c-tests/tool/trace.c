/* A tool that stands before the library, as profilers do: it counts the calls of every routine and passes them on.
 *
 * Compiled with routines.h, a line ROUTINE(index, name) for each routine to be counted (tracing.py writes it), in two ways:
 * with -DNEXT a call goes to the next definition of the same name, found by dlsym; without, MPI_x calls PMPI_x.
 * The counts are in a file, MPIIO_TRACE, that all ranks map: a rank that aborts leaves its own. They stay zero where the next
 * definition is not the library's, so a count is a proof that the library was asked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the passing on is written for x86-64"
#endif

#define ROUTINE(index, name) #name,
static const char *const names[] = {
#include "routines.h"
};
#undef ROUTINE

enum { COUNT = sizeof names / sizeof *names };

static uint64_t nowhere[COUNT];
__attribute__((visibility("hidden"))) uint64_t *trace_calls = nowhere;
__attribute__((visibility("hidden"))) void *trace_next[COUNT];

/* Arguments are passed on as they are, whatever they are: only r11 is changed, which belongs to nobody. */
#ifdef NEXT
#define PASS_ON(index, name) "jmp *trace_next + 8 * " #index "(%rip)\n"
#else
#define PASS_ON(index, name) "jmp P" #name "@PLT\n"
#endif
#define ROUTINE(index, name)                                                                         \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                      \
            "movq trace_calls(%rip), %r11\nlock incq 8 * " #index "(%r11)\n" PASS_ON(index, name)    \
            ".size " #name ", . - " #name "\n");
#include "routines.h"

/* Whether what comes next is the library, and not the MPI. */
static int library_is_next(void)
{
    Dl_info open, version;
    void *one = dlsym(RTLD_NEXT, "PMPI_File_open"), *other = dlsym(RTLD_NEXT, "mpiio_rs_version");
    return one && other && dladdr(one, &open) && dladdr(other, &version) && open.dli_fbase == version.dli_fbase;
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("MPIIO_TRACE");
    for (int i = 0; i < COUNT; i++)
        trace_next[i] = dlsym(RTLD_NEXT, names[i]);
    int fd = path && library_is_next() ? open(path, O_RDWR | O_CREAT, 0666) : -1;
    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof nowhere) == 0) {
        void *shared = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED)
            trace_calls = shared;
    }
    close(fd);
}

/* How often this routine was called, as the tool sees it; -1 if it does not know the name. */
long long tool_calls(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (long long) trace_calls[i];
    return -1;
}
