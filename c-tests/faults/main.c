/* Runs the table of (call kind x fault), needs inject.c and the library preloaded:
 *
 *     mpirun -n 3 ... faults DIRECTORY [--row NAME]... [--column NAME]... [--from CELL] [--quick]
 *     mpirun -n 3 ... faults DIRECTORY --row NAME --kill RANK:NTH       kills the rank at its nth system call in the call
 *     mpirun -n 1 ... faults DIRECTORY --list
 *
 * Each cell is done at every position until the fault no longer fires, on the first and on the last rank, and each
 * position twice: the second time nothing may stay behind. Lines of the output:
 *     CELL|row|column|positions|wrong|longest time from the fault to the return of the last rank in us
 *     WRONG|row|column|what */
#define _GNU_SOURCE
#include "faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_POSITIONS = 400, MOST_REPETITIONS = 12, SECONDS_FOR_A_CELL = 30 };

int rank, size, faulty;
const struct column *fault_now;
char *directory, *path;

static const struct column columns[] = {
    {"EIO", "any", "EIO", 0, FAILS, EIO, NULL, NULL},
    {"EIO lasting", "any", "EIO", 1, FAILS, EIO, NULL, NULL},
    {"ENOSPC", "open,write,size,sync,close", "ENOSPC", 1, FAILS, ENOSPC, NULL, NULL},
    {"EDQUOT", "open,write,size,sync,close", "EDQUOT", 0, FAILS, EDQUOT, NULL, NULL},
    {"EINTR", "open,read,write,sync,size,lock,wait,unlock,close,stat,unlink", "EINTR", 0, UNSEEN, EINTR, NULL, NULL},
    {"EAGAIN", "lock,thread", "EAGAIN", 0, UNSEEN, EAGAIN, NULL, NULL},
    {"ENOLCK", "lock,wait", "ENOLCK", 0, FAILS, ENOLCK, NULL, NULL},
    {"unlock EIO", "unlock", "EIO", 0, UNSEEN, EIO, NULL, NULL},
    {"EACCES", "open,unlink", "EACCES", 0, FAILS, EACCES, NULL, NULL},
    {"EROFS", "open,unlink", "EROFS", 0, FAILS, EROFS, NULL, NULL},
    {"ESTALE", "open", "ESTALE", 0, UNSEEN, ESTALE, NULL, NULL},
    {"EOPNOTSUPP", "size", "EOPNOTSUPP", 0, FAILS, EOPNOTSUPP, NULL, NULL},
    {"short", "read,write", "short", 0, UNSEEN, 0, NULL, NULL},
    {"short+ENOSPC", "write", "short-ENOSPC", 0, FAILS, ENOSPC, NULL, NULL},
    {"truncated", "read,write", "truncate", 0, CUTS, 0, NULL, NULL},
    {"no memory", "memory", "ENOMEM", 0, FAILS, ENOMEM, NULL, NULL},
    {"RLIMIT_FSIZE", NULL, NULL, 0, FAILS, EFBIG, impose_file_size, lift_file_size},
    {"RLIMIT_NOFILE", NULL, NULL, 0, FAILS, EMFILE, impose_descriptors, lift_descriptors},
    {"RLIMIT_AS", NULL, NULL, 0, FAILS, ENOMEM, impose_memory, lift_memory},
    {"full tmpfs", NULL, NULL, 0, FAILS, ENOSPC, impose_full, lift_full},
    {"no permission", NULL, NULL, 0, FAILS, EACCES, impose_permission, lift_permission},
};

static inject_arm_function *arm;
static inject_report_function *report_to;
static const struct row *row_now;
static int position_now, wrong_count;
static struct injected injected;

/* ---- telling ---------------------------------------------------------------------------------------------------- */

static void say(const char *line)
{
    if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(3);
}

