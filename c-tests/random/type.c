/* Datatypes with their typemap kept beside the handle, flattened by the plainest loops there are. */
#include "random.h"

#include <stdlib.h>
#include <string.h>

static MPI_Datatype handles[MAX_TYPES]; /* derived ones, to be freed at the end of the program; the first stays empty */
static int handle_count = 1;

static const struct {
    const char *name;
    int count, extent;
    Element elements[2];
} kinds[KINDS] = {
    {"BYTE", 1, 1, {{0, 1, 1}}},        {"CHAR", 1, 1, {{0, 1, 1}}},
    {"SHORT", 1, 2, {{0, 2, 1}}},       {"INT", 1, 4, {{0, 4, 1}}},
    {"LONG_LONG", 1, 8, {{0, 8, 1}}},   {"FLOAT", 1, 4, {{0, 4, 1}}},
    {"DOUBLE", 1, 8, {{0, 8, 1}}},      {"INT16_T", 1, 2, {{0, 2, 1}}},
    {"UINT64_T", 1, 8, {{0, 8, 1}}},    {"UNSIGNED", 1, 4, {{0, 4, 1}}},
    {"SIGNED_CHAR", 1, 1, {{0, 1, 1}}}, {"C_DOUBLE_COMPLEX", 2, 16, {{0, 8, 1}, {8, 8, 0}}},
    /* from here on not for external32: their elements differ, or their external size is a matter of opinion */
    {"SHORT_INT", 2, 8, {{0, 2, 1}, {4, 4, 1}}}, {"DOUBLE_INT", 2, 16, {{0, 8, 1}, {8, 4, 1}}},
    {"2INT", 2, 8, {{0, 4, 1}, {4, 4, 1}}},      {"f90_integer(9)", 1, 4, {{0, 4, 1}}},
    {"f90_real(15, 100)", 1, 8, {{0, 8, 1}}},  {"f90_complex(6, 30)", 2, 8, {{0, 4, 1}, {4, 4, 0}}},
};

int draw_kind(Random *random)
{
    int kind = (int)below(random, KINDS);
    if (kind >= KINDS - 3 && !options.on[F90_TYPES]) kind -= 6;
    if (kind >= PLAIN_KINDS && kind < KINDS - 3 && !options.on[PAIRS]) kind -= 6;
    return kind;
}

static MPI_Datatype kind_handle(int kind)
{
    const MPI_Datatype plain[] = {MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG_LONG, MPI_FLOAT, MPI_DOUBLE,
                                  MPI_INT16_T, MPI_UINT64_T, MPI_UNSIGNED, MPI_SIGNED_CHAR, MPI_C_DOUBLE_COMPLEX,
                                  MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_2INT};
    if (kind < KINDS - 3) return plain[kind];
    MPI_Datatype handle;
    if (kind == KINDS - 3) must(MPI_Type_create_f90_integer(9, &handle));
    else if (kind == KINDS - 2) must(MPI_Type_create_f90_real(15, 100, &handle));
    else must(MPI_Type_create_f90_complex(6, 30, &handle));
    return handle;
}

Type *new_type(int64_t elements)
{
    Type *type = keep(sizeof *type);
    if (elements > 1 << 20) fail("a type of %lld elements was drawn", (long long)elements);
    type->elements = keep((size_t)(elements + 1) * sizeof(Element));
    return type;
}

void append_type(Type *type, const Type *of, int64_t displacement)
{
    type->kind = type->element_count == 0 || type->kind == of->kind ? of->kind : MIXED;
    for (int i = 0; i < of->element_count; i++) {
        Element element = of->elements[i];
        element.offset += displacement;
        type->elements[type->element_count++] = element;
    }
}

