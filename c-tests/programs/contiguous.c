/* Every rank writes its own part at its own offset, reads that of its neighbour, independently and collectively. */
#include "say.h"

enum { COUNT = 1000 };

int main(int count, char **words)
{
    begin(&count, &words);
    int data[COUNT], back[COUNT];
    MPI_Status status;
    MPI_File file = open_new("contiguous");
    for (int i = 0; i < COUNT; i++) data[i] = rank * COUNT + i;
    FINE(MPI_File_write_at(file, (MPI_Offset)rank * sizeof data, data, COUNT, MPI_INT, &status));
    say("write_at wrote %d", count_of(&status, MPI_INT));
    synchronise(file);
    int neighbour = (rank + 1) % size;
    FINE(MPI_File_read_at(file, (MPI_Offset)neighbour * sizeof data, back, COUNT, MPI_INT, &status));
    say("read_at read %d, first %d, last %d", count_of(&status, MPI_INT), back[0], back[COUNT - 1]);
    MPI_Offset end = (MPI_Offset)size * sizeof data;
    FINE(MPI_File_write_at_all(file, end + (MPI_Offset)(size - 1 - rank) * sizeof data, data, COUNT, MPI_INT, &status));
    synchronise(file);
    FINE(MPI_File_seek(file, end + (MPI_Offset)rank * sizeof data, MPI_SEEK_SET));
    FINE(MPI_File_read_all(file, back, COUNT, MPI_INT, &status));
    MPI_Offset position;
    FINE(MPI_File_get_position(file, &position));
    say("read_all read %d, first %d, last %d, now at %lld", count_of(&status, MPI_INT), back[0], back[COUNT - 1], (long long)position);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
