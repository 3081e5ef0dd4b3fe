/* Accesses that overlap, all at once, in atomic mode: the outcome must be that of some order of whole accesses. */
#include "random.h"

#include <string.h>

enum { MAX_RACERS = 5, MAX_OUTSTANDING = 7, MAX_BYTES = 4096, MAX_LONG = 60000, MAX_REACH = 1 << 17, MAX_SCATTERED = 1 << 18 };

typedef struct {
    File *file;
    int count;
    Access *accesses[MAX_OUTSTANDING];
    unsigned earlier[MAX_OUTSTANDING];    /* accesses of the same rank that were done before this one began */
    unsigned char *bytes[MAX_OUTSTANDING]; /* what came back or was written, as bytes of the file */
    int32_t *at[MAX_OUTSTANDING];         /* where, counted from `first` */
    int64_t first, end;                   /* bytes of the file that any of them touches */
    int64_t most, reach;                  /* limits of one access, and of all of them in the file */
    const unsigned char *found;           /* as the file has them afterwards */
    unsigned char *before[MAX_OUTSTANDING]; /* the file, before the next in the order that is tried */
} Race;

/* Does the access, as the next one, bring what it did bring? Changes the state if it is a write. */
static bool follows(const Race *race, int i, unsigned char *state)
{
    const Access *access = race->accesses[i];
    for (int64_t p = 0; p < access->bytes; p++) {
        unsigned char *byte = &state[race->at[i][p]];
        if (access->routine->write) *byte = race->bytes[i][p];
        else if (*byte != race->bytes[i][p]) return false;
    }
    return true;
}

/* Can the accesses not yet in `done` be ordered so that reads and the file come out as they did? */
static bool is_explained(const Race *race, unsigned done, int depth, unsigned char *state)
{
    size_t reach = (size_t)(race->end - race->first);
    if (depth == race->count) return memcmp(state, race->found, reach) == 0;
    memcpy(race->before[depth], state, reach);
    for (int i = 0; i < race->count; i++) {
        if (done & 1u << i || race->earlier[i] & ~done) continue;
        if (follows(race, i, state) && is_explained(race, done | 1u << i, depth + 1, state)) return true;
        memcpy(state, race->before[depth], reach);
    }
    return false;
}

/* One more access, near the one at `start` if that is not negative. */
static Access *add_racer(Race *race, int rank, const Routine *routine, int64_t start)
{
    int i = race->count++;
    Access *access = draw_access(race->file, rank, routine, start < 0 ? -1 : start + below(&program.random, 20), false);
    if (access->bytes > race->most || access->transferred < access->bytes) empty_access(access);
    access->identity = mix(access->identity + (uint64_t)i);
    access->racing = true;
    race->accesses[i] = access;
    for (int j = 0; j < i; j++)
        if (race->accesses[j]->rank == rank && race->accesses[j]->routine->synchronism == BLOCKING) race->earlier[i] |= 1u << j;
    if (access->bytes == 0) return access;
    int64_t first = access_file_byte(access, 0);
    if (first < race->first) race->first = first;
    if (access->last > race->end) race->end = access->last;
    return access;
}

static bool can_be_judged(const Race *race)
{
    return race->end > race->first && race->end - race->first <= race->reach;
}

/* One access for each of up to five ranks, near each other; the others have none. */
static bool draw_race(Race *race, bool collective)
{
    Random *random = &program.random;
    int count = program.size < MAX_RACERS ? program.size : MAX_RACERS;
    bool reads = race->file->can_read && !collective;
    int64_t start = -1;
    for (int i = 0; i < count; i++) {
        bool write = !reads || chance(random, 65), nonblocking = options.on[NONBLOCKING] && chance(random, 25);
        const Routine *routine = find_routine(write, EXPLICIT, collective, !collective && nonblocking ? NONBLOCKED : BLOCKING);
        Access *access = add_racer(race, i, routine, start);
        if (start < 0) start = access->offset;
    }
    return can_be_judged(race);
}

/* Several accesses of one rank that are under way together, most of them reads; another rank writes one after the other
 * meanwhile, and some come from any rank. */
static bool draw_outstanding(Race *race, bool at_length)
{
    Random *random = &program.random;
    int busy = (int)below(random, program.size), writer = (busy + 1 + (int)below(random, program.size - 1)) % program.size;
    int count = (int)between(random, 4, MAX_OUTSTANDING);
    int64_t start = -1;
    for (int i = 0; i < count; i++) {
        int rank = i < 2 ? busy : chance(random, 60) ? writer : (int)below(random, program.size);
        bool write = !race->file->can_read || chance(random, rank == busy ? 20 : 85);
        bool nonblocking = options.on[NONBLOCKING] && (i == 0 || chance(random, 40));
        program.least = !at_length ? 0 : write ? MAX_LONG / 4 : MAX_LONG / 2;
        Access *access = add_racer(race, rank, find_routine(write, EXPLICIT, false, nonblocking ? NONBLOCKED : BLOCKING), start);
        if (start < 0) start = access->offset;
    }
    program.least = 0;
    return can_be_judged(race);
}

