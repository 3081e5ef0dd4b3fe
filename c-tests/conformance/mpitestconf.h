/* What MPICH's tests of files want to know about the machine; their own configure would find it out in minutes. */
#define F77_NAME_LOWER_USCORE 1
#define HAVE_FORTRAN_BINDING 1
#define HAVE_GETRUSAGE 1
#define HAVE_IOSTREAM 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_MPI_IO 1
#define HAVE_NAMESPACES 1
#define HAVE_NAMESPACE_STD 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1
#define POINTERINT_t long
#define SIZEOF_MPI_OFFSET 8
#define STDCALL
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
