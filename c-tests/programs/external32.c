/* external32: big-endian in the file whatever the machine. */
#include "say.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("external32");
    MPI_Status status;
    MPI_Aint extent;
    int number = 0x01020304 + rank, back = 0;
    double real = 1.5, real_back = 0;
    unsigned char bytes[4] = {0}, eight[8] = {0};
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    FINE(MPI_File_get_type_extent(file, MPI_LONG_DOUBLE, &extent));
    if (rank == 0) printf("a long double takes %ld bytes\n", (long)extent);
    FINE(MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, &status));
    FINE(MPI_File_read_at_all(file, rank, &back, 1, MPI_INT, &status));
    int good = back == number, all_good;
    FINE(MPI_File_set_view(file, 1000, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL));
    FINE(MPI_File_write_at_all(file, rank, &real, 1, MPI_DOUBLE, &status));
    FINE(MPI_File_read_at_all(file, rank, &real_back, 1, MPI_DOUBLE, &status));
    good = good && real_back == real && count_of(&status, MPI_DOUBLE) == 1;
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at_all(file, 0, bytes, 4, MPI_BYTE, &status));
    FINE(MPI_File_read_at_all(file, 1000, eight, 8, MPI_BYTE, &status));
    if (rank == 0) printf("the file starts %02x %02x %02x %02x, the double %02x %02x %02x\n", bytes[0], bytes[1], bytes[2], bytes[3], eight[0], eight[1], eight[7]);
    MPI_Reduce(&good, &all_good, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("read back: %s\n", all_good ? "the same" : "different");
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
