/* What the chapter on I/O asks for and Open MPI found missing in its own list (ompi#13997): the representation
 * `internal` (ompi#14012), extents of types in the file (ompi#14014), a representation of the user's (not called at
 * all), counts of collective reads across the end (ompi#14015), an info that tells the hints in force (ompi#13367). */
#include "lesson.h"

static int in_file(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    int bytes;
    (void)state;
    MPI_Type_size(type, &bytes);
    *extent = 2 * bytes;
    return MPI_SUCCESS;
}

/* Every item takes twice its bytes in the file: the value, and the value again. Items here are ints. */
static int reads, writes;

static int from_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    (void)type, (void)state;
    reads++;
    for (int i = 0; i < count; i++) ((int *)user)[position + i] = ((int *)file)[2 * i];
    return MPI_SUCCESS;
}

static int to_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    (void)type, (void)state;
    writes++;
    for (int i = 0; i < count; i++) ((int *)file)[2 * i] = ((int *)file)[2 * i + 1] = ((int *)user)[position + i];
    return MPI_SUCCESS;
}

static MPI_Aint extent_of(MPI_File file, MPI_Datatype type)
{
    MPI_Aint extent = -1;
    FINE(MPI_File_get_type_extent(file, type, &extent));
    return extent;
}

static void internal(MPI_File file)
{
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    char name[MPI_MAX_DATAREP_STRING];
    int number = 1000 + rank, back = 0;
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
    FINE(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    TRUE(strcmp(name, "internal") == 0);
    FINE(MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_read_at_all(file, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(back == number);
    TRUE(extent_of(file, MPI_DOUBLE) == sizeof(double));
}

static void extents(MPI_File file)
{
    MPI_Datatype pair, apart;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_vector(2, 1, 2, MPI_LONG, &apart);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    TRUE(extent_of(file, MPI_LONG) == sizeof(long));
    TRUE(extent_of(file, pair) == 2 * sizeof(long));
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    TRUE(extent_of(file, MPI_LONG) == 4);
    TRUE(extent_of(file, MPI_LONG_DOUBLE) == 16);
    TRUE(extent_of(file, MPI_WCHAR) == 2);
    TRUE(extent_of(file, MPI_SHORT) == 2);
    TRUE(extent_of(file, pair) == 8);
    TRUE(extent_of(file, apart) == 12);
    FINE(MPI_Register_datarep("doubled", from_file, to_file, in_file, NULL));
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "doubled", MPI_INFO_NULL));
    TRUE(extent_of(file, MPI_INT) == 8);
    TRUE(extent_of(file, pair) == 32);
    MPI_Type_free(&pair);
    MPI_Type_free(&apart);
}

/* The view is still that of the user's representation. */
static void representation(MPI_File file)
{
    int numbers[8], back[8] = {0}, raw[2] = {0};
    for (int i = 0; i < 8; i++) numbers[i] = 100 * rank + i;
    FINE(MPI_File_write_at_all(file, 8 * rank, numbers, 8, MPI_INT, MPI_STATUS_IGNORE));
    synchronise(file);
    FINE(MPI_File_read_at_all(file, 8 * rank, back, 8, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(memcmp(numbers, back, sizeof back) == 0);
    TRUE(reads > 0 && writes > 0);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at(file, 8 * (8 * rank + 3), raw, 2, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(raw[0] == numbers[3] && raw[1] == numbers[3]);
}

static void counts(MPI_File file)
{
    char back[100];
    MPI_Status status = spoilt();
    FINE(MPI_File_set_size(file, 64));
    FINE(MPI_File_read_at_all(file, 40, back, 100, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == 24);
    status = spoilt();
    FINE(MPI_File_read_at_all(file, 64 + rank, back, 100, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == 0);
    status = spoilt();
    FINE(MPI_File_seek(file, 60, MPI_SEEK_SET));
    FINE(MPI_File_read_all(file, back, 100, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == 4);
    status = spoilt();
    FINE(MPI_File_write_at(file, 0, back, 0, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == 0);
}

/* HDF5 looks for one key, and compares the number of keys of a copy (hdf5#4925). */
static void info(MPI_File file)
{
    MPI_Info told, copy;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int keys = 0, copied = 0, found = 0;
    FINE(MPI_File_get_info(file, &told));
    MPI_Info_get_nkeys(told, &keys);
    TRUE(keys > 5);
    MPI_Info_dup(told, &copy);
    MPI_Info_get_nkeys(copy, &copied);
    TRUE(keys == copied);
    MPI_Info_get(told, "romio_visibility_immediate", MPI_MAX_INFO_VAL, value, &found);
    TRUE(found && strcmp(value, "true") == 0);
    FINE(MPI_File_set_info(file, copy)); /* what was told is accepted */
    MPI_Info_free(&told);
    MPI_Info_free(&copy);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("chapter_14");
    internal(file);
    extents(file);
    representation(file);
    counts(file);
    info(file);
    FINE(MPI_File_close(&file));
    return finish();
}
