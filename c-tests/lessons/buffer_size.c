/* MPI_File_get_info tells the size of the collective buffer that there is: it is made by the first collective access that needs
 * one, and another size that MPI_File_set_info or MPI_File_set_view asks for later is not in force. */
#include "lesson.h"

enum { LENGTH = 1 << 16, PIECE = 64 };

static int buffer_size(MPI_File file)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    FINE(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return found ? atoi(value) : -1;
}

static MPI_Info size_of(const char *word)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", word);
    return info;
}

int main(int count, char **words)
{
    static char data[LENGTH];
    begin(&count, &words);
    MPI_Info first = size_of("100000"), later = size_of("200000");
    MPI_Datatype pieces;
    MPI_Type_vector(LENGTH / PIECE, PIECE, size * PIECE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    MPI_File file = open_with("buffer_size", "romio_cb_write", "enable");
    FINE(MPI_File_set_info(file, later));
    TRUE(buffer_size(file) == 200000);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, pieces, "native", first));
    TRUE(buffer_size(file) == 100000);
    FINE(MPI_File_write_at_all(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    TRUE(buffer_size(file) == 100000);
    const int kept = size == 1 ? 200000 : 100000; /* a rank by itself needs no such buffer */
    FINE(MPI_File_set_info(file, later));
    TRUE(buffer_size(file) == kept);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, pieces, "native", later));
    TRUE(buffer_size(file) == kept);
    FINE(MPI_File_set_info(file, first));
    TRUE(buffer_size(file) == 100000);
    FINE(MPI_File_close(&file));
    MPI_Type_free(&pieces);
    MPI_Info_free(&first);
    MPI_Info_free(&later);
    return finish();
}
