/* Accesses that overlap, all at once, in atomic mode: the outcome must be that of some order of whole accesses. */
#include "random.h"

#include <string.h>

enum { MAX_RACERS = 5, MAX_BYTES = 4096, MAX_REACH = 1 << 17 };

typedef struct {
    File *file;
    int count;
    Access *accesses[MAX_RACERS];
    unsigned char read[MAX_RACERS][MAX_BYTES]; /* what came back, as bytes of the file */
    int64_t first, end;                        /* bytes of the file that any of them touches */
    const unsigned char *found;                /* as the file has them afterwards */
} Race;

/* Can the accesses not yet in `done` be ordered so that reads and the file come out as they did? */
static bool is_explained(const Race *race, unsigned done, unsigned char *state)
{
    size_t reach = (size_t)(race->end - race->first);
    if (done == (1u << race->count) - 1) return memcmp(state, race->found, reach) == 0;
    unsigned char *before = keep(reach);
    memcpy(before, state, reach);
    for (int i = 0; i < race->count; i++) {
        const Access *access = race->accesses[i];
        bool fits = true;
        if (done & 1u << i) continue;
        for (int64_t p = 0; p < access->bytes && fits; p++) {
            unsigned char *byte = &state[access_file_byte(access, p) - race->first];
            if (access->routine->write) *byte = access_file_value(access, p);
            else fits = *byte == race->read[i][p];
        }
        if (fits && is_explained(race, done | 1u << i, state)) return true;
        memcpy(state, before, reach);
    }
    return false;
}

/* One access for each of up to five ranks, near each other; the others have none. */
static bool draw_race(Race *race, bool collective)
{
    Random *random = &program.random;
    File *file = race->file;
    race->count = program.size < MAX_RACERS ? program.size : MAX_RACERS;
    race->first = INT64_MAX;
    bool reads = file->can_read && !collective;
    int64_t start = -1;
    for (int i = 0; i < race->count; i++) {
        bool write = !reads || chance(random, 65), nonblocking = options.on[NONBLOCKING] && chance(random, 25);
        const Routine *routine = find_routine(write, EXPLICIT, collective, !collective && nonblocking ? NONBLOCKED : BLOCKING);
        Access *access = draw_access(file, i, routine, start < 0 ? -1 : start + below(random, 20), false);
        if (start < 0) start = access->offset;
        if (access->bytes > MAX_BYTES || access->transferred < access->bytes) empty_access(access);
        access->identity = mix(access->identity + (uint64_t)i);
        access->racing = true;
        race->accesses[i] = access;
        if (access->bytes == 0) continue;
        int64_t first = access_file_byte(access, 0);
        if (first < race->first) race->first = first;
        if (access->last > race->end) race->end = access->last;
    }
    return race->end > race->first && race->end - race->first <= MAX_REACH;
}

static void start_race(Race *race)
{
    Access *mine = program.rank < race->count ? race->accesses[program.rank] : NULL;
    announce("atomic race: %s", mine ? mine->text : "not this rank");
    if (mine) prepare_access(mine);
    barrier();
    if (!mine) return;
    start_access(mine);
    if (mine->routine->synchronism == NONBLOCKED) wait_for_one(mine);
}

static void judge_race(Race *race)
{
    File *file = race->file;
    size_t reach = (size_t)(race->end - race->first);
    unsigned char *found = keep(reach), *state = keep(reach);
    for (int i = 0; i < race->count; i++) {
        Access *access = race->accesses[i];
        if (access->routine->write) continue;
        if (i == program.rank) extract_stream(access, race->read[i]);
        must(MPI_Bcast(race->read[i], (int)access->bytes, MPI_BYTE, i, program.comm));
    }
    model_adopt(file, race->first, (int64_t)reach, found);
    race->found = found;
    for (size_t i = 0; i < reach; i++) state[i] = model_value(file, race->first + (int64_t)i);
    if (!is_explained(race, 0, state)) {
        const char *all = "";
        for (int i = 0; i < race->count; i++) all = text("%s\n      rank %d: %s", all, i, race->accesses[i]->text);
        fail("no order of the accesses explains what was read and what is in the file:%s", all);
    }
    for (size_t i = 0; i < reach; i++)
        if (found[i] != model_value(file, race->first + (int64_t)i)) *model_byte(file, race->first + (int64_t)i) = found[i];
}

static void forget_race(const Race *race)
{
    emit_note("some order of the accesses must explain what was read and what is in the file");
    for (int i = 0; i < race->count; i++)
        for (int64_t p = 0; race->accesses[i]->routine->write && p < race->accesses[i]->bytes; p++)
            model_forget(race->file, access_file_byte(race->accesses[i], p));
}

void step_atomic_race(File *file)
{
    Race *race = keep(sizeof *race);
    race->file = file;
    bool collective = chance(&program.random, 30) && program.size <= MAX_RACERS;
    if (!file->can_write || file->sequential || !file->same_view || file->views[0]->filetype->size == 0) return;
    if (!draw_race(race, collective)) return;
    for (int i = 0; i < race->count; i++) describe_access(race->accesses[i]);
    synchronise(file);
    if (!file->atomic) set_atomicity(file, true);
    start_race(race);
    synchronise(file);
    if (options.print) forget_race(race);
    else judge_race(race);
    for (int i = 0; i < race->count; i++)
        if (race->accesses[i]->routine->write && race->accesses[i]->last > file->size) file->size = race->accesses[i]->last;
    model_clear_epoch(file);
    barrier();
}
