/* A preload that makes calls of the library into the C library fail, one chosen position at a time.
 *
 *     FAULT=RANK:CALLS:NTH[+]:ACTION
 *
 * RANK    the rank in MPI_COMM_WORLD, or * for every one
 * CALLS   groups of calls joined by commas, see `groups`; positions are counted over all of them
 * NTH     which of them, from 1; with a + that one and all behind it
 * ACTION  an errno by name; short (a transfer moves half); short-ERRNO (and the next one fails); truncate (the file is
 *         cut to nothing just before); kill
 *
 * Only calls made by the library itself count: the return address tells. Calls of the MPI and of the program pass. */
#define _GNU_SOURCE
#include "inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPEN = 1, READ = 2, WRITE = 4, SYNC = 8, SIZE = 16, LOCK = 32, WAIT = 64, UNLOCK = 128, CLOSE = 256, STAT = 512,
       DUP = 1024, UNLINK = 2048, MEMORY = 4096, THREAD = 8192 };

static const struct { const char *name; unsigned group; } groups[] = {
    {"open", OPEN}, {"read", READ}, {"write", WRITE}, {"sync", SYNC}, {"size", SIZE}, {"lock", LOCK}, {"wait", WAIT},
    {"unlock", UNLOCK}, {"close", CLOSE}, {"stat", STAT}, {"dup", DUP}, {"unlink", UNLINK}, {"memory", MEMORY}, {"thread", THREAD},
};

static const struct { const char *name; int code; } errors[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR}, {"EAGAIN", EAGAIN}, {"EACCES", EACCES},
    {"EROFS", EROFS}, {"EMFILE", EMFILE}, {"ENOLCK", ENOLCK}, {"ENOMEM", ENOMEM}, {"ENOENT", ENOENT}, {"ESTALE", ESTALE},
    {"EOPNOTSUPP", EOPNOTSUPP},
};

enum action { PASS, FAIL, SHORT, TRUNCATE, KILL };

/* From here on an allocation is a buffer. Below it is bookkeeping, without which Rust ends the process. */
enum { SMALLEST_BUFFER = 16384 };

static struct {
    atomic_int armed;
    unsigned calls;
    int nth, onwards, error; /* the error is that of `FAIL`, or of the call behind a short one */
    enum action action;
    atomic_int seen, fired;
    char call[32];
    double at;
} fault;

static atomic_long live;
static uintptr_t library_start, library_end;

/* ---- who calls -------------------------------------------------------------------------------------------------- */

/* The library is what the program's calls of MPI_File_open reach, whatever its file is called. */
static int find_library(struct dl_phdr_info *object, size_t size, void *entry)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type == PT_LOAD && header->p_flags & PF_X && (uintptr_t)entry >= start && (uintptr_t)entry < end) {
            library_start = start;
            library_end = end;
            return 1;
        }
    }
    return 0;
}

static int is_library(const void *caller)
{
    return (uintptr_t)caller >= library_start && (uintptr_t)caller < library_end;
}

#define OURS is_library(__builtin_return_address(0))

/* ---- what happens ----------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void die(const char *call)
{
    char line[128];
    int length = snprintf(line, sizeof line, "KILLED in %s at %.6f\n", call, now());
    if (write(STDERR_FILENO, line, (size_t)length) < 0) _exit(9);
    kill(getpid(), SIGKILL);
}

/* What is to become of this call. `can_be_short` says that it moves more than one byte. */
static enum action decide(unsigned group, const char *call, int can_be_short)
{
    if (!atomic_load(&fault.armed) || !(fault.calls & group)) return PASS;
    if (fault.action == SHORT && !can_be_short && !fault.fired) return PASS;
    int position = atomic_fetch_add(&fault.seen, 1) + 1;
    enum action action = fault.action;
    if (fault.action == SHORT && fault.error && position == fault.nth + 1) action = FAIL;
    else if (position < fault.nth || (position > fault.nth && !fault.onwards)) return PASS;
    if (atomic_fetch_add(&fault.fired, 1) == 0) {
        snprintf(fault.call, sizeof fault.call, "%s", call);
        fault.at = now();
    }
    if (action == KILL) die(call);
    return action;
}

/* 1: this rank has the fault; -1: another one; 0: the text has a mistake. */
static int parse(const char *text, int rank)
{
    char who[16], calls[128], action[32];
    int nth, length = 0;
    if (sscanf(text, "%15[^:]:%127[^:]:%d%n", who, calls, &nth, &length) != 3) return 0;
    fault.onwards = text[length] == '+';
    if (sscanf(text + length + fault.onwards, ":%31s", action) != 1) return 0;
    fault.calls = 0;
    char *rest = calls;
    for (char *word; (word = strsep(&rest, ","));) {
        unsigned group = strcmp(word, "any") == 0 ? ~(unsigned)(MEMORY | THREAD | UNLOCK) : 0;
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            if (strcmp(word, groups[i].name) == 0) group = groups[i].group;
        if (!group) return 0;
        fault.calls |= group;
    }
    const char *name = action;
    fault.error = 0;
    fault.action = FAIL;
    if (strcmp(action, "kill") == 0) fault.action = KILL;
    else if (strcmp(action, "truncate") == 0) fault.action = TRUNCATE;
    else if (strncmp(action, "short", 5) == 0) fault.action = SHORT, name = action + 5 + (action[5] == '-');
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(name, errors[i].name) == 0) fault.error = errors[i].code;
    fault.nth = nth;
    int known = fault.error || (fault.action != FAIL && (fault.action != SHORT || *name == 0));
    if (!known || nth < 1) return 0;
    return *who == '*' || atoi(who) == rank ? 1 : -1;
}

