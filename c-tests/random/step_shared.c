/* Steps whose order is not known beforehand, or made known by taking turns. */
#include "random.h"

#include <stdlib.h>
#include <string.h>

static bool usable(const File *file)
{
    return file->same_view && file->views[0]->filetype->size > 0;
}

static bool draw_write(const File *file)
{
    return !file->can_read || (file->can_write && chance(&program.random, 55));
}

void wait_for_one(Access *access)
{
    MPI_Status status;
    memset(&status, 0x77, sizeof status);
    if (options.print) emit_check("complete(WAIT, 1, %d)", access->number);
    else must(MPI_Wait(&access->request, &status));
    check_access(access, &status);
}

/* The ranks take turns: after each the shared pointer is known. */
void step_shared_serial(File *file)
{
    Random *random = &program.random;
    if (!usable(file)) return;
    synchronise(file);
    int first = (int)below(random, program.size);
    for (int turn = 0; turn < program.size; turn++) {
        int rank = (first + turn) % program.size;
        if (chance(random, 30)) continue;
        enum Synchronism synchronism = options.on[NONBLOCKING] && chance(random, 30) ? NONBLOCKED : BLOCKING;
        const Routine *routine = find_routine(draw_write(file), SHARED_POINTER, false, synchronism);
        Access *access = draw_access(file, rank, routine, file->shared_pointer, true);
        if (access_conflicts(access)) synchronise(file);
        describe_access(access);
        mark_access(access);
        announce("turn of rank %d: %s", rank, access->text);
        if (rank == program.rank) prepare_access(access);
        if (routine->write) apply_write(access);
        file->shared_pointer += access_etypes(access);
        if (rank == program.rank) start_access(access);
        /* outstanding during the turns of the others would need more room than it is worth: complete it here */
        if (synchronism == NONBLOCKED) {
            unmark_pending(access);
            if (rank == program.rank) wait_for_one(access);
        }
        barrier();
    }
}

static size_t record_size;

static int compare_records(const void *one, const void *other)
{
    return memcmp(one, other, record_size);
}

/* The same records in any order? */
static void compare_sets(unsigned char *found, unsigned char *wanted, int records, const char *what)
{
    unsigned char *copy = keep((size_t)records * record_size + 1);
    memcpy(copy, found, (size_t)records * record_size);
    qsort(copy, (size_t)records, record_size, compare_records);
    qsort(wanted, (size_t)records, record_size, compare_records);
    for (int i = 0; i < records; i++)
        if (memcmp(copy + (size_t)i * record_size, wanted + (size_t)i * record_size, record_size))
            fail("%s: the %d records of %zu bytes are not the ones expected, in any order", what, records, record_size);
}

/* The stream bytes from an etype on, as the file has them. */
static void read_stream(File *file, int64_t etype, int64_t bytes, unsigned char *into)
{
    View *view = file->views[0];
    int64_t position = etype * view->etype->size, first = view_offset(view, position);
    int64_t end = view_offset(view, position + bytes - 1) + 1;
    unsigned char *span = keep((size_t)(end - first));
    model_adopt(file, first, end - first, span);
    for (int64_t i = 0; i < bytes; i++) into[i] = span[view_offset(view, position + i) - first];
}

static void take_over_size(File *file, int64_t size)
{
    if (size > file->size) file->size = size;
}

static void take_over(File *file, int64_t etype, int64_t bytes, const unsigned char *from)
{
    View *view = file->views[0];
    for (int64_t i = 0; i < bytes; i++) {
        int64_t offset = view_offset(view, etype * view->etype->size + i);
        *model_byte(file, offset) = from[i];
        take_over_size(file, offset + 1);
    }
}

void extract_stream(Access *access, unsigned char *into)
{
    for (int64_t i = 0; i < access->bytes; i++) {
        int64_t at = access_address(access, i) - access->lowest;
        into[i] = access->allocation[at] ^ access->view->mask;
        access->expected[at] = access->allocation[at];
    }
    if (memcmp(access->allocation, access->expected, (size_t)access->allocation_size))
        fail("a racing read changed memory in a gap: %s", access->text);
}

/* All ranks use the shared pointer at once, with records of one size: each must get one place, all places be used. */
void step_shared_race(File *file)
{
    Random *random = &program.random;
    if (!usable(file)) return;
    bool write = draw_write(file), nonblocking = options.on[NONBLOCKING] && chance(random, 30);
    int each = (int)between(random, 1, 3), records = each * program.size;
    const Routine *routine = find_routine(write, SHARED_POINTER, false, nonblocking ? NONBLOCKED : BLOCKING);
    Access *model = draw_access(file, 0, routine, file->shared_pointer, false);
    int64_t etypes = access_etypes(model), start = file->shared_pointer, total = model->bytes * records;
    if (etypes == 0 || total > 100000) return;
    int64_t last = view_offset(file->views[0], (start + etypes * records) * file->views[0]->etype->size - 1) + 1;
    if (last > file->size && (!write || !options.on[HOLES])) return;
    synchronise(file);
    unsigned char *slots = keep((size_t)total), *wanted = keep((size_t)total), *got = keep((size_t)total);
    record_size = (size_t)model->bytes;
    Access *mine[3];
    describe_access(model);
    announce("race of all ranks, %d each: %s", each, model->text);
    for (int i = 0; i < records; i++) {
        Access *access = keep(sizeof *access);
        *access = *model;
        access->rank = i / each;
        access->identity = mix(model->identity + (uint64_t)i);
        /* a race's place is unknown: what a blocking read must bring is checked as a set below */
        access->transferred = access->bytes;
        if (access->rank == program.rank) mine[i % each] = access;
        for (int64_t p = 0; write && p < access->bytes; p++) wanted[(size_t)i * record_size + (size_t)p] = access_file_value(access, p);
    }
    for (int i = 0; i < each; i++) {
        prepare_access(mine[i]);
        mine[i]->racing = true;
        start_access(mine[i]);
    }
    for (int i = 0; nonblocking && i < each; i++) wait_for_one(mine[i]);
    file->shared_pointer += etypes * records;
    if (options.print) {
        emit_note("each record must be there once, in any order");
        for (int64_t i = 0; write && i < total; i++) model_forget(file, view_offset(file->views[0], start * file->views[0]->etype->size + i));
        if (write) take_over_size(file, last);
        if (write) synchronise(file);
        return;
    }
    if (write) {
        synchronise(file);
        read_stream(file, start, total, slots);
        compare_sets(slots, wanted, records, "racing writes");
        take_over(file, start, total, slots);
        model_clear_epoch(file);
        barrier();
        return;
    }
    for (int i = 0; i < each; i++) extract_stream(mine[i], got + (size_t)(program.rank * each + i) * record_size);
    must(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, (int)(total / program.size), MPI_BYTE, program.comm));
    for (int64_t i = 0; i < total; i++)
        wanted[i] = model_value(file, view_offset(file->views[0], start * file->views[0]->etype->size + i));
    compare_sets(got, wanted, records, "racing reads");
}