void wrong(const char *format, ...)
{
    char what[1024], line[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (char *c = what; *c; c++)
        if (*c == '\n' || *c == '|') *c = ' ';
    snprintf(line, sizeof line, "WRONG|%s|%s|rank %d of %d, position %d on rank %d (%s): %s\n", row_now->name,
             fault_now ? fault_now->name : "", rank, size, position_now, faulty, injected.call, what);
    if (wrong_count++ < 20) say(line);
}

static void on_alarm(int number)
{
    (void)number;
    wrong("HANGS");
    sleep(1);
    _exit(1);
}

int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- judging one call ------------------------------------------------------------------------------------------- */

static int class_for(int error)
{
    switch (error) {
    case ENOSPC: return MPI_ERR_NO_SPACE;
    case EDQUOT: return MPI_ERR_QUOTA;
    case EACCES: return MPI_ERR_ACCESS;
    case EROFS: return MPI_ERR_READ_ONLY;
    case ENOMEM: return MPI_ERR_NO_MEM;
    case ENOLCK:
    case EOPNOTSUPP: return MPI_ERR_UNSUPPORTED_OPERATION;
    default: return MPI_ERR_IO;
    }
}

/* Calls that the library can do without; that all is right all the same is checked elsewhere. */
static int can_be_survived(const struct row *row, const char *call)
{
    static const char *const calls[] = {
        "open of a system file", "read of a system file", "size of shared memory", "statfs", "stat64", "statx", "readlink",
        "realpath", "dup", "close", "allocation", "pthread_create",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(call, calls[i]) == 0) return 1;
    /* zeros are written instead */
    if (strncmp(call, "fallocate", 9) == 0 && fault_now->error == EOPNOTSUPP) return 1;
    /* without permission to read too, a file is open for writing only */
    if (strcmp(call, "open") == 0 && fault_now->error == EACCES && strcmp(row->name, "open, write only") == 0) return 1;
    /* the marks beside sieving; the locks of atomic mode and of sieving itself cannot be done without */
    return strncmp(call, "lock", 4) == 0 && row->routine == NO_ACCESS && strcmp(row->name, "set_atomicity") != 0;
}

static void want(const char *text, const char *part)
{
    if (!strstr(text, part)) wrong("the message has no \"%s\": %s", part, text);
}

static void check_message(const struct row *row, int code)
{
    char text[MPI_MAX_ERROR_STRING], part[64];
    int length;
    MPI_Error_string(code, text, &length);
    want(text, "MPI_File_");
    if (rank != faulty && fault_now->calls && row->hearing == ALL) {
        snprintf(part, sizeof part, "rank %d failed", faulty);
        want(text, part);
    }
    if (fault_now->error == ENOMEM) return want(text, "memory");
    want(text, strrchr(path, '/') + 1);
    if (rank == faulty) want(text, strerror(fault_now->error));
    if (rank == faulty && (strncmp(injected.call, "pread", 5) == 0 || strncmp(injected.call, "pwrite", 6) == 0))
        want(text, "offset");
}

/* What the ranks tell each other about a call, largest values. */
struct told { double fired, at, returned, class, no_class, open, not_open; };

static void judge(const struct row *row, int code, const struct told *told)
{
    char text[MPI_MAX_ERROR_STRING] = "success";
    int class = class_of(code), length;
    int anybody = fault_now->impose == impose_full || fault_now->impose == impose_permission;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
    if (told->open != -told->not_open) {
        wrong("some ranks have an open file and some have not");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!told->fired || fault_now->effect != FAILS) {
        if (code != MPI_SUCCESS) wrong("a failure that should not be: %s", text);
        return;
    }
    if (row->hearing == ALL && told->class != -told->no_class) wrong("one class here and another elsewhere; here: %s", text);
    if (code == MPI_SUCCESS) {
        if (rank == faulty && fault_now->calls && !can_be_survived(row, injected.call)) wrong("a fault that nobody heard of");
        return;
    }
    if (rank != faulty && row->hearing == ALONE && !anybody) wrong("another rank's failure: %s", text);
    if (class != class_for(fault_now->error)) wrong("class %d, not %d: %s", class, class_for(fault_now->error), text);
    check_message(row, code);
}

/* ---- afterwards: the library goes on, nothing stays behind ------------------------------------------------------ */

static void fine(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    wrong("afterwards %s fails: %s", what, text);
}

static void use_file(void)
{
    char bytes[8] = "usable..", back[8] = "";
    int amode = 0;
    MPI_File_get_amode(file, &amode);
    fine(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
    if (!(amode & MPI_MODE_RDONLY))
        fine(MPI_File_write_at_all(file, 8 * rank, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    if (!(amode & MPI_MODE_WRONLY)) fine(MPI_File_read_at(file, 8 * rank, back, 8, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    if (amode & MPI_MODE_RDWR && memcmp(bytes, back, 8) != 0) wrong("afterwards a rank does not read what it wrote");
    close_file();
}

/* Locks, and files that nobody asked for. While the file is open there may be locks far behind its data. */
static void check_directory(void)
{
    if (rank != 0) return;
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = file_is_open ? (off_t)1 << 60 : 0};
    int fd = open(path, O_RDWR);
    /* another rank may just be using the file, but not for ever */
    int answer = -1;
    for (int tries = 0; fd >= 0 && tries < 10000 && (answer = fcntl(fd, F_OFD_SETLK, &all)) != 0; tries++) usleep(1000);
    if (fd >= 0 && answer != 0) wrong("a lock is left: %s", strerror(errno));
    if (fd >= 0) close(fd);
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && strcmp(entry->d_name, strrchr(path, '/') + 1))
            wrong("there is a file %s", entry->d_name);
    if (entries) closedir(entries);
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *entries = opendir("/proc/self/fd");
    while (entries && readdir(entries)) count++;
    if (entries) closedir(entries);
    return count;
}

/* ---- one position, one cell ------------------------------------------------------------------------------------- */

struct left { long memory, descriptors; };

/* The fault fires on `faulty`? Then `latency` is the time to the return of the last rank. */
static int run_position(const struct row *row, double *latency, struct left *left)
{
    char text[160];
    int fired = 0;
    struct injected after;
    struct told told = {0}, all;
    memset(&injected, 0, sizeof injected);
    alarm(SECONDS_FOR_A_CELL);
    row->prepare(row);
    snprintf(text, sizeof text, "%d:%s:%d%s:%s", faulty, fault_now->calls, position_now, fault_now->onwards ? "+" : "",
             fault_now->action);
    if (!fault_now->calls) fired = fault_now->impose(row, position_now);
    else if (!arm(text)) wrong("inject.c does not know %s", text);
    injected.at = now();
    int code = row->act(row);
    told.returned = now();
    if (fault_now->calls) {
        report_to(&injected);
        arm(NULL);
        fired = injected.fired;
    } else if (fired) {
        fault_now->lift();
    }
    told.fired = fired;
    if (fired && rank == faulty) told.at = injected.at;
    told.class = class_of(code), told.no_class = -told.class;
    told.open = file_is_open, told.not_open = -told.open;
    MPI_Allreduce(&told, &all, sizeof all / sizeof(double), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (all.fired && all.returned - all.at > *latency) *latency = all.returned - all.at;
    judge(row, code, &all);
    row->verify(row, code);
    check_directory();
    if (strncmp(row->name, "open", 4) == 0 && file_is_open) use_file();
    report_to(&after);
    *left = (struct left){after.live, count_descriptors()};
    return all.fired != 0;
}

static void run_cell(const struct row *row, const struct column *column, int quick)
{
    int positions = 0, all_wrong = 0, repeated = quick ? strcmp(column->name, "EIO") == 0 : column->effect == FAILS;
    double latency = 0;
    row_now = row;
    fault_now = column;
    wrong_count = 0;
    for (faulty = quick ? size - 1 : 0; faulty < size; faulty += size > 1 ? size - 1 : 1) {
        for (position_now = 1; position_now <= MOST_POSITIONS; position_now++) {
            struct left before = {0, 0}, after;
            int fires = run_position(row, &latency, &after);
            positions += fires;
            /* The second time the same error has its text already; what the MPI keeps for itself comes once or twice, and
             * where ranks race for the last free bytes there are several texts. A thread of the library may be about to give
             * back what it worked with, so that once there is more and once there is less. A leak grows every time.
             * That all agree to go on is also what keeps them together. */
            int again = fires && repeated;
            for (int i = 0; i < MOST_REPETITIONS; i++) {
                MPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
                if (!again) break;
                before = after;
                run_position(row, &latency, &after);
                again = after.memory > before.memory || after.descriptors > before.descriptors;
            }
            if (again)
                wrong("left behind: %ld, then %ld pieces of memory, %ld, then %ld descriptors", before.memory, after.memory,
                      before.descriptors, after.descriptors);
            if (!fires) break;
        }
        if (position_now > MOST_POSITIONS) wrong("more than %d positions", MOST_POSITIONS);
    }
    /* the handle that had all these faults, then a new one */
    if (file_is_open) use_file();
    open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (file_is_open) use_file();
    check_directory();
    MPI_Allreduce(&wrong_count, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    char line[256];
    snprintf(line, sizeof line, "CELL|%s|%s|%d|%d|%.0f\n", row->name, column->name, positions, all_wrong, 1e6 * latency);
    if (rank == 0) say(line);
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

/* A rank dies in the call; the launcher ends the others. Whoever comes back says so. */
static void run_kill(const struct row *row, const char *where)
{
    static const struct column killed = {"killed", "any", "kill", 0, FAILS, 0, NULL, NULL};
    char text[160];
    int victim = 0, nth = 0;
    sscanf(where, "%d:%d", &victim, &nth);
    row_now = row, fault_now = &killed, faulty = victim, position_now = nth;
    alarm(SECONDS_FOR_A_CELL);
    row->prepare(row);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%d:any:%d:kill", victim, nth);
    if (!arm(text)) wrong("inject.c does not know %s", text);
    row->act(row);
    arm(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) say("NOT KILLED\n");
    close_file();
}

static const char *option(int count, char **words, const char *name)
{
    for (int i = 2; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0) return words[i + 1];
    return NULL;
}

/* Among those named by an option, or none is named. */
static int chosen(int count, char **words, const char *name, const char *value)
{
    for (int i = 2; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0 && strcmp(words[i + 1], value) == 0) return 1;
    return !option(count, words, name);
}

static int has(int count, char **words, const char *name)
{
    for (int i = 2; i < count; i++)
        if (strcmp(words[i], name) == 0) return 1;
    return 0;
}

/* A long path, as they are on large machines: the cause must be in the message all the same. */
static void make_directory(const char *within)
{
    directory = malloc(4096);
    path = malloc(4200);
    snprintf(directory, 4096, "%s/a-project-with-a-name-that-says-what-it-is-about/the-third-run-of-the-reference-case-at-full-resolution",
             within);
    snprintf(path, 4200, "%s/data-of-all-ranks", directory);
    if (rank == 0) {
        *strrchr(directory, '/') = 0;
        mkdir(directory, 0755);
        directory[strlen(directory)] = '/';
        mkdir(directory, 0755);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void list(void)
{
    for (int i = 0; i < row_count; i++) printf("ROW|%d|%s\n", i, rows[i].name);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) printf("COLUMN|%zu|%s\n", i, columns[i].name);
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    arm = (inject_arm_function *)dlsym(RTLD_DEFAULT, "inject_arm");
    report_to = (inject_report_function *)dlsym(RTLD_DEFAULT, "inject_report");
    if (has(count, words, "--list")) {
        list();
    } else if (count < 2 || !arm || !report_to) {
        fprintf(stderr, "usage: faults DIRECTORY ..., with inject.so preloaded\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    } else {
        const char *where = option(count, words, "--kill"), *from = option(count, words, "--from");
        int cell = 0, first = from ? atoi(from) : 0, quick = has(count, words, "--quick");
        make_directory(words[1]);
        signal(SIGALRM, on_alarm);
        for (int i = 0; i < row_count; i++) {
            if (!chosen(count, words, "--row", rows[i].name)) continue;
            if (where) run_kill(&rows[i], where);
            for (size_t j = 0; !where && j < sizeof columns / sizeof *columns; j++)
                if (chosen(count, words, "--column", columns[j].name) && cell++ >= first)
                    run_cell(&rows[i], &columns[j], quick);
        }
        alarm(0);
    }
    MPI_Finalize();
    return 0;
}