int inject_arm(const char *text)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    atomic_store(&fault.armed, 0);
    fault.seen = fault.fired = 0;
    *fault.call = 0;
    if (!library_end && !dl_iterate_phdr(find_library, dlsym(RTLD_DEFAULT, "MPI_File_open"))) {
        fprintf(stderr, "nobody has MPI_File_open: no call would ever fail\n");
        abort();
    }
    int answer = text ? parse(text, rank ? atoi(rank) : 0) : -1;
    atomic_store(&fault.armed, answer == 1);
    return answer != 0;
}

void inject_report(struct injected *report)
{
    report->fired = fault.fired;
    memcpy(report->call, fault.call, sizeof report->call);
    report->at = fault.at;
    report->live = live;
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAULT");
    if (!inject_arm(text)) {
        fprintf(stderr, "FAULT=%s: not RANK:CALLS:NTH:ACTION\n", text);
        _exit(2);
    }
}

/* ---- calls that answer with a number, -1 for a failure ---------------------------------------------------------- */

#define NEXT(name)                        \
    static __typeof__(&name) next;        \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define FAILS(group, call)                                                \
    if (OURS && decide(group, call, 0) == FAIL) {                         \
        errno = fault.error;                                              \
        return -1;                                                        \
    }

#define SIMPLE(group, result, name, parameters, arguments)  \
    result name parameters                                  \
    {                                                       \
        NEXT(name);                     \
        FAILS(group, #name)                                 \
        return next arguments;                              \
    }

SIMPLE(SYNC, int, fsync, (int fd), (fd))
SIMPLE(SYNC, int, fdatasync, (int fd), (fd))
static int is_memory(int fd)
{
    char path[64], target[16] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    static __typeof__(&readlink) look;
    if (!look) look = (__typeof__(&readlink))dlsym(RTLD_NEXT, "readlink");
    return look(path, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:", 7) == 0;
}

#define RESIZING(name)                                                            \
    int name(int fd, off_t size)                                                  \
    {                                                                             \
        NEXT(name);                                                               \
        FAILS(SIZE, is_memory(fd) ? "size of shared memory" : #name)              \
        return next(fd, size);                                                    \
    }
RESIZING(ftruncate)
RESIZING(ftruncate64)
SIMPLE(SIZE, int, fallocate, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size))
SIMPLE(SIZE, int, fallocate64, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size))
SIMPLE(STAT, int, fstat, (int fd, struct stat *status), (fd, status))
SIMPLE(STAT, int, fstat64, (int fd, struct stat64 *status), (fd, status))
SIMPLE(STAT, int, stat64, (const char *path, struct stat64 *status), (path, status))
SIMPLE(STAT, int, lstat, (const char *path, struct stat *status), (path, status))
SIMPLE(STAT, int, lstat64, (const char *path, struct stat64 *status), (path, status))
SIMPLE(STAT, int, fstatat, (int fd, const char *path, struct stat *status, int flags), (fd, path, status, flags))
SIMPLE(STAT, int, fstatat64, (int fd, const char *path, struct stat64 *status, int flags), (fd, path, status, flags))
SIMPLE(STAT, int, statfs, (const char *path, struct statfs *status), (path, status))
SIMPLE(STAT, int, statx, (int fd, const char *path, int flags, unsigned mask, struct statx *status),
       (fd, path, flags, mask, status))
SIMPLE(STAT, ssize_t, readlink, (const char *path, char *target, size_t size), (path, target, size))
SIMPLE(UNLINK, int, unlink, (const char *path), (path))
SIMPLE(UNLINK, int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))

/* The last descriptor that the library duplicated: closing it is how it asks for what the file system kept. */
static int duplicate = -1;

/* A failed close has closed the file all the same. */
int close(int fd)
{
    NEXT(close);
    const char *call = fd == duplicate ? "close of a duplicate" : "close";
    if (fd == duplicate) duplicate = -1;
    int failed = OURS && decide(CLOSE, call, 0) == FAIL, answer = next(fd);
    if (!failed) return answer;
    errno = fault.error;
    return -1;
}

static int of_system(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/etc/", 5) == 0;
}

#define OPENING(name)                                           \
    int name(const char *path, int flags, ...)                  \
    {                                                           \
        NEXT(name);               \
        va_list arguments;                                      \
        va_start(arguments, flags);                             \
        mode_t mode = va_arg(arguments, mode_t);                \
        va_end(arguments);                                      \
        FAILS(OPEN, of_system(path) ? "open of a system file" : "open") \
        return next(path, flags, mode);                         \
    }
