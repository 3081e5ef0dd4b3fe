/* A data representation of the user's own: numbers are stored inverted. Neither anchor calls the functions, hence an
 * expected output. */
#include "say.h"

static int extent(MPI_Datatype type, MPI_Aint *result, void *state)
{
    MPI_Aint lb;
    (void)state;
    return MPI_Type_get_extent(type, &lb, result);
}

static int convert(const unsigned char *from, unsigned char *into, int numbers)
{
    for (int i = 0; i < 4 * numbers; i++) into[i] = (unsigned char)~from[i];
    return MPI_SUCCESS;
}

/* the file buffer is contiguous, the user buffer is described by the type; here it is contiguous as well */
static int read_numbers(void *user, MPI_Datatype type, int numbers, void *file, MPI_Offset position, void *state)
{
    (void)type, (void)state;
    return convert(file, (unsigned char *)user + 4 * position, numbers);
}

static int write_numbers(void *user, MPI_Datatype type, int numbers, void *file, MPI_Offset position, void *state)
{
    (void)type, (void)state;
    return convert((unsigned char *)user + 4 * position, file, numbers);
}

int main(int count, char **words)
{
    begin(&count, &words);
    int data[50], back[50], raw[50], good, all_good;
    MPI_Status status;
    FINE(MPI_Register_datarep("inverted", read_numbers, write_numbers, extent, NULL));
    MPI_File file = open_new("own_datarep");
    for (int i = 0; i < 50; i++) data[i] = 50 * rank + i;
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "inverted", MPI_INFO_NULL));
    FINE(MPI_File_write_at_all(file, 50 * rank, data, 50, MPI_INT, &status));
    FINE(MPI_File_read_at_all(file, 50 * rank, back, 50, MPI_INT, &status));
    good = memcmp(data, back, sizeof data) == 0;
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at_all(file, 50 * rank, raw, 50, MPI_INT, &status));
    for (int i = 0; i < 50; i++) good = good && raw[i] == ~data[i];
    MPI_Reduce(&good, &all_good, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("inverted in the file, upright in memory: %s\n", all_good ? "yes" : "no");
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
