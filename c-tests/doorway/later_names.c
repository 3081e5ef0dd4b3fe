/* Routines of MPI 4 and 5 that this mpi.h may not have yet: programs that look for them by name find them in the library. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

#define NAME "doorway_later_names.dat"

static void *find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) {
        errors++;
        fprintf(stderr, "no %s\n", name);
    }
    return found;
}

static void check_integers(MPI_File fh)
{
    int (*toint)(MPI_File) = (int (*)(MPI_File)) find("MPI_File_toint");
    MPI_File (*fromint)(int) = (MPI_File (*)(int)) find("MPI_File_fromint");
    if (!toint || !fromint)
        return;
#ifndef MPI_ABI /* whose header has no Fortran integers */
    CHECK(toint(fh) == MPI_File_c2f(fh));
#endif
    CHECK(fromint(toint(fh)) == fh);
    CHECK(fromint(toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
}

static void check_extent(MPI_File fh)
{
    int (*get)(MPI_File, MPI_Datatype, MPI_Count *) = (int (*)(MPI_File, MPI_Datatype, MPI_Count *)) find("MPI_File_get_type_extent_c");
    MPI_Count extent = -1;
    if (!get)
        return;
    CHECK(get(fh, MPI_DOUBLE, &extent) == MPI_SUCCESS && extent == 8);
    CHECK(class_of(get(fh, MPI_DATATYPE_NULL, &extent)) == MPI_ERR_TYPE);
}

static int three_bytes(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    (void) datatype, (void) state;
    *extent = 3;
    return MPI_SUCCESS;
}

typedef int conversion(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef int registration(const char *, conversion *, conversion *, MPI_Datarep_extent_function *, void *);

static void check_datarep(MPI_File fh)
{
    registration *register_datarep = (registration *) find("MPI_Register_datarep_c");
    MPI_Aint extent = -1;
    if (!register_datarep)
        return;
    CHECK(register_datarep("three", NULL, NULL, three_bytes, NULL) == MPI_SUCCESS);
    CHECK(class_of(register_datarep("three", NULL, NULL, three_bytes, NULL)) == MPI_ERR_DUP_DATAREP);
    CHECK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "three", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_get_type_extent(fh, MPI_INT, &extent) == MPI_SUCCESS && extent == 3);
}

int main(int argc, char **argv)
{
    MPI_File fh;
    MPI_Init(&argc, &argv);
    CHECK(MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &fh)
          == MPI_SUCCESS);
    check_integers(fh);
    check_extent(fh);
    check_datarep(fh);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    return finish();
}
