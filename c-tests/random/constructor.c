/* One function for each way to make a datatype: the MPI call, by its large-count form now and then, and the typemap. */
#include "random.h"

/* The forms with MPI_Count arguments are declared under names of our own, weakly: the process may not have them. */
#define LARGE(name, ...) extern int large_##name(__VA_ARGS__) __asm__("MPI_Type_" #name "_c") __attribute__((weak));
typedef MPI_Datatype Of;
typedef MPI_Datatype *To;
typedef const MPI_Count *Counts;
LARGE(contiguous, MPI_Count, Of, To)
LARGE(vector, MPI_Count, MPI_Count, MPI_Count, Of, To)
LARGE(create_hvector, MPI_Count, MPI_Count, MPI_Count, Of, To)
LARGE(indexed, MPI_Count, Counts, Counts, Of, To)
LARGE(create_hindexed, MPI_Count, Counts, Counts, Of, To)
LARGE(create_indexed_block, MPI_Count, MPI_Count, Counts, Of, To)
LARGE(create_hindexed_block, MPI_Count, MPI_Count, Counts, Of, To)
LARGE(create_struct, MPI_Count, Counts, Counts, const MPI_Datatype *, To)
LARGE(create_subarray, int, Counts, Counts, Counts, int, Of, To)
LARGE(create_darray, int, int, int, Counts, const int *, const int *, const int *, int, Of, To)
LARGE(create_resized, Of, MPI_Count, MPI_Count, To)

/* One type in four is made with MPI_Count arguments. MPI_Type_dup has none. */
#define IS_LARGE(name) (large_##name && options.on[LARGE_COUNT] && next_type_number() % 4 == 3)
#define ROUTINE(name, large) ((large) ? "MPI_Type_" #name "_c" : "MPI_Type_" #name)

static MPI_Count *counts(const int *values, int count)
{
    MPI_Count *result = keep((size_t)(count + 1) * sizeof *result);
    for (int i = 0; i < count; i++) result[i] = values[i];
    return result;
}

static MPI_Aint *addresses(const int *values, int count)
{
    MPI_Aint *result = keep((size_t)(count + 1) * sizeof *result);
    for (int i = 0; i < count; i++) result[i] = values[i];
    return result;
}

/* The array as C source, in the type that the routine takes. */
static char *as_list(const int *values, int count, const char *plain, bool large)
{
    return list(large ? "MPI_Count" : plain, values, count);
}

static Type *finish_one(Type *type, const Type *of, const char *routine, const char *before, const char *after)
{
    const Type **parts = keep(sizeof *parts);
    *parts = of;
    return finish_type(type, (Recipe){routine, before, after, parts, 1});
}

Type *dup_type(const Type *of)
{
    Type *type = new_type(of->element_count);
    append_type(type, of, 0);
    must(MPI_Type_dup(of->handle, &type->handle));
    return finish_one(type, of, "MPI_Type_dup", "", "");
}

Type *contiguous_type(const Type *of, int count)
{
    bool large = IS_LARGE(contiguous);
    Type *type = new_type((int64_t)of->element_count * count);
    for (int i = 0; i < count; i++) append_type(type, of, i * of->extent);
    if (large) must(large_contiguous(count, of->handle, &type->handle));
    else must(MPI_Type_contiguous(count, of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(contiguous, large), text("%d, ", count), "");
}

Type *vector_type(const Type *of, int count, int length, int stride)
{
    bool large = IS_LARGE(vector);
    Type *type = new_type((int64_t)of->element_count * count * length);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < length; j++) append_type(type, of, ((int64_t)i * stride + j) * of->extent);
    if (large) must(large_vector(count, length, stride, of->handle, &type->handle));
    else must(MPI_Type_vector(count, length, stride, of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(vector, large), text("%d, %d, %d, ", count, length, stride), "");
}

Type *hvector_type(const Type *of, int count, int length, int stride)
{
    bool large = IS_LARGE(create_hvector);
    Type *type = new_type((int64_t)of->element_count * count * length);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < length; j++) append_type(type, of, (int64_t)i * stride + j * of->extent);
    if (large) must(large_create_hvector(count, length, stride, of->handle, &type->handle));
    else must(MPI_Type_create_hvector(count, length, stride, of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(create_hvector, large), text("%d, %d, %d, ", count, length, stride), "");
}

/* Blocks of lengths[i], or all of `length`, at displacements in steps of `unit` bytes. */
static Type *blocks(const Type *of, int count, const int *lengths, int length, const int *displacements, int64_t unit)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++) total += lengths ? lengths[i] : length;
    Type *type = new_type(total * of->element_count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < (lengths ? lengths[i] : length); j++) append_type(type, of, displacements[i] * unit + j * of->extent);
    return type;
}

