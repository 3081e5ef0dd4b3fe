/* One data access of one rank: what it asks, the memory it uses, what must come back. */
#include "random.h"

#include <string.h>

enum { FILE_LIMIT = 512 * 1024 };

int64_t access_file_byte(const Access *access, int64_t position)
{
    return view_offset(access->view, access->offset * access->view->etype->size + position);
}

/* Where, relative to the address passed to MPI, the byte of a position in the data stream lies. */
static int64_t memory_address(const Access *access, int64_t position)
{
    const Type *memory = access->memory;
    const int64_t *bytes = access->view->external32 ? memory->reversed : memory->bytes;
    return position / memory->size * memory->extent + bytes[position % memory->size];
}

static unsigned char pattern(const Access *access, int64_t address)
{
    return (unsigned char)mix(access->identity + (uint64_t)address);
}

unsigned char access_memory_byte(const Access *access, int64_t position)
{
    return pattern(access, memory_address(access, position));
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
    if (kind < 50) return between(random, 1, 200);
    if (kind < 85) return between(random, 1, 5000);
    return between(random, 1, 60000);
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
    if (access->view->external32) low -= low % access->memory->elements[0].size;
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
    bool mixture = view->kind == 0 && !view->external32; /* MPI_BYTE matches anything */
    bool may_overlap = routine->write && chance(random, 20);
    access->memory = draw_memory_type(random, mixture && chance(random, 60) ? NULL : named_type(view->kind), may_overlap);
    access->large = options.on[LARGE_COUNT] && chance(random, 30);
    access->bottom = options.on[BOTTOM] && chance(random, 8);
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
    access->allocation_size = highest - lowest + 2 * GUARD;
    access->allocation = keep((size_t)access->allocation_size);
    access->expected = keep((size_t)access->allocation_size);
    access->origin = access->allocation + GUARD - lowest;
    for (int64_t i = 0; i < access->allocation_size; i++)
        access->allocation[i] = access->expected[i] = pattern(access, i - GUARD + lowest);
    if (access->routine->write) return;
    unsigned char *expected_origin = access->expected + GUARD - lowest;
    for (int64_t i = 0; i < access->transferred; i++)
        expected_origin[memory_address(access, i)] = model_value(access->file, access_file_byte(access, i));
}