static void start_race(Race *race, uint64_t choice)
{
    Access *outstanding[MAX_OUTSTANDING];
    int left = 0;
    const char *mine = "";
    for (int i = 0; i < race->count; i++) {
        if (race->accesses[i]->rank != program.rank) continue;
        mine = text("%s%s%s", mine, *mine ? "; " : "", race->accesses[i]->text);
        prepare_access(race->accesses[i]);
    }
    announce("atomic race: %s", *mine ? mine : "not this rank");
    barrier();
    for (int i = 0; i < race->count; i++) {
        Access *access = race->accesses[i];
        if (access->rank != program.rank) continue;
        start_access(access);
        if (access->routine->synchronism == NONBLOCKED) outstanding[left++] = access;
    }
    if (left == 1) wait_for_one(outstanding[0]);
    else if (left) wait_for(outstanding, left, choice);
}

/* Every rank learns what every access read or wrote, and where. */
static void gather_bytes(Race *race)
{
    for (int i = 0; i < race->count; i++) {
        Access *access = race->accesses[i];
        race->bytes[i] = keep((size_t)access->bytes + 1);
        race->at[i] = keep((size_t)(access->bytes + 1) * sizeof *race->at[i]);
        for (int64_t p = 0; p < access->bytes; p++) {
            race->at[i][p] = (int32_t)(access_file_byte(access, p) - race->first);
            if (access->routine->write) race->bytes[i][p] = access_file_value(access, p);
        }
        if (access->routine->write) continue;
        if (access->rank == program.rank) extract_stream(access, race->bytes[i]);
        must(MPI_Bcast(race->bytes[i], (int)access->bytes, MPI_BYTE, access->rank, program.comm));
    }
}

static void judge_race(Race *race)
{
    File *file = race->file;
    size_t reach = (size_t)(race->end - race->first);
    unsigned char *found = keep(reach), *state = keep(reach);
    for (int i = 0; i < race->count; i++) race->before[i] = keep(reach);
    gather_bytes(race);
    model_adopt(file, race->first, (int64_t)reach, found);
    race->found = found;
    for (size_t i = 0; i < reach; i++) state[i] = model_value(file, race->first + (int64_t)i);
    if (!is_explained(race, 0, 0, state)) {
        const char *all = "";
        for (int i = 0; i < race->count; i++) all = text("%s\n      rank %d: %s", all, race->accesses[i]->rank, race->accesses[i]->text);
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

/* The race, and what it leaves taken over into the model. */
static void run_race(Race *race, uint64_t choice)
{
    File *file = race->file;
    for (int i = 0; i < race->count; i++) describe_access(race->accesses[i]);
    synchronise(file);
    if (!file->atomic) set_atomicity(file, true);
    start_race(race, choice);
    synchronise(file);
    if (options.print) forget_race(race);
    else judge_race(race);
    for (int i = 0; i < race->count; i++)
        if (race->accesses[i]->routine->write && race->accesses[i]->last > file->size) file->size = race->accesses[i]->last;
    model_clear_epoch(file);
    barrier();
}

static Race *new_race(File *file, int64_t most, int64_t reach)
{
    Race *race = keep(sizeof *race);
    race->file = file;
    race->first = INT64_MAX;
    race->most = most;
    race->reach = reach;
    return race;
}

void step_atomic_race(File *file)
{
    Race *race = new_race(file, MAX_BYTES, MAX_REACH);
    bool collective = chance(&program.random, 30) && program.size <= MAX_RACERS;
    if (!file->can_write || file->sequential || !file->same_view || file->views[0]->filetype->size == 0) return;
    if (draw_race(race, collective)) run_race(race, 0);
}

/* Pieces with holes between them, the same for all ranks, in a file that is long enough to read as many as an access may
 * have: an access takes many calls then, and others come between those. */
static void set_scattered(File *file)
{
    Random *random = &program.random;
    View *view = plain_view();
    MPI_Info info = MPI_INFO_NULL;
    int64_t piece = between(random, 1, chance(random, 50) ? 40 : 4000), extent = piece + between(random, 1, piece);
    view->displacement = file->far + below(random, 5000);
    view->filetype = resized_type(contiguous_type(view->etype, (int)piece), 0, extent);
    int64_t size = view->displacement + 2 * MAX_LONG / piece * extent;
    bool sieved = chance(random, 50);
    synchronise(file);
    announce("set_view: displacement %lld filetype %s, size %lld", (long long)view->displacement, view->filetype->text, (long long)size);
    if (options.on[HOLES] && options.on[SIZES] && file->size < size) {
        io(MPI_File_set_size(file->handle, size), "MPI_File_set_size(f[%d], %lld)", file->number, (long long)size);
        model_resize(file, size);
    }
    for (int rank = 0; rank < program.size; rank++) {
        file->views[rank] = view;
        file->pointer[rank] = 0;
    }
    file->shared_pointer = 0;
    file->same_view = true;
    if (options.on[HINTS]) set_hint(&info, "romio_ds_read", sieved ? "enable" : "disable");
    set_view(file, info);
    free_info(&info);
}

void step_outstanding_race(File *file)
{
    Random *random = &program.random;
    bool scattered = options.on[VIEWS] && chance(random, 80);
    if (!file->can_write || file->sequential) return;
    if (scattered) set_scattered(file);
    for (int64_t rounds = between(random, 1, 4); rounds > 0; rounds--) {
        Race *race = new_race(file, MAX_LONG, MAX_SCATTERED);
        uint64_t choice = draw(random);
        if (draw_outstanding(race, scattered)) run_race(race, choice);
    }
}
