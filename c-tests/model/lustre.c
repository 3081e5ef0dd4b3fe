/* A stand-in for liblustreapi, and for the requests that Lustre's part of the kernel answers.
 *
 * MODEL_FAIL: no_lockahead (the server knows none), old_client (ENOTTY), eagain and eopnotsupp (some way into the run),
 * drop (every second speculative request), silent_setstripe, setstripe (EINVAL), no_xattr (only the older request answers) */
#define _GNU_SOURCE
#include "../../include/lustre.h"
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const long MAGIC = LUSTRE_SUPER_MAGIC, BLOCK_SIZE = 0;

static int has_metadata_part(void)
{
    const char *layout = getenv("MODEL_LAYOUT");
    return layout && !strcmp(layout, "metadata");
}

static int is_composite(void)
{
    const char *layout = getenv("MODEL_LAYOUT");
    return layout && (!strcmp(layout, "composite") || !strcmp(layout, "metadata"));
}

static void default_layout(struct file *file)
{
    unsigned long size = 65536, count = 4;
    const char *layout = getenv("MODEL_LAYOUT");
    if (layout) sscanf(layout, "%lux%lu", &size, &count);
    file->stripe_size = size;
    file->stripe_count = count;
    file->has_layout = 1;
}

void when_created(struct file *file, int flags)
{
    int delayed = (flags & O_CREAT) && (flags & LUSTRE_O_LOV_DELAY_CREATE) == LUSTRE_O_LOV_DELAY_CREATE;
    if (!delayed) default_layout(file);
}

void when_closed(int fd)
{
    hold();
    if (opened[fd].group)
        for (int i = 0; i < state->lock_count; i++)
            if (state->locks[i].file == opened[fd].file && state->locks[i].mode == GROUP_LOCK && state->locks[i].client == client())
                state->locks[i--] = state->locks[--state->lock_count];
    opened[fd].group = 0;
    release();
}

struct wish { int file, flags, worst; enum mode mode; };

static void ask(int object, uint64_t start, uint64_t end, void *with)
{
    struct wish *wish = with;
    if (wish->worst == 1) return; /* the kernel stops at the first lock that is there already */
    int outcome = enqueue(wish->file, object, wish->mode, start, end, wish->flags, 0);
    if (wish->flags & SPECULATIVE && outcome == 1) wish->worst = 1;
}

static void take(int object, uint64_t start, uint64_t end, void *with)
{
    struct wish *wish = with;
    enqueue(wish->file, object, wish->mode, start, end, wish->flags, 0);
}

int before_access(int fd, enum mode mode, uint64_t start, uint64_t length)
{
    struct opened *open = &opened[fd];
    if (open->no_expand && (fails("no_lockahead") || (has_metadata_part() && start < 65536))) return -EOPNOTSUPP;
    struct wish wish = {open->file, open->no_expand ? 0 : EXPAND, 0, mode};
    hold();
    struct file *file = &state->files[open->file];
    /* A second opening without the flag makes the objects; through the first one writes fail. */
    int refused = !file->has_layout && mode == WRITE_LOCK ? -EBADF : 0;
    if (!file->has_layout && mode == READ_LOCK) default_layout(file);
    state->counts[ACCESSES]++;
    if (!refused && length && !open->group) each_object(file, start, start + length, take, &wish);
    release();
    return refused;
}

/* ---- advice ---- */

