/* Independent accesses only, of different number on each rank, with types that were freed long before. */
#include "say.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_Datatype blocks, holes, memory;
    MPI_File file = open_new("closing_late");
    MPI_Type_vector(2, 3, 3 * size, MPI_SHORT, &blocks);
    MPI_Type_create_resized(blocks, 0, 12 * size, &holes);
    MPI_Type_free(&blocks);
    MPI_Type_commit(&holes);
    FINE(MPI_File_set_view(file, 6 * rank, MPI_SHORT, holes, "native", MPI_INFO_NULL));
    MPI_Type_free(&holes);
    short data[12];
    for (int i = 0; i < 12; i++) data[i] = (short)(rank * 100 + i);
    for (int i = 0; i < rank + 2; i++) {
        MPI_Type_vector(3, 1, 4, MPI_SHORT, &memory);
        MPI_Type_commit(&memory);
        FINE(MPI_File_write(file, data, 1, memory, MPI_STATUS_IGNORE));
        MPI_Type_free(&memory);
    }
    MPI_Offset position;
    FINE(MPI_File_get_position(file, &position));
    say("pointer %lld", (long long)position);
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
