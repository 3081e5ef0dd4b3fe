/* A second opening of a file beside the first, with hints of its own. Each rank writes pieces of its own through either, and
 * the pieces of all lie between each other: an opening that reads holes and writes them back must not undo what the other
 * wrote there meanwhile. After both are synchronised each must read what both wrote. */
#include "random.h"

enum { OPENINGS = 2, MOST_ROUNDS = 6 };
enum Shape { TOGETHER, ALONE, ODD_AND_EVEN, SHAPES };
static const char *const shape_names[] = {"all ranks", "each rank alone", "odd and even ranks"};

typedef struct {
    File *files[OPENINGS]; /* the first, the second: with the same pages */
    bool collective[OPENINGS];
    MPI_Comm comm; /* of the second */
    enum Shape shape;
    int piece, slots, slot_of[OPENINGS * MAX_RANKS];
    int64_t base, start; /* of the pieces in the file, and in etypes about where accesses begin */
} Beside;

/* Hints that decide which way an access goes. */
static const struct {
    const char *key, *values[4];
} ways[] = {
    {"romio_ds_read", {"enable", "disable", "automatic", "enable"}},
    {"ind_wr_buffer_size", {"100", "1000", "5000", "1000000"}},
    {"ind_rd_buffer_size", {"100", "1000", "5000", "1000000"}},
    {"romio_cb_write", {"enable", "disable", "automatic", "enable"}},
    {"romio_cb_read", {"enable", "disable", "automatic", "enable"}},
    {"cb_buffer_size", {"512", "4096", "65536", "1000000"}},
    {"cb_nodes", {"1", "2", "3", "8"}},
    {"mpiio_rs_num_threads", {"0", "1", "2", "3"}},
    {"romio_lustre_ds_in_coll", {"enable", "disable", "automatic", "enable"}},
};

static MPI_Info draw_ways(const char *sieving)
{
    Random *random = &program.random;
    MPI_Info info = MPI_INFO_NULL;
    int drawn = (int)below(random, 4);
    if (options.on[HINTS]) set_hint(&info, "romio_ds_write", sieving);
    for (int i = 0; i < drawn; i++) {
        size_t which = (size_t)below(random, sizeof ways / sizeof *ways);
        const char *value = ways[which].values[below(random, 4)];
        if (options.on[HINTS]) set_hint(&info, ways[which].key, value);
    }
    return info;
}

static const char *draw_sieving(void)
{
    static const char *const values[] = {"disable", "automatic", "enable", "enable"};
    return values[below(&program.random, 4)];
}

/* The pieces of opening `owner`, or everything from the first piece on. */
static void set_views(Beside *beside, int which, int owner, bool pieces, const char *sieving)
{
    File *file = beside->files[which];
    Type *plain = named_type(0), *piece = contiguous_type(plain, beside->piece);
    Type *filetype = pieces ? resized_type(piece, 0, (int64_t)beside->piece * beside->slots) : plain;
    for (int rank = 0; rank < program.size; rank++) {
        View *view = plain_view();
        int64_t slot = beside->slot_of[owner * program.size + rank];
        view->filetype = filetype;
        view->displacement = beside->base + (pieces ? slot * beside->piece : 0);
        file->views[rank] = view;
        file->pointer[rank] = 0;
    }
    file->shared_pointer = 0;
    file->same_view = !pieces;
    announce("set_view of opening %d: displacement %lld filetype %s, romio_ds_write=%s", which,
             (long long)file->views[program.rank]->displacement, filetype->text, sieving);
    MPI_Info info = draw_ways(sieving);
    set_view(file, info);
    free_info(&info);
}

static void open_second(Beside *beside)
{
    File *first = beside->files[0], *second = keep(sizeof *second);
    int amode = chance(&program.random, 70) ? MPI_MODE_RDWR : MPI_MODE_WRONLY;
    static const char *const comms[] = {"comm", "MPI_COMM_SELF", "other"};
    *second = *first;
    second->number = MAX_FILES + first->number;
    second->amode = amode;
    second->can_read = amode == MPI_MODE_RDWR;
    second->can_write = true;
    second->atomic = false;
    beside->files[1] = second;
    announce("open %s by %s with %s once more", second->path, shape_names[beside->shape], amode_source(amode));
    beside->comm = beside->shape == TOGETHER ? program.comm : MPI_COMM_SELF;
    if (beside->shape == ODD_AND_EVEN)
        io(MPI_Comm_split(program.comm, program.rank % 2, program.rank, &beside->comm), "MPI_Comm_split(comm, %d, %d, &other)",
           program.rank % 2, program.rank);
    MPI_Info info = draw_ways(draw_sieving());
    io(MPI_File_open(beside->comm, second->path, amode, info, &second->handle),
       "MPI_File_open(%s, path(\"%s\"), %s, %s, &f[%d])", comms[beside->shape], second->name, amode_source(amode),
       info == MPI_INFO_NULL ? "MPI_INFO_NULL" : "info", second->number);
    free_info(&info);
}

