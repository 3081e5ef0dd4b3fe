/* Types made of types put every byte where their typemap says.
 *
 * ROMIO up to 4.0 flattens indexed types of subarrays wrongly (mpich#7169), decodes types made with MPI_Count wrongly
 * (mpich#6121) and moves types whose lower bound is not zero (mpich#5302, ompi#4507); OMPIO drops values of vectors of
 * contiguous types in read_at_all (ompi#10546). */
#include "lesson.h"

enum { MOST = 4096 };

static int places[MOST], used; /* of the bytes of the type under test, in the order of its typemap */

static void add(int displacement, int length)
{
    for (int i = 0; i < length; i++) places[used++] = displacement + i;
}

/* Writes through the view, and finds every byte at its place; reads back through the view and from memory of the type. */
static void check_type(const char *what, MPI_Datatype type, MPI_Offset displacement)
{
    char data[MOST], back[MOST], *all = calloc(3, MOST);
    MPI_File file;
    MPI_Status status;
    int different = 0, bytes = 0;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    TRUE(bytes == used);
    for (int i = 0; i < used; i++) data[i] = (char)(1 + i % 120);
    char *name = path("nested");
    sprintf(name + strlen(name), "%d", rank);
    FINE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    FINE(MPI_File_set_size(file, 0));
    FINE(MPI_File_set_view(file, displacement, MPI_BYTE, type, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_at_all(file, 0, data, used, MPI_BYTE, &status));
    TRUE(bytes_of(&status) == used);
    FINE(MPI_File_read_at_all(file, 0, back, used, MPI_BYTE, &status));
    TRUE(memcmp(back, data, (size_t)used) == 0);
    MPI_Offset last = -1;
    FINE(MPI_File_get_byte_offset(file, used - 1, &last));
    TRUE(last == displacement + places[used - 1]);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at(file, 0, all, 3 * MOST, MPI_BYTE, &status));
    for (int i = 0; i < used; i++) different += all[displacement + places[i]] != data[i];
    /* the same type in memory */
    FINE(MPI_File_write_at(file, 0, all + displacement, 1, type, &status));
    FINE(MPI_File_read_at(file, 0, back, used, MPI_BYTE, &status));
    different += memcmp(back, data, (size_t)used) != 0;
    if (different) printf("rank %d: %d bytes are wrong: %s\n", rank, different, what);
    wrong += different != 0;
    FINE(MPI_File_close(&file));
    MPI_Type_free(&type);
    free(all);
    free(name);
    used = 0;
}

/* Rows 1 and 2 of three, columns 2 to 4 of six, of ints. */
static MPI_Datatype part(void)
{
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (int[]){3, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type);
    return type;
}

static void add_part(int displacement)
{
    for (int row = 1; row < 3; row++) add(displacement + 4 * (6 * row + 2), 12);
}

static void subarrays(void)
{
    MPI_Datatype inner = part(), type;
    const int extent = 72, lengths[] = {1, 0, 2}, displacements[] = {1, 2, 4};
    const MPI_Aint bytes[] = {8, 90, 400};
    MPI_Type_indexed(3, lengths, displacements, inner, &type);
    add_part(extent), add_part(4 * extent), add_part(5 * extent);
    check_type("indexed of subarrays", type, 4);
    MPI_Type_create_hindexed(3, lengths, bytes, inner, &type);
    add_part(8), add_part(400), add_part(400 + extent);
    check_type("hindexed of subarrays", type, 0);
    MPI_Datatype members[] = {inner, MPI_DOUBLE, inner};
    MPI_Type_create_struct(3, (int[]){1, 1, 2}, bytes, members, &type);
    add_part(8), add(90, 8), add_part(400), add_part(400 + extent);
    check_type("struct of subarrays", type, 1);
    MPI_Type_free(&inner);
}

static void vectors(void)
{
    MPI_Datatype pair, vector, type;
    MPI_Type_contiguous(2, MPI_SHORT, &pair);
    MPI_Type_vector(3, 1, 2, pair, &vector); /* 4 bytes at 0, 8, 16; extent 20 */
    MPI_Type_create_hindexed(2, (int[]){2, 1}, (MPI_Aint[]){12, 100}, vector, &type);
    for (int i = 0; i < 3; i++) {
        int start = i < 2 ? 12 + 20 * i : 100;
        for (int j = 0; j < 3; j++) add(start + 8 * j, 4);
    }
    check_type("hindexed of vector of contiguous", type, 16);
    MPI_Type_free(&pair);
    MPI_Type_free(&vector);
}

