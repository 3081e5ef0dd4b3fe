/* What the programs of this directory share: a check that says what went wrong, and the last line. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int errors;

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            errors++;                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
        }                                                                       \
    } while (0)

/* The class of what a routine returned. */
static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* Adds up the errors of all ranks, ends MPI, and is the status of the process. */
static inline int finish(void)
{
    int rank, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) {
        if (all == 0)
            puts("No Errors");
        else
            printf("Found %d errors\n", all);
    }
    return all != 0;
}
