/* Where the MPI has no communicator left, opening a file fails on all ranks and keeps none of the last few for itself. */
#include "check.h"

enum { MOST = 5000, LAST = 2, TRIES = 5 };

static MPI_Comm comms[MOST];

/* How many more there are, all kept. Collective. */
static int take_all(int taken)
{
    int more = 0;
    while (taken + more < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &comms[taken + more]) == MPI_SUCCESS) more++;
    return more;
}

int main(int count, char **words)
{
    MPI_File file;
    begin(&count, &words);
    doing = "MPI_Comm_dup";
    int taken = take_all(0);
    if (taken < MOST) { /* else this MPI has more than anybody waits for */
        for (int i = 0; i < LAST; i++) MPI_Comm_free(&comms[--taken]);
        for (int i = 0; i < TRIES; i++) {
            doing = "MPI_File_open";
            int code = MPI_File_open(MPI_COMM_WORLD, path("file"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
            same_class(code, "MPI_File_open", __LINE__);
            if (code == MPI_SUCCESS) FINE(MPI_File_close(&file));
        }
        doing = "MPI_Comm_dup";
        int more = take_all(taken);
        TRUE(more == LAST);
        taken += more;
    }
    while (taken > 0) MPI_Comm_free(&comms[--taken]);
    file = open_new("file");
    FINE(MPI_File_close(&file));
    return finish();
}