static void bounds(void)
{
    MPI_Datatype later, type, lower;
    MPI_Type_create_hindexed(3, (int[]){0, 1, 0}, (MPI_Aint[]){0, 8, 500}, MPI_INT, &later); /* starts at 8 */
    MPI_Type_contiguous(3, later, &type);
    add(8, 4), add(12, 4), add(16, 4);
    check_type("a lower bound above zero", type, 0);
    MPI_Type_create_resized(later, -4, 24, &lower);
    MPI_Type_create_hindexed(2, (int[]){2, 1}, (MPI_Aint[]){4, 100}, lower, &type);
    add(12, 4), add(36, 4), add(108, 4);
    check_type("a lower bound below zero", type, 20);
    /* the pointer counts etypes, whatever the bounds of the filetype are */
    MPI_File file = open_new("bounds");
    MPI_Offset position = -1, offset = -1;
    int numbers[4] = {1, 2, 3, 4};
    MPI_Type_commit(&lower);
    FINE(MPI_File_set_view(file, 1000 * rank, MPI_INT, lower, "native", MPI_INFO_NULL));
    FINE(MPI_File_write(file, numbers, 4, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_get_position(file, &position));
    TRUE(position == 4);
    FINE(MPI_File_get_byte_offset(file, position, &offset));
    TRUE(offset == 1000 * rank + 8 + 4 * 24);
    FINE(MPI_File_seek(file, -1, MPI_SEEK_CUR));
    FINE(MPI_File_read(file, numbers, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(numbers[0] == 4);
    FINE(MPI_File_close(&file));
    MPI_Type_free(&later);
    MPI_Type_free(&lower);
}

/* MPI-4 only: the process has them or not, whatever mpi.h says. */
extern int vector_c(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype *) __asm__("MPI_Type_vector_c") __attribute__((weak));
extern int hindexed_c(MPI_Count, const MPI_Count *, const MPI_Count *, MPI_Datatype, MPI_Datatype *) __asm__("MPI_Type_create_hindexed_c") __attribute__((weak));
extern int subarray_c(int, const MPI_Count *, const MPI_Count *, const MPI_Count *, int, MPI_Datatype, MPI_Datatype *) __asm__("MPI_Type_create_subarray_c") __attribute__((weak));
extern int struct_c(MPI_Count, const MPI_Count *, const MPI_Count *, const MPI_Datatype *, MPI_Datatype *) __asm__("MPI_Type_create_struct_c") __attribute__((weak));
extern int resized_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Datatype *) __asm__("MPI_Type_create_resized_c") __attribute__((weak));

static void large_counts(void)
{
    MPI_Datatype type, inner, resized;
    if (!vector_c || !hindexed_c || !subarray_c || !struct_c || !resized_c) return;
    vector_c(3, 2, 5, MPI_INT, &type);
    add(0, 8), add(20, 8), add(40, 8);
    check_type("vector_c", type, 8);
    subarray_c(2, (MPI_Count[]){3, 6}, (MPI_Count[]){2, 3}, (MPI_Count[]){1, 2}, MPI_ORDER_C, MPI_INT, &inner);
    hindexed_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){8, 400}, inner, &type);
    add_part(8), add_part(400), add_part(472);
    check_type("hindexed_c of subarray_c", type, 0);
    resized_c(inner, 0, 80, &resized);
    struct_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){0, 100}, (MPI_Datatype[]){MPI_INT, resized}, &type);
    add(0, 4), add_part(100), add_part(180);
    check_type("struct_c of resized_c", type, 0);
    MPI_Type_free(&inner);
    MPI_Type_free(&resized);
}

/* Deeper than a stack: who decodes types by recursion crashes. */
static void many_levels(void)
{
    MPI_Datatype type, outer;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    if (strstr(version, "Intel")) return; /* its MPI_Type_commit copies each level for each one above: a minute */
    MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){4, 20}, MPI_INT, &type);
    for (int level = 0; level < 30000; level++) {
        switch (level % 4) {
        case 0: MPI_Type_contiguous(1, type, &outer); break;
        case 1: MPI_Type_dup(type, &outer); break;
        case 2: MPI_Type_vector(1, 1, 1, type, &outer); break;
        default: MPI_Type_create_resized(type, 0, 32 + level, &outer);
        }
        MPI_Type_free(&type);
        type = outer;
    }
    add(4, 4), add(20, 8);
    check_type("30,000 levels", type, 12);
}

int main(int count, char **words)
{
    begin(&count, &words);
    subarrays();
    vectors();
    bounds();
    large_counts();
    many_levels();
    return finish();
}