static int lock_ahead(int fd, struct llapi_lu_ladvise *advice)
{
    struct opened *open = &opened[fd];
    int async = advice->lla_peradvice_flags & LF_ASYNC;
    if (advice->lla_start >= advice->lla_end || advice->lla_lockahead_mode < 1 || advice->lla_lockahead_mode > 2) return -EINVAL;
    if (advice->lla_peradvice_flags & ~(unsigned)LF_ASYNC) return -EINVAL;
    if (fails("no_lockahead")) return -EOPNOTSUPP;
    if (has_metadata_part() && advice->lla_start < 65536) return async ? 0 : -EOPNOTSUPP;
    static atomic_int asked;
    int number = atomic_fetch_add(&asked, 1);
    if (fails("eagain") && number % 3 == 2) return -EAGAIN;
    if (fails("eopnotsupp") && number > 3) return -EOPNOTSUPP;
    enum mode mode = advice->lla_lockahead_mode == MODE_READ_USER ? READ_LOCK : WRITE_LOCK;
    struct wish wish = {open->file, async ? SPECULATIVE : 0, 0, mode};
    hold();
    if (async && fails("drop") && number % 2) {
        state->counts[ENQUEUES]++;
        state->counts[SPECULATED]++;
        state->counts[DROPPED]++;
    } else if (state->files[open->file].has_layout) {
        each_object(&state->files[open->file], advice->lla_start, advice->lla_end + 1, ask, &wish);
    }
    release();
    advice->lla_lockahead_result = wish.worst ? LLA_RESULT_DIFFERENT : LLA_RESULT_SENT;
    return 0;
}

static int advise(int fd, int count, struct llapi_lu_ladvise *advices)
{
    if (fails("old_client")) return -ENOTTY;
    if (count < 1 || count >= LAH_COUNT_MAX) return -EFBIG;
    struct llapi_lu_ladvise first = advices[0];
    if (first.lla_advice == LU_LADVISE_LOCKNOEXPAND) {
        record("no-expand %s", first.lla_peradvice_flags & LF_UNSET ? "unset" : "set");
        opened[fd].no_expand = !(first.lla_peradvice_flags & LF_UNSET);
        return 0; /* what follows in the list is not looked at */
    }
    record("lockahead %d", count);
    for (int i = 0; i < count; i++) {
        struct llapi_lu_ladvise *advice = &advices[i];
        if (advice->lla_advice != LU_LADVISE_LOCKAHEAD) return -EINVAL;
        record("  %s %s %lu-%lu", advice->lla_peradvice_flags & LF_ASYNC ? "async" : "sync",
               advice->lla_lockahead_mode == MODE_WRITE_USER ? "write" : "read", (unsigned long)advice->lla_start,
               (unsigned long)advice->lla_end);
        int refused = lock_ahead(fd, advice);
        if (refused) {
            record("  refused: %s", strerror(-refused));
            return refused;
        }
    }
    return 0;
}

__attribute__((visibility("default"))) int llapi_ladvise(int fd, unsigned long long flags, int count, struct llapi_lu_ladvise *advices)
{
    (void)flags;
    int answer = of_descriptor(fd) ? advise(fd, count, advices) : -ENOTTY;
    if (answer >= 0) return 0;
    errno = -answer;
    return -1;
}

/* ---- layouts and group locks ---- */

static int set_stripes(int fd, const struct lov_user_md *wanted)
{
    struct file *file = &state->files[opened[fd].file];
    record("setstripe size %u count %u first %u", wanted->lmm_stripe_size, wanted->lmm_stripe_count, wanted->lmm_stripe_offset);
    if (file->has_layout) return -EEXIST;
    if (fails("silent_setstripe")) return 0;
    if (fails("setstripe") && (wanted->lmm_stripe_size || wanted->lmm_stripe_count)) return -EINVAL;
    if (wanted->lmm_magic != LOV_USER_MAGIC_V1 || wanted->lmm_stripe_size % 65536) return -EINVAL;
    default_layout(file);
    if (wanted->lmm_stripe_size) file->stripe_size = wanted->lmm_stripe_size;
    if (wanted->lmm_stripe_count) file->stripe_count = wanted->lmm_stripe_count > 8 ? 8 : wanted->lmm_stripe_count;
    return 0;
}

static size_t plain(const struct file *file, char *into, uint32_t pattern)
{
    struct lov_user_md head = {LOV_USER_MAGIC_V1, pattern, {1, 2}, (uint32_t)file->stripe_size, (uint16_t)file->stripe_count, 9};
    size_t length = sizeof head;
    memcpy(into, &head, sizeof head);
    for (uint64_t i = 0; i < file->stripe_count; i++, length += sizeof(struct lov_user_ost_data)) {
        struct lov_user_ost_data object = {{i, 0}, 0, (uint32_t)((i + 3) % 8)};
        memcpy(into + length, &object, sizeof object);
    }
    return length;
}

