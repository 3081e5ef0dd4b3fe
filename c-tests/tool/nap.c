/* Lets the ranks of MPICH wait without burning the core. They poll UCX and never give way, so that with more ranks than cores
 * each message costs a time slice; Open MPI has an option for this, MPICH over UCX has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

/* Polls in vain before a nap: an answer from a rank that runs comes sooner. */
#define PATIENCE 20

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    static unsigned in_vain;
    if (!next) /* by its library: where Python has loaded the MPI for itself, RTLD_NEXT does not see it */
        next = (unsigned (*)(void *)) dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    unsigned progressed = next(worker);
    in_vain = progressed ? 0 : in_vain + 1;
    if (in_vain > PATIENCE)
        nanosleep(&(struct timespec) { .tv_nsec = 1000 }, NULL);
    return progressed;
}
