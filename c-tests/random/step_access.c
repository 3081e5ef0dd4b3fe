/* Steps that access data through explicit offsets, individual pointers and in order; outstanding requests. */
#include "random.h"

#include <string.h>

static bool draw_direction(const File *file)
{
    if (!file->can_read) return true;
    if (!file->can_write) return false;
    return file->size == 0 || chance(&program.random, 50);
}

bool has_pending(const File *file)
{
    for (int rank = 0; rank < program.size; rank++) {
        if (file->split[rank]) return true;
        for (int i = 0; i < MAX_PENDING; i++)
            if (file->pending[rank][i]) return true;
    }
    return false;
}

static bool has_room(const File *file)
{
    for (int rank = 0; rank < program.size; rank++) {
        int used = 0;
        for (int i = 0; i < MAX_PENDING; i++) used += file->pending[rank][i] != NULL;
        if (used == MAX_PENDING) return false;
    }
    return true;
}

void remember(Access *access)
{
    File *file = access->file;
    if (access->routine->synchronism == SPLIT_BEGIN) file->split[access->rank] = access;
    if (access->routine->synchronism != NONBLOCKED) return;
    int slot = 0;
    while (file->pending[access->rank][slot]) slot++;
    file->pending[access->rank][slot] = access;
}

/* Completes requests of this rank the way a real program might: one by one, any, some or all, waiting or testing. */
void wait_for(Access **accesses, int count, uint64_t choice)
{
    static const char *const names[] = {"WAIT", "WAIT_BACKWARDS", "WAITANY", "WAITSOME", "WAITALL",
                                        "TEST", "TESTANY", "TESTSOME", "TESTALL", "GET_STATUS"};
    MPI_Request requests[MAX_FILES * MAX_PENDING];
    MPI_Status statuses[MAX_FILES * MAX_PENDING];
    enum Completion method = options.on[WAIT_ORDER] ? (enum Completion)(choice % COMPLETIONS) : WAITALL;
    const char *numbers = "";
    for (int i = 0; i < count; i++) {
        requests[i] = accesses[i]->request;
        numbers = text("%s, %d", numbers, accesses[i]->number);
    }
    memset(statuses, 0x77, sizeof statuses);
    program.call = names[method];
    if (options.print) emit_check("complete(%s, %d%s)", names[method], count, numbers);
    else require(complete_requests(method, count, requests, statuses), names[method]);
    for (int i = 0; i < count; i++) {
        if (!options.print && requests[i] != MPI_REQUEST_NULL)
            fail("a request completed by %s is not MPI_REQUEST_NULL: %s", names[method], accesses[i]->text);
        check_access(accesses[i], &statuses[i]);
    }
}

/* Completes what is outstanding on some files together; of collective requests every rank must choose the same ones. */
static void complete(File *const *files, int file_count, bool all, uint64_t choice)
{
    Access *mine[MAX_FILES * MAX_PENDING];
    int count = 0;
    for (int number = 0; number < file_count; number++)
        for (int rank = 0; rank < program.size; rank++)
            for (int i = 0; i < MAX_PENDING; i++) {
                Access *access = files[number]->pending[rank][i];
                if (!access || (!all && mix(choice ^ access->step_drawn) % 2)) continue;
                unmark_pending(access);
                files[number]->pending[rank][i] = NULL;
                if (rank == program.rank) mine[count++] = access;
            }
    for (int i = count - 1; i > 0; i--) { /* in any order */
        int other = (int)(mix(choice + (uint64_t)i) % (uint64_t)(i + 1));
        Access *access = mine[i];
        mine[i] = mine[other];
        mine[other] = access;
    }
    if (count) wait_for(mine, count, mix(choice + (uint64_t)program.rank));
}

void finish_pending_split(File *file)
{
    if (!file->split[0]) return;
    Access *mine = file->split[program.rank];
    for (int rank = 0; rank < program.size; rank++) {
        unmark_pending(file->split[rank]);
        file->split[rank] = NULL;
    }
    announce("end of split: %s", mine->text);
    finish_split(mine);
}

void complete_all(File *file)
{
    if (!has_pending(file)) return;
    finish_pending_split(file);
    announce("wait for everything outstanding");
    complete(&file, 1, true, mix(program.seed + (uint64_t)program.step));
}

