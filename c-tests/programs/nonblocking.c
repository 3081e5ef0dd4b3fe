/* Several requests at once, completed in another order; buffers are checked after the wait. */
#include "say.h"

enum { COUNT = 256, REQUESTS = 4 };

int main(int count, char **words)
{
    begin(&count, &words);
    int data[REQUESTS][COUNT], back[REQUESTS][COUNT];
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    MPI_File file = open_new("nonblocking");
    MPI_Offset own = (MPI_Offset)rank * sizeof data;
    for (int r = 0; r < REQUESTS; r++) {
        for (int i = 0; i < COUNT; i++) data[r][i] = rank * 10000 + r * 1000 + i;
        FINE(MPI_File_iwrite_at(file, own + (MPI_Offset)r * sizeof data[0], data[r], COUNT, MPI_INT, &requests[r]));
    }
    for (int r = REQUESTS - 1; r >= 0; r--) FINE(MPI_Wait(&requests[r], &statuses[r]));
    say("wrote %d %d %d %d", count_of(&statuses[0], MPI_INT), count_of(&statuses[1], MPI_INT), count_of(&statuses[2], MPI_INT), count_of(&statuses[3], MPI_INT));
    FINE(MPI_File_seek(file, own, MPI_SEEK_SET));
    for (int r = 0; r < REQUESTS; r++) FINE(MPI_File_iread(file, back[r], COUNT, MPI_INT, &requests[r]));
    MPI_Offset position;
    FINE(MPI_File_get_position(file, &position));
    FINE(MPI_Waitall(REQUESTS, requests, statuses));
    say("pointer %lld, read %d, %s", (long long)(position - own), count_of(&statuses[3], MPI_INT), memcmp(data, back, sizeof data) ? "different" : "the same");
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
