/* The negative control: no file can be opened. A test that passes with this in place of the library opens none through it. */
#include <mpi.h>

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    (void) comm, (void) filename, (void) amode, (void) info;
    *fh = MPI_FILE_NULL;
    return MPI_ERR_NO_SPACE;
}

/* The bindings of Fortran call this one. */
int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    return MPI_File_open(comm, filename, amode, info, fh);
}
