/* Very many nonblocking writes at once: none is lost, and each tells how much it wrote. OMPIO lost those for which the
 * queue of the system was full, with MPI_SUCCESS and a count of zero (ompi#14278). */
#include "lesson.h"

enum { REQUESTS = 3000, LENGTH = 40 };

int main(int count, char **words)
{
    begin(&count, &words);
    static char data[REQUESTS][LENGTH], back[REQUESTS][LENGTH];
    static MPI_Request requests[REQUESTS];
    static MPI_Status statuses[REQUESTS];
    MPI_File file = open_new("many_requests");
    int lost = 0;
    for (int i = 0; i < REQUESTS; i++) {
        memset(data[i], 1 + (i + rank) % 120, LENGTH);
        statuses[i] = spoilt();
        FINE(MPI_File_iwrite_at(file, ((MPI_Offset)i * size + rank) * LENGTH, data[i], LENGTH, MPI_BYTE, &requests[i]));
    }
    FINE(MPI_Waitall(REQUESTS, requests, statuses));
    for (int i = 0; i < REQUESTS; i++) lost += bytes_of(&statuses[i]) != LENGTH;
    TRUE(lost == 0);
    synchronise(file);
    for (int i = 0; i < REQUESTS; i++)
        FINE(MPI_File_iread_at(file, ((MPI_Offset)i * size + (rank + 1) % size) * LENGTH, back[i], LENGTH, MPI_BYTE, &requests[i]));
    FINE(MPI_Waitall(REQUESTS, requests, statuses));
    for (int i = 0; i < REQUESTS; i++)
        for (int j = 0; j < LENGTH; j++) lost += back[i][j] != 1 + (i + (rank + 1) % size) % 120;
    TRUE(lost == 0);
    FINE(MPI_File_close(&file));
    return finish();
}
