/* A program with sessions and without MPI_Init: there is no MPI_COMM_WORLD and no MPI_COMM_SELF, and MPI begins anew with the
 * second session. MPIs before MPI 4 have no sessions; there is nothing to check then. */
#include "check.h"

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

/* Neither MPICH 4.0 nor Intel MPI 2021. */
static int is_new(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    char *mpich = strstr(version, "MPICH Version:"), *number = mpich ? strpbrk(mpich, "0123456789") : NULL;
    return strstr(version, "Open MPI") || (number && atoi(number) >= 5);
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

/* All ranks have ended the session. MPICH 5 sometimes hangs in the second one where a rank begins it while another still
 * ends the first, also without any file, and no MPI is there to wait with. */
static void wait_for_all(void)
{
    char name[64];
    doing = "waiting until all have ended the first session";
    snprintf(name, sizeof name, "ended.%d", rank);
    FILE *mine = fopen(path(name), "w");
    TRUE(mine);
    if (mine) fclose(mine);
    for (int other = 0; other < size; other++) {
        snprintf(name, sizeof name, "ended.%d", other);
        char *ended = path(name);
        while (access(ended, F_OK) != 0) usleep(1000);
        free(ended);
    }
}

static int session(int last)
{
    int all = 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_File file;
    FINE(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    FINE(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    FINE(MPI_Comm_create_from_group(group, "only_sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    EXPECT(MPI_File_open(comm, path("not/there"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    FINE(MPI_File_open(comm, path("only_sessions"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    access_file(file);
    handlers(file);
    FINE(MPI_File_close(&file));
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, comm);
    if (last && rank == 0 && all == 0) printf("No Errors\n");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    FINE(MPI_Session_finalize(&session));
    return all;
}

int main(int count, char **words)
{
    if (count > 1) directory = words[1];
    patience();
    /* MPICH 4.0 and Intel MPI 2021 crash in a second MPI_Session_init, also without any file */
    int again = is_new(), all = session(!again);
    if (again) wait_for_all();
    return all + (again ? session(1) : 0) != 0;
}
#else
int main(int count, char **words)
{
    begin(&count, &words);
    return finish();
}
#endif