/* Two parts: 64 KiB small stripes or on the metadata server, and the rest. Locks follow the second. */
static size_t blob(const struct file *file, char *into)
{
    if (!is_composite()) return plain(file, into, LOV_PATTERN_RAID0);
    struct file small = {.stripe_size = 65536, .stripe_count = 1};
    size_t heads = sizeof(struct lov_comp_md) + 2 * sizeof(struct lov_comp_md_entry);
    size_t one = plain(&small, into + heads, has_metadata_part() ? LOV_PATTERN_MDT : LOV_PATTERN_RAID0);
    size_t two = plain(file, into + heads + one, LOV_PATTERN_RAID0);
    struct lov_comp_md head = {.lcm_magic = LOV_USER_MAGIC_COMP_V1, .lcm_size = (uint32_t)(heads + one + two), .lcm_entry_count = 2};
    struct lov_comp_md_entry entries[2] = {
        {.lcme_id = 1, .lcme_flags = LCME_FL_INIT, .lcme_end = 65536, .lcme_offset = (uint32_t)heads, .lcme_size = (uint32_t)one},
        {.lcme_id = 2, .lcme_flags = LCME_FL_INIT, .lcme_start = 65536, .lcme_end = UINT64_MAX,
         .lcme_offset = (uint32_t)(heads + one), .lcme_size = (uint32_t)two},
    };
    memcpy(into, &head, sizeof head);
    memcpy(into + sizeof head, entries, sizeof entries);
    return heads + one + two;
}

ssize_t attribute(int fd, const char *name, void *value, size_t size)
{
    if (strcmp(name, "lustre.lov")) return -ENOSYS;
    if (fails("no_xattr")) return -EOPNOTSUPP;
    if (!state->files[opened[fd].file].has_layout) return -ENODATA;
    static char whole[65536];
    size_t length = blob(&state->files[opened[fd].file], whole);
    if (size == 0) return (ssize_t)length;
    if (size < length) return -ERANGE;
    memcpy(value, whole, length);
    return (ssize_t)length;
}

static int group_lock(int fd, unsigned long group)
{
    if (!group || opened[fd].group) return -EINVAL;
    hold();
    struct file *file = &state->files[opened[fd].file];
    if (!file->has_layout) default_layout(file);
    for (uint64_t object = 0; object < file->stripe_count; object++)
        enqueue(opened[fd].file, (int)object, GROUP_LOCK, 0, UINT64_MAX, 0, group);
    opened[fd].group = group;
    release();
    record("group lock");
    return 0;
}

int request(int fd, unsigned long number, void *argument, int *answer)
{
    const struct file *file = &state->files[opened[fd].file];
    if (number == LL_IOC_LOV_SETSTRIPE) {
        hold();
        *answer = set_stripes(fd, argument);
        release();
    } else if (number == LL_IOC_LOV_GETSTRIPE) {
        char whole[65536];
        *answer = file->has_layout ? 0 : -ENODATA;
        plain(file, whole, LOV_PATTERN_RAID0);
        if (!*answer) memcpy(argument, whole, sizeof(struct lov_user_md));
    } else if (number == LL_IOC_GROUP_LOCK) {
        *answer = group_lock(fd, (unsigned long)argument);
    } else if (number == LL_IOC_GROUP_UNLOCK) {
        *answer = opened[fd].group == (unsigned long)argument ? 0 : -EINVAL;
        if (!*answer) when_closed(fd);
        record("group unlock");
    } else if (number == LL_IOC_LADVISE) {
        struct llapi_ladvise_hdr *header = argument;
        *answer = header->lah_magic == LADVISE_MAGIC ? advise(fd, (int)header->lah_count, (void *)(header + 1)) : -EINVAL;
    } else {
        return 0;
    }
    return 1;
}
