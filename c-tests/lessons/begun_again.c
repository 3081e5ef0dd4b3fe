/* MPI ends with the last session and begins again with the next: what the library knows of one must not be taken for something of
 * the other, and what an MPI keeps for ever must not pile up. MPIs before MPI 4 have no sessions; there is nothing to check then. */
#include "lesson.h"
#include "../errors/sessions.h"

#if MPI_VERSION >= 4
enum { LENGTH = 1000, TYPES = 60, PRECISIONS = 15, OPENINGS = 2100 };

static MPI_File open_by(MPI_Comm by, const char *name)
{
    MPI_File file;
    FINE(MPI_File_open(by, path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    return file;
}

/* These are predefined, and go with MPI all the same. */
static void use_types_of_fortran(void)
{
    MPI_Datatype made[TYPES], type;
    char number[16] = "";
    MPI_File file = open_by(comm, "fortran");
    for (int i = 0; i < TYPES; i++) MPI_Type_contiguous(3, MPI_INT, &made[i]); /* so that those take other handles */
    for (int i = 1; i <= PRECISIONS; i++) {
        int bytes;
        FINE(MPI_Type_create_f90_real(i, MPI_UNDEFINED, &type));
        MPI_Type_size(type, &bytes);
        MPI_Status status = spoilt();
        FINE(MPI_File_write_at(file, rank * 16, number, 1, type, &status));
        TRUE(bytes_of(&status) == bytes);
    }
    for (int i = 0; i < TYPES; i++) MPI_Type_free(&made[i]);
    FINE(MPI_File_close(&file));
}

static int is_predefined(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* They may have the handles of those of the session before. MPICH 4.2 gives some those of MPI_FLOAT_INT and its like, and then
 * takes them for these. */
static void use_own_types(void)
{
    MPI_Datatype types[2 * TYPES];
    MPI_File file = open_by(comm, "own");
    for (int i = 0; i < 2 * TYPES; i++) {
        int data[12], back[6] = {0};
        MPI_Type_vector(3, 2, 4, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
        if (is_predefined(types[i])) continue;
        for (int k = 0; k < 12; k++) data[k] = 100 * i + k;
        FINE(MPI_File_write_at(file, rank * LENGTH, data, 1, types[i], MPI_STATUS_IGNORE));
        FINE(MPI_File_read_at(file, rank * LENGTH, back, 6, MPI_INT, MPI_STATUS_IGNORE));
        for (int k = 0; k < 6; k++) TRUE(back[k] == data[k / 2 * 4 + k % 2]);
    }
    for (int i = 0; i < 2 * TYPES; i++)
        if (!is_predefined(types[i])) MPI_Type_free(&types[i]);
    FINE(MPI_File_close(&file));
}

/* An MPI has some thousand codes with texts and ends the program that wants more. One rank is enough. */
static void make_mistakes(void)
{
    MPI_Comm alone;
    char byte = 0;
    MPI_Comm_split(comm, rank, 0, &alone);
    for (int i = 0; i < OPENINGS && rank == 0; i++) {
        MPI_File file = open_by(alone, "mistakes");
        EXPECT(MPI_File_write_at(file, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        FINE(MPI_File_close(&file));
    }
    MPI_Comm_free(&alone);
}

/* Also without any file MPICH 4.0 and Intel MPI 2021 crash in a second MPI_Session_init, and MPICH 4.2 hangs with several ranks. */
static int can_begin_again(void)
{
    return mpich_version() >= 5 || (mpich_version() >= 4.15 && size == 1);
}

int main(int count, char **words)
{
    if (count > 1) directory = words[1];
    patience();
    begin_session();
    use_types_of_fortran();
    make_mistakes();
    int again = can_begin_again(), first = rank == 0, all = end_session();
    if (again) {
        wait_for_all("ended");
        begin_session();
        use_own_types();
        all += end_session();
    }
    if (first && all == 0) printf("No Errors\n");
    return all != 0;
}
#else
int main(int count, char **words)
{
    begin(&count, &words);
    return finish();
}
#endif
