/* Split collectives of all three kinds, with work in between. */
#include "say.h"

enum { COUNT = 300 };

int main(int count, char **words)
{
    begin(&count, &words);
    short data[COUNT], back[COUNT];
    MPI_Status status;
    MPI_File file = open_new("split");
    for (int i = 0; i < COUNT; i++) data[i] = (short)(100 * rank + i), back[i] = 0;
    FINE(MPI_File_write_at_all_begin(file, (MPI_Offset)rank * sizeof data, data, COUNT, MPI_SHORT));
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_write_at_all_end(file, data, &status));
    say("write_at_all wrote %d", count_of(&status, MPI_SHORT));
    synchronise(file);
    FINE(MPI_File_seek(file, (MPI_Offset)(size - 1 - rank) * sizeof data, MPI_SEEK_SET));
    FINE(MPI_File_read_all_begin(file, back, COUNT, MPI_SHORT));
    FINE(MPI_File_read_all_end(file, back, &status));
    say("read_all read %d, first %d", count_of(&status, MPI_SHORT), back[0]);
    synchronise(file);
    FINE(MPI_File_write_ordered_begin(file, data, 10 + rank, MPI_SHORT));
    FINE(MPI_File_write_ordered_end(file, data, &status));
    say("write_ordered wrote %d", count_of(&status, MPI_SHORT));
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
