/* Steps that concern the file as a whole: synchronisation, size, pointers, queries, closing and opening. */
#include "random.h"

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
}

static void barrier(void)
{
    must(MPI_Barrier(program.comm));
}

/* From here on every rank sees what all wrote: sync, barrier, sync; in atomic mode a barrier is enough. */
void synchronise(File *file)
{
    complete_all(file);
    announce("synchronise");
    bool sync = file->can_write && !file->atomic;
    if (sync) must(MPI_File_sync(file->handle));
    barrier();
    if (sync) must(MPI_File_sync(file->handle));
    model_clear_epoch(file);
}

static void verify_now(File *file)
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
    must(MPI_File_seek(file->handle, my_offset, whences[mine]));
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
    must(MPI_File_seek_shared(file->handle, offset, whences[whence]));
    barrier();
}

static void compare(const char *what, int64_t is, int64_t must)
{
    if (is != must) fail("%s is %lld, must be %lld", what, (long long)is, (long long)must);
}

static void query_pointers(File *file)
{
    MPI_Offset value;
    bool split_individual = file->split[0] && file->split[0]->routine->positioning == INDIVIDUAL;
    bool split_shared = file->split[0] && file->split[0]->routine->positioning == SHARED_POINTER;
    if (!split_individual && !file->sequential) {
        must(MPI_File_get_position(file->handle, &value));
        compare("the individual pointer", value, file->pointer[program.rank]);
    }
    if (!split_shared && !file->sequential && file->same_view && options.on[SHARED]) {
        barrier();
        must(MPI_File_get_position_shared(file->handle, &value));
        compare("the shared pointer", value, file->shared_pointer);
        barrier();
    }
}

static void query_view(File *file, int64_t position)
{
    View *view = file->views[program.rank];
    MPI_Offset value;
    MPI_Datatype etype, filetype;
    MPI_Aint extent;
    char datarep[MPI_MAX_DATAREP_STRING];
    if (view->filetype->size > 0 && !file->sequential) {
        must(MPI_File_get_byte_offset(file->handle, position, &value));
        compare(text("the byte offset of etype %lld", (long long)position), value, view_offset(view, position * view->etype->size));
    }
    must(MPI_File_get_view(file->handle, &value, &etype, &filetype, datarep));
    compare("the displacement of the view", value, view->displacement);
    if (strcmp(datarep, view->datarep)) fail("the data representation is %s, must be %s", datarep, view->datarep);
    int combiner, integers, addresses, types;
    MPI_Datatype both[2] = {etype, filetype};
    int sizes[2];
    for (int i = 0; i < 2; i++) {
        must(MPI_Type_size(both[i], &sizes[i]));
        must(MPI_Type_get_envelope(both[i], &integers, &addresses, &types, &combiner));
        bool predefined = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
                          combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
        if (!predefined) must(MPI_Type_free(&both[i]));
    }
    compare("the size of the view's etype", sizes[0], view->etype->size);
    compare("the size of the view's filetype", sizes[1], view->filetype->size);
    if (!view->external32) {
        must(MPI_File_get_type_extent(file->handle, MPI_INT, &extent));
        compare("the extent of MPI_INT", extent, (int64_t)sizeof(int));
    }
}

void step_query(File *file)
{
    int64_t position = below(&program.random, 3000);
    MPI_Offset size;
    int amode, atomic;
    announce("queries");
    settle_size(file);
    must(MPI_File_get_size(file->handle, &size));
    compare("the file size", size, file->size);
    must(MPI_File_get_amode(file->handle, &amode));
    compare("the amode", amode, file->amode);
    must(MPI_File_get_atomicity(file->handle, &atomic));
    compare("the atomicity", atomic, file->atomic);
    query_pointers(file);
    query_view(file, position);
}

void step_set_size(File *file)
{
    Random *random = &program.random;
    int64_t size = chance(random, 50) ? below(random, file->size + 1) : file->size + below(random, 5000);
    if (!file->can_write || file->sequential) return;
    synchronise(file);
    announce("set_size %lld (was %lld)", (long long)size, (long long)file->size);
    must(MPI_File_set_size(file->handle, size));
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
    must(MPI_File_preallocate(file->handle, size));
    if (size > file->size) model_resize(file, size);
    synchronise(file);
}

void step_atomicity(File *file)
{
    bool atomic = chance(&program.random, 60);
    synchronise(file);
    announce("set_atomicity %s", atomic ? "on" : "off");
    must(MPI_File_set_atomicity(file->handle, atomic));
    file->atomic = atomic;
    synchronise(file);
}

void step_set_info(File *file)
{
    finish_pending_split(file);
    announce("set_info");
    MPI_Info info = draw_info(), back;
    if (info == MPI_INFO_NULL) must(MPI_Info_create(&info)); /* collective: with nothing, if need be */
    must(MPI_File_set_info(file->handle, info));
    must(MPI_Info_free(&info));
    must(MPI_File_get_info(file->handle, &back));
    must(MPI_Info_free(&back));
}

void open_file(File *file, int amode)
{
    MPI_Info info = draw_info();
    announce("open %s, amode %d%s", file->path, amode, amode & MPI_MODE_APPEND ? " (append)" : "");
    must(MPI_File_open(program.comm, file->path, amode, info, &file->handle));
    if (info != MPI_INFO_NULL) must(MPI_Info_free(&info));
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

void close_file(File *file)
{
    complete_all(file);
    announce("close");
    must(MPI_File_close(&file->handle));
    if (file->handle != MPI_FILE_NULL) fail("the handle is not MPI_FILE_NULL after MPI_File_close");
    barrier(); /* rank 0 looks at the file with POSIX next */
    bool gone = (file->amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
    if (gone && access(file->path, F_OK) == 0) fail("%s is still there after delete_on_close", file->path);
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