void step_wait(File *file)
{
    uint64_t choice = draw(&program.random);
    if (chance(&program.random, 60)) finish_pending_split(file);
    announce("wait for some outstanding requests");
    complete(program.files, program.file_count, false, choice);
}

/* Carries out one access per rank (NULL: none) in the model of all, and for this rank in the file. */
static void carry_out(File *file, Access **accesses, const char *title)
{
    bool conflict = !has_room(file);
    for (int rank = 0; rank < program.size; rank++)
        if (accesses[rank] && access_conflicts(accesses[rank])) conflict = true;
    if (conflict) synchronise(file);
    for (int rank = 0; rank < program.size; rank++) {
        Access *access = accesses[rank];
        if (!access) continue;
        /* what still conflicts does so within this step: such a rank takes part with nothing */
        if (access_conflicts(access)) empty_access(access);
        describe_access(access);
        mark_access(access);
    }
    Access *mine = accesses[program.rank];
    announce("%s: %s", title, mine ? mine->text : "not this rank");
    if (options.verbose)
        for (int rank = 1; rank < program.size; rank++)
            if (accesses[rank]) say("      rank %d: %s", rank, accesses[rank]->text);
    if (mine) prepare_access(mine);
    for (int rank = 0; rank < program.size; rank++) {
        Access *access = accesses[rank];
        if (!access) continue;
        if (access->routine->write) apply_write(access);
        if (access->routine->positioning == INDIVIDUAL) file->pointer[rank] += access_etypes(access);
        if (access->routine->positioning == SHARED_POINTER) file->shared_pointer += access_etypes(access);
        remember(access);
    }
    if (mine) start_access(mine);
}

void step_independent(File *file)
{
    Random *random = &program.random;
    Access *accesses[MAX_RANKS] = {NULL};
    /* a split collective under way may move its pointer at either end: leave that pointer alone until then */
    bool explicit_only = file->split[0] && file->split[0]->routine->positioning == INDIVIDUAL;
    for (int rank = 0; rank < program.size; rank++) {
        if (chance(random, 25)) continue;
        enum Positioning positioning = explicit_only || chance(random, 60) ? EXPLICIT : INDIVIDUAL;
        enum Synchronism synchronism = options.on[NONBLOCKING] && chance(random, 40) ? NONBLOCKED : BLOCKING;
        const Routine *routine = find_routine(draw_direction(file), positioning, false, synchronism);
        accesses[rank] = draw_access(file, rank, routine, positioning == EXPLICIT ? -1 : file->pointer[rank], true);
    }
    carry_out(file, accesses, "independent");
}

static enum Synchronism draw_synchronism(bool nonblocking)
{
    if (options.on[SPLIT] && chance(&program.random, 25)) return SPLIT_BEGIN;
    if (nonblocking && options.on[NONBLOCKING_COLLECTIVE] && chance(&program.random, 30)) return NONBLOCKED;
    return BLOCKING;
}

void step_collective(File *file)
{
    Random *random = &program.random;
    Access *accesses[MAX_RANKS] = {NULL};
    finish_pending_split(file); /* no other collective access while one is split */
    enum Positioning positioning = chance(random, 50) ? EXPLICIT : INDIVIDUAL;
    const Routine *routine = find_routine(draw_direction(file), positioning, true, draw_synchronism(true));
    int alone = chance(random, 8) ? (int)below(random, program.size) : -1; /* one rank has everything */
    for (int rank = 0; rank < program.size; rank++) {
        accesses[rank] = draw_access(file, rank, routine, positioning == EXPLICIT ? -1 : file->pointer[rank], true);
        if (alone >= 0 && rank != alone) empty_access(accesses[rank]);
    }
    carry_out(file, accesses, "collective");
}

/* Each rank starts where the previous one ends, so an access in conflict cannot be dropped: all of them are. */
void step_ordered(File *file)
{
    Access *accesses[MAX_RANKS] = {NULL};
    if (!file->same_view || file->views[0]->filetype->size == 0) return;
    finish_pending_split(file);
    const Routine *routine = find_routine(draw_direction(file), SHARED_POINTER, true, draw_synchronism(false));
    int64_t offset = file->shared_pointer;
    for (int rank = 0; rank < program.size; rank++) {
        accesses[rank] = draw_access(file, rank, routine, offset, true);
        offset += access_etypes(accesses[rank]);
    }
    synchronise(file);
    carry_out(file, accesses, "ordered");
}
