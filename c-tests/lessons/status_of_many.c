/* A program may ask for the status of many requests at once until they are complete, and do nothing else meanwhile. The
 * routines came with MPI 4.1. In the last of them MPICH 5.0 looks after nothing, whatever the requests are of. A program for
 * several MPIs looks whether they are there, and finds the library's where the MPI is older. */
#define _GNU_SOURCE
#include "lesson.h"

#include <dlfcn.h>
#include <time.h>

enum { REQUESTS = 5, LENGTH = 100000, LAST = REQUESTS - 1 };

typedef int of_all(int, const MPI_Request *, int *, MPI_Status *);
typedef int of_others(int, const MPI_Request *, int *, int *, MPI_Status *);
static of_all *get_all;
static of_others *get_any, *get_some;

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
    while (!flag && !wrong) FINE(get_all(REQUESTS, requests, &flag, statuses));
    for (int i = 0; i < LAST; i++) TRUE(bytes_of(&statuses[i]) == LENGTH);
    TRUE(bytes_of(&statuses[LAST]) == 0);
    FINE(get_all(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE));
    TRUE(flag);
}

static void ask_for_any(void)
{
    int flag = 0, index = -1;
    while (!flag && !wrong) FINE(get_any(REQUESTS, requests, &index, &flag, &statuses[0]));
    TRUE(index >= 0 && index < LAST && bytes_of(&statuses[0]) == LENGTH);
    for (int i = 0; i < REQUESTS; i++) /* each alone, from the last to the first */
        for (flag = 0; !flag && !wrong;)
            FINE(get_any(1, &requests[LAST - i], &index, &flag, MPI_STATUS_IGNORE));
}

static void ask_for_some(void)
{
    int count = 0, indices[REQUESTS], seen = 0;
    while (count < LAST && !wrong) {
        FINE(get_some(REQUESTS, requests, &count, indices, statuses));
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
/* With no request there is nothing to wait for. */
static void ask_for_none(void)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status one = spoilt();
    int flag = 0, index = 0, count = 0;
    FINE(get_any(2, none, &index, &flag, &one));
    TRUE(flag && index == MPI_UNDEFINED && bytes_of(&one) == 0);
    FINE(get_some(2, none, &count, &index, MPI_STATUSES_IGNORE));
    TRUE(count == MPI_UNDEFINED);
    flag = 0;
    FINE(get_all(0, none, &flag, MPI_STATUSES_IGNORE));
    TRUE(flag);
}

/* One that has failed is complete, and the others can be heard of. */
static void ask_for_failed(MPI_File file)
{
    MPI_File full;
    MPI_Request both[2];
    MPI_Status told[2];
    int class = 0, found = 0, all = 0, indices[2], code = MPI_SUCCESS;
    if (MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &full) != MPI_SUCCESS) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_File_iwrite_at(full, 0, data[0], LENGTH, MPI_BYTE, &both[0]);
    if (code != MPI_SUCCESS) { /* where the access is over when the call is, it is the call that fails */
        EXPECT(code, MPI_ERR_NO_SPACE);
        FINE(MPI_File_close(&full));
        return;
    }
    FINE(MPI_File_iwrite_at(file, (MPI_Offset)rank * LENGTH, data[1], LENGTH, MPI_BYTE, &both[1]));
    for (time_t end = time(NULL) + 20; found < 2 && time(NULL) < end;) code = get_some(2, both, &found, indices, told);
    TRUE(found == 2 && indices[0] == 0 && indices[1] == 1);
    if (code != MPI_SUCCESS) {
        EXPECT(code, MPI_ERR_IN_STATUS);
        TRUE(MPI_Error_class(told[0].MPI_ERROR, &class) == MPI_SUCCESS && class == MPI_ERR_NO_SPACE);
        TRUE(told[1].MPI_ERROR == MPI_SUCCESS);
    }
    code = get_all(2, both, &all, told);
    TRUE(all);
    if (code != MPI_SUCCESS) EXPECT(code, MPI_ERR_IN_STATUS);
    TRUE(bytes_of(&told[1]) == LENGTH);
    EXPECT(MPI_Waitall(2, both, told), MPI_ERR_IN_STATUS, MPI_ERR_NO_SPACE);
    FINE(MPI_File_close(&full));
}

int main(int count, char **words)
{
    begin(&count, &words);
    get_all = (of_all *)dlsym(RTLD_DEFAULT, "MPI_Request_get_status_all");
    get_any = (of_others *)dlsym(RTLD_DEFAULT, "PMPI_Request_get_status_any");
    get_some = (of_others *)dlsym(RTLD_DEFAULT, "MPI_Request_get_status_some");
    if (get_all && get_any && get_some) {
        MPI_File file = open_new("status_of_many");
        ask(file);
        ask_for_none();
        ask_for_failed(file);
        FINE(MPI_File_close(&file));
    } else {
        TRUE(MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION < 1));
    }
    return finish();
}
