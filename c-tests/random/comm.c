/* The communicator of a program: everybody, parts, single ranks, ranks in another order, or made from a session; and
 * communicators that files must refuse. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "random.h"

#include <dlfcn.h>

enum Shape { ALONE, ODD_AND_EVEN, HALVES, BACKWARDS, FROM_SESSION, EVERYBODY };

static int color_of(enum Shape shape, int rank, int size)
{
    return shape == ALONE ? rank : shape == ODD_AND_EVEN ? rank % 2 : shape == HALVES ? rank < size / 2 : 0;
}

/* Sessions came with MPI-4: found at run time. Their handle is a machine word or an int, of which only the word's lower
 * half is looked at. */
typedef uintptr_t Session;
static Session session;

static void *routine(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) fail("there is no %s", name);
    return found;
}

static void open_session(void)
{
    MPI_Group group;
    int (*begin)(MPI_Info, MPI_Errhandler, Session *) = routine("MPI_Session_init");
    int (*group_of)(Session, const char *, MPI_Group *) = routine("MPI_Group_from_session_pset");
    int (*create)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *) = routine("MPI_Comm_create_from_group");
    session = 0;
    must(begin(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    must(group_of(session, "mpi://WORLD", &group));
    must(create(group, "random programs", MPI_INFO_NULL, MPI_ERRORS_RETURN, &program.comm));
    must(MPI_Group_free(&group));
}

void make_communicator(int world_rank, int world_size)
{
    Random random = {mix(program.seed)};
    enum Shape shape = options.on[SUBCOMMS] ? (enum Shape)below(&random, 12) : EVERYBODY;
    if (shape > EVERYBODY) shape = EVERYBODY;
    /* Open MPI 4 has no sessions */
    if (shape == FROM_SESSION && !(options.on[SESSIONS] && dlsym(RTLD_DEFAULT, "MPI_Session_init"))) shape = EVERYBODY;
    program.group = color_of(shape, world_rank, world_size);
    program.in_session = shape == FROM_SESSION;
    for (int rank = 0; rank < world_size; rank++) {
        bool with_me = color_of(shape, rank, world_size) == program.group;
        program.size += with_me;
        program.rank += with_me && (shape == BACKWARDS ? rank > world_rank : rank < world_rank);
    }
    if (options.print) {
        program.comm = MPI_COMM_SELF;
        if (program.in_session) emit_note("the communicator was made from a session");
        emit(shape == ALONE ? "MPI_Comm_dup(MPI_COMM_SELF, &comm)" : "MPI_Comm_split(MPI_COMM_WORLD, %d, %d, &comm)", program.group, program.rank);
    } else if (shape == ALONE) program.comm = MPI_COMM_SELF;
    else if (shape == FROM_SESSION) open_session();
    else must(MPI_Comm_split(MPI_COMM_WORLD, program.group, program.rank, &program.comm));
}

void free_communicator(void)
{
    emit("MPI_Comm_free(&comm)");
    if (program.comm != MPI_COMM_SELF) must(MPI_Comm_free(&program.comm));
    if (!program.in_session || options.print) return;
    int (*end)(Session *) = routine("MPI_Session_finalize");
    must(end(&session));
}

/* Files are opened on intracommunicators only. */
void step_refused(File *file)
{
    MPI_Comm half, both;
    MPI_File handle;
    int odd = program.rank % 2, class;
    if (program.size < 2 || options.print) return;
    finish_pending_split(file);
    announce("open on an intercommunicator");
    must(MPI_Comm_split(program.comm, odd, program.rank, &half));
    must(MPI_Intercomm_create(half, 0, program.comm, !odd, 5, &both));
    program.call = "MPI_File_open";
    must(MPI_Error_class(MPI_File_open(both, file->path, MPI_MODE_RDWR, MPI_INFO_NULL, &handle), &class));
    if (class != MPI_ERR_COMM) fail("the error class is %d, must be MPI_ERR_COMM, %d", class, MPI_ERR_COMM);
    must(MPI_Comm_free(&both));
    must(MPI_Comm_free(&half));
}
