/* random [--seed N] [--count K] [--verbose] [--dir D] [--ops N] [--stop-at STEP] [--timeout S] [--keep] [--datareps]
 *        [--without FEATURE,...] [--hints 'key=value;...'] [--no-holes-past-eof] [--no-eof-counts] */
#include "random.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Options options = {.timeout = 60, .directory = "/dev/shm"};
Program program = {.comm = MPI_COMM_NULL, .doing = "starting"};
const char *const feature_names[FEATURES] = {
    "holes", "eof-counts", "nonblocking", "nonblocking-collective", "split", "shared", "ordered", "races", "hints",
    "uneven-hints", "reopen", "atomic", "large-count", "views", "types", "datareps", "sizes", "bottom", "empty-filetypes",
    "subcomms", "far", "sequential", "append", "f90-types", "darray", "wait-order", "pairs",
    "lower-bounds", "zero-blocks", "unordered"};
static int world_rank;

static void print_place(const char *what, int length_limit)
{
    char line[4096];
    int length = snprintf(line, sizeof line, "%s seed %llu rank %d of %d step %d: %.*s\n", what,
                          (unsigned long long)program.seed, world_rank, program.size, program.step, length_limit, program.doing);
    if (write(STDOUT_FILENO, line, (size_t)(length < (int)sizeof line ? length : (int)sizeof line - 1)) < 0) _exit(3);
}

void fail(const char *format, ...)
{
    static char message[32768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    print_place("FAILED", 3500);
    printf("      %s\n", message);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

void require(int code, const char *routine)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, words, &length);
    fail("%s returned %d: %s", routine, code, words);
}

