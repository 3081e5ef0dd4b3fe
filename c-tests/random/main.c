/* The loop over seeds, the files of a program, the choice of steps; what is said when a program fails, hangs or crashes. */
#include "random.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Program program = {.comm = MPI_COMM_NULL, .doing = "starting", .call = ""};
static int world_rank;

static void print_place(const char *what, int length_limit)
{
    char line[4096];
    int length = snprintf(line, sizeof line, "%s seed %llu rank %d of %d step %d: %.*s\n      in %s\n", what,
                          (unsigned long long)program.seed, world_rank, program.size, program.step, length_limit, program.doing,
                          program.call);
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
    usleep(200000); /* other ranks may have found the same: let them say so before the job ends */
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
    must(MPI_Barrier(program.comm));
}

static void begin_file(File *file, int number)
{
    Random *random = &program.random;
    file->path = text("%s/random.%llu.%d.%d", options.directory, (unsigned long long)program.seed, program.group, number);
    if (program.rank == 0) unlink(file->path);
    must(MPI_Barrier(program.comm));
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

/* Each step draws from numbers of its own, so that a step left out changes no other more than it must. */
static void begin_step(int step)
{
    program.step = step;
    program.random.state = mix(mix(program.seed) + (uint64_t)program.group * MAX_STEPS + (uint64_t)step);
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
    program = (Program){.seed = seed, .group = color, .doing = "starting", .call = ""};
    alarm((unsigned)options.timeout);
    must(MPI_Comm_split(MPI_COMM_WORLD, color, world_rank, &program.comm));
    if (shape == 0) MPI_Comm_free(&program.comm), program.comm = MPI_COMM_SELF;
    MPI_Comm_rank(program.comm, &program.rank);
    MPI_Comm_size(program.comm, &program.size);
    begin_step(0);
    File *files[2];
    int file_count = chance(&program.random, 20) ? 2 : 1;
    int last = options.steps ? options.steps : (int)between(&program.random, 10, 60);
    say("seed %llu: %d ranks, %d steps", (unsigned long long)seed, program.size, last);
    for (int i = 0; i < file_count; i++) begin_file(files[i] = keep(sizeof(File)), i);
    for (int step = 1; step <= last && step < MAX_STEPS - 1; step++) {
        if (options.dropped[step]) continue;
        begin_step(step);
        run_step(files[below(&program.random, file_count)]);
    }
    begin_step(MAX_STEPS - 1);
    for (int i = 0; i < file_count; i++) end_file(files[i]);
    program.doing = "freeing datatypes";
    free_types();
    if (program.comm != MPI_COMM_SELF) must(MPI_Comm_free(&program.comm));
    release_kept();
    program.doing = "between programs";
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    parse_options(count, words);
    const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], on_signal);
    for (int i = 0; i < options.count; i++) run_program(options.seed + (uint64_t)i * (uint64_t)options.every);
    must(MPI_Barrier(MPI_COMM_WORLD));
    if (world_rank == 0) printf("all %d right\n", options.count);
    return MPI_Finalize();
}
