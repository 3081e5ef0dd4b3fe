/* Counts, offsets and datatypes that no data access may accept. The calls are independent or made alike by all. */
#include "check.h"

static char memory[64];

static void independent(MPI_File file)
{
    MPI_Status status;
    MPI_Request request;
    EXPECT(MPI_File_write_at(file, 0, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_read_at(file, 0, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_write(file, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_read(file, memory, -5, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_write_shared(file, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_read_shared(file, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_write_at(file, -1, memory, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    EXPECT(MPI_File_read_at(file, -1, memory, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    EXPECT(MPI_File_write_at(file, 0, memory, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    EXPECT(MPI_File_read_at(file, 0, memory, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    EXPECT(MPI_File_write_at(file, 0, MPI_IN_PLACE, 1, MPI_BYTE, &status), MPI_ERR_BUFFER);
    FINE(MPI_File_read_at(file, 0, MPI_IN_PLACE, 0, MPI_BYTE, &status));
    EXPECT(MPI_File_iwrite_at(file, 0, memory, -1, MPI_BYTE, &request), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_iread_at(file, -1, memory, 1, MPI_BYTE, &request), MPI_ERR_ARG);
    EXPECT(MPI_File_iwrite(file, memory, 1, MPI_DATATYPE_NULL, &request), MPI_ERR_TYPE);
    EXPECT(MPI_File_iread_shared(file, memory, -1, MPI_BYTE, &request), MPI_ERR_COUNT, MPI_ERR_ARG);
}

static void collective(MPI_File file)
{
    MPI_Status status;
    MPI_Request request;
    EXPECT(MPI_File_write_at_all(file, 0, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_read_at_all(file, -1, memory, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    EXPECT(MPI_File_write_all(file, memory, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    EXPECT(MPI_File_read_all(file, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_write_ordered(file, memory, -1, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_read_ordered(file, memory, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    EXPECT(MPI_File_write_at_all(file, 0, MPI_IN_PLACE, 64, MPI_BYTE, &status), MPI_ERR_BUFFER);
    EXPECT(MPI_File_iwrite_at_all(file, -1, memory, 1, MPI_BYTE, &request), MPI_ERR_ARG);
    EXPECT(MPI_File_iread_all(file, memory, -1, MPI_BYTE, &request), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_write_all_begin(file, memory, -1, MPI_BYTE), MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT(MPI_File_read_at_all_begin(file, -1, memory, 1, MPI_BYTE), MPI_ERR_ARG);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("arguments");
    MPI_Offset position = -1, file_size = -1;
    independent(file);
    MPI_Barrier(MPI_COMM_WORLD);
    collective(file);
    /* nothing of it moved a pointer or wrote a byte, and no split collective is left open */
    FINE(MPI_File_get_position(file, &position));
    TRUE(position == 0);
    FINE(MPI_File_get_position_shared(file, &position));
    TRUE(position == 0);
    FINE(MPI_File_get_size(file, &file_size));
    TRUE(file_size == 0);
    MPI_Barrier(MPI_COMM_WORLD); /* every rank has looked at the size */
    FINE(MPI_File_write_all_begin(file, memory, 1, MPI_BYTE));
    FINE(MPI_File_write_all_end(file, memory, MPI_STATUS_IGNORE));
    EXPECT(MPI_File_get_byte_offset(file, -1, &position), MPI_ERR_ARG);
    FINE(MPI_File_close(&file));
    return finish();
}