void say(const char *format, ...)
{
    if (!options.verbose || program.rank != 0) return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

/* Not strictly allowed in a handler, but the process is lost anyway and the place is what we need. */
static void on_signal(int number)
{
    print_place(number == SIGALRM ? "HANGS" : "CRASHED", 1500);
    if (number == SIGALRM) {
        sleep(2); /* the other ranks want to say where they are, too */
        _exit(1);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void usage(const char *wrong)
{
    if (world_rank == 0) fprintf(stderr, "random: %s is not an option, see the top of main.c\n", wrong);
    MPI_Finalize();
    exit(2);
}

static void switch_off(char *names)
{
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        int i = 0;
        while (i < FEATURES && strcmp(name, feature_names[i])) i++;
        if (i == FEATURES) usage(name);
        options.on[i] = false;
    }
}

static void parse(int count, char **words, uint64_t *seed, int *programs)
{
    for (int i = 0; i < FEATURES; i++) options.on[i] = i != DATAREPS;
    for (int i = 1; i < count; i++) {
        char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(word, "--verbose")) options.verbose = true;
        else if (!strcmp(word, "--keep")) options.keep_files = true;
        else if (!strcmp(word, "--datareps")) options.on[DATAREPS] = true;
        else if (!strcmp(word, "--no-holes-past-eof")) options.on[HOLES] = options.on[SIZES] = false;
        else if (!strcmp(word, "--no-eof-counts")) options.on[EOF_COUNTS] = false;
        else if (!strcmp(word, "--seed")) *seed = strtoull(value, NULL, 10), i++;
        else if (!strcmp(word, "--count")) *programs = atoi(value), i++;
        else if (!strcmp(word, "--ops")) options.steps = atoi(value), i++;
        else if (!strcmp(word, "--stop-at")) options.stop_at = atoi(value), i++;
        else if (!strcmp(word, "--timeout")) options.timeout = atoi(value), i++;
        else if (!strcmp(word, "--dir")) options.directory = value, i++;
        else if (!strcmp(word, "--hints")) options.forced_hints = value, i++;
        else if (!strcmp(word, "--without")) switch_off(value), i++;
        else usage(word);
    }
}

/* The file before the program: absent, or with contents that are not zeros. */
static void create_initial(File *file, int64_t size)
{
    unsigned char *bytes = keep((size_t)size + 1);
    for (int64_t i = 0; i < size; i++) *model_byte(file, i) = bytes[i] = (unsigned char)mix(program.seed + (uint64_t)i);
    file->size = size;
    if (program.rank == 0) {
        int descriptor = open(file->path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
        if (descriptor < 0 || write(descriptor, bytes, (size_t)size) != size) fail("creating %s: %s", file->path, strerror(errno));
        close(descriptor);
    }
    require(MPI_Barrier(program.comm), "MPI_Barrier");
}

static void begin_file(File *file, int number)
{
    Random *random = &program.random;
    file->path = text("%s/random.%llu.%d.%d", options.directory, (unsigned long long)program.seed, program.group, number);
    if (program.rank == 0) unlink(file->path);
    require(MPI_Barrier(program.comm), "MPI_Barrier");
    file->far = options.on[FAR] && options.on[HOLES] && chance(random, 6) ? 5000000000 + below(random, 100000) : 0;
    bool exists = chance(random, 30);
    int64_t size = between(random, 1, 60000);
    if (!options.on[HOLES]) exists = true, size = 300000; /* every access stays inside */
    if (exists) create_initial(file, size);
    open_file(file, exists ? MPI_MODE_RDWR : MPI_MODE_RDWR | MPI_MODE_CREATE | (chance(random, 50) ? MPI_MODE_EXCL : 0));
}

static void end_file(File *file)
{
    close_file(file);
    if (chance(&program.random, 30)) {
        open_file(file, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        close_file(file);
    } else if (program.rank == 0 && !options.keep_files)
        unlink(file->path);
}

/* Which steps there are and how often they come. In sequential mode only some exist. */
static const struct {
    void (*run)(File *);
    int weight;
    bool sequential;
    enum Feature feature;
} steps[] = {
    {step_collective, 32, false, FEATURES},   {step_independent, 22, false, FEATURES}, {step_ordered, 8, true, ORDERED},
    {step_shared_serial, 5, true, SHARED},    {step_shared_race, 4, true, RACES},      {step_atomic_race, 2, false, ATOMIC},
    {step_wait, 7, true, FEATURES},           {step_set_view, 12, false, VIEWS},       {step_seek, 6, false, FEATURES},
    {step_seek_shared, 3, false, SHARED},     {step_query, 7, true, FEATURES},         {step_set_size, 3, false, SIZES},
    {step_preallocate, 2, false, SIZES},      {step_atomicity, 2, false, ATOMIC},      {step_sync, 4, true, FEATURES},
    {step_set_info, 2, true, HINTS},          {step_reopen, 4, true, REOPEN},
};

static void run_step(File *file)
{
    int total = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) total += steps[i].weight;
    int64_t drawn = below(&program.random, total);
    size_t which = 0;
    while (drawn >= steps[which].weight) drawn -= steps[which++].weight;
    bool on = steps[which].feature == FEATURES || options.on[steps[which].feature];
    if (on && (!file->sequential || steps[which].sequential)) steps[which].run(file);
}

static void run_program(uint64_t seed)
{
    Random whole = {mix(seed)};
    int world_size, color = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int64_t shape = options.on[SUBCOMMS] ? below(&whole, 10) : 9;
    if (shape == 0) color = world_rank;          /* everybody alone */
    if (shape == 1) color = world_rank % 2;
    if (shape == 2) color = world_rank < world_size / 2;
    program = (Program){.seed = seed, .group = color, .doing = "starting", .random = {mix(seed) + (uint64_t)color}};
    require(MPI_Comm_split(MPI_COMM_WORLD, color, world_rank, &program.comm), "MPI_Comm_split");
    if (shape == 0) MPI_Comm_free(&program.comm), program.comm = MPI_COMM_SELF;
    MPI_Comm_rank(program.comm, &program.rank);
    MPI_Comm_size(program.comm, &program.size);
    alarm((unsigned)options.timeout);
    say("seed %llu: %d ranks", (unsigned long long)seed, program.size);
    File *files[2];
    int file_count = chance(&program.random, 20) ? 2 : 1;
    int last = options.steps ? options.steps : (int)between(&program.random, 10, 60);
    for (int i = 0; i < file_count; i++) begin_file(files[i] = keep(sizeof(File)), i);
    for (program.step = 1; program.step <= last; program.step++) {
        if (options.stop_at && program.step > options.stop_at) break;
        run_step(files[below(&program.random, file_count)]);
    }
    for (int i = 0; i < file_count; i++) end_file(files[i]);
    program.doing = "freeing datatypes";
    free_types();
    if (program.comm != MPI_COMM_SELF) MPI_Comm_free(&program.comm);
    release_kept();
    program.doing = "between programs";
}

int main(int count, char **words)
{
    uint64_t seed = 1;
    int programs = 1;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    parse(count, words, &seed, &programs);
    const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], on_signal);
    for (int i = 0; i < programs; i++) run_program(seed + (uint64_t)i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) printf("seeds %llu-%llu: all %d right\n", (unsigned long long)seed, (unsigned long long)seed + (uint64_t)programs - 1, programs);
    return MPI_Finalize();
}
