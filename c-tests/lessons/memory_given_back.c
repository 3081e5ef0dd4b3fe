/* A file that is closed leaves no buffers behind: windows for its holes are kept from access to access, and freed at close. */
#include "lesson.h"
#include "../random/allocated.h"

enum { LENGTH = 4 << 20, PIECE = 512, WINDOW = 512 << 10 };

/* Writes and reads every other piece of a file, and tells how much memory closing it gives back. */
static long use_file(const char *data, char *back, MPI_Datatype pieces)
{
    MPI_File file = open_with("memory_given_back", "romio_ds_write", "enable");
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_at(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_write_at_all(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_read_at(file, 0, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(memcmp(data, back, LENGTH) == 0);
    const long before = (long)allocated();
    FINE(MPI_File_close(&file));
    return before - (long)allocated();
}

int main(int count, char **words)
{
    begin(&count, &words);
    char *data = calloc(1, LENGTH), *back = malloc(LENGTH);
    MPI_Datatype pieces;
    MPI_Type_vector(LENGTH / PIECE, PIECE, 2 * size * PIECE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    /* Some MPIs make room of their own now and then, also while a file is closed, so once has to do. */
    long most = 0;
    for (int time = 0; time < 3; time++) {
        const long given_back = use_file(data, back, pieces);
        if (given_back > most) most = given_back;
    }
    TRUE(most >= WINDOW || allocated() == 0); /* an old C library cannot tell */
    MPI_Type_free(&pieces);
    free(data);
    free(back);
    return finish();
}
