/* The loop over seeds, the files of a program, the choice of steps; what is said when a program fails, hangs or crashes. */
#include "random.h"

#include "../level.h"

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
    int length = snprintf(line, sizeof line, "%s seed %llu rank %d of %d step %d: %.*s\n      last call: %s\n", what,
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
    for (int64_t i = 0; i < size; i++) *model_byte(file, i) = bytes[i] = pattern(program.seed, i);
    file->size = file->initial_size = size;
    if (program.rank == 0 && options.print)
        emit_check("create_file(\"%s\", %lld, %lluu)", file->name, (long long)size, (unsigned long long)program.seed);
    else if (program.rank == 0) {
        int descriptor = open(file->path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
        if (descriptor < 0 || write(descriptor, bytes, (size_t)size) != size) fail("creating %s: %s", file->path, strerror(errno));
        close(descriptor);
    }
    barrier();
}

static void begin_file(File *file, int number)
{
    Random *random = &program.random;
    file->number = program.current = number;
    file->pages = keep(PAGE_LISTS * sizeof *file->pages);
    file->name = text("random.%llu.%d.%d", (unsigned long long)program.seed, program.group, number);
    file->path = text("%s/%s", options.directory, file->name);
    if (program.rank == 0 && !options.print) unlink(file->path);
    if (program.rank == 0) emit_check("unlink(path(\"%s\"))", file->name);
    barrier();
    file->far = options.on[FAR] && options.on[HOLES] && chance(random, 6) ? 5000000000 + below(random, 100000) : 0;
    bool exists = chance(random, 30);
    int64_t size = between(random, 1, 60000);
    if (!options.on[HOLES]) exists = true, size = 300000; /* every access stays inside */
    if (exists) create_initial(file, size);
    open_file(file, exists ? MPI_MODE_RDWR : MPI_MODE_RDWR | MPI_MODE_CREATE | (chance(random, 50) ? MPI_MODE_EXCL : 0));
}

static void end_file(File *file)
{
    program.current = file->number;
    close_file(file);
    if (chance(&program.random, 30)) {
        open_file(file, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        close_file(file);
    } else if (program.rank == 0 && !options.keep_files && !options.print)
        unlink(file->path);
}

/* Which steps there are and how often they come; where only some files can be accessed that way. The weights of second
 * openings and outstanding races were taken from their neighbours, so that the other steps of a seed stayed what they were. */
enum Where { RANDOM_ACCESS = 1, INDEPENDENTLY = 2, ANYWHERE = 0 };
static const struct {
    void (*run)(File *);
    int weight;
    enum Where where;
    enum Feature feature;
} steps[] = {
    {step_collective, 29, RANDOM_ACCESS, FEATURES},
    {step_second_opening, 3, RANDOM_ACCESS | INDEPENDENTLY, SECOND_OPENINGS},
    {step_outstanding_race, 3, RANDOM_ACCESS | INDEPENDENTLY, OUTSTANDING_RACES},
    {step_independent, 19, RANDOM_ACCESS | INDEPENDENTLY, FEATURES},
    {step_ordered, 8, ANYWHERE, ORDERED},
    {step_shared_serial, 5, INDEPENDENTLY, SHARED},
    {step_shared_race, 4, INDEPENDENTLY, RACES},
    {step_atomic_race, 4, RANDOM_ACCESS | INDEPENDENTLY, ATOMIC},
    {step_wait, 7, ANYWHERE, FEATURES},
    {step_set_view, 12, RANDOM_ACCESS, VIEWS},
    {step_seek, 6, RANDOM_ACCESS, FEATURES},
    {step_seek_shared, 3, RANDOM_ACCESS, SHARED},
    {step_query, 7, ANYWHERE, FEATURES},
    {step_set_size, 3, RANDOM_ACCESS, SIZES},
    {step_preallocate, 2, RANDOM_ACCESS, SIZES},
    {step_atomicity, 2, RANDOM_ACCESS, ATOMIC},
    {step_sync, 4, ANYWHERE, FEATURES},
    {step_set_info, 2, ANYWHERE, HINTS},
    {step_reopen, 4, ANYWHERE, REOPEN},
    {step_refused, 1, ANYWHERE, INTERCOMMS},
};

static void run_step(File *file)
{
    int total = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) total += steps[i].weight;
    int64_t drawn = below(&program.random, total);
    size_t which = 0;
    while (drawn >= steps[which].weight) drawn -= steps[which++].weight;
    program.current = file->number;
    if (steps[which].feature != FEATURES && !options.on[steps[which].feature]) return;
    if ((steps[which].where & RANDOM_ACCESS) && file->sequential) return;
    if ((steps[which].where & INDEPENDENTLY) && file->collective_only) return;
    steps[which].run(file);
}

/* Each step draws from numbers of its own, so that a step left out changes no other more than it must. */
static void begin_step(int step)
{
    program.step = step;
    program.random.state = mix(mix(program.seed) + (uint64_t)program.group * MAX_STEPS + (uint64_t)step);
}

static void run_program(uint64_t seed, int world_size)
{
    program = (Program){.seed = seed, .comm = MPI_COMM_NULL, .doing = "starting", .call = ""};
    alarm((unsigned)options.timeout);
    begin_function(world_rank);
    make_communicator(world_rank, world_size);
    begin_step(0);
    program.file_count = chance(&program.random, 70) ? 1 : (int)between(&program.random, 2, MAX_FILES);
    if (program.file_count > options.files) program.file_count = options.files;
    int last = options.steps ? options.steps : (int)between(&program.random, 10, 60);
    say("seed %llu: %d ranks, %d steps", (unsigned long long)seed, program.size, last);
    for (int i = 0; i < program.file_count; i++) begin_file(program.files[i] = keep(sizeof(File)), i);
    for (int step = 1; step <= last && step < MAX_STEPS - 1; step++) {
        if (options.dropped[step]) continue;
        begin_step(step);
        run_step(program.files[below(&program.random, program.file_count)]);
    }
    begin_step(MAX_STEPS - 1);
    for (int i = 0; i < program.file_count; i++) end_file(program.files[i]);
    program.doing = "freeing datatypes";
    free_types();
    program.doing = "freeing the communicator";
    free_communicator();
    end_function();
    release_kept();
    program.doing = "between programs";
    if (!options.print) check_leaks();
}

static void print_program(void)
{
    emit_head();
    for (world_rank = 0; world_rank < options.print; world_rank++) run_program(options.seed, options.print);
    emit_main();
}

static void register_representations(void)
{
    for (int size = 1; size <= 16; size *= 2) {
        char name[16];
        snprintf(name, sizeof name, "inverted%d", size);
        must(register_inverted(name, size));
    }
}

int main(int count, char **words)
{
    int world_size;
    start_mpi(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    parse_options(count, words);
    const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], on_signal);
    if (options.print) {
        print_program();
        return MPI_Finalize();
    }
    if (options.on[DATAREPS] && options.on[OWN_DATAREPS]) register_representations();
    for (int i = 0; i < options.count; i++) run_program(options.seed + (uint64_t)i * (uint64_t)options.every, world_size);
    alarm((unsigned)options.timeout);
    long growth = memory_growth();
    if (world_rank == 0) printf("all %d right, no descriptor left, %ld bytes more in use than after the first\n", options.count, growth);
    return MPI_Finalize();
}
