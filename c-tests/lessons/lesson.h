/* What the lessons share, beside the checks of the error tests. */
#ifndef LESSON_H
#define LESSON_H

#include "../errors/check.h"

/* As `begin`, at this thread level whatever the environment asks for; false if the MPI was built without. */
static inline int begin_at(int wanted, int *count, char ***words)
{
    int level;
    MPI_Init_thread(count, words, wanted, &level);
    prepare(count, words);
    return level >= wanted;
}

/* What others wrote is seen only after this. */
static inline void synchronise(MPI_File file)
{
    FINE(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    FINE(MPI_File_sync(file));
}

static inline MPI_Count bytes_of(MPI_Status *status)
{
    MPI_Count bytes = -1;
    MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return bytes;
}

/* A status in which nothing is what a routine would say. */
static inline MPI_Status spoilt(void)
{
    MPI_Status status;
    memset(&status, 0x5a, sizeof status);
    return status;
}

/* A file opened by all with one hint or with none. */
static inline MPI_File open_with(const char *name, const char *key, const char *value)
{
    MPI_File file;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    FINE(MPI_File_open(MPI_COMM_WORLD, path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    if (key) MPI_Info_free(&info);
    return file;
}

#endif
