/* Where an MPI refuses once to call a function in its progress, the access that needed that fails, and no other: the next is
 * completed, and afterwards the MPI is told that there is nothing more to call for. Only new MPICHs do that. */
#define _GNU_SOURCE
#include "lesson.h"

#include <dlfcn.h>
#include <time.h>

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
enum { LENGTH = 1000 };

static int refusals = 1, starts, ends;
static MPIX_Async_poll_function *poll_function;

static int watch(MPIX_Async_thing thing)
{
    int answer = poll_function(thing);
    ends += answer == MPIX_ASYNC_DONE;
    return answer;
}

/* Stands before the MPI's own. */
int MPIX_Async_start(MPIX_Async_poll_function *function, void *state, MPIX_Stream stream)
{
    int (*start)(MPIX_Async_poll_function *, void *, MPIX_Stream);
    *(void **)&start = dlsym(RTLD_NEXT, "MPIX_Async_start");
    if (refusals-- > 0) return MPI_ERR_OTHER;
    starts++;
    poll_function = function;
    return start(watch, state, stream);
}

static void look_for_messages(void)
{
    time_t begun = time(NULL);
    while (ends < starts && time(NULL) < begun + 10) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    }
}

static void start_twice(MPI_File file)
{
    char data[LENGTH] = "data";
    MPI_Request request;
    MPI_Status status;
    int level;
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) return; /* threads of the library complete requests then */
    EXPECT(MPI_File_iwrite_at(file, rank * LENGTH, data, LENGTH, MPI_BYTE, &request), MPI_ERR_OTHER);
    for (int i = 0; i < 2; i++) {
        FINE(MPI_File_iwrite_at(file, rank * LENGTH, data, LENGTH, MPI_BYTE, &request));
        FINE(MPI_Wait(&request, &status));
        TRUE(bytes_of(&status) == LENGTH);
        look_for_messages();
        TRUE(starts == ends && starts > 0);
    }
}
#else
static void start_twice(MPI_File file)
{
    (void)file;
}
#endif

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("refused_progress");
    if (dlsym(RTLD_DEFAULT, "mpiio_rs_version")) start_twice(file);
    FINE(MPI_File_close(&file));
    return finish();
}
