/* Growing, shrinking and preallocating; what lies in between reads as zeros. */
#include "say.h"

static long long size_of(MPI_File file)
{
    MPI_Offset value;
    FINE(MPI_File_get_size(file, &value));
    return value;
}

int main(int count, char **words)
{
    begin(&count, &words);
    char data[100], back[200];
    MPI_Status status;
    MPI_File file = open_new("size");
    memset(data, 'a' + rank, sizeof data);
    FINE(MPI_File_write_at_all(file, 100 * rank, data, 100, MPI_BYTE, &status));
    synchronise(file);
    say("after writing %lld", size_of(file));
    FINE(MPI_File_set_size(file, 30));
    say("after shrinking %lld", size_of(file));
    FINE(MPI_File_set_size(file, 1000));
    say("after growing %lld", size_of(file));
    FINE(MPI_File_read_at_all(file, 0, back, 200, MPI_BYTE, &status));
    say("read %d, sum %u", count_of(&status, MPI_BYTE), sum_of(back, 200));
    FINE(MPI_File_preallocate(file, 500));
    say("after preallocating less %lld", size_of(file));
    FINE(MPI_File_preallocate(file, 2000));
    say("after preallocating more %lld", size_of(file));
    /* what preallocated bytes contain is not defined: not for comparison */
    FINE(MPI_File_set_size(file, 1000));
    FINE(MPI_File_seek(file, -10, MPI_SEEK_END));
    MPI_Offset position;
    FINE(MPI_File_get_position(file, &position));
    say("10 before the end is %lld", (long long)position);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
