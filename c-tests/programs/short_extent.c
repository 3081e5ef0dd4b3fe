/* A filetype whose extent is less than its data spans, as HDF5 makes them for chunks: one repetition of it is a view
 * like any other. HDF5 gives them a lower bound as well, which moves the data in MPICH 4.0 and nowhere else. */
#include "say.h"

int main(int count, char **words)
{
    begin(&count, &words);
    char data[24], back[24];
    MPI_Status status;
    MPI_Datatype blocks, filetype;
    MPI_File file = open_new("short_extent");
    FINE(MPI_File_set_size(file, 4096)); /* MPICH 4.0 leaves what it finds in memory in holes behind the end */
    int lengths[] = {8, 8, 8};
    MPI_Aint places[] = {0, 1008, 2208};
    MPI_Type_create_hindexed(3, lengths, places, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, 1232, &filetype);
    MPI_Type_commit(&filetype);
    FINE(MPI_File_set_view(file, 8 * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    for (int i = 0; i < 24; i++) data[i] = (char)('a' + rank + i % 3);
    FINE(MPI_File_write_at_all(file, 0, data, 24, MPI_BYTE, &status));
    say("write_at_all wrote %d", count_of(&status, MPI_BYTE));
    FINE(MPI_File_sync(file));
    FINE(MPI_File_read_at_all(file, 4, back, 16, MPI_BYTE, &status));
    say("read_at_all read %d: %.16s", count_of(&status, MPI_BYTE), back);
    FINE(MPI_File_close(&file));
    MPI_Type_free(&blocks);
    MPI_Type_free(&filetype);
    MPI_Finalize();
    return 0;
}
