/* Steps that concern the file as a whole: synchronisation, size, pointers, queries, closing and opening. */
#include "random.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

void announce(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *words = keep(65536);
    vsnprintf(words, 65536, format, arguments);
    va_end(arguments);
    program.doing = words;
    say("  %3d %s", program.step, words);
    emit_note("step %d, file %d: %s", program.step, program.current, words);
}

void barrier(void)
{
    io(MPI_Barrier(program.comm), "MPI_Barrier(comm)");
}

/* From here on every rank sees what all wrote: sync, barrier, sync; in atomic mode a barrier is enough. */
void synchronise(File *file)
{
    complete_all(file);
    announce("synchronise");
    bool sync = file->can_write && !file->atomic;
    if (sync) io(MPI_File_sync(file->handle), "MPI_File_sync(f[%d])", file->number);
    barrier();
    if (sync) io(MPI_File_sync(file->handle), "MPI_File_sync(f[%d])", file->number);
    model_clear_epoch(file);
}

void verify_now(File *file)
{
    announce("compare the file with the model");
    if (program.rank == program.step % program.size) model_verify(file);
    barrier();
}

void step_sync(File *file)
{
    synchronise(file);
    if (chance(&program.random, 40)) verify_now(file);
}

/* The size is about to be looked at by every rank. */
static void settle_size(File *file)
{
    if (file->size_writers || file->pending_size_writes) synchronise(file);
    file->size_readers = (uint16_t)((1u << program.size) - 1);
}

static const char *const whence_names[] = {"SET", "CUR", "END"};
static const int whences[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};

/* Draws a whence and the offset that leads to a drawn target; returns the target. */
static int64_t draw_target(File *file, const View *view, int64_t current, int *whence, int64_t *offset)
{
    Random *random = &program.random;
    int64_t end = view_end(file, view), target = chance(random, 80) ? below(random, end + 1) : end + below(random, 50);
    *whence = (int)below(random, 3);
    if (view->filetype->size == 0) target = 0, *whence = 0;
    *offset = *whence == 0 ? target : *whence == 1 ? target - current : target - end;
    return target;
}

void step_seek(File *file)
{
    if (file->sequential) return;
    if (file->split[0] && file->split[0]->routine->positioning == INDIVIDUAL) finish_pending_split(file);
    settle_size(file);
    int whence = 0, mine = 0;
    int64_t offset = 0, my_offset = 0;
    for (int rank = 0; rank < program.size; rank++) {
        file->pointer[rank] = draw_target(file, file->views[rank], file->pointer[rank], &whence, &offset);
        if (rank == program.rank) mine = whence, my_offset = offset;
    }
    announce("seek %lld from %s", (long long)my_offset, whence_names[mine]);
    io(MPI_File_seek(file->handle, my_offset, whences[mine]), "MPI_File_seek(f[%d], %lld, MPI_SEEK_%s)", file->number,
       (long long)my_offset, whence_names[mine]);
}

void step_seek_shared(File *file)
{
    if (file->sequential || !file->same_view) return;
    finish_pending_split(file);
    settle_size(file);
    int whence;
    int64_t offset;
    file->shared_pointer = draw_target(file, file->views[0], file->shared_pointer, &whence, &offset);
    announce("seek_shared %lld from %s", (long long)offset, whence_names[whence]);
    barrier();
    io(MPI_File_seek_shared(file->handle, offset, whences[whence]), "MPI_File_seek_shared(f[%d], %lld, MPI_SEEK_%s)",
       file->number, (long long)offset, whence_names[whence]);
    barrier();
}

