/* Random nested datatypes. Parameters are drawn so that most results are legal; what is not is drawn again. */
#include "random.h"

#include <string.h>

enum { MAX_ELEMENTS = 1500, MAX_SPAN = 6000, MAX_BLOCKS = 6 };

/* What a constructor may do: types for files keep their displacements ascending and multiples of the unit. */
typedef struct {
    Random *random;
    bool file;
    bool may_overlap;
    int64_t unit;
} Rules;

/* Displacements of blocks that do not overlap, in steps of `unit`: ascending for files, shuffled and shifted for
 * memory. A block of length zero may lie anywhere: it is not part of the typemap. */
static int draw_blocks(const Rules *rules, int same_length, int64_t extent, int64_t unit, int *lengths, int64_t *displacements)
{
    Random *random = rules->random;
    int count = (int)between(random, 1, MAX_BLOCKS);
    int64_t cursor = rules->file || !options.on[LOWER_BOUNDS] ? 0 : unit * between(random, -3, 3);
    for (int i = 0; i < count; i++) {
        lengths[i] = same_length >= 0 ? same_length : (int)between(random, options.on[ZERO_BLOCKS] ? 0 : 1, 3);
        if (chance(random, 60)) cursor += unit * below(random, 4);
        displacements[i] = cursor;
        if (!rules->file && rules->may_overlap && chance(random, 20)) displacements[i] = unit * below(random, 8);
        if (lengths[i] == 0) displacements[i] = unit * below(random, 20);
        else cursor += (extent * lengths[i] + unit - 1) / unit * unit;
    }
    if (!rules->file && options.on[UNORDERED] && chance(random, 40))
        for (int i = count - 1; i > 0; i--) {
            int other = (int)below(random, i + 1), length = lengths[i];
            int64_t displacement = displacements[i];
            lengths[i] = lengths[other], displacements[i] = displacements[other];
            lengths[other] = length, displacements[other] = displacement;
        }
    return count;
}

static Type *draw_indexed(const Rules *rules, const Type *of, int which)
{
    int lengths[MAX_BLOCKS], places[MAX_BLOCKS];
    int64_t displacements[MAX_BLOCKS];
    bool bytes = which == 1 || which == 3;
    int same = which >= 2 ? (int)between(rules->random, options.on[ZERO_BLOCKS] ? 0 : 1, 3) : -1;
    /* where displacements count bytes, the unit of the file's etype binds files; memory is free */
    int64_t unit = !bytes ? of->extent : rules->file ? rules->unit : between(rules->random, 1, 8);
    if (unit <= 0) return NULL;
    int count = draw_blocks(rules, same, of->extent, unit, lengths, displacements);
    for (int i = 0; i < count; i++) places[i] = (int)(bytes ? displacements[i] : displacements[i] / unit);
    switch (which) {
    case 0: return indexed_type(of, count, lengths, places);
    case 1: return hindexed_type(of, count, lengths, places);
    case 2: return indexed_block_type(of, count, same, places);
    default: return hindexed_block_type(of, count, same, places);
    }
}

static Type *draw_struct(const Rules *rules, const Type *of, const Type *leaf)
{
    Random *random = rules->random;
    const Type *members[MAX_BLOCKS];
    int lengths[MAX_BLOCKS], displacements[MAX_BLOCKS], count = (int)between(random, 1, 4);
    int64_t unit = rules->file ? rules->unit : between(random, 1, 8), cursor = rules->file ? 0 : unit * between(random, -4, 4);
    if (!options.on[LOWER_BOUNDS]) cursor = 0;
    for (int i = 0; i < count; i++) {
        members[i] = chance(random, 50) ? of : leaf ? leaf : named_type(draw_kind(random));
        lengths[i] = (int)between(random, options.on[ZERO_BLOCKS] ? 0 : 1, 2);
        if (chance(random, 50)) cursor += unit * below(random, 4);
        int64_t start = cursor - members[i]->true_lb; /* so that the data, not the lower bound, lies at the cursor */
        displacements[i] = (int)((start + (start > 0 ? unit - 1 : 0)) / unit * unit);
        if (lengths[i] > 0)
            cursor = displacements[i] + members[i]->true_ub + (lengths[i] - 1) * members[i]->extent;
        cursor = (cursor + (cursor > 0 ? unit - 1 : 0)) / unit * unit;
    }
    return struct_type(count, lengths, displacements, members);
}

