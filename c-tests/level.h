/* Starts MPI at the thread level that the environment asks for: TEST_THREAD_LEVEL=single, the default, or multiple. */
#ifndef LEVEL_H
#define LEVEL_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void start_mpi(int *count, char ***words)
{
    const char *wanted = getenv("TEST_THREAD_LEVEL");
    int level = MPI_THREAD_SINGLE;
    if (!wanted || !strcmp(wanted, "single")) MPI_Init(count, words);
    else MPI_Init_thread(count, words, level = MPI_THREAD_MULTIPLE, &level);
    if (wanted && !strcmp(wanted, "multiple") && level != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#endif
