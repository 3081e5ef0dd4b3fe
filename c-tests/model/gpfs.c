/* A stand-in for libgpfs: tokens of whole blocks, hints, and data shipping as a meeting of all openings.
 *
 * MODEL_FAIL: no_data_shipping (EINVAL, as in releases that have it no longer), eintr_data_shipping (the first meeting ends
 * with EINTR for all), no_hints (ENOSYS) */
#define _GNU_SOURCE
#include "../../include/gpfs.h"
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const long MAGIC = GPFS_MAGIC, BLOCK_SIZE = 65536;

void when_created(struct file *file, int flags)
{
    (void)flags;
    file->stripe_size = 65536;
    file->stripe_count = 1;
    file->has_layout = 1;
}

void when_closed(int fd)
{
    state->counts[UNRELEASED] += (uint64_t)opened[fd].held;
    if (opened[fd].shipping) record("closed while shipping");
}

int before_access(int fd, enum mode mode, uint64_t start, uint64_t length)
{
    if (!length) return 0;
    uint64_t first = start / (uint64_t)BLOCK_SIZE * (uint64_t)BLOCK_SIZE, last = (start + length - 1) | (uint64_t)(BLOCK_SIZE - 1);
    hold();
    state->counts[ACCESSES]++;
    if (opened[fd].shipping) state->counts[SHIPPED]++;
    else enqueue(opened[fd].file, 0, mode, first, last, EXPAND, 0);
    release();
    return 0;
}

int request(int fd, unsigned long number, void *argument, int *answer)
{
    (void)fd, (void)number, (void)argument, (void)answer;
    return 0;
}

ssize_t attribute(int fd, const char *name, void *value, size_t size)
{
    (void)fd, (void)name, (void)value, (void)size;
    return -ENOSYS;
}

/* All openings meet; the last one decides for all. */
static int meet(int fd, int instances, int starts)
{
    struct file *file = &state->files[opened[fd].file];
    hold();
    if (starts && file->shipping) return release(), -EINVAL;
    if (!starts && !opened[fd].shipping) return release(), -EINVAL;
    if (file->arrived == 0) file->expected = instances, file->verdict = 0;
    if (file->expected != instances) file->verdict = -EINVAL;
    unsigned round = file->round;
    if (++file->arrived == file->expected) {
        if (starts && fails("no_data_shipping")) file->verdict = -EINVAL;
        if (starts && fails("eintr_data_shipping") && round == 0) file->verdict = -EINTR;
        if (!file->verdict) file->shipping = starts ? instances : 0;
        file->arrived = 0;
        file->round++;
    }
    while (file->round == round) {
        release();
        usleep(500);
        hold();
    }
    int verdict = file->verdict;
    if (!verdict) opened[fd].shipping = starts;
    release();
    return verdict;
}

static int several_ranges(int fd, gpfsMultipleAccessRange_t *entry)
{
    if (entry->accRangeCnt < 0 || entry->accRangeCnt > GPFS_MAX_RANGE_COUNT || entry->relRangeCnt < 0 ||
        entry->relRangeCnt > GPFS_MAX_RANGE_COUNT || entry->relRangeCnt > opened[fd].held)
        return -EINVAL;
    for (int i = 0; i < entry->accRangeCnt; i++)
        if (entry->accRangeArray[i].start < 0 || entry->accRangeArray[i].start + entry->accRangeArray[i].length > BLOCK_SIZE) return -EINVAL;
    record("multiple access range %d released %d", entry->accRangeCnt, entry->relRangeCnt);
    opened[fd].held -= entry->relRangeCnt;
    if (entry->accRangeCnt > 6) entry->accRangeCnt = 6; /* it takes what it likes */
    opened[fd].held += entry->accRangeCnt;
    return 0;
}

static uint64_t last_byte(long long start, long long length) { return length ? (uint64_t)(start + length - 1) : UINT64_MAX; }

static int one(int fd, int *entry)
{
    int file = opened[fd].file, type = entry[1], length = entry[0];
    if (fails("no_hints") && type < 2000) return -ENOSYS;
    switch (type) {
    case GPFS_ACCESS_RANGE: {
        gpfsAccessRange_t *range = (void *)entry;
        record("access range %lld %lld %s", range->start, range->length, range->isWrite ? "write" : "read");
        hold();
        enqueue(file, 0, range->isWrite ? WRITE_LOCK : READ_LOCK, (uint64_t)range->start / 65536 * 65536,
                last_byte(range->start, range->length) | 65535, 0, 0);
        release();
        return 0;
    }
    case GPFS_FREE_RANGE: {
        gpfsFreeRange_t *range = (void *)entry;
        record("free range %lld %lld", range->start, range->length);
        hold();
        cancel(file, 0, client(), (uint64_t)range->start, last_byte(range->start, range->length));
        release();
        return 0;
    }
    case GPFS_MULTIPLE_ACCESS_RANGE: return several_ranges(fd, (void *)entry);
    case GPFS_CLEAR_FILE_CACHE:
        record("clear cache");
        hold();
        cancel(file, ANY, client(), 0, UINT64_MAX);
        release();
        return 0;
    case GPFS_FINE_GRAIN_WRITE_SHARING: record("fine grain write sharing %d", entry[2]); return 0;
    case GPFS_DATA_SHIP_START: record("data shipping start %d", entry[2]); return meet(fd, entry[2], 1);
    case GPFS_DATA_SHIP_MAP:
        record("data shipping map %d agents %d", entry[2], entry[3]);
        return entry[2] % BLOCK_SIZE || length < 16 + 4 * entry[3] ? -EINVAL : 0;
    case GPFS_DATA_SHIP_STOP: record("data shipping stop"); return meet(fd, state->files[file].shipping, 0);
    }
    return -EINVAL;
}

__attribute__((visibility("default"))) int gpfs_fcntl(int fd, void *list)
{
    gpfsFcntlHeader_t *header = list;
    int answer = of_descriptor(fd) ? 0 : -EINVAL;
    if (header->fcntlVersion != GPFS_FCNTL_CURRENT_VERSION || header->fcntlReserved || header->totalLength < 16) answer = -EINVAL;
    if (header->totalLength > GPFS_MAX_FCNTL_LENGTH) answer = -E2BIG;
    /* Data shipping comes after all others: the map is looked at before anybody waits. */
    for (int pass = 0; pass < 2; pass++)
        for (int at = 16, length; !answer && at < header->totalLength; at += length) {
            int *entry = (void *)((char *)list + at);
            length = entry[0];
            if (length < 8 || length % 8 || at + length > header->totalLength) answer = -EINVAL;
            else if ((entry[1] == GPFS_DATA_SHIP_START) == pass) answer = one(fd, entry);
            if (answer) header->errorOffset = at;
        }
    if (!answer) return 0;
    record("refused: %s", strerror(-answer));
    errno = -answer;
    return -1;
}