static Type *draw_subarray(const Rules *rules, const Type *of)
{
    int sizes[3], subsizes[3], starts[3], dimensions = (int)between(rules->random, 1, 3);
    for (int i = 0; i < dimensions; i++) {
        sizes[i] = (int)between(rules->random, 1, 6);
        subsizes[i] = (int)between(rules->random, 1, sizes[i]);
        starts[i] = (int)below(rules->random, sizes[i] - subsizes[i] + 1);
    }
    return subarray_type(of, dimensions, sizes, subsizes, starts, chance(rules->random, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN);
}

static Type *draw_darray(const Rules *rules, const Type *of)
{
    Random *random = rules->random;
    int sizes[3], distributions[3], arguments[3], grid[3], dimensions = (int)between(random, 1, 3), processes = 1;
    for (int i = 0; i < dimensions; i++) {
        sizes[i] = (int)between(random, 1, 7);
        grid[i] = (int)between(random, 1, 3);
        distributions[i] = chance(random, 50) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        if (chance(random, 25)) distributions[i] = MPI_DISTRIBUTE_NONE, grid[i] = 1;
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (distributions[i] == MPI_DISTRIBUTE_CYCLIC && chance(random, 60)) arguments[i] = (int)between(random, 1, 3);
        processes *= grid[i];
    }
    return darray_type(of, processes, (int)below(random, processes), dimensions, sizes, distributions, arguments, grid,
                       chance(random, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN);
}

static Type *draw_resized(const Rules *rules, const Type *of)
{
    Random *random = rules->random;
    int64_t span = of->true_ub - of->true_lb;
    int64_t unit = rules->file ? rules->unit : 1;
    int64_t extent = (span + unit - 1) / unit * unit + unit * below(random, 4);
    if (rules->may_overlap && chance(random, 20)) extent = below(random, span + 1);
    int64_t lb = of->element_count ? of->true_lb / unit * unit : 0;
    if (options.on[LOWER_BOUNDS] && chance(random, 50)) lb += unit * between(random, -2, 2);
    return resized_type(of, lb, extent > 0 ? extent : unit);
}

static Type *construct(const Rules *rules, const Type *of, const Type *leaf)
{
    Random *random = rules->random;
    int count = (int)between(random, 1, 4), length = (int)between(random, 1, 3), gap = (int)below(random, 4);
    int sign = !rules->file && options.on[LOWER_BOUNDS] && chance(random, 15) ? -1 : 1;
    int64_t unit = rules->file ? rules->unit : 1;
    switch (below(random, options.on[DARRAY] ? 12 : 11)) {
    case 0: return dup_type(of);
    case 1: return contiguous_type(of, count);
    case 2: return vector_type(of, count, length, sign * (length + gap));
    case 3: return hvector_type(of, count, length, (int)(sign * (length * of->extent + gap * unit)));
    case 4: case 5: case 6: case 7: return draw_indexed(rules, of, (int)below(random, 4));
    case 8: return draw_struct(rules, of, leaf);
    case 9: return draw_subarray(rules, of);
    case 10: return draw_resized(rules, of);
    default: return draw_darray(rules, of);
    }
}

static bool overlaps_itself(const Type *type)
{
    static unsigned char seen[1 << 16];
    int64_t span = type->true_ub - type->true_lb;
    if (span > (int64_t)sizeof seen) return true;
    memset(seen, 0, (size_t)span);
    for (int64_t i = 0; i < type->size; i++)
        if (seen[type->bytes[i] - type->true_lb]++) return true;
    return false;
}

/* Ascending, at or after zero, and tiles that follow each other without mixing. */
bool is_legal_filetype(const Type *type)
{
    for (int i = 0; i < type->element_count; i++) {
        int64_t least = i ? type->elements[i - 1].offset + type->elements[i - 1].size : 0;
        if (type->elements[i].offset < least) return false;
    }
    return !type->doubtful && type->extent > 0 && type->extent >= type->true_ub - type->true_lb;
}

static bool acceptable(const Rules *rules, const Type *type)
{
    if (type->doubtful) return false;
    if (type->element_count > MAX_ELEMENTS || type->true_ub - type->true_lb > MAX_SPAN) return false;
    if (type->extent < 0 || type->extent > MAX_SPAN || type->lb < -MAX_SPAN || type->lb > MAX_SPAN) return false;
    if (!options.on[LOWER_BOUNDS] && type->lb != 0) return false;
    if (rules->file) return is_legal_filetype(type) && type->extent % rules->unit == 0;
    if (rules->may_overlap) return true;
    return !overlaps_itself(type) && type->extent >= type->true_ub - type->true_lb;
}


static Type *draw_nested(const Rules *rules, Type *start, const Type *leaf)
{
    Type *type = start;
    int depth = options.on[TYPES] ? (int)below(rules->random, 4) : 0;
    if (next_type_number() > MOST_PACKED) depth = 0;
    for (int i = 0; i < depth; i++) {
        if (type->element_count > MAX_ELEMENTS / 8) break;
        Type *next = construct(rules, type, leaf);
        if (next && next->element_count > 0 && acceptable(rules, next)) type = next;
    }
    return type;
}

Type *draw_memory_type(Random *random, const Type *leaf, bool may_overlap)
{
    Rules rules = {random, false, may_overlap, 1};
    bool few = next_type_number() <= MOST_PACKED;
    Type *start = !leaf ? named_type(draw_kind(random)) : few ? dup_type(leaf) : keep(sizeof *start);
    if (leaf && (chance(random, 70) || !few)) *start = *leaf;
    return draw_nested(&rules, start, leaf);
}

Type *draw_file_type(Random *random, const Type *etype)
{
    Rules rules = {random, true, false, etype->extent};
    Type *start = keep(sizeof *start);
    *start = *etype;
    return draw_nested(&rules, start, etype);
}
