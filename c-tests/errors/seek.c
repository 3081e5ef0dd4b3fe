/* Seeks to before the start, with a whence that is none, shared seeks that disagree, and accesses that would take a pointer
 * beyond the largest offset: it stays where it is. */
#include "check.h"

#include <stdint.h>

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("seek");
    MPI_Offset position;
    FINE(MPI_File_set_size(file, 100));
    FINE(MPI_File_seek(file, 10, MPI_SEEK_SET));
    EXPECT(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    EXPECT(MPI_File_seek(file, -11, MPI_SEEK_CUR), MPI_ERR_ARG);
    EXPECT(MPI_File_seek(file, -101, MPI_SEEK_END), MPI_ERR_ARG);
    EXPECT(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
    FINE(MPI_File_get_position(file, &position));
    TRUE(position == 10);
    FINE(MPI_File_seek(file, -100, MPI_SEEK_END));
    FINE(MPI_File_get_position(file, &position));
    TRUE(position == 0);
    EXPECT(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    EXPECT(MPI_File_seek_shared(file, 0, 12345), MPI_ERR_ARG);
    EXPECT(MPI_File_seek_shared(file, -101, MPI_SEEK_END), MPI_ERR_ARG);
    if (size > 1) {
        EXPECT(MPI_File_seek_shared(file, rank == 0 ? 3 : 4, MPI_SEEK_SET), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
        EXPECT(MPI_File_seek_shared(file, 0, rank == 0 ? MPI_SEEK_SET : MPI_SEEK_END), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    }
    FINE(MPI_File_get_position_shared(file, &position));
    TRUE(position == 0);

    const MPI_Offset last = INT64_MAX - 5;
    char data[20] = "";
    FINE(MPI_File_seek(file, last, MPI_SEEK_SET));
    EXPECT(MPI_File_write(file, data, 20, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    FINE(MPI_File_get_position(file, &position));
    TRUE(position == last);
    FINE(MPI_File_seek_shared(file, last, MPI_SEEK_SET));
    EXPECT(MPI_File_write_shared(file, data, 20, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    EXPECT(MPI_File_read_ordered(file, data, 20, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_get_position_shared(file, &position));
    TRUE(position == last);
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_seek_shared(file, -last, MPI_SEEK_CUR));
    FINE(MPI_File_close(&file));
    return finish();
}
