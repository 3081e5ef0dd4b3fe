/* In atomic mode a write is seen whole: all write the same interleaved bytes, one of them is found. OMPIO's atomic mode
 * does nothing, hence an expected output. */
#include "say.h"

enum { COUNT = 20000 };

int main(int count, char **words)
{
    begin(&count, &words);
    static char data[COUNT], back[COUNT];
    MPI_Datatype holes;
    MPI_Status status;
    MPI_File file = open_new("atomic");
    int whole = 1, all_whole;
    MPI_Type_create_resized(MPI_SHORT, 0, 6, &holes);
    MPI_Type_commit(&holes);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, holes, "native", MPI_INFO_NULL));
    FINE(MPI_File_set_atomicity(file, 1));
    memset(data, 'a' + rank, COUNT);
    for (int round = 0; round < 5; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        FINE(MPI_File_write_at(file, 0, data, COUNT, MPI_BYTE, &status));
        MPI_Barrier(MPI_COMM_WORLD);
        FINE(MPI_File_read_at(file, 0, back, COUNT, MPI_BYTE, &status));
        for (int i = 1; i < COUNT; i++) whole = whole && back[i] == back[0];
    }
    MPI_Reduce(&whole, &all_whole, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("writes are whole: %s\n", all_whole ? "yes" : "no");
    MPI_Type_free(&holes);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
