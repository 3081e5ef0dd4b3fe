/* Collectives in which only some ranks, or none, have data. */
#include "say.h"

int main(int count, char **words)
{
    begin(&count, &words);
    int data[100], back[100] = {0};
    MPI_Status status;
    MPI_File file = open_new("zero_size");
    for (int i = 0; i < 100; i++) data[i] = rank * 100 + i;
    int mine = rank % 2 ? 0 : 100;
    FINE(MPI_File_write_at_all(file, 400 * rank, mine ? data : NULL, mine, MPI_INT, &status));
    say("wrote %d", count_of(&status, MPI_INT));
    FINE(MPI_File_write_all(file, NULL, 0, MPI_INT, &status));
    say("wrote %d", count_of(&status, MPI_INT));
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    FINE(MPI_File_write_at_all(file, 0, data, 5, nothing, &status));
    synchronise(file);
    mine = rank == size - 1 ? 50 : 0;
    FINE(MPI_File_read_at_all(file, 0, back, mine, MPI_INT, &status));
    say("read %d, last %d", count_of(&status, MPI_INT), back[49]);
    synchronise(file);
    FINE(MPI_File_write_ordered(file, data, rank == 0 ? 7 : 0, MPI_INT, &status));
    say("ordered %d", count_of(&status, MPI_INT));
    MPI_Type_free(&nothing);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
