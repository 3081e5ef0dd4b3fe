/* One rank passes a bad argument to a collective routine: every rank returns, with the same class of error, and the
 * file can be used afterwards. */
#include "check.h"

static char memory[64];

/* Whether accesses go on after a call. */
static int goes_on(MPI_File file)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int known;
    MPI_Info info;
    FINE(MPI_File_get_info(file, &info));
    FINE(MPI_Info_get(info, "mpiio_rs_progress", MPI_MAX_INFO_VAL, value, &known));
    FINE(MPI_Info_free(&info));
    if (!known) printf("no mpiio_rs_progress among the hints\n"), wrong++;
    return strcmp(value, "none") != 0;
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("one_rank_fails");
    MPI_Status status;
    MPI_Request request;
    int bad = rank == size - 1, n = bad ? -1 : 8;
    MPI_Offset at = bad ? -1 : 8 * rank;
    MPI_Datatype type = bad ? MPI_DATATYPE_NULL : MPI_BYTE;
#define ALL_FAIL(call, ...)                  \
    do {                                     \
        doing = #call;                       \
        int code = call;                     \
        EXPECT(code, __VA_ARGS__);           \
        same_class(code, #call, __LINE__);   \
    } while (0)
    ALL_FAIL(MPI_File_write_at_all(file, 8 * rank, memory, n, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    ALL_FAIL(MPI_File_read_at_all(file, 8 * rank, memory, n, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    ALL_FAIL(MPI_File_write_at_all(file, at, memory, 8, MPI_BYTE, &status), MPI_ERR_ARG);
    ALL_FAIL(MPI_File_write_all(file, memory, 8, type, &status), MPI_ERR_TYPE);
    ALL_FAIL(MPI_File_read_all(file, memory, n, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    ALL_FAIL(MPI_File_write_ordered(file, memory, n, MPI_BYTE, &status), MPI_ERR_COUNT, MPI_ERR_ARG);
    ALL_FAIL(MPI_File_read_ordered(file, memory, 8, type, &status), MPI_ERR_TYPE);
    /* a nonblocking call tells the rank whose argument is bad at once; the others hear of it from their requests, if
     * anybody sees to these while they wait. MPICH makes one class of all errors of generalized requests. */
    int code = MPI_File_iwrite_at_all(file, at, memory, 8, MPI_BYTE, &request);
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(&request, &status);
        if (class_of(code) == MPI_ERR_IN_STATUS) code = status.MPI_ERROR;
    }
    if (bad || goes_on(file)) EXPECT(code, MPI_ERR_ARG, MPI_ERR_OTHER);
    else FINE(code);
    /* the split forms may say so at either end; there the good ranks, too, must hear of it */
    code = MPI_File_write_all_begin(file, memory, n, MPI_BYTE);
    if (code == MPI_SUCCESS) code = MPI_File_write_all_end(file, memory, &status);
    EXPECT(code, MPI_ERR_COUNT, MPI_ERR_ARG);
    FINE(MPI_File_seek(file, 0, MPI_SEEK_SET));
    FINE(MPI_File_write_at_all(file, 8 * rank, memory, 8, MPI_BYTE, &status));
    FINE(MPI_File_read_at_all(file, 8 * rank, memory, 8, MPI_BYTE, &status));
    FINE(MPI_File_close(&file));
    return finish();
}
