/* What a program printed by `random --print` needs. */
#include "shared.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))
#define must(call) check(call, __LINE__, #call)
#define number(call, value, is) (must(call), is_number(value, is, __LINE__, #call))

typedef struct { int64_t at; const char *hex; } Patch; /* two dots stand for a byte that may be anything */
typedef struct { unsigned char *bytes, *at; int64_t size, lowest; uint64_t identity; } Memory;

static MPI_Comm comm, other UNUSED;
static MPI_File f[8];
static MPI_Info info UNUSED;
static MPI_Datatype t[1 << 16] UNUSED, etype UNUSED, filetype UNUSED, type UNUSED;
static Memory m[4096] UNUSED;
static MPI_Request r[4096] UNUSED;
static MPI_Status s[4096] UNUSED;
static MPI_Offset offset UNUSED;
static int integer UNUSED;
static const char *directory = ".";

static void wrong(int line, const char *format, ...)
{
    int rank;
    va_list arguments;
    va_start(arguments, format);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("WRONG rank %d line %d: ", rank, line);
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, int line, const char *call)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, words, &length);
    wrong(line, "%s returned %d: %s", call, code, words);
}

static UNUSED void is_number(int64_t is, int64_t must_be, int line, const char *call)
{
    if (is != must_be) wrong(line, "%s gave %lld, must be %lld", call, (long long)is, (long long)must_be);
}

static UNUSED const char *path(const char *name)
{
    static char words[4096];
    snprintf(words, sizeof words, "%s/%s", directory, name);
    return words;
}

static UNUSED MPI_Datatype f90_integer(int range) { MPI_Type_create_f90_integer(range, &type); return type; }
static UNUSED MPI_Datatype f90_real(int digits, int range) { MPI_Type_create_f90_real(digits, range, &type); return type; }
static UNUSED MPI_Datatype f90_complex(int digits, int range) { MPI_Type_create_f90_complex(digits, range, &type); return type; }

/* A representation of our own, registered where it is first used. */
static UNUSED const char *inverted(const char *name)
{
    static int known[32];
    int item = atoi(name + strlen("inverted"));
    if (!known[item]++) must(register_inverted(name, item));
    return name;
}

/* Memory number n: `size` bytes of a known pattern, of which byte `lowest` is the first; m[n].at is byte 0. */
static UNUSED void memory(int n, int64_t size, int64_t lowest, uint64_t identity)
{
    m[n] = (Memory){malloc((size_t)size), NULL, size, lowest, identity};
    m[n].at = m[n].bytes - lowest;
    for (int64_t i = 0; i < size; i++) m[n].bytes[i] = pattern(identity, i + lowest);
}

/* The datatype for the same memory seen from MPI_BOTTOM. */
static UNUSED void from_bottom(int n, int count, MPI_Datatype of)
{
    MPI_Aint displacement;
    MPI_Get_address(m[n].at, &displacement);
    must(MPI_Type_create_hindexed(1, &count, &displacement, of, &type));
    must(MPI_Type_commit(&type));
}

static void apply(unsigned char *bytes, unsigned char *any, int64_t lowest, int64_t size, const Patch *patches)
{
    for (; patches->hex; patches++)
        for (int64_t i = 0; patches->hex[2 * i]; i++) {
            int64_t at = patches->at + i - lowest;
            if (at < 0 || at >= size) continue;
            char digits[3] = {patches->hex[2 * i], patches->hex[2 * i + 1], 0};
            any[at] = digits[0] == '.';
            bytes[at] = (unsigned char)strtoul(digits, NULL, 16);
        }
}

/* Bytes as they must be: memory as it was filled or a file of zeros, and the patches in it. */
#define is_memory(n, ...) memory_is(n, (const Patch[]){__VA_ARGS__ {0, NULL}}, __LINE__)
static UNUSED void memory_is(int n, const Patch *patches, int line)
{
    unsigned char *wanted = malloc((size_t)m[n].size + 1), *any = calloc(1, (size_t)m[n].size + 1);
    for (int64_t i = 0; i < m[n].size; i++) wanted[i] = pattern(m[n].identity, i + m[n].lowest);
    apply(wanted, any, m[n].lowest, m[n].size, patches);
    for (int64_t i = 0; i < m[n].size; i++)
        if (!any[i] && m[n].bytes[i] != wanted[i])
            wrong(line, "byte %lld of memory %d is %02x, must be %02x", (long long)(i + m[n].lowest), n, m[n].bytes[i], wanted[i]);
    free(wanted);
    free(any);
}

/* Bytes of a file that was created with `initial` bytes of a known pattern, before the patches. */
typedef struct { const char *name; int64_t size, initial; uint64_t seed; const Patch *patches; } Contents;

static UNUSED void stretch_is(int descriptor, const Contents *file, int64_t at, int64_t length, int line)
{
    const char *name = file->name;
    unsigned char *found = malloc((size_t)length + 1), *wanted = calloc(1, (size_t)length + 1), *any = calloc(1, (size_t)length + 1);
    if (pread(descriptor, found, (size_t)length, at) != length) wrong(line, "%s cannot be read", name);
    for (int64_t i = at; i < at + length && i < file->initial; i++) wanted[i - at] = pattern(file->seed, i);
    apply(wanted, any, at, length, file->patches);
    for (int64_t i = 0; i < length; i++)
        if (!any[i] && found[i] != wanted[i])
            wrong(line, "byte %lld of %s is %02x, must be %02x", (long long)(at + i), name, found[i], wanted[i]);
    free(found);
    free(wanted);
    free(any);
}

#define is_file(name, size, initial, seed, ...) \
    file_is((Contents){name, size, initial, seed, (const Patch[]){__VA_ARGS__ {0, NULL}}}, __LINE__)
static UNUSED void file_is(Contents file, int line)
{
    struct stat information;
    int descriptor = open(path(file.name), O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &information) != 0) wrong(line, "%s cannot be read", file.name);
    if (information.st_size != file.size)
        wrong(line, "%s has %lld bytes, must have %lld", file.name, (long long)information.st_size, (long long)file.size);
    if (file.size < 1 << 24) stretch_is(descriptor, &file, 0, file.size, line);
    else /* the holes of a large file are not read */
        for (const Patch *patch = file.patches; patch->hex; patch++)
            stretch_is(descriptor, &file, patch->at, (int64_t)strlen(patch->hex) / 2, line);
    close(descriptor);
}

static UNUSED void create_file(const char *name, int64_t size, uint64_t seed)
{
    int descriptor = open(path(name), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    for (int64_t i = 0; i < size; i++) {
        unsigned char byte = pattern(seed, i);
        if (write(descriptor, &byte, 1) != 1) wrong(__LINE__, "%s cannot be written", name);
    }
    close(descriptor);
}

#define is_count(n, bytes) count_is(&s[n], bytes, __LINE__)
static UNUSED void count_is(MPI_Status *status, int bytes, int line)
{
    must(MPI_Get_elements(status, MPI_BYTE, &integer));
    if (integer != bytes) wrong(line, "the status says %d bytes, must be %d", integer, bytes);
}

#define complete(method, count, ...) complete_numbered(method, count, (const int[]){__VA_ARGS__})
static UNUSED void complete_numbered(enum Completion method, int count, const int *numbers)
{
    MPI_Request requests[64];
    MPI_Status statuses[64];
    for (int i = 0; i < count; i++) requests[i] = r[numbers[i]];
    must(complete_requests(method, count, requests, statuses));
    for (int i = 0; i < count; i++) s[numbers[i]] = statuses[i];
}