static void measure(Type *type)
{
    for (int i = 0; i < type->element_count; i++) {
        const Element *element = &type->elements[i];
        if (i == 0 || element->offset < type->true_lb) type->true_lb = element->offset;
        if (i == 0 || element->offset + element->size > type->true_ub) type->true_ub = element->offset + element->size;
        type->size += element->size;
    }
    type->bytes = keep((size_t)(type->size + 1) * sizeof(int64_t));
    type->reversed = keep((size_t)(type->size + 1) * sizeof(int64_t));
    int64_t position = 0;
    for (int i = 0; i < type->element_count; i++)
        for (int byte = 0; byte < type->elements[i].size; byte++, position++) {
            type->bytes[position] = type->elements[i].offset + byte;
            type->reversed[position] = type->elements[i].offset + type->elements[i].size - 1 - byte;
        }
}

/* Our typemap against MPI_Pack. A difference is a mistake of the MPI's datatype engine (Open MPI 4.1 packs
 * vector(3,1,-1) wrongly) or of this program, and no verdict about I/O: such types are not used. */
static bool differs_from_pack(const Type *type)
{
    if (type->size == 0) return false;
    /* the MPI's mistakes reach outside the type: all ranks must find the same there, and something else each time */
    int64_t around = 2 * (type->true_ub - type->true_lb) + GUARD, span = type->true_ub - type->true_lb + 2 * around;
    unsigned char *memory = malloc((size_t)span), *packed = malloc((size_t)type->size + 64), *origin = memory + around - type->true_lb;
    bool differs = false;
    for (uint64_t round = 1; round <= 4 && !differs; round++) {
        int position = 0;
        for (int64_t i = 0; i < span; i++) memory[i] = pattern(round << 32, i);
        must(MPI_Pack(origin, 1, type->handle, packed, (int)type->size + 64, &position, MPI_COMM_SELF));
        differs = position != type->size;
        for (int64_t i = 0; i < type->size && !differs; i++) differs = packed[i] != origin[type->bytes[i]];
    }
    free(memory);
    free(packed);
    if (differs) say("      MPI_Pack disagrees about %s", type->text);
    return differs;
}

int next_type_number(void)
{
    return handle_count;
}

/* The C call that makes the type: `routine(before, parts, after, &t[number])`. */
Type *finish_type(Type *type, Recipe recipe)
{
    const char *codes = "", *texts = "";
    MPI_Aint lb, extent;
    if (handle_count == MAX_TYPES) fail("too many datatypes");
    for (int i = 0; i < recipe.part_count; i++) {
        codes = text("%s%s%s", codes, i ? ", " : "", recipe.parts[i]->name);
        texts = text("%s%s%s", texts, i ? ", " : "", recipe.parts[i]->text);
    }
    type->number = handle_count;
    handles[handle_count++] = type->handle;
    type->recipe = recipe;
    type->name = text("t[%d]", type->number);
    type->code = text("%s(%s%s%s, &%s)", recipe.routine, recipe.before, codes, recipe.after, type->name);
    type->text = text("%s(%s%s%s)", recipe.routine + strlen("MPI_Type_"), recipe.before, texts, recipe.after);
    measure(type);
    must(MPI_Type_commit(&type->handle));
    /* lb and extent are the MPI's: padding for alignment and the force of markers differ from MPI to MPI */
    must(MPI_Type_get_extent(type->handle, &lb, &extent));
    type->lb = lb;
    type->extent = extent;
    type->doubtful = differs_from_pack(type);
    return type;
}

void free_types(void)
{
    while (handle_count > 1) must(MPI_Type_free(&handles[--handle_count]));
}

Type *named_type(int kind)
{
    Type *type = new_type(2);
    for (int i = 0; i < kinds[kind].count; i++) type->elements[type->element_count++] = kinds[kind].elements[i];
    type->handle = kind_handle(kind);
    type->kind = kind;
    type->extent = kinds[kind].extent;
    type->text = kinds[kind].name;
    type->name = kind < KINDS - 3 ? text("MPI_%s", kinds[kind].name) : kinds[kind].name;
    measure(type);
    return type;
}