/* What a query must answer, or that as C source. */
#define answer(routine, name, variable, expected, format, ...)                                                            \
    do {                                                                                                                  \
        int64_t wanted = (expected);                                                                                      \
        emit_check("number(" #routine "(f[%d], " format "&" name "), " name ", %lld)", file->number, ##__VA_ARGS__,         \
                   (long long)wanted);                                                                                    \
        if (!options.print) compare(#routine, (must(routine(file->handle, ##__VA_ARGS__, &(variable))), (variable)), wanted); \
    } while (0)

static void compare(const char *what, int64_t is, int64_t must_be)
{
    if (is != must_be) fail("%s gave %lld, must be %lld", what, (long long)is, (long long)must_be);
}

static void query_pointers(File *file)
{
    MPI_Offset offset;
    bool split_individual = file->split[0] && file->split[0]->routine->positioning == INDIVIDUAL;
    bool split_shared = file->split[0] && file->split[0]->routine->positioning == SHARED_POINTER;
    if (!split_individual && !file->sequential)
        answer(MPI_File_get_position, "offset", offset, file->pointer[program.rank], "");
    if (!split_shared && !file->sequential && file->same_view && options.on[SHARED]) {
        barrier();
        answer(MPI_File_get_position_shared, "offset", offset, file->shared_pointer, "");
        barrier();
    }
}

static void free_unless_predefined(MPI_Datatype type)
{
    int combiner, integers, addresses, types;
    must(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    bool predefined = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
                      combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
    if (!predefined) must(MPI_Type_free(&type));
}

static void query_view(File *file, int64_t position)
{
    View *view = file->views[program.rank];
    MPI_Offset offset;
    MPI_Datatype etype, filetype;
    MPI_Aint extent;
    char datarep[MPI_MAX_DATAREP_STRING];
    int size;
    if (view->filetype->size > 0 && !file->sequential)
        answer(MPI_File_get_byte_offset, "offset", offset, view_offset(view, position * view->etype->size), "%lld, ", (long long)position);
    if (options.print) return;
    must(MPI_File_get_view(file->handle, &offset, &etype, &filetype, datarep));
    compare("MPI_File_get_view, the displacement", offset, view->displacement);
    if (strcmp(datarep, view->datarep)) fail("the data representation is %s, must be %s", datarep, view->datarep);
    must(MPI_Type_size(etype, &size));
    compare("MPI_File_get_view, the size of the etype", size, view->etype->size);
    must(MPI_Type_size(filetype, &size));
    compare("MPI_File_get_view, the size of the filetype", size, view->filetype->size);
    free_unless_predefined(etype);
    free_unless_predefined(filetype);
    must(MPI_File_get_type_extent(file->handle, MPI_INT, &extent));
    compare("MPI_File_get_type_extent of MPI_INT", extent, (int64_t)sizeof(int));
}

static void query_group(File *file)
{
    MPI_Group mine, group;
    int same;
    if (options.print) return;
    must(MPI_File_get_group(file->handle, &group));
    must(MPI_Comm_group(program.comm, &mine));
    must(MPI_Group_compare(mine, group, &same));
    compare("MPI_Group_compare of MPI_File_get_group", same, MPI_IDENT);
    must(MPI_Group_free(&mine));
    must(MPI_Group_free(&group));
}

void step_query(File *file)
{
    int64_t position = below(&program.random, 3000);
    MPI_Offset offset;
    int integer;
    announce("queries");
    settle_size(file);
    answer(MPI_File_get_size, "offset", offset, file->size, "");
    answer(MPI_File_get_amode, "integer", integer, file->amode, "");
    answer(MPI_File_get_atomicity, "integer", integer, file->atomic, "");
    query_pointers(file);
    query_view(file, position);
    query_group(file);
}

void step_set_size(File *file)
{
    Random *random = &program.random;
    int64_t size = chance(random, 50) ? below(random, file->size + 1) : file->size + below(random, 5000);
    if (!file->can_write || file->sequential) return;
    synchronise(file);
    announce("set_size %lld (was %lld)", (long long)size, (long long)file->size);
    io(MPI_File_set_size(file->handle, size), "MPI_File_set_size(f[%d], %lld)", file->number, (long long)size);
    model_resize(file, size);
    synchronise(file);
}

void step_preallocate(File *file)
{
    int64_t size = below(&program.random, file->size + 5000);
    /* a far file would really take its gigabytes */
    if (!file->can_write || file->sequential || file->far) return;
    synchronise(file);
    announce("preallocate %lld (size %lld)", (long long)size, (long long)file->size);
    io(MPI_File_preallocate(file->handle, size), "MPI_File_preallocate(f[%d], %lld)", file->number, (long long)size);
    if (size > file->size) model_resize(file, size);
    synchronise(file);
}

void set_atomicity(File *file, bool atomic)
{
    announce("set_atomicity %s", atomic ? "on" : "off");
    io(MPI_File_set_atomicity(file->handle, atomic), "MPI_File_set_atomicity(f[%d], %d)", file->number, atomic);
    file->atomic = atomic;
}

void step_atomicity(File *file)
{
    bool atomic = chance(&program.random, 60);
    synchronise(file);
    set_atomicity(file, atomic);
    synchronise(file);
}

void step_set_info(File *file)
{
    finish_pending_split(file);
    announce("set_info");
    MPI_Info info = draw_info(), back;
    if (info == MPI_INFO_NULL) new_info(&info); /* collective: with nothing, if need be */
    io(MPI_File_set_info(file->handle, info), "MPI_File_set_info(f[%d], info)", file->number);
    free_info(&info);
    io(MPI_File_get_info(file->handle, &back), "MPI_File_get_info(f[%d], &info)", file->number);
    if (options.print) emit("MPI_Info_free(&info)");
    else must(MPI_Info_free(&back));
}

const char *amode_source(int amode)
{
    static const struct {
        int bit;
        const char *name;
    } modes[] = {{MPI_MODE_RDONLY, "RDONLY"}, {MPI_MODE_WRONLY, "WRONLY"}, {MPI_MODE_RDWR, "RDWR"}, {MPI_MODE_CREATE, "CREATE"},
                 {MPI_MODE_EXCL, "EXCL"}, {MPI_MODE_DELETE_ON_CLOSE, "DELETE_ON_CLOSE"}, {MPI_MODE_UNIQUE_OPEN, "UNIQUE_OPEN"},
                 {MPI_MODE_SEQUENTIAL, "SEQUENTIAL"}, {MPI_MODE_APPEND, "APPEND"}};
    const char *source = "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (amode & modes[i].bit) source = text("%s%sMPI_MODE_%s", source, *source ? " | " : "", modes[i].name);
    return source;
}

void open_file(File *file, int amode)
{
    announce("open %s with %s", file->path, amode_source(amode));
    MPI_Info info = draw_info();
    file->collective_only = options.on[HINTS] && chance(&program.random, 6) && !(amode & MPI_MODE_SEQUENTIAL);
    if (file->collective_only) set_hint(&info, "romio_no_indep_rw", "true");
    io(MPI_File_open(program.comm, file->path, amode, info, &file->handle), "MPI_File_open(comm, path(\"%s\"), %s, %s, &f[%d])",
       file->name, amode_source(amode), info == MPI_INFO_NULL ? "MPI_INFO_NULL" : "info", file->number);
    free_info(&info);
    file->amode = amode;
    file->can_read = !(amode & MPI_MODE_WRONLY);
    file->can_write = !(amode & MPI_MODE_RDONLY);
    file->sequential = (amode & MPI_MODE_SEQUENTIAL) != 0;
    file->atomic = false;
    file->same_view = true;
    file->shared_pointer = amode & MPI_MODE_APPEND ? file->size : 0;
    View *view = plain_view();
    for (int rank = 0; rank < program.size; rank++) {
        file->views[rank] = view;
        file->pointer[rank] = file->shared_pointer;
    }
    model_clear_epoch(file);
}

/* Opening asks the server; another host's NFS client may go on answering access() for seconds. File systems in user
 * space may even open by a name that they remember, for a second if nothing else is said, so there it is asked for longer. */
static bool is_there(const char *path)
{
    enum { TRIES = 50, PAUSE_US = 100000 };
    for (int i = 0; i < TRIES; i++) {
        int found = open(path, O_RDONLY);
        if (found < 0) return false;
        bool remembered = in_user_space(found);
        close(found);
        if (!remembered) return true;
        usleep(PAUSE_US);
    }
    return true;
}

void close_file(File *file)
{
    complete_all(file);
    announce("close");
    io(MPI_File_close(&file->handle), "MPI_File_close(&f[%d])", file->number);
    if (!options.print && file->handle != MPI_FILE_NULL) fail("the handle is not MPI_FILE_NULL after MPI_File_close");
    barrier(); /* rank 0 looks at the file with POSIX next */
    bool gone = (file->amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
    if (gone && is_there(file->path)) fail("%s is still there after delete_on_close", file->path);
    if (!gone && program.rank == 0) model_verify(file);
    barrier();
}

void step_reopen(File *file)
{
    Random *random = &program.random;
    close_file(file);
    int64_t kind = below(random, 10);
    int amode = MPI_MODE_RDWR;
    if (kind == 0) amode = MPI_MODE_RDONLY;
    if (kind == 1) amode = MPI_MODE_WRONLY;
    if (kind >= 2 && kind <= 3 && options.on[APPEND]) amode |= MPI_MODE_APPEND;
    if (kind == 4) amode |= MPI_MODE_CREATE;
    if (kind == 5) amode |= MPI_MODE_UNIQUE_OPEN;
    if (kind == 6 && options.on[SEQUENTIAL] && options.on[SHARED])
        amode = MPI_MODE_SEQUENTIAL | (chance(random, 50) ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
    open_file(file, amode);
}
