/* The state that ranks share, the lock server, and the calls of the C library that go through it. */
#define _GNU_SOURCE
#include "model.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct state *state;
struct opened opened[MOST_FDS];
static char root[PATH_MAX];
static int log_file = -1, own_client;
static unsigned service;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int rank_of_process(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; i++)
        if (getenv(names[i])) return atoi(getenv(names[i]));
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    for (int i = 0; i < MOST_FDS; i++) opened[i].file = -1;
    const char *directory = getenv("MODEL_ROOT"), *path = getenv("MODEL_STATE");
    if (!directory || !path || !realpath(directory, root)) return;
    int file = NEXT(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof *state)) return;
    void *memory = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return;
    state = memory;
    const char *ranks = getenv("MODEL_CLIENTS"), *name = getenv("MODEL_LOG");
    const char *time = getenv("MODEL_SERVICE");
    service = time ? (unsigned)atoi(time) : 0;
    own_client = rank_of_process() / (ranks ? atoi(ranks) : 1);
    if (name) log_file = NEXT(open)(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

int client(void) { return own_client; }

int fails(const char *name)
{
    const char *list = getenv("MODEL_FAIL");
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ',')) return 1;
    return 0;
}

/* A word in shared memory; a rank that ends inside never does so between these two. */
void hold(void)
{
    uint32_t free = 0;
    while (!__atomic_compare_exchange_n(&state->mutex, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        syscall(SYS_futex, &state->mutex, FUTEX_WAIT, 1, &(struct timespec){0, 1000000}, NULL, 0);
        free = 0;
    }
}

void release(void)
{
    __atomic_store_n(&state->mutex, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, &state->mutex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void record(const char *format, ...)
{
    if (log_file < 0) return;
    char line[512];
    int length = snprintf(line, sizeof line, "client %d: ", own_client);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    va_end(arguments);
    line[length++] = '\n';
    if (write(log_file, line, (size_t)length) < 0) return;
}

struct opened *of_descriptor(int fd)
{
    return state && fd >= 0 && fd < MOST_FDS && opened[fd].file >= 0 ? &opened[fd] : NULL;
}

/* ---- the lock server ---- */

static int conflicts(const struct lock *lock, enum mode mode, unsigned long group)
{
    if (lock->mode == GROUP_LOCK && mode == GROUP_LOCK) return lock->group != group;
    return lock->mode != READ_LOCK || mode != READ_LOCK;
}

static void drop(int index) { state->locks[index] = state->locks[--state->lock_count]; }

/* A lock is given as large as nobody else's is in the way, but upwards only once somebody has one. */
static void expand(int file, int object, enum mode mode, uint64_t *start, uint64_t *end)
{
    uint64_t from = 0, to = UINT64_MAX, wanted_start = *start, wanted_end = *end, unit = 4096;
    int others = 0;
    for (int i = 0; i < state->lock_count; i++) {
        const struct lock *lock = &state->locks[i];
        if (lock->file != file || lock->object != object || !conflicts(lock, mode, 0)) continue;
        others++;
        from = wanted_start;
        if (lock->start > wanted_end && lock->start - 1 < to) to = lock->start - 1;
    }
    if (others > 32 && mode == WRITE_LOCK && to > wanted_start + (32 << 20) - 1) to = wanted_start + (32 << 20) - 1;
    if (to < wanted_end) to = wanted_end;
    while (unit < UINT64_C(1) << 40 && !((wanted_start | (wanted_end + 1)) & unit)) unit *= 2;
    if (from) from = (from + unit - 1) / unit * unit;
    if (to != UINT64_MAX) to = (to + 1) / unit * unit - 1;
    *start = from < wanted_start ? from : wanted_start;
    *end = to > wanted_end ? to : wanted_end;
}

int enqueue(int file, int object, enum mode mode, uint64_t start, uint64_t end, int flags, unsigned long group)
{
    start = start / 4096 * 4096;
    end |= 4095;
    for (int i = 0; i < state->lock_count; i++) {
        const struct lock *lock = &state->locks[i];
        if (lock->file == file && lock->object == object && lock->client == own_client && lock->mode >= (int)mode &&
            lock->mode != GROUP_LOCK && lock->start <= start && lock->end >= end) {
            state->counts[MATCHED]++;
            return 1;
        }
    }
    state->counts[ENQUEUES]++;
    if (flags & SPECULATIVE) state->counts[SPECULATED]++;
    for (int i = 0; i < state->lock_count; i++) {
        const struct lock *lock = &state->locks[i];
        if (lock->file != file || lock->object != object || lock->start > end || lock->end < start) continue;
        if (!conflicts(lock, mode, group)) continue;
        if (flags & SPECULATIVE) {
            state->counts[DROPPED]++;
            return -1;
        }
        if (lock->mode == GROUP_LOCK) { /* nobody can take it away: wait for its end */
            state->counts[WAITS]++;
            release();
            usleep(1000);
            hold();
            i = -1;
            continue;
        }
        state->counts[CALLBACKS]++;
        state->counts[CANCELS]++;
        record("callback to client %d object %d bytes %lu-%lu", lock->client, object, (unsigned long)lock->start, (unsigned long)lock->end);
        drop(i--);
    }
    if (flags & EXPAND) expand(file, object, mode, &start, &end);
    if (state->lock_count == MOST_LOCKS) drop(0); /* as servers do that have too many */
    state->locks[state->lock_count++] = (struct lock){file, object, own_client, mode, start, end, group};
    state->counts[GRANTS]++;
    if ((uint64_t)state->lock_count > state->counts[LOCKS_MOST]) state->counts[LOCKS_MOST] = (uint64_t)state->lock_count;
    return 0;
}

void cancel(int file, int object, int whose, uint64_t start, uint64_t end)
{
    for (int i = 0; i < state->lock_count; i++) {
        const struct lock *lock = &state->locks[i];
        if (lock->file != file || (object != ANY && lock->object != object) || (whose != ANY && lock->client != whose) ||
            lock->start > end || lock->end < start)
            continue;
        state->counts[CANCELS]++;
        drop(i--);
    }
}

/* The first byte of an object at or after an offset of the file. */
static uint64_t in_object(const struct file *file, uint64_t offset, uint64_t object)
{
    uint64_t stripe = offset / file->stripe_size, row = stripe / file->stripe_count, column = stripe % file->stripe_count;
    if (object < column) return (row + 1) * file->stripe_size;
    if (object > column) return row * file->stripe_size;
    return row * file->stripe_size + offset % file->stripe_size;
}

void each_object(const struct file *file, uint64_t start, uint64_t end,
                 void (*act)(int object, uint64_t start, uint64_t end, void *with), void *with)
{
    for (uint64_t object = 0; object < file->stripe_count; object++) {
        uint64_t from = in_object(file, start, object), to = in_object(file, end, object);
        if (from < to) act((int)object, from, to - 1, with);
    }
}

/* ---- files ---- */

static int below_root(const char *path)
{
    char full[PATH_MAX], directory[PATH_MAX];
    if (!state) return 0;
    if (!realpath(path, full)) {
        snprintf(directory, sizeof directory, "%s", path);
        char *slash = strrchr(directory, '/');
        if (slash) *slash = 0;
        if (!realpath(slash ? (slash == directory ? "/" : directory) : ".", full)) return 0;
    }
    size_t length = strlen(root);
    return !strncmp(full, root, length) && (!full[length] || full[length] == '/');
}

static int file_of(const struct stat *status, int flags)
{
    hold();
    int found = -1;
    for (int i = 0; i < MOST_FILES && found < 0; i++)
        if (state->files[i].used && state->files[i].device == status->st_dev && state->files[i].inode == status->st_ino) found = i;
    if (found < 0) {
        found = state->next_file++ % MOST_FILES;
        cancel(found, ANY, ANY, 0, UINT64_MAX);
        state->files[found] = (struct file){.device = status->st_dev, .inode = status->st_ino, .used = 1};
    }
    if (!state->files[found].has_layout) when_created(&state->files[found], flags);
    release();
    return found;
}

static int note(int fd, const char *path, int flags)
{
    struct stat status;
    if (fd < 0 || fd >= MOST_FDS || !state) return fd;
    opened[fd].file = -1;
    if (!below_root(path) || syscall(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH) || !S_ISREG(status.st_mode)) return fd;
    opened[fd] = (struct opened){.file = file_of(&status, flags)};
    return fd;
}

static void forget(const char *path)
{
    struct stat status;
    if (!state || !below_root(path) || syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) || status.st_nlink > 1) return;
    hold();
    for (int i = 0; i < MOST_FILES; i++) {
        struct file *file = &state->files[i];
        if (!file->used || file->device != status.st_dev || file->inode != status.st_ino) continue;
        for (int lock = 0; lock < state->lock_count; lock++)
            if (state->locks[lock].file == i) drop(lock--);
        file->used = 0;
    }
    release();
}

/* ---- calls of the C library ---- */

#define OPENING(name)                                              \
    int name(const char *path, int flags, ...)                     \
    {                                                              \
        va_list arguments;                                         \
        va_start(arguments, flags);                                \
        mode_t mode = va_arg(arguments, mode_t);                   \
        va_end(arguments);                                         \
        return note(NEXT(name)(path, flags, mode), path, flags);   \
    }
OPENING(open)
OPENING(open64)

int close(int fd)
{
    if (of_descriptor(fd)) {
        when_closed(fd);
        opened[fd].file = -1;
    }
    return NEXT(close)(fd);
}

int unlink(const char *path)
{
    forget(path);
    return NEXT(unlink)(path);
}

static uint64_t total(const struct iovec *pieces, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += pieces[i].iov_len;
    return sum;
}

/* An access that takes its time lets those of other clients come between, as on several processors. */
static int admit(int fd, enum mode mode, uint64_t offset, uint64_t length)
{
    int refused = before_access(fd, mode, offset, length);
    if (service) usleep(service);
    return refused;
}

#define ACCESS(name, mode, length, parameters, values)                        \
    ssize_t name parameters                                                   \
    {                                                                         \
        int refused = of_descriptor(fd) ? admit(fd, mode, (uint64_t)offset, length) : 0; \
        if (refused) {                                                        \
            errno = -refused;                                                 \
            return -1;                                                        \
        }                                                                     \
        return NEXT(name) values;                                             \
    }
ACCESS(pread, READ_LOCK, size, (int fd, void *buffer, size_t size, off_t offset), (fd, buffer, size, offset))
ACCESS(pwrite, WRITE_LOCK, size, (int fd, const void *buffer, size_t size, off_t offset), (fd, buffer, size, offset))
ACCESS(pread64, READ_LOCK, size, (int fd, void *buffer, size_t size, off_t offset), (fd, buffer, size, offset))
ACCESS(pwrite64, WRITE_LOCK, size, (int fd, const void *buffer, size_t size, off_t offset), (fd, buffer, size, offset))
ACCESS(preadv, READ_LOCK, total(pieces, count), (int fd, const struct iovec *pieces, int count, off_t offset), (fd, pieces, count, offset))
ACCESS(pwritev, WRITE_LOCK, total(pieces, count), (int fd, const struct iovec *pieces, int count, off_t offset), (fd, pieces, count, offset))
ACCESS(preadv64, READ_LOCK, total(pieces, count), (int fd, const struct iovec *pieces, int count, off_t offset), (fd, pieces, count, offset))
ACCESS(pwritev64, WRITE_LOCK, total(pieces, count), (int fd, const struct iovec *pieces, int count, off_t offset), (fd, pieces, count, offset))

int ioctl(int fd, unsigned long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int answer = 0;
    if (!of_descriptor(fd) || !request(fd, number, argument, &answer)) return NEXT(ioctl)(fd, number, argument);
    if (answer >= 0) return answer;
    errno = -answer;
    return -1;
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    ssize_t length = of_descriptor(fd) ? attribute(fd, name, value, size) : -ENOSYS;
    if (length == -ENOSYS) return NEXT(fgetxattr)(fd, name, value, size);
    if (length >= 0) return length;
    errno = (int)-length;
    return -1;
}

/* What ranks send each other with bytes for the file; handles are words here, whatever they are to the MPI. */
int PMPI_Issend(const void *bytes, int count, uintptr_t type, int to, int tag, uintptr_t comm, void *request)
{
    if (state) {
        __atomic_add_fetch(&state->counts[MESSAGES], 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&state->counts[MESSAGE_BYTES], (uint64_t)count, __ATOMIC_RELAXED);
        record("message to %d about window %d", to, tag);
    }
    int (*next)(const void *, int, uintptr_t, int, int, uintptr_t, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Issend");
    return next(bytes, count, type, to, tag, comm, request);
}

#define STATFS(name, structure)                                   \
    int name(const char *path, struct structure *status)          \
    {                                                             \
        int answer = NEXT(name)(path, status);                    \
        if (!answer && below_root(path) && !fails("statfs")) status->f_type = MAGIC; \
        return answer;                                            \
    }
STATFS(statfs, statfs)
STATFS(statfs64, statfs64)

#define FSTAT(name, structure)                                                       \
    int name(int fd, struct structure *status)                                       \
    {                                                                                \
        int answer = NEXT(name)(fd, status);                                         \
        if (!answer && of_descriptor(fd) && BLOCK_SIZE) status->st_blksize = BLOCK_SIZE; \
        return answer;                                                               \
    }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)
