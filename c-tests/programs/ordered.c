/* Ordered access: ranks of different length, one after the other, whoever comes first. */
#include "say.h"

int main(int count, char **words)
{
    begin(&count, &words);
    char data[64], back[64] = "";
    MPI_Status status;
    MPI_Offset position;
    MPI_File file = open_new("ordered");
    for (int round = 0; round < 3; round++) {
        int length = snprintf(data, sizeof data, "%.*s|", (rank + round) % 5 + 1, "abcdefghij" + rank % 4);
        FINE(MPI_File_write_ordered(file, data, length, MPI_CHAR, &status));
        FINE(MPI_File_get_position_shared(file, &position));
        say("round %d: wrote %d", round, count_of(&status, MPI_CHAR));
    }
    synchronise(file);
    FINE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    FINE(MPI_File_read_ordered(file, back, 6, MPI_CHAR, &status));
    say("read %d: %s", count_of(&status, MPI_CHAR), back);
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_get_position_shared(file, &position));
    say("shared pointer %lld", (long long)position);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