Type *indexed_type(const Type *of, int count, const int *lengths, const int *displacements)
{
    bool large = IS_LARGE(indexed);
    Type *type = blocks(of, count, lengths, 0, displacements, of->extent);
    if (large) must(large_indexed(count, counts(lengths, count), counts(displacements, count), of->handle, &type->handle));
    else must(MPI_Type_indexed(count, lengths, displacements, of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(indexed, large),
                      text("%d, %s, %s, ", count, as_list(lengths, count, "int", large), as_list(displacements, count, "int", large)), "");
}

Type *hindexed_type(const Type *of, int count, const int *lengths, const int *displacements)
{
    bool large = IS_LARGE(create_hindexed);
    Type *type = blocks(of, count, lengths, 0, displacements, 1);
    if (large) must(large_create_hindexed(count, counts(lengths, count), counts(displacements, count), of->handle, &type->handle));
    else must(MPI_Type_create_hindexed(count, lengths, addresses(displacements, count), of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(create_hindexed, large),
                      text("%d, %s, %s, ", count, as_list(lengths, count, "int", large),
                           as_list(displacements, count, "MPI_Aint", large)), "");
}

Type *indexed_block_type(const Type *of, int count, int length, const int *displacements)
{
    bool large = IS_LARGE(create_indexed_block);
    Type *type = blocks(of, count, NULL, length, displacements, of->extent);
    if (large) must(large_create_indexed_block(count, length, counts(displacements, count), of->handle, &type->handle));
    else must(MPI_Type_create_indexed_block(count, length, displacements, of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(create_indexed_block, large),
                      text("%d, %d, %s, ", count, length, as_list(displacements, count, "int", large)), "");
}

Type *hindexed_block_type(const Type *of, int count, int length, const int *displacements)
{
    bool large = IS_LARGE(create_hindexed_block);
    Type *type = blocks(of, count, NULL, length, displacements, 1);
    if (large) must(large_create_hindexed_block(count, length, counts(displacements, count), of->handle, &type->handle));
    else must(MPI_Type_create_hindexed_block(count, length, addresses(displacements, count), of->handle, &type->handle));
    return finish_one(type, of, ROUTINE(create_hindexed_block, large),
                      text("%d, %d, %s, ", count, length, as_list(displacements, count, "MPI_Aint", large)), "");
}

Type *struct_type(int count, const int *lengths, const int *displacements, const Type *const *members)
{
    bool large = IS_LARGE(create_struct);
    int64_t total = 0;
    MPI_Datatype *handles = keep((size_t)(count + 1) * sizeof *handles);
    const Type **parts = keep((size_t)count * sizeof *parts);
    for (int i = 0; i < count; i++) {
        total += (int64_t)lengths[i] * members[i]->element_count;
        handles[i] = members[i]->handle;
        parts[i] = members[i];
    }
    Type *type = new_type(total);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < lengths[i]; j++) append_type(type, members[i], displacements[i] + j * members[i]->extent);
    if (large) must(large_create_struct(count, counts(lengths, count), counts(displacements, count), handles, &type->handle));
    else must(MPI_Type_create_struct(count, lengths, addresses(displacements, count), handles, &type->handle));
    const char *before = text("%d, %s, %s, (MPI_Datatype[]){", count, as_list(lengths, count, "int", large),
                              as_list(displacements, count, "MPI_Aint", large));
    return finish_type(type, (Recipe){ROUTINE(create_struct, large), before, "}", parts, count});
}

/* The elements of an array whose indices in each dimension are listed, in storage order. */
static void append_array(Type *type, const Type *of, int dimensions, const int *sizes, int *const *indices,
                         const int *counts, int order)
{
    int at[8] = {0};
    for (int i = 0; i < dimensions; i++)
        if (counts[i] == 0) return;
    for (;;) {
        int64_t linear = 0;
        for (int i = 0; i < dimensions; i++) {
            int dimension = order == MPI_ORDER_C ? i : dimensions - 1 - i;
            linear = linear * sizes[dimension] + indices[dimension][at[dimension]];
        }
        append_type(type, of, linear * of->extent);
        int i = dimensions - 1;
        for (; i >= 0; i--) {
            int dimension = order == MPI_ORDER_C ? i : dimensions - 1 - i;
            if (++at[dimension] < counts[dimension]) break;
            at[dimension] = 0;
        }
        if (i < 0) return;
    }
}

static const char *order_name(int order)
{
    return order == MPI_ORDER_C ? "MPI_ORDER_C" : "MPI_ORDER_FORTRAN";
}

static int64_t product(const int *values, int count)
{
    int64_t result = 1;
    for (int i = 0; i < count; i++) result *= values[i];
    return result;
}

Type *subarray_type(const Type *of, int dimensions, const int *sizes, const int *subsizes, const int *starts, int order)
{
    bool large = IS_LARGE(create_subarray);
    int *indices[8] = {NULL};
    for (int i = 0; i < dimensions; i++) {
        indices[i] = keep((size_t)(subsizes[i] + 1) * sizeof(int));
        for (int j = 0; j < subsizes[i]; j++) indices[i][j] = starts[i] + j;
    }
    Type *type = new_type(product(subsizes, dimensions) * of->element_count);
    append_array(type, of, dimensions, sizes, indices, subsizes, order);
    if (large)
        must(large_create_subarray(dimensions, counts(sizes, dimensions), counts(subsizes, dimensions), counts(starts, dimensions),
                                   order, of->handle, &type->handle));
    else must(MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, order, of->handle, &type->handle));
    const char *before = text("%d, %s, %s, %s, %s, ", dimensions, as_list(sizes, dimensions, "int", large),
                              as_list(subsizes, dimensions, "int", large), as_list(starts, dimensions, "int", large), order_name(order));
    return finish_one(type, of, ROUTINE(create_subarray, large), before, "");
}

static int *owned_indices(int size, int distribution, int argument, int grid, int coordinate, int *count)
{
    int *indices = keep((size_t)(size + 1) * sizeof *indices);
    *count = 0;
    if (distribution == MPI_DISTRIBUTE_NONE) argument = size, grid = 1, coordinate = 0;
    else if (argument == MPI_DISTRIBUTE_DFLT_DARG) argument = distribution == MPI_DISTRIBUTE_BLOCK ? (size + grid - 1) / grid : 1;
    for (int start = coordinate * argument; start < size; start += grid * argument)
        for (int i = start; i < start + argument && i < size; i++) indices[(*count)++] = i;
    return indices;
}

static const char *distribution_list(const int *values, int count)
{
    const char *result = "(int[]){";
    for (int i = 0; i < count; i++)
        result = text("%s%sMPI_DISTRIBUTE_%s", result, i ? ", " : "",
                      values[i] == MPI_DISTRIBUTE_NONE ? "NONE" : values[i] == MPI_DISTRIBUTE_BLOCK ? "BLOCK" : "CYCLIC");
    return text("%s}", result);
}

static const char *argument_list(const int *values, int count)
{
    const char *result = "(int[]){";
    for (int i = 0; i < count; i++)
        result = text("%s%s%s", result, i ? ", " : "",
                      values[i] == MPI_DISTRIBUTE_DFLT_DARG ? "MPI_DISTRIBUTE_DFLT_DARG" : text("%d", values[i]));
    return text("%s}", result);
}

Type *darray_type(const Type *of, int size, int rank, int dimensions, const int *sizes, const int *distributions,
                  const int *arguments, const int *grid, int order)
{
    bool large = IS_LARGE(create_darray);
    int *indices[8] = {NULL}, owned[8] = {0}, coordinates[8], rest = rank;
    for (int i = dimensions - 1; i >= 0; i--) { /* the process grid is row-major in either order */
        coordinates[i] = rest % grid[i];
        rest /= grid[i];
    }
    for (int i = 0; i < dimensions; i++)
        indices[i] = owned_indices(sizes[i], distributions[i], arguments[i], grid[i], coordinates[i], &owned[i]);
    Type *type = new_type(product(owned, dimensions) * of->element_count);
    append_array(type, of, dimensions, sizes, indices, owned, order);
    if (large)
        must(large_create_darray(size, rank, dimensions, counts(sizes, dimensions), distributions, arguments, grid, order,
                                 of->handle, &type->handle));
    else
        must(MPI_Type_create_darray(size, rank, dimensions, sizes, distributions, arguments, grid, order, of->handle, &type->handle));
    const char *before = text("%d, %d, %d, %s, %s, %s, %s, %s, ", size, rank, dimensions, as_list(sizes, dimensions, "int", large),
                              distribution_list(distributions, dimensions), argument_list(arguments, dimensions),
                              list("int", grid, dimensions), order_name(order));
    return finish_one(type, of, ROUTINE(create_darray, large), before, "");
}

Type *resized_type(const Type *of, int64_t lb, int64_t extent)
{
    bool large = IS_LARGE(create_resized);
    Type *type = new_type(of->element_count);
    append_type(type, of, 0);
    if (large) must(large_create_resized(of->handle, lb, extent, &type->handle));
    else must(MPI_Type_create_resized(of->handle, lb, extent, &type->handle));
    return finish_one(type, of, ROUTINE(create_resized, large), "", text(", %lld, %lld", (long long)lb, (long long)extent));
}
