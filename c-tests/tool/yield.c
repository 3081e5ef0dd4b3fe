/* Lets the ranks of MPICH wait without burning the core. They poll UCX and never give way, so that with more ranks than cores
 * each message costs a time slice; Open MPI has an option for this, MPICH over UCX has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

/* Polls in vain before a nap: an answer from a rank that runs comes sooner. */
#define PATIENCE 200

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    static unsigned in_vain;
    if (!next)
        next = (unsigned (*)(void *)) dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned progressed = next(worker);
    in_vain = progressed ? 0 : in_vain + 1;
    if (in_vain > PATIENCE)
        nanosleep(&(struct timespec) { .tv_nsec = 1000 }, NULL);
    return progressed;
}
