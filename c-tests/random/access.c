/* One data access of one rank: what it asks, the memory it uses, what must come back. */
#include "random.h"

#include <string.h>

enum { FILE_LIMIT = 512 * 1024, MOST_BYTES = 60000 };

int64_t access_file_byte(const Access *access, int64_t position)
{
    return view_offset(access->view, access->offset * access->view->etype->size + position);
}

int64_t access_address(const Access *access, int64_t position)
{
    const Type *memory = access->memory;
    const int64_t *bytes = access->view->reversed ? memory->reversed : memory->bytes;
    return position / memory->size * memory->extent + bytes[position % memory->size];
}

unsigned char access_file_value(const Access *access, int64_t position)
{
    return pattern(access->identity, access_address(access, position)) ^ access->view->mask;
}

int64_t access_etypes(const Access *access)
{
    return access->bytes / access->view->etype->size;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/* Etypes from `offset` on that end within the limit on file sizes or, where asked, within the file. */
static int64_t room(const File *file, const View *view, bool write, int64_t offset)
{
    int64_t limit = file->far + FILE_LIMIT;
    bool stay_inside = write ? !options.on[HOLES] : !options.on[EOF_COUNTS];
    if (stay_inside && file->size < limit) limit = file->size;
    int64_t etypes = 0, step = 1 << 16; /* displacements ascend: search by halving */
    for (; step > 0; step /= 2)
        if (view_offset(view, (offset + etypes + step) * view->etype->size - 1) < limit) etypes += step;
    return etypes;
}

static int64_t draw_amount(Random *random)
{
    int64_t kind = below(random, 100);
    int64_t amount = between(random, 1, kind < 50 ? 200 : kind < 85 ? 5000 : MOST_BYTES);
    if (amount < program.least) amount = program.least + amount % 1000;
    return amount < options.largest ? amount : options.largest;
}

static int64_t draw_offset(Random *random, const File *file, const View *view, bool write)
{
    int64_t end = view_end(file, view);
    if (file->far && view->displacement < file->far && end > 1000) end = 1000; /* the plain view of a far file */
    if (write) return below(random, options.on[HOLES] ? end + 200 : end);
    return chance(random, 85) ? below(random, end + 1) : below(random, end + 64);
}

static void measure(Access *access)
{
    access->bytes = access->count * access->memory->size;
    access->transferred = access->bytes;
    access->last = access->bytes ? access_file_byte(access, access->bytes - 1) + 1 : 0;
    if (access->routine->write || access->last <= access->file->size) return;
    int64_t low = 0, high = access->bytes; /* bytes of the stream before the end of the file */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (access_file_byte(access, middle) < access->file->size) low = middle + 1;
        else high = middle;
    }
    /* half an element cannot be converted: it is not read */
    if (access->view->converts) low -= low % access->memory->elements[0].size;
    if (access->view->mask) low -= low % named_type(access->view->kind)->size;
    access->transferred = low;
}

void empty_access(Access *access)
{
    access->count = 0;
    measure(access);
}

Access *draw_access(File *file, int rank, const Routine *routine, int64_t offset, bool may_be_empty)
{
    Random *random = &program.random;
    Access *access = keep(sizeof *access);
    View *view = file->views[rank];
    access->routine = routine;
    access->file = file;
    access->view = view;
    access->rank = rank;
    access->identity = draw(random);
    access->step_drawn = (uint64_t)program.step;
    access->request = MPI_REQUEST_NULL;
    bool mixture = view->kind == 0 && !view->converts; /* MPI_BYTE matches anything */
    bool may_overlap = routine->write && chance(random, 20);
    access->memory = draw_memory_type(random, mixture && chance(random, 60) ? NULL : named_type(view->kind), may_overlap);
    access->large = options.on[LARGE_COUNT] && chance(random, 30);
    /* our conversion functions use MPI_Pack, which MPICH 4.0 does not let begin at MPI_BOTTOM */
    access->bottom = options.on[BOTTOM] && chance(random, 8) && !view->mask;
    access->null_memory = chance(random, 50);
    int64_t amount = draw_amount(random), start = offset >= 0 ? offset : 0;
    bool empty = may_be_empty && chance(random, 10);
    if (view->filetype->size == 0) empty = true;
    else if (offset < 0) start = draw_offset(random, file, view, routine->write);
    access->offset = start;
    if (!empty) {
        /* a whole number of etypes, and of the memory type */
        int64_t size = access->memory->size, etype = view->etype->size;
        int64_t unit = etype / greatest_common_divisor(size, etype), available = room(file, view, routine->write, start) * etype;
        int64_t count = amount / size / unit * unit;
        if (count < unit) count = unit;
        if (count * size > available) count = available / size / unit * unit;
        access->count = count;
    }
    measure(access);
    return access;
}

/* Memory with a known pattern everywhere: what a write must not change, and a read only where data belongs. */
void prepare_access(Access *access)
{
    const Type *memory = access->memory;
    int64_t lowest = 0, highest = 0;
    for (int64_t i = 0; i < access->count; i += access->count > 1 ? access->count - 1 : 1) {
        if (i == 0 || memory->true_lb + i * memory->extent < lowest) lowest = memory->true_lb + i * memory->extent;
        if (i == 0 || memory->true_ub + i * memory->extent > highest) highest = memory->true_ub + i * memory->extent;
    }
    access->number = program.accesses++;
    access->lowest = lowest - GUARD;
    access->allocation_size = highest - lowest + 2 * GUARD;
    access->allocation = keep((size_t)access->allocation_size);
    access->expected = keep((size_t)access->allocation_size);
    access->origin = access->allocation + GUARD - lowest;
    for (int64_t i = 0; i < access->allocation_size; i++)
        access->allocation[i] = access->expected[i] = pattern(access->identity, i + access->lowest);
    access->unknown = keep((size_t)access->allocation_size);
    for (int64_t i = 0; i < access->transferred && !access->routine->write; i++) {
        int64_t at = access_address(access, i) - access->lowest, offset = access_file_byte(access, i);
        access->expected[at] = model_value(access->file, offset) ^ access->view->mask;
        access->unknown[at] = model_unknown(access->file, offset);
    }
}

void apply_write(const Access *access)
{
    for (int64_t i = 0; i < access->bytes; i++)
        *model_byte(access->file, access_file_byte(access, i)) = access_file_value(access, i);
    if (access->last > access->file->size) access->file->size = access->last;
}

void describe_access(Access *access)
{
    const char *at = access->routine->positioning == EXPLICIT ? "at" : "from";
    access->text = text("%s%s %s %lld: %lld of %s%s (%lld bytes%s, file up to %lld)", access->routine->name,
                        access->large ? "_c" : "", at, (long long)access->offset, (long long)access->count,
                        access->memory->text, access->bottom ? " from MPI_BOTTOM" : "", (long long)access->bytes,
                        access->transferred < access->bytes ? text(", %lld before the end", (long long)access->transferred) : "",
                        (long long)access->last);
}
