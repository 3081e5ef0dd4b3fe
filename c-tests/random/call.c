/* The call of one data access, and what must be true when it is done. */
#include "random.h"

#include <string.h>

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
            if (access->origin + access_address(access, p) == access->allocation + i)
                place = text(", byte %lld of the data, byte %lld of the file", (long long)p, (long long)access_file_byte(access, p));
        fail_access(access, text("memory at %+lld is %02x, must be %02x (was %02x)%s",
                                 (long long)(access->allocation + i - access->origin), access->allocation[i], access->expected[i],
                                 pattern(access->identity, i + access->lowest), *place ? place : ", in a gap"));
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

static bool differs(const void *of, int64_t at)
{
    const Access *access = of;
    return access->unknown[at - access->lowest] ||
           access->expected[at - access->lowest] != pattern(access->identity, at);
}

static int wanted_byte(const void *of, int64_t at)
{
    const Access *access = of;
    return access->unknown[at - access->lowest] ? -1 : access->expected[at - access->lowest];
}

static void emit_checks(const Access *access)
{
    emit_check("is_count(%d, %lld)", access->number, (long long)access->transferred);
    if (!access->racing || access->routine->write)
        emit_check("is_memory(%d, %s)", access->number,
                   patches(access->lowest, access->allocation_size, differs, wanted_byte, access));
}

void check_access(Access *access, MPI_Status *status)
{
    if (options.print) {
        emit_checks(access);
        return;
    }
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

static const char *address_source(const Access *access)
{
    if (access->count == 0 && access->null_memory) return "NULL";
    return access->bottom && access->count ? "MPI_BOTTOM" : text("m[%d].at", access->number);
}

static void emit_call(const Access *access)
{
    const Routine *routine = access->routine;
    bool bottom = access->bottom && access->count;
    emit_type(access->memory);
    emit_check("memory(%d, %lld, %lld, %lluu)", access->number, (long long)access->allocation_size, (long long)access->lowest,
               (unsigned long long)access->identity);
    if (bottom) emit_check("from_bottom(%d, %lld, %s)", access->number, (long long)access->count, access->memory->name);
    else emit("MPI_Type_dup(%s, &type)", access->memory->name);
    const char *last = routine->synchronism == BLOCKING ? text(", &s[%d]", access->number)
                       : routine->synchronism == NONBLOCKED ? text(", &r[%d]", access->number) : "";
    emit("MPI_File_%s%s(f[%d], %s%s, %lld, type%s)", routine->name, access->large && routine->large ? "_c" : "", access->file->number,
         routine->positioning == EXPLICIT ? text("%lld, ", (long long)access->offset) : "", address_source(access),
         bottom ? 1 : (long long)access->count, last);
    emit("MPI_Type_free(&type)");
    if (routine->synchronism == BLOCKING) emit_checks(access);
}

void start_access(Access *access)
{
    MPI_Status status;
    void *address;
    int64_t count;
    if (options.print) {
        emit_call(access);
        return;
    }
    memset(&status, 0x77, sizeof status); /* a status that nobody fills in must be noticed */
    MPI_Datatype type = argument_type(access, &address, &count);
    bool blocking = access->routine->synchronism == BLOCKING;
    program.call = access->routine->name;
    require(call_routine(access, address, count, type, blocking ? (void *)&status : (void *)&access->request), access->routine->name);
    must(MPI_Type_free(&type)); /* allowed at once, also while the access is under way */
    if (blocking) check_access(access, &status);
}

void finish_split(Access *access)
{
    MPI_Status status;
    const char *name = access->routine->name;
    if (options.print) {
        emit("MPI_File_%.*send(f[%d], %s, &s[%d])", (int)(strlen(name) - strlen("begin")), name, access->file->number,
             address_source(access), access->number);
        emit_checks(access);
        return;
    }
    memset(&status, 0x77, sizeof status);
    void *address = access->bottom && access->count ? MPI_BOTTOM : access->count == 0 && access->null_memory ? NULL : access->origin;
    program.call = text("the end of %s", name);
    require(((int (*)(MPI_File, void *, MPI_Status *))access->routine->end)(access->file->handle, address, &status), name);
    check_access(access, &status);
}
