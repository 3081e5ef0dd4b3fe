/* What the programs share: they print in the order of ranks, so that output can be compared. */
#ifndef SAY_H
#define SAY_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static const char *directory = ".";

static inline void begin(int *count, char ***words)
{
    MPI_Init(count, words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (*count > 1) directory = (*words)[1];
}

static inline char *path(const char *name)
{
    char *result = malloc(4096);
    snprintf(result, 4096, "%s/%s", directory, name);
    return result;
}

/* Collective: one line of every rank, in the order of ranks. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    char *all = malloc(sizeof line * (size_t)size);
    MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) printf("rank %d: %s\n", i, all + sizeof line * (size_t)i);
    fflush(stdout);
    free(all);
}

static inline const char *class_name(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    if (class == MPI_SUCCESS) return "success";
    if (class == MPI_ERR_FILE_EXISTS) return "MPI_ERR_FILE_EXISTS";
    if (class == MPI_ERR_NO_SUCH_FILE) return "MPI_ERR_NO_SUCH_FILE";
    if (class == MPI_ERR_AMODE) return "MPI_ERR_AMODE";
    if (class == MPI_ERR_ACCESS) return "MPI_ERR_ACCESS";
    if (class == MPI_ERR_READ_ONLY) return "MPI_ERR_READ_ONLY";
    if (class == MPI_ERR_ARG) return "MPI_ERR_ARG";
    return "another class";
}

static inline void fine(int code, const char *what)
{
    if (code == MPI_SUCCESS) return;
    printf("rank %d: %s: %s\n", rank, what, class_name(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define FINE(call) fine(call, #call)

static inline MPI_File open_new(const char *name)
{
    MPI_File file;
    FINE(MPI_File_open(MPI_COMM_WORLD, path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    return file;
}

/* What others wrote is seen only after this. */
static inline void synchronise(MPI_File file)
{
    FINE(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_sync(file));
}

static inline int count_of(MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

/* A short fingerprint of what was read. */
static inline unsigned sum_of(const void *memory, size_t bytes)
{
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++) sum = sum * 31 + ((const unsigned char *)memory)[i];
    return sum;
}

#endif
