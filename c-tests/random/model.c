/* The file as it must be, and who touched which byte since the last synchronisation.
 *
 * A program is only predictable if accesses of different ranks to the same byte, one of them a write, are separated by
 * a synchronisation. The steps ask access_conflicts() and synchronise first where needed. The same holds for the size
 * of the file, which reads across the end look at and extending writes change. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "random.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static Page *find_page(File *file, int64_t offset, bool create)
{
    int64_t index = offset / PAGE;
    Page **slot = &file->pages[index % PAGE_LISTS];
    for (Page *page = *slot; page; page = page->next)
        if (page->index == index) return page;
    if (!create) return NULL;
    Page *page = keep(sizeof *page);
    page->index = index;
    page->next = *slot;
    return *slot = page;
}

unsigned char *model_byte(File *file, int64_t offset)
{
    Page *page = find_page(file, offset, true);
    page->unknown[offset % PAGE] = false;
    return &page->data[offset % PAGE];
}

void model_forget(File *file, int64_t offset)
{
    find_page(file, offset, true)->unknown[offset % PAGE] = true;
}

bool model_unknown(File *file, int64_t offset)
{
    Page *page = find_page(file, offset, false);
    return page && page->unknown[offset % PAGE];
}

unsigned char model_value(File *file, int64_t offset)
{
    Page *page = find_page(file, offset, false);
    return page ? page->data[offset % PAGE] : 0;
}

/* What lies past the new end is gone: it reads as zeros when the file grows again. */
void model_resize(File *file, int64_t size)
{
    for (int i = 0; i < PAGE_LISTS; i++)
        for (Page *page = file->pages[i]; page; page = page->next) {
            int64_t start = page->index * PAGE, from = size > start ? size - start : 0;
            if (from < PAGE) memset(page->data + from, 0, (size_t)(PAGE - from)), memset(page->unknown + from, 0, (size_t)(PAGE - from));
        }
    file->size = size;
}

void model_clear_epoch(File *file)
{
    for (int i = 0; i < PAGE_LISTS; i++)
        for (Page *page = file->pages[i]; page; page = page->next) {
            memset(page->writer, 0, sizeof page->writer);
            memset(page->readers, 0, sizeof page->readers);
        }
    file->stable_size = file->size;
    file->size_writers = file->size_readers = 0;
}

static bool looks_at_size(const Access *access)
{
    return !access->routine->write && access->bytes > 0 && access->last > access->file->stable_size;
}

static bool changes_size(const Access *access)
{
    /* beyond the size at the last synchronisation, not the present one: what has grown it since may come later in time */
    return access->routine->write && access->last > access->file->stable_size;
}

bool access_conflicts(const Access *access)
{
    File *file = access->file;
    uint16_t others = (uint16_t)~(1u << access->rank);
    if (looks_at_size(access) && (file->pending_size_writes || (file->size_writers & others))) return true;
    if (changes_size(access) && (file->pending_size_reads || (file->size_readers & others))) return true;
    for (int64_t i = 0; i < access->transferred; i++) {
        int64_t offset = access_file_byte(access, i);
        Page *page = find_page(file, offset, true);
        int64_t at = offset % PAGE;
        if (page->pending_writes[at] || (page->writer[at] && page->writer[at] != access->rank + 1)) return true;
        if (access->routine->write && (page->pending_reads[at] || (page->readers[at] & others))) return true;
    }
    return false;
}

static void change_pending(const Access *access, int by)
{
    File *file = access->file;
    for (int64_t i = 0; i < access->transferred; i++) {
        int64_t offset = access_file_byte(access, i);
        Page *page = find_page(file, offset, true);
        unsigned char *marks = access->routine->write ? page->pending_writes : page->pending_reads;
        marks[offset % PAGE] = (unsigned char)(marks[offset % PAGE] + by);
    }
    /* whether an access under way looks at or changes the size is not worth remembering: assume it does */
    if (access->routine->write) file->pending_size_writes += by;
    else file->pending_size_reads += by;
}

void mark_access(const Access *access)
{
    File *file = access->file;
    if (looks_at_size(access)) file->size_readers |= (uint16_t)(1u << access->rank);
    if (changes_size(access)) file->size_writers |= (uint16_t)(1u << access->rank);
    for (int64_t i = 0; i < access->transferred; i++) {
        int64_t offset = access_file_byte(access, i);
        Page *page = find_page(file, offset, true);
        if (access->routine->write) page->writer[offset % PAGE] = (unsigned char)(access->rank + 1);
        else page->readers[offset % PAGE] |= (uint16_t)(1u << access->rank);
    }
    if (access->routine->synchronism != BLOCKING) change_pending(access, 1);
}

void unmark_pending(const Access *access)
{
    change_pending(access, -1);
}

bool in_user_space(int descriptor)
{
    enum { FUSE = 0x65735546 };
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 && system.f_type == FUSE;
}

