/* Nonblocking collectives with a request status. MPICH 4.0.2 leaves the status of iwrite_at_all unset and Open MPI's
 * OMPIO hangs in iread_all across the end of the file, hence an expected output instead of theirs. */
#include "say.h"

enum { COUNT = 500 };

int main(int count, char **words)
{
    begin(&count, &words);
    int data[COUNT], back[COUNT], good = 1, all_good;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_File file = open_new("nonblocking_collective");
    for (int i = 0; i < COUNT; i++) data[i] = rank * 10000 + i, back[i] = -1;
    FINE(MPI_File_iwrite_at_all(file, (MPI_Offset)rank * sizeof data, data, COUNT, MPI_INT, &requests[0]));
    FINE(MPI_File_iwrite_at_all(file, (MPI_Offset)(size + rank) * sizeof data, data, COUNT, MPI_INT, &requests[1]));
    FINE(MPI_Waitall(2, requests, statuses));
    good = good && count_of(&statuses[0], MPI_INT) == COUNT && count_of(&statuses[1], MPI_INT) == COUNT;
    FINE(MPI_File_seek(file, (MPI_Offset)(size + rank) * sizeof data, MPI_SEEK_SET));
    FINE(MPI_File_iread_all(file, back, COUNT, MPI_INT, &requests[0]));
    int done = 0;
    while (!done) FINE(MPI_Test(&requests[0], &done, &statuses[0]));
    good = good && count_of(&statuses[0], MPI_INT) == COUNT && !memcmp(data, back, sizeof data);
    synchronise(file);
    /* the last 10 numbers of each rank are past the end for the last rank only */
    FINE(MPI_File_iread_at_all(file, (MPI_Offset)(size + rank) * sizeof data + 40, back, COUNT, MPI_INT, &requests[0]));
    FINE(MPI_Wait(&requests[0], &statuses[0]));
    good = good && count_of(&statuses[0], MPI_INT) == (rank == size - 1 ? COUNT - 10 : COUNT);
    FINE(MPI_File_close(&file));
    MPI_Reduce(&good, &all_good, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("nonblocking collectives: %s\n", all_good ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
