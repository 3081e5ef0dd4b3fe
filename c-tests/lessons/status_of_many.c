/* A program may ask for the status of many requests at once until they are complete, and do nothing else meanwhile. The
 * routines came with MPI 4.1. In the last of them MPICH 5.0 looks after nothing, whatever the requests are of. */
#define _GNU_SOURCE
#include "lesson.h"

#include <dlfcn.h>

enum { REQUESTS = 5, LENGTH = 100000, LAST = REQUESTS - 1 };

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static char data[REQUESTS][LENGTH];
static MPI_Request requests[REQUESTS];
static MPI_Status statuses[REQUESTS];

/* One of them is never there. */
static void start(MPI_File file)
{
    for (int i = 0; i < LAST; i++) {
        memset(data[i], 1 + i + rank, LENGTH);
        FINE(MPI_File_iwrite_at(file, ((MPI_Offset)i * size + rank) * LENGTH, data[i], LENGTH, MPI_BYTE, &requests[i]));
    }
    requests[LAST] = MPI_REQUEST_NULL;
    for (int i = 0; i < REQUESTS; i++) statuses[i] = spoilt();
}

static void free_all(void)
{
    int flag = 0;
    FINE(MPI_Testall(REQUESTS, requests, &flag, statuses));
    TRUE(flag);
    for (int i = 0; i < LAST; i++) TRUE(bytes_of(&statuses[i]) == LENGTH);
}

static void ask_for_all(void)
{
    int flag = 0;
    while (!flag && !wrong) FINE(MPI_Request_get_status_all(REQUESTS, requests, &flag, statuses));
    for (int i = 0; i < LAST; i++) TRUE(bytes_of(&statuses[i]) == LENGTH);
    TRUE(bytes_of(&statuses[LAST]) == 0);
    FINE(MPI_Request_get_status_all(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE));
    TRUE(flag);
}

static void ask_for_any(void)
{
    int flag = 0, index = -1;
    while (!flag && !wrong) FINE(MPI_Request_get_status_any(REQUESTS, requests, &index, &flag, &statuses[0]));
    TRUE(index >= 0 && index < LAST && bytes_of(&statuses[0]) == LENGTH);
    for (int i = 0; i < REQUESTS; i++) /* each alone, from the last to the first */
        for (flag = 0; !flag && !wrong;)
            FINE(MPI_Request_get_status_any(1, &requests[LAST - i], &index, &flag, MPI_STATUS_IGNORE));
}

static void ask_for_some(void)
{
    int count = 0, indices[REQUESTS], seen = 0;
    while (count < LAST && !wrong) {
        FINE(MPI_Request_get_status_some(REQUESTS, requests, &count, indices, statuses));
        seen += count > 0;
    }
    TRUE(count == LAST && seen > 0);
    for (int i = 0; i < count; i++) TRUE(indices[i] >= 0 && indices[i] < LAST && bytes_of(&statuses[i]) == LENGTH);
}

static void ask(MPI_File file)
{
    void (*const ways[])(void) = {ask_for_all, ask_for_any, ask_for_some};
    for (int round = 0; round < 30 && !wrong; round++) {
        start(file);
        ways[round % 3]();
        free_all();
    }
}
#else
/* There are none. Where the library has their names, whoever finds and calls them is told so. */
static void ask(MPI_File file)
{
    typedef int of_all(int, const MPI_Request *, int *, MPI_Status *);
    typedef int of_others(int, const MPI_Request *, int *, int *, MPI_Status *);
    of_all *all = (of_all *)dlsym(RTLD_DEFAULT, "MPI_Request_get_status_all");
    of_others *any = (of_others *)dlsym(RTLD_DEFAULT, "MPI_Request_get_status_any");
    of_others *some = (of_others *)dlsym(RTLD_DEFAULT, "PMPI_Request_get_status_some");
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int one = 0, other = 0;
    (void)file;
    if (!all || !any || !some) return;
    EXPECT(all(1, &request, &one, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(any(1, &request, &one, &other, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(some(1, &request, &one, &other, &status), MPI_ERR_UNSUPPORTED_OPERATION);
}
#endif

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("status_of_many");
    ask(file);
    FINE(MPI_File_close(&file));
    return finish();
}