void apply_write(const Access *access)
{
    for (int64_t i = 0; i < access->bytes; i++)
        *model_byte(access->file, access_file_byte(access, i)) = access_memory_byte(access, i);
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

static void fail_access(const Access *access, const char *what)
{
    fail("%s\n      in: %s", what, access->text);
}

static void check_memory(const Access *access)
{
    for (int64_t i = 0; i < access->allocation_size; i++) {
        if (access->allocation[i] == access->expected[i]) continue;
        const char *place = "";
        for (int64_t p = 0; p < access->bytes && !*place; p++)
            if (access->origin + memory_address(access, p) == access->allocation + i)
                place = text(", byte %lld of the data, byte %lld of the file", (long long)p, (long long)access_file_byte(access, p));
        fail_access(access, text("memory at %+lld is %02x, must be %02x (was %02x)%s",
                                 (long long)(access->allocation + i - access->origin), access->allocation[i], access->expected[i],
                                 pattern(access, access->allocation + i - access->origin), *place ? place : ", in a gap"));
    }
}

/* How many basic elements the transferred bytes are; -1 if they end inside one. */
static int64_t whole_elements(const Access *access)
{
    const Type *memory = access->memory;
    if (memory->size == 0) return 0;
    int64_t basics = 0, rest = access->transferred % memory->size;
    for (int i = 0; i < memory->element_count; i++) basics += memory->elements[i].basic;
    basics *= access->transferred / memory->size;
    for (int i = 0; rest > 0; i++) {
        if (memory->elements[i].size > rest) return -1;
        rest -= memory->elements[i].size;
        basics += memory->elements[i].basic;
        if (rest == 0 && i + 1 < memory->element_count && memory->elements[i + 1].basic == 0) return -1;
    }
    return basics;
}

static void check_status(const Access *access, const MPI_Status *status)
{
    int bytes, count, elements;
    const Type *memory = access->memory;
    must(MPI_Get_elements(status, MPI_BYTE, &bytes));
    if (bytes != access->transferred)
        fail_access(access, text("the status says %d bytes, must be %lld", bytes, (long long)access->transferred));
    must(MPI_Get_count(status, memory->handle, &count));
    int must = access->transferred % memory->size ? MPI_UNDEFINED : (int)(access->transferred / memory->size);
    if (count != must) fail_access(access, text("MPI_Get_count says %d, must be %d", count, must));
    /* of mixtures and darrays MPICH 4.0 asserts, and Open MPI counts pairs as one: their datatype engine, not I/O */
    if (memory->kind == MIXED || memory->kind >= PLAIN_KINDS || strstr(memory->text, "darray")) return;
    must(MPI_Get_elements(status, memory->handle, &elements));
    int64_t whole = whole_elements(access);
    if (whole >= 0 && elements != whole)
        fail_access(access, text("MPI_Get_elements says %d, must be %lld", elements, (long long)whole));
}

void check_access(Access *access, MPI_Status *status)
{
    check_status(access, status);
    if (!access->racing || access->routine->write) check_memory(access);
}

/* The arguments as passed: the plain ones, or the same memory described from MPI_BOTTOM. */
static MPI_Datatype argument_type(const Access *access, void **address, int64_t *count)
{
    MPI_Datatype type;
    *address = access->origin;
    *count = access->count;
    if (access->count == 0 && access->null_memory) *address = NULL;
    if (!access->bottom || access->count == 0) {
        must(MPI_Type_dup(access->memory->handle, &type));
        return type;
    }
    int length = (int)access->count;
    MPI_Aint displacement;
    must(MPI_Get_address(access->origin, &displacement));
    must(MPI_Type_create_hindexed(1, &length, &displacement, access->memory->handle, &type));
    must(MPI_Type_commit(&type));
    *address = MPI_BOTTOM;
    *count = 1;
    return type;
}

typedef void (*Function)(void);

static int call_routine(Access *access, void *address, int64_t count, MPI_Datatype type, void *last)
{
    const Routine *routine = access->routine;
    MPI_File handle = access->file->handle;
    MPI_Offset offset = access->offset;
    bool large = access->large && routine->large, explicit = routine->positioning == EXPLICIT;
    Function call = large ? routine->large : routine->call;
    /* status or request: a pointer either way; the begin routines do not have it and do not look */
    if (explicit && large)
        return ((int (*)(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, void *))call)(handle, offset, address, count, type, last);
    if (explicit)
        return ((int (*)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, void *))call)(handle, offset, address, (int)count, type, last);
    if (large)
        return ((int (*)(MPI_File, void *, MPI_Count, MPI_Datatype, void *))call)(handle, address, count, type, last);
    return ((int (*)(MPI_File, void *, int, MPI_Datatype, void *))call)(handle, address, (int)count, type, last);
}

void start_access(Access *access)
{
    MPI_Status status;
    void *address;
    int64_t count;
    memset(&status, 0x77, sizeof status); /* a status that nobody fills in must be noticed */
    MPI_Datatype type = argument_type(access, &address, &count);
    bool blocking = access->routine->synchronism == BLOCKING;
    int code = call_routine(access, address, count, type, blocking ? (void *)&status : (void *)&access->request);
    require(code, access->routine->name);
    must(MPI_Type_free(&type)); /* allowed at once, also while the access is under way */
    if (blocking) check_access(access, &status);
}

void finish_split(Access *access)
{
    MPI_Status status;
    memset(&status, 0x77, sizeof status);
    void *address = access->bottom && access->count ? MPI_BOTTOM : access->count == 0 && access->null_memory ? NULL : access->origin;
    require(((int (*)(MPI_File, void *, MPI_Status *))access->routine->end)(access->file->handle, address, &status),
            access->routine->name);
    check_access(access, &status);
}
