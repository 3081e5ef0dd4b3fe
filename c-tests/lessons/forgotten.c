/* What a program has started and forgotten, or freed the request of, is in the file all the same: after the close, and after
 * MPI_Finalize where there is none. */
#include "lesson.h"

enum { LENGTH = 1 << 20, WRITES = 20 };

static char data[WRITES][LENGTH], back[LENGTH];

static void start(MPI_File file, int collective, int forget)
{
    for (int i = 0; i < WRITES; i++) {
        MPI_Request request;
        MPI_Offset at = ((MPI_Offset)i * size + rank) * LENGTH;
        memset(data[i], 1 + (i + rank) % 100, LENGTH);
        if (collective) FINE(MPI_File_iwrite_at_all(file, at, data[i], LENGTH, MPI_BYTE, &request));
        else FINE(MPI_File_iwrite_at(file, at, data[i], LENGTH, MPI_BYTE, &request));
        if (!forget) FINE(MPI_Request_free(&request));
    }
}

static int wrong_bytes(FILE *file)
{
    int wrong = 0;
    for (int i = 0; i < WRITES; i++) {
        fseek(file, ((long)i * size + rank) * LENGTH, SEEK_SET);
        wrong += fread(back, 1, LENGTH, file) != LENGTH || memcmp(back, data[i], LENGTH) != 0;
    }
    return wrong;
}

int main(int count, char **words)
{
    begin(&count, &words);
    for (int collective = 0; collective < 2; collective++) {
        char *name = path(collective ? "freed_together" : "freed");
        MPI_File file = open_new(collective ? "freed_together" : "freed");
        start(file, collective, 0);
        FINE(MPI_File_close(&file));
        FILE *plain = fopen(name, "rb");
        TRUE(plain && wrong_bytes(plain) == 0);
        if (plain) fclose(plain);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File file = open_new("forgotten");
    start(file, 0, 1);
    /* Nothing may be under way when MPI is ended. Where only the program's thread calls MPI the library waits then all the same;
     * under MPI_THREAD_MULTIPLE its own threads do, and MPICH cannot bear one that is in a call when MPI_Finalize begins. */
    int level;
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) FINE(MPI_File_close(&file));
    int code = finish(); /* ends MPI */
    FILE *plain = fopen(path("forgotten"), "rb");
    if (!plain || wrong_bytes(plain)) {
        printf("rank %d: bytes are missing after MPI_Finalize\n", rank);
        code = 1;
    }
    return code;
}