static void close_second(Beside *beside)
{
    File *second = beside->files[1];
    announce("close the second opening");
    io(MPI_File_close(&second->handle), "MPI_File_close(&f[%d])", second->number);
    if (beside->shape == ODD_AND_EVEN) io(MPI_Comm_free(&beside->comm), "MPI_Comm_free(&other)");
    barrier();
}

static void share_size(Beside *beside)
{
    File *first = beside->files[0], *second = beside->files[1];
    if (second->size > first->size) first->size = second->size;
    second->size = first->size;
}

/* One access of each rank through an opening, all of them in the model; returns this rank's, if any. */
static Access *draw_through(Beside *beside, int which, bool write, bool nonblocking, int64_t start)
{
    Random *random = &program.random;
    File *file = beside->files[which];
    bool collective = beside->collective[which], waits = options.on[collective ? NONBLOCKING_COLLECTIVE : NONBLOCKING];
    bool together = chance(random, 30);
    Access *mine = NULL;
    for (int rank = 0; rank < program.size; rank++) {
        bool later = nonblocking && waits && (collective ? together : chance(random, 40));
        const Routine *routine = find_routine(write, EXPLICIT, collective, later ? NONBLOCKED : BLOCKING);
        Access *access = draw_access(file, rank, routine, start + below(random, 20), true);
        if (write && access_conflicts(access)) empty_access(access); /* with one of the same rank under way */
        describe_access(access);
        if (rank == program.rank) prepare_access(mine = access);
        if (!write) continue;
        mark_access(access);
        apply_write(access);
        remember(access);
    }
    share_size(beside);
    return mine;
}

static void start_through(int which, Access *access)
{
    announce("through opening %d: %s", which, access->text);
    start_access(access);
}

/* Every rank writes through both, in either order. */
static void write_round(Beside *beside)
{
    Access *mine[OPENINGS];
    for (int which = 0; which < OPENINGS; which++) mine[which] = draw_through(beside, which, true, true, beside->start);
    uint64_t orders = draw(&program.random);
    bool same_order = beside->collective[0] && beside->collective[1];
    int first = orders >> (same_order ? 0 : program.rank) & 1;
    start_through(first, mine[first]);
    start_through(!first, mine[!first]);
}

/* Atomic mode is about one opening: what goes on between two needs sync, barrier, sync. */
static void synchronise_both(Beside *beside)
{
    for (int which = 0; which < OPENINGS; which++) complete_all(beside->files[which]);
    announce("synchronise both openings");
    for (int again = 0; again < 2; again++) {
        for (int which = 0; which < OPENINGS; which++)
            io(MPI_File_sync(beside->files[which]->handle), "MPI_File_sync(f[%d])", beside->files[which]->number);
        if (!again) barrier();
    }
    for (int which = 0; which < OPENINGS; which++) model_clear_epoch(beside->files[which]);
}

/* Through the pieces of the other opening, or of both at once. */
static void read_back(Beside *beside, int which)
{
    Random *random = &program.random;
    bool pieces = chance(random, 50);
    if (!beside->files[which]->can_read) return;
    set_views(beside, which, !which, pieces, draw_sieving());
    for (int i = 0; i < 2; i++) {
        int64_t start = pieces ? beside->start : beside->start * beside->slots + below(random, 500);
        start_through(which, draw_through(beside, which, false, false, start));
    }
}

static void draw_layout(Beside *beside)
{
    Random *random = &program.random;
    int owners = OPENINGS * program.size;
    beside->shape = (enum Shape)below(random, SHAPES);
    beside->piece = (int)between(random, 1, chance(random, 60) ? 16 : 400);
    beside->slots = owners + (int)below(random, 2); /* some bytes are nobody's */
    beside->base = beside->files[0]->far + below(random, 5000);
    beside->start = below(random, 100);
    for (int i = 0; i < owners; i++) {
        int other = (int)below(random, i + 1);
        beside->slot_of[i] = beside->slot_of[other];
        beside->slot_of[other] = i;
    }
    for (int which = 0; which < OPENINGS; which++) beside->collective[which] = chance(random, 25);
}

void step_second_opening(File *file)
{
    Random *random = &program.random;
    Beside *beside = keep(sizeof *beside);
    beside->files[0] = file;
    draw_layout(beside);
    if (!file->can_write || file->amode & MPI_MODE_UNIQUE_OPEN || !options.on[VIEWS]) return;
    synchronise(file);
    set_views(beside, 0, 0, true, draw_sieving());
    open_second(beside);
    /* what an opening did with an earlier view must not matter */
    for (int64_t before = below(random, 3); before > 0; before--) set_views(beside, 1, 1, chance(random, 70), draw_sieving());
    set_views(beside, 1, 1, true, draw_sieving());
    for (int64_t rounds = between(random, 1, MOST_ROUNDS); rounds > 0; rounds--) write_round(beside);
    synchronise_both(beside);
    for (int which = 0; which < OPENINGS; which++) read_back(beside, which);
    barrier();
    close_second(beside);
    synchronise(file);
    verify_now(file);
}
