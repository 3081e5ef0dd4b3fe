/* A tool that stands before the library sees every call: this program counts its own calls of every routine, and asks the
 * tool how many it has seen. The runner starts it with the tool of c-tests/tool before the library, in several ways. */
#define _GNU_SOURCE
#include "../doorway/check.h"
#include <dlfcn.h>

#define NAME "every_call.dat"
#define MOST 128

static struct {
    const char *routine;
    long long calls;
} made[MOST];
static int routines;

static void note(const char *routine)
{
    int i = 0;
    while (i < routines && strcmp(made[i].routine, routine) != 0)
        i++;
    if (i == routines)
        made[routines++].routine = routine;
    made[i].calls++;
}

#define CALL(routine, ...) CHECK((note(#routine), routine(__VA_ARGS__)) == MPI_SUCCESS)

static char memory[8];
static MPI_Status status;
static MPI_Request request;

#define WAIT() CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS)
#define DATA memory, 4, MPI_BYTE

static void check_blocking(MPI_File fh)
{
    CALL(MPI_File_write_at, fh, 0, DATA, &status);
    CALL(MPI_File_read_at, fh, 0, DATA, &status);
    CALL(MPI_File_write_at_all, fh, 0, DATA, &status);
    CALL(MPI_File_read_at_all, fh, 0, DATA, &status);
    CALL(MPI_File_write, fh, DATA, &status);
    CALL(MPI_File_read, fh, DATA, &status);
    CALL(MPI_File_write_all, fh, DATA, &status);
    CALL(MPI_File_read_all, fh, DATA, &status);
    CALL(MPI_File_write_shared, fh, DATA, &status);
    CALL(MPI_File_read_shared, fh, DATA, &status);
    CALL(MPI_File_write_ordered, fh, DATA, &status);
    CALL(MPI_File_read_ordered, fh, DATA, &status);
}

static void check_nonblocking(MPI_File fh)
{
    CALL(MPI_File_iwrite_at, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iread_at, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_at_all, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iread_at_all, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iwrite, fh, DATA, &request); WAIT();
    CALL(MPI_File_iread, fh, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_all, fh, DATA, &request); WAIT();
    CALL(MPI_File_iread_all, fh, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_shared, fh, DATA, &request); WAIT();
    CALL(MPI_File_iread_shared, fh, DATA, &request); WAIT();
}

static void check_split(MPI_File fh)
{
    CALL(MPI_File_write_at_all_begin, fh, 0, DATA); CALL(MPI_File_write_at_all_end, fh, memory, &status);
    CALL(MPI_File_read_at_all_begin, fh, 0, DATA); CALL(MPI_File_read_at_all_end, fh, memory, &status);
    CALL(MPI_File_write_all_begin, fh, DATA); CALL(MPI_File_write_all_end, fh, memory, &status);
    CALL(MPI_File_read_all_begin, fh, DATA); CALL(MPI_File_read_all_end, fh, memory, &status);
    CALL(MPI_File_write_ordered_begin, fh, DATA); CALL(MPI_File_write_ordered_end, fh, memory, &status);
    CALL(MPI_File_read_ordered_begin, fh, DATA); CALL(MPI_File_read_ordered_end, fh, memory, &status);
}

static void check_large_count(MPI_File fh)
{
#if MPI_VERSION >= 4
    MPI_Count extent;
    CALL(MPI_File_write_at_c, fh, 0, DATA, &status);
    CALL(MPI_File_read_at_c, fh, 0, DATA, &status);
    CALL(MPI_File_write_at_all_c, fh, 0, DATA, &status);
    CALL(MPI_File_read_at_all_c, fh, 0, DATA, &status);
    CALL(MPI_File_write_c, fh, DATA, &status);
    CALL(MPI_File_read_c, fh, DATA, &status);
    CALL(MPI_File_write_all_c, fh, DATA, &status);
    CALL(MPI_File_read_all_c, fh, DATA, &status);
    CALL(MPI_File_write_shared_c, fh, DATA, &status);
    CALL(MPI_File_read_shared_c, fh, DATA, &status);
    CALL(MPI_File_write_ordered_c, fh, DATA, &status);
    CALL(MPI_File_read_ordered_c, fh, DATA, &status);
    CALL(MPI_File_iwrite_at_c, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iread_at_c, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_at_all_c, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iread_at_all_c, fh, 0, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_c, fh, DATA, &request); WAIT();
    CALL(MPI_File_iread_c, fh, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_all_c, fh, DATA, &request); WAIT();
    CALL(MPI_File_iread_all_c, fh, DATA, &request); WAIT();
    CALL(MPI_File_iwrite_shared_c, fh, DATA, &request); WAIT();
    CALL(MPI_File_iread_shared_c, fh, DATA, &request); WAIT();
    CALL(MPI_File_write_at_all_begin_c, fh, 0, DATA); CALL(MPI_File_write_at_all_end, fh, memory, &status);
    CALL(MPI_File_read_at_all_begin_c, fh, 0, DATA); CALL(MPI_File_read_at_all_end, fh, memory, &status);
    CALL(MPI_File_write_all_begin_c, fh, DATA); CALL(MPI_File_write_all_end, fh, memory, &status);
    CALL(MPI_File_read_all_begin_c, fh, DATA); CALL(MPI_File_read_all_end, fh, memory, &status);
    CALL(MPI_File_write_ordered_begin_c, fh, DATA); CALL(MPI_File_write_ordered_end, fh, memory, &status);
    CALL(MPI_File_read_ordered_begin_c, fh, DATA); CALL(MPI_File_read_ordered_end, fh, memory, &status);
    CALL(MPI_File_get_type_extent_c, fh, MPI_INT, &extent);
#else
    (void) fh;
#endif
}

