/* Views: what the bytes of a rank's data stream are in the file, and random views. */
#include "random.h"

int64_t view_offset(const View *view, int64_t position)
{
    const Type *filetype = view->filetype;
    return view->displacement + position / filetype->size * filetype->extent + filetype->bytes[position % filetype->size];
}

/* The first etype that starts at or after the end of the file. */
int64_t view_end(const File *file, const View *view)
{
    const Type *filetype = view->filetype;
    if (filetype->size == 0) return 0;
    int64_t tile = (file->size - view->displacement - filetype->true_ub) / filetype->extent - 1;
    int64_t index = tile > 0 ? tile * (filetype->size / view->etype->size) : 0;
    while (view_offset(view, index * view->etype->size) < file->size) index++;
    return index;
}

View *plain_view(void)
{
    View *view = keep(sizeof *view);
    view->etype = view->filetype = named_type(0);
    view->datarep = "native";
    return view;
}

static Type *draw_etype(Random *random, int kind)
{
    Type *named = named_type(kind);
    if (!options.on[TYPES] || chance(random, 55)) return named;
    Type *etype = draw_file_type(random, named);
    /* data at the very start, so that the byte offset of an etype has one meaning */
    bool fits = etype->size > 0 && etype->size <= 64 && etype->extent <= 128 && etype->true_lb == 0 && etype->lb == 0;
    return fits ? etype : contiguous_type(named, (int)between(random, 1, 4));
}

/* A grid of `processes` in up to three dimensions. */
static int draw_grid(Random *random, int processes, int *grid)
{
    int dimensions = (int)between(random, 1, 3);
    for (int i = 0; i < dimensions; i++) grid[i] = 1;
    for (int factor = 2; processes > 1;)
        if (processes % factor == 0) grid[below(random, dimensions)] *= factor, processes /= factor;
        else factor++;
    return dimensions;
}

typedef struct {
    int dimensions, grid[3], sizes[3], distributions[3], arguments[3], order;
} Distribution;

