/* A program with sessions and without MPI_Init: there is no MPI_COMM_WORLD and no MPI_COMM_SELF, and MPI begins anew with the
 * second session. MPIs before MPI 4 have no sessions; there is nothing to check then. */
#include "sessions.h"

#if MPI_VERSION >= 4
static int calls;

static void handle(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
    calls++;
}

/* The handlers of a file: its own at first, one of the program, and the first again. */
static void handlers(MPI_File file)
{
    MPI_Errhandler found, ours;
    MPI_Status status;
    char byte = 0;
    for (int i = 0; i < 3; i++) {
        FINE(MPI_File_get_errhandler(file, &found));
        FINE(MPI_Errhandler_free(&found));
    }
    FINE(MPI_File_create_errhandler(handle, &ours));
    FINE(MPI_File_set_errhandler(file, ours));
    FINE(MPI_Errhandler_free(&ours)); /* in use by the file still */
    int before = calls;
    EXPECT(MPI_File_write_at(file, -1, &byte, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    TRUE(calls == before + 1);
    FINE(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    int code = MPI_File_write_at(file, -7, &byte, 1, MPI_BYTE, &status), length;
    char text[MPI_MAX_ERROR_STRING] = "";
    FINE(MPI_Error_string(code, text, &length));
    TRUE(strstr(text, "-7"));
}

/* Neither MPICH 4 nor Intel MPI 2021. */
static int is_new(void)
{
    return mpich_version() >= 5;
}

static void access_file(MPI_File file)
{
    int mine[4] = {rank, rank + 1, rank + 2, rank + 3}, back[4] = {0};
    MPI_Datatype apart;
    MPI_Request request;
    MPI_Status status;
    MPI_Type_vector(4, 1, size, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    for (int i = 0; i < 3; i++) FINE(MPI_File_set_view(file, 4 * rank, MPI_INT, apart, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_at_all(file, 0, mine, 4, MPI_INT, &status));
    FINE(MPI_File_read_at(file, 0, back, 4, MPI_INT, &status));
    TRUE(memcmp(mine, back, sizeof mine) == 0);
    MPI_Type_free(&apart);
    if (size == 1 && !is_new()) return; /* MPICH 4.0 crashes in MPI_Test of a generalized request then */
    memset(back, 0, sizeof back);
    FINE(MPI_File_iread_at_all(file, 0, back, 4, MPI_INT, &request));
    FINE(MPI_Wait(&request, &status));
    TRUE(memcmp(mine, back, sizeof mine) == 0);
    mine[1] = 17;
    FINE(MPI_File_iwrite_at(file, 0, mine, 4, MPI_INT, &request));
    FINE(MPI_Wait(&request, &status));
    FINE(MPI_File_read_at(file, 0, back, 4, MPI_INT, &status));
    TRUE(memcmp(mine, back, sizeof mine) == 0);
    FINE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

static int run(int last)
{
    MPI_File file;
    begin_session();
    EXPECT(MPI_File_open(comm, path("not/there"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    FINE(MPI_File_open(comm, path("only_sessions"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    access_file(file);
    handlers(file);
    FINE(MPI_File_close(&file));
    int all = end_session();
    if (last && rank == 0 && all == 0) printf("No Errors\n");
    return all;
}

int main(int count, char **words)
{
    if (count > 1) directory = words[1];
    patience();
    /* MPICH 4.0 and Intel MPI 2021 crash in a second MPI_Session_init, also without any file */
    int again = is_new(), all = run(!again);
    if (again) wait_for_all("ended");
    return all + (again ? run(1) : 0) != 0;
}
#else
int main(int count, char **words)
{
    begin(&count, &words);
    return finish();
}
#endif