static void check_view_and_size(MPI_File fh)
{
    MPI_Offset offset;
    MPI_Datatype etype, filetype;
    MPI_Aint extent;
    int flag;
    char datarep[MPI_MAX_DATAREP_STRING];

    CALL(MPI_File_set_view, fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    CALL(MPI_File_get_view, fh, &offset, &etype, &filetype, datarep);
    CALL(MPI_File_get_type_extent, fh, MPI_INT, &extent);
    CALL(MPI_File_seek, fh, 4, MPI_SEEK_SET);
    CALL(MPI_File_get_position, fh, &offset);
    CALL(MPI_File_get_byte_offset, fh, 4, &offset);
    CALL(MPI_File_seek_shared, fh, 4, MPI_SEEK_SET);
    CALL(MPI_File_get_position_shared, fh, &offset);
    CALL(MPI_File_set_size, fh, 64);
    CALL(MPI_File_preallocate, fh, 128);
    CALL(MPI_File_get_size, fh, &offset);
    CALL(MPI_File_set_atomicity, fh, 1);
    CALL(MPI_File_get_atomicity, fh, &flag);
    CALL(MPI_File_set_atomicity, fh, 0);
    CALL(MPI_File_sync, fh);
}

static void ignore(MPI_File *fh, int *code, ...)
{
    (void) fh, (void) code;
}

static void check_handle(MPI_File fh)
{
    MPI_Errhandler errhandler;
    MPI_Group group;
    MPI_Info info;
    int amode;

    CALL(MPI_File_get_amode, fh, &amode);
    CALL(MPI_File_get_group, fh, &group);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS);
    CALL(MPI_File_get_info, fh, &info);
    CALL(MPI_File_set_info, fh, info);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    CALL(MPI_File_create_errhandler, ignore, &errhandler);
    CALL(MPI_File_set_errhandler, fh, errhandler);
    CHECK(MPI_Errhandler_free(&errhandler) == MPI_SUCCESS);
    CALL(MPI_File_get_errhandler, fh, &errhandler);
    CHECK(MPI_Errhandler_free(&errhandler) == MPI_SUCCESS);
    CALL(MPI_File_call_errhandler, fh, MPI_ERR_OTHER);
#ifdef MPI_ABI /* the standard ABI gave the integers of handles other names */
    note("MPI_File_toint"), note("MPI_File_fromint");
    CHECK(MPI_File_fromint(MPI_File_toint(fh)) == fh);
#else
    note("MPI_File_c2f"), note("MPI_File_f2c");
    CHECK(MPI_File_f2c(MPI_File_c2f(fh)) == fh);
#endif
}

static int extent_of_file(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    (void) datatype, (void) state;
    *extent = 1;
    return MPI_SUCCESS;
}

/* What the tool has counted is what was called. */
static void check_tool(void)
{
    long long (*tool_calls)(const char *) = (long long (*)(const char *)) dlsym(RTLD_DEFAULT, "tool_calls");
    CHECK(tool_calls != NULL);
    CHECK(dlsym(RTLD_DEFAULT, "mpiio_rs_active") != NULL);
    for (int i = 0; tool_calls && i < routines; i++) {
        long long seen = tool_calls(made[i].routine);
        if (seen != made[i].calls) {
            errors++;
            fprintf(stderr, "%s: %lld calls, the tool has seen %lld\n", made[i].routine, made[i].calls, seen);
        }
    }
    CHECK(routines >= 60);
}

int main(int argc, char **argv)
{
    MPI_File fh;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CALL(MPI_Register_datarep, "every_call", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of_file, NULL);
    CALL(MPI_File_open, MPI_COMM_WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    check_handle(fh);
    check_blocking(fh);
    check_nonblocking(fh);
    check_split(fh);
    check_large_count(fh);
    check_view_and_size(fh);
    CALL(MPI_File_close, &fh);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CALL(MPI_File_delete, NAME, MPI_INFO_NULL);
    check_tool();
    return finish();
}