static Distribution draw_distribution(Random *random, int processes)
{
    Distribution all = {.order = chance(random, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    all.dimensions = draw_grid(random, processes, all.grid);
    for (int i = 0; i < all.dimensions; i++) {
        all.sizes[i] = (int)between(random, all.grid[i], 4 * all.grid[i] + 4);
        all.distributions[i] = chance(random, 50) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        if (all.grid[i] == 1 && chance(random, 40)) all.distributions[i] = MPI_DISTRIBUTE_NONE;
        all.arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (all.distributions[i] == MPI_DISTRIBUTE_CYCLIC && chance(random, 60)) all.arguments[i] = (int)between(random, 1, 3);
    }
    return all;
}

/* The part of a block-distributed array that a rank owns, as a subarray; empty parts stay possible. */
static Type *block_of(const Type *etype, const Distribution *all, int rank)
{
    int subsizes[3], starts[3], rest = rank;
    for (int i = all->dimensions - 1; i >= 0; i--) {
        int coordinate = rest % all->grid[i];
        rest /= all->grid[i];
        starts[i] = coordinate * all->sizes[i] / all->grid[i];
        subsizes[i] = (coordinate + 1) * all->sizes[i] / all->grid[i] - starts[i];
    }
    return subarray_type(etype, all->dimensions, all->sizes, subsizes, starts, all->order);
}

enum Layout { SAME, PLAIN, INTERLEAVED, REGIONS, DISTRIBUTED, BLOCKS, ANYTHING, LAYOUTS };
static const char *const layout_names[] = {"same", "plain", "interleaved", "regions", "darray", "subarray", "anything"};

static void draw_views(Random *random, File *file, enum Layout layout, View *common)
{
    Type *shared = draw_file_type(random, common->etype);
    Distribution distribution = draw_distribution(random, program.size);
    for (int rank = 0; rank < program.size; rank++) {
        View *view = keep(sizeof *view);
        *view = *common;
        switch (layout) {
        case PLAIN: view->filetype = common->etype; break;
        case SAME: view->filetype = shared; break;
        case INTERLEAVED:
            view->filetype = resized_type(shared, shared->lb, shared->extent * program.size);
            view->displacement += rank * shared->extent;
            break;
        case REGIONS:
            view->filetype = draw_file_type(random, common->etype);
            view->displacement += rank * between(random, 1, 4) * 4096;
            break;
        case DISTRIBUTED:
            view->filetype = darray_type(common->etype, program.size, rank, distribution.dimensions, distribution.sizes,
                                         distribution.distributions, distribution.arguments, distribution.grid,
                                         distribution.order);
            break;
        case BLOCKS: view->filetype = block_of(common->etype, &distribution, rank); break;
        default:
            view->filetype = draw_file_type(random, common->etype);
            view->displacement += below(random, 3000);
        }
        if (layout > PLAIN && options.on[EMPTY_FILETYPES] && chance(random, 4))
            view->filetype = contiguous_type(common->etype, 0);
        /* a part may be empty, or lie so that it is not a filetype: then this rank has the plain view */
        bool empty = view->filetype->size == 0 && options.on[EMPTY_FILETYPES];
        if (!empty && (view->filetype->size == 0 || !is_legal_filetype(view->filetype))) view->filetype = common->etype;
        file->views[rank] = view;
        file->pointer[rank] = 0;
    }
    file->shared_pointer = 0;
    file->same_view = layout <= PLAIN;
}

static void draw_representation(Random *random, View *view)
{
    int64_t which = below(random, 10);
    view->reversed = which < 5;
    view->mask = which >= 7 && options.on[OWN_DATAREPS] ? 0xff : 0;
    view->converts = view->reversed || view->mask;
    view->datarep = view->reversed ? "external32" : view->mask ? text("inverted%lld", (long long)named_type(view->kind)->size) : "internal";
}

void set_view(File *file, MPI_Info info)
{
    const View *mine = file->views[program.rank];
    MPI_Datatype etype, filetype;
    emit_type(mine->etype);
    emit_type(mine->filetype);
    /* the library must hold its own references: the caller may free the types at once */
    io(MPI_Type_dup(mine->etype->handle, &etype), "MPI_Type_dup(%s, &etype)", mine->etype->name);
    io(MPI_Type_dup(mine->filetype->handle, &filetype), "MPI_Type_dup(%s, &filetype)", mine->filetype->name);
    io(MPI_File_set_view(file->handle, mine->displacement, etype, filetype, mine->datarep, info),
       "MPI_File_set_view(f[%d], %lld, etype, filetype, %s, %s)", file->number, (long long)mine->displacement,
       text(mine->mask ? "inverted(\"%s\")" : "\"%s\"", mine->datarep), info == MPI_INFO_NULL ? "MPI_INFO_NULL" : "info");
    io(MPI_Type_free(&etype), "MPI_Type_free(&etype)");
    io(MPI_Type_free(&filetype), "MPI_Type_free(&filetype)");
}

void step_set_view(File *file)
{
    Random *random = &program.random;
    View common = {.datarep = "native"};
    common.kind = chance(random, 50) ? 0 : (int)below(random, PLAIN_KINDS);
    if (options.on[DATAREPS] && chance(random, 40)) draw_representation(random, &common);
    common.etype = draw_etype(random, common.kind);
    common.displacement = file->far + (chance(random, 40) ? 0 : below(random, 5000));
    enum Layout layout = (enum Layout)below(random, LAYOUTS);
    if (layout == DISTRIBUTED && !options.on[DARRAY]) layout = BLOCKS;
    complete_all(file);
    draw_views(random, file, layout, &common);
    View *mine = file->views[program.rank];
    announce("set_view %s, %s, etype %s; mine: displacement %lld filetype %s", layout_names[layout], common.datarep,
             common.etype->text, (long long)mine->displacement, mine->filetype->text);
    if (options.verbose)
        for (int rank = 1; rank < program.size; rank++)
            say("      rank %d: displacement %lld filetype %s", rank, (long long)file->views[rank]->displacement,
                file->views[rank]->filetype->text);
    MPI_Info info = draw_info();
    set_view(file, info);
    free_info(&info);
}
