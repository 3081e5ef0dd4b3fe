/* Lets the ranks of MPICH give way to each other. They wait by polling UCX and never yield, so that with more ranks than cores
 * each message costs a time slice; Open MPI has an option for this, MPICH over UCX has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    if (!next)
        next = (unsigned (*)(void *)) dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned progressed = next(worker);
    if (!progressed)
        sched_yield();
    return progressed;
}