/* The client of a file system in user space may remember the size of a file, and all of a small one (GlusterFS, for a second).
 * It forgets that when it hears of a change, such as a hole where there are no bytes. */
static void look_anew(const char *path, int descriptor)
{
    struct statx now;
    int writing = open(path, O_WRONLY);
    if (writing >= 0) {
        (void)fallocate(writing, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, INT64_MAX - 1, 1);
        close(writing);
    }
    (void)fsync(descriptor);
    (void)statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &now);
}

static int open_posix(const File *file)
{
    int descriptor = open(file->path, O_RDONLY);
    if (descriptor < 0) fail("opening %s to verify it: %s", file->path, strerror(errno));
    if (in_user_space(descriptor)) look_anew(file->path, descriptor);
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED); /* what this host read for an earlier look may be old */
    return descriptor;
}

void model_adopt(File *file, int64_t offset, int64_t length, unsigned char *into)
{
    int descriptor = open_posix(file);
    ssize_t got = pread(descriptor, into, (size_t)length, offset);
    if (got < 0) fail("reading %s to verify it: %s", file->path, strerror(errno));
    memset(into + got, 0, (size_t)(length - got));
    close(descriptor);
}

/* The bytes from `offset` on, within one page of the model. */
static void compare_page(File *file, const unsigned char *bytes, int64_t offset, size_t count)
{
    static const unsigned char zeros[PAGE];
    const Page *page = find_page(file, offset, false);
    const unsigned char *expected = page ? page->data + offset % PAGE : zeros;
    if (memcmp(bytes, expected, count) == 0) return;
    size_t i = 0;
    while (bytes[i] == expected[i]) i++;
    fail("%s: byte %lld is %02x, must be %02x", file->path, (long long)(offset + (int64_t)i), bytes[i], expected[i]);
}

/* Many pages at a time: where a file system knows no holes, they are gigabytes of zeros. */
static void compare_range(File *file, int descriptor, int64_t start, int64_t end)
{
    static unsigned char bytes[64 * PAGE];
    while (start < end) {
        size_t most = end - start < (int64_t)sizeof bytes ? (size_t)(end - start) : sizeof bytes;
        ssize_t got = pread(descriptor, bytes, most, start);
        if (got <= 0) fail("%s ends at byte %lld, its size is %lld", file->path, (long long)start, (long long)file->size);
        for (ssize_t done = 0, step; done < got; done += step) {
            step = PAGE - (start + done) % PAGE;
            if (step > got - done) step = got - done;
            compare_page(file, bytes + done, start + done, (size_t)step);
        }
        start += got;
    }
}

static bool is_changed(const void *of, int64_t offset)
{
    const File *file = of;
    unsigned char before = offset < file->initial_size ? pattern(program.seed, offset) : 0;
    return model_unknown((File *)of, offset) || model_value((File *)of, offset) != before;
}

static int byte_in_file(const void *of, int64_t offset)
{
    return model_unknown((File *)of, offset) ? -1 : model_value((File *)of, offset);
}

/* What the program changed, page after page in ascending order. */
static void emit_verify(File *file)
{
    const char *all = "";
    int64_t done = -1;
    for (;;) {
        int64_t next = INT64_MAX;
        for (int i = 0; i < PAGE_LISTS; i++)
            for (Page *page = file->pages[i]; page; page = page->next)
                if (page->index > done && page->index < next) next = page->index;
        if (next == INT64_MAX || next * PAGE >= file->size) break;
        int64_t length = file->size - next * PAGE < PAGE ? file->size - next * PAGE : PAGE;
        all = text("%s%s", all, patches(next * PAGE, length, is_changed, byte_in_file, file));
        done = next;
    }
    emit_check("is_file(\"%s\", %lld, %lld, %lluu, %s)", file->name, (long long)file->size, (long long)file->initial_size,
               (unsigned long long)program.seed, all);
}

/* Every page of the model, and whatever else the file has allocated (which must be zeros). */
void model_verify(File *file)
{
    struct stat information;
    if (options.print) {
        emit_verify(file);
        return;
    }
    int descriptor = open_posix(file);
    if (fstat(descriptor, &information) != 0) fail("stat %s: %s", file->path, strerror(errno));
    if (information.st_size != file->size)
        fail("%s has %lld bytes, must have %lld", file->path, (long long)information.st_size, (long long)file->size);
    for (int i = 0; i < PAGE_LISTS; i++)
        for (Page *page = file->pages[i]; page; page = page->next) {
            int64_t end = (page->index + 1) * PAGE;
            compare_range(file, descriptor, page->index * PAGE, end < file->size ? end : file->size);
        }
    for (off_t start = 0, end; (start = lseek(descriptor, start, SEEK_DATA)) >= 0; start = end) {
        end = lseek(descriptor, start, SEEK_HOLE);
        compare_range(file, descriptor, start, end < file->size ? end : file->size);
    }
    close(descriptor);
}