OPENING(open)
OPENING(open64)

#define CONTROL(name)                                                                              \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        NEXT(name);                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, command);                                                              \
        void *argument = va_arg(arguments, void *);                                                \
        va_end(arguments);                                                                         \
        int locks = command == F_OFD_SETLK || command == F_OFD_SETLKW;                             \
        if (locks && ((struct flock *)argument)->l_type == F_UNLCK) { FAILS(UNLOCK, "unlock") }    \
        else if (command == F_OFD_SETLK) { FAILS(LOCK, "lock") }                                   \
        else if (command == F_OFD_SETLKW) { FAILS(WAIT, "lock, waiting") }                         \
        else if (command == F_DUPFD_CLOEXEC) { FAILS(DUP, "dup") }                                 \
        int answer = next(fd, command, argument);                                                  \
        if (command == F_DUPFD_CLOEXEC && OURS) duplicate = answer;                                \
        return answer;                                                                             \
    }
CONTROL(fcntl)
CONTROL(fcntl64)

/* ---- transfers -------------------------------------------------------------------------------------------------- */

static void cut_file(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (truncate(path, 0) != 0) abort();
}

#define TRANSFER(group, name, byte)                                                    \
    ssize_t name(int fd, byte *memory, size_t size, off_t offset)                      \
    {                                                                                  \
        NEXT(name);                              \
        switch (OURS ? decide(group, #name, size > 1) : PASS) {                        \
        case FAIL: errno = fault.error; return -1;                                     \
        case SHORT: size /= 2; break;                                                  \
        case TRUNCATE: cut_file(fd); break;                                            \
        default: break;                                                                \
        }                                                                              \
        return next(fd, memory, size, offset);                                         \
    }
TRANSFER(READ, pread, void)
TRANSFER(READ, pread64, void)
TRANSFER(WRITE, pwrite, const void)
TRANSFER(WRITE, pwrite64, const void)

/* A short one moves half of the first piece. */
#define VECTORED(group, name)                                                          \
    ssize_t name(int fd, const struct iovec *pieces, int count, off_t offset)          \
    {                                                                                  \
        NEXT(name);                   \
        struct iovec half = {pieces->iov_base, pieces->iov_len / 2};                   \
        switch (OURS ? decide(group, #name, half.iov_len > 0) : PASS) {                \
        case FAIL: errno = fault.error; return -1;                                     \
        case SHORT: return next(fd, &half, 1, offset);                                 \
        case TRUNCATE: cut_file(fd); break;                                            \
        default: break;                                                                \
        }                                                                              \
        return next(fd, pieces, count, offset);                                        \
    }
VECTORED(READ, preadv)
VECTORED(READ, preadv64)
VECTORED(WRITE, pwritev)
VECTORED(WRITE, pwritev64)

/* Files of the system only: data goes through pread. */
ssize_t read(int fd, void *memory, size_t size)
{
    NEXT(read);
    if (OURS && fault.action == FAIL && decide(READ, "read of a system file", 0) == FAIL) {
        errno = fault.error;
        return -1;
    }
    return next(fd, memory, size);
}

/* ---- memory and threads ----------------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

#define MAKES(size, real)                                                                              \
    if (!OURS) return real;                                                                            \
    if ((size) >= SMALLEST_BUFFER && decide(MEMORY, "allocation", 0) == FAIL) return errno = ENOMEM, NULL; \
    void *made = real;                                                                                 \
    if (made) atomic_fetch_add(&live, 1);                                                              \
    return made

void *malloc(size_t size) { MAKES(size, __libc_malloc(size)); }
void *calloc(size_t count, size_t size) { MAKES(count * size, __libc_calloc(count, size)); }

void *realloc(void *memory, size_t size)
{
    if (!OURS) return __libc_realloc(memory, size);
    if (size >= SMALLEST_BUFFER && decide(MEMORY, "allocation", 0) == FAIL) return errno = ENOMEM, NULL;
    void *made = __libc_realloc(memory, size);
    if (made && !memory) atomic_fetch_add(&live, 1);
    return made;
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    int ours = OURS;
    if (ours && size >= SMALLEST_BUFFER && decide(MEMORY, "allocation", 0) == FAIL) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    if (*memory && ours) atomic_fetch_add(&live, 1);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    if (memory && OURS) atomic_fetch_sub(&live, 1);
    __libc_free(memory);
}

/* What it makes, the library frees. */
char *realpath(const char *restrict path, char *restrict resolved)
{
    NEXT(realpath);
    if (OURS && decide(STAT, "realpath", 0) == FAIL) return errno = fault.error, NULL;
    char *made = next(path, resolved);
    if (made && !resolved && OURS) atomic_fetch_add(&live, 1);
    return made;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    NEXT(pthread_create);
    if (OURS && decide(THREAD, "pthread_create", 0) == FAIL) return EAGAIN;
    return next(thread, attributes, run, argument);
}
