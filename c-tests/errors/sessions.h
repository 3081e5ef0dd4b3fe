/* Programs with sessions, where MPI may end and begin again. MPIs before MPI 4 have none. */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "check.h"

#if MPI_VERSION >= 4
static MPI_Session session;
static MPI_Comm comm;

/* The version of MPICH or of an MPI that is made of it; another MPI is newer than all of them. */
static double mpich_version(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    char *mpich = strstr(version, "MPICH Version:"), *number = mpich ? strpbrk(mpich, "0123456789") : NULL;
    if (number) return strtod(number, NULL);
    return strstr(version, "Open MPI") ? 1000 : 0;
}

static void begin_session(void)
{
    MPI_Group group;
    FINE(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    FINE(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    FINE(MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Group_free(&group);
}

/* Mistakes of all ranks so far. */
static int end_session(void)
{
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    FINE(MPI_Session_finalize(&session));
    return all;
}

/* All ranks have ended MPI. MPICH 5 sometimes hangs in the next session where a rank begins it while another still ends the
 * first, also without any file, and no MPI is there to wait with. */
static void wait_for_all(const char *stage)
{
    char name[64];
    doing = "waiting until all have ended MPI";
    snprintf(name, sizeof name, "%s.%d", stage, rank);
    FILE *mine = fopen(path(name), "w");
    TRUE(mine);
    if (mine) fclose(mine);
    for (int other = 0; other < size; other++) {
        snprintf(name, sizeof name, "%s.%d", stage, other);
        char *ended = path(name);
        while (access(ended, F_OK) != 0) usleep(1000);
        free(ended);
    }
}
#endif

#endif
