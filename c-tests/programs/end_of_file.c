/* Counts of reads that reach across the end of the file. Both anchors report what was asked for in some of these
 * cases (collective reads, reads through a view with holes), hence an expected output. */
#include "say.h"

static void show(const char *what, MPI_Status *status)
{
    int low, high, bytes = count_of(status, MPI_BYTE);
    MPI_Reduce(&bytes, &low, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bytes, &high, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d bytes%s\n", what, low, low == high ? "" : " (not on every rank)");
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("end_of_file");
    MPI_Status status;
    MPI_Datatype holes;
    char memory[1000];
    int number;
    FINE(MPI_File_set_size(file, 100));
    FINE(MPI_File_read_at(file, 90, memory, 20, MPI_BYTE, &status));
    show("read_at", &status);
    FINE(MPI_File_read_at(file, 100, memory, 20, MPI_BYTE, &status));
    show("read_at the end", &status);
    FINE(MPI_File_read_at(file, 5000, memory, 20, MPI_BYTE, &status));
    show("read_at past the end", &status);
    FINE(MPI_File_read_at_all(file, 60, memory, 50, MPI_BYTE, &status));
    show("read_at_all", &status);
    FINE(MPI_File_seek(file, 95, MPI_SEEK_SET));
    FINE(MPI_File_read_all(file, memory, 50, MPI_BYTE, &status));
    show("read_all", &status);
    FINE(MPI_File_read_at(file, 98, &number, 1, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &number);
    if (rank == 0) printf("half an int counts as %s\n", number == MPI_UNDEFINED ? "MPI_UNDEFINED" : "something");
    /* 4 bytes, 4 bytes of hole: of 100 bytes 52 belong to the view */
    MPI_Type_create_resized(MPI_INT, 0, 8, &holes);
    MPI_Type_commit(&holes);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, holes, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at(file, 10, memory, 100, MPI_BYTE, &status));
    show("read_at through holes", &status);
    FINE(MPI_File_read_at_all(file, 50, memory, 100, MPI_BYTE, &status));
    show("read_at_all through holes", &status);
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    if (rank == 0) {
        FINE(MPI_File_read_shared(file, memory, 60, MPI_BYTE, &status));
        printf("read_shared: %d bytes\n", count_of(&status, MPI_BYTE));
    }
    FINE(MPI_File_close(&file));
    MPI_Type_free(&holes);
    MPI_Finalize();
    return 0;
}
