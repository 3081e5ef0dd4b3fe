/* A file that is closed leaves no buffers behind: what sieving, gathering and collective access have used is free again. */
#include "lesson.h"

#include <malloc.h>

enum { LENGTH = 4 << 20, PIECE = 512, LIMIT = 256 << 10 };

static size_t allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
#else
    return 0;
#endif
}

/* Writes and reads a file, with holes between its pieces or piece by piece. */
static void use_file(const char *sieving, const char *data, char *back, MPI_Datatype pieces)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_read", sieving);
    MPI_File file = open_with("memory_given_back", "romio_ds_write", sieving);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, pieces, "native", info));
    MPI_Info_free(&info);
    FINE(MPI_File_write_at(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_write_at_all(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_read_at(file, 0, back, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(memcmp(data, back, LENGTH) == 0);
    FINE(MPI_File_close(&file));
}

int main(int count, char **words)
{
    begin(&count, &words);
    char *data = calloc(1, LENGTH), *back = malloc(LENGTH);
    MPI_Datatype pieces;
    MPI_Type_vector(LENGTH / PIECE, PIECE, 2 * size * PIECE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    use_file("disable", data, back, pieces); /* the MPI makes what it needs */
    const size_t before = allocated();
    for (int time = 0; time < 3; time++) {
        use_file("enable", data, back, pieces);
        TRUE(allocated() <= before + LIMIT); /* a window is half a MiB */
    }
    MPI_Type_free(&pieces);
    free(data);
    free(back);
    return finish();
}
