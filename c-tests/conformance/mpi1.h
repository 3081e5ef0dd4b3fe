/* Names of MPI-1 that MPICH's tests use and that Open MPI 4 keeps in its library but hides from mpi.h. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#define OMPI_REMOVED_USE_STATIC_ASSERT 0
#define __mpi_interface_removed__(old, new)
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
