/* Starts MPI at the thread level that the environment asks for: TEST_THREAD_LEVEL=single, the default, funneled, serialized or multiple. */
#ifndef LEVEL_H
#define LEVEL_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void start_mpi(int *count, char ***words)
{
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    const char *wanted = getenv("TEST_THREAD_LEVEL");
    int level = 0, given;
    while (wanted && level < 4 && strcmp(wanted, names[level])) level++;
    if (level == 0) {
        MPI_Init(count, words);
        return;
    }
    if (level < 4) MPI_Init_thread(count, words, levels[level], &given);
    if (level == 4 || given < levels[level]) {
        fprintf(stderr, "TEST_THREAD_LEVEL=%s: %s\n", wanted, level == 4 ? "no such level" : "this MPI does not have it");
        exit(1);
    }
}

#endif
