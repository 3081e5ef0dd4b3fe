/* What the random programs and the programs printed from them have in common: the contents of memory, the ways to
 * complete requests, and a data representation of the user's own. */
#ifndef SHARED_H
#define SHARED_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64: the same numbers on every rank and machine. */
static inline uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* Byte `at` of memory before an access. */
static inline unsigned char pattern(uint64_t identity, int64_t at)
{
    return (unsigned char)mix(identity + (uint64_t)at);
}

enum Completion { WAIT, WAIT_BACKWARDS, WAITANY, WAITSOME, WAITALL, TEST, TESTANY, TESTSOME, TESTALL, GET_STATUS, COMPLETIONS };

/* Completes one or more requests of those left by the some-routines; `left` goes down by their number. */
static inline int complete_some(enum Completion method, int count, MPI_Request *requests, MPI_Status *statuses, int *left)
{
    int indices[64], done = 0;
    MPI_Status found[64];
    memset(found, 0x77, sizeof found);
    int code = method == WAITSOME ? MPI_Waitsome(count, requests, &done, indices, found)
                                  : MPI_Testsome(count, requests, &done, indices, found);
    for (int i = 0; code == MPI_SUCCESS && i < done; i++) statuses[indices[i]] = found[i];
    *left = done == MPI_UNDEFINED ? 0 : *left - done;
    return code;
}

static inline int complete_any(enum Completion method, int count, MPI_Request *requests, MPI_Status *statuses, int *left)
{
    int index = MPI_UNDEFINED, done = 1;
    MPI_Status found;
    memset(&found, 0x77, sizeof found);
    int code = method == WAITANY ? MPI_Waitany(count, requests, &index, &found)
                                 : MPI_Testany(count, requests, &index, &done, &found);
    if (code != MPI_SUCCESS || !done) return code;
    if (index != MPI_UNDEFINED) statuses[index] = found;
    *left = index == MPI_UNDEFINED ? 0 : *left - 1;
    return code;
}

static inline int complete_one(enum Completion method, MPI_Request *request, MPI_Status *status)
{
    int code = MPI_SUCCESS;
    if (method == WAIT || method == WAIT_BACKWARDS) return MPI_Wait(request, status);
    for (int done = 0; !done && code == MPI_SUCCESS;)
        code = method == TEST ? MPI_Test(request, &done, status) : MPI_Request_get_status(*request, &done, status);
    return method == GET_STATUS && code == MPI_SUCCESS ? MPI_Wait(request, status) : code;
}

/* Completes all of them, the way one real program or another would. */
static inline int complete_requests(enum Completion method, int count, MPI_Request *requests, MPI_Status *statuses)
{
    int code = MPI_SUCCESS, left = count;
    switch (method) {
    case WAITALL: return MPI_Waitall(count, requests, statuses);
    case TESTALL:
        for (int done = 0; !done && code == MPI_SUCCESS;) code = MPI_Testall(count, requests, &done, statuses);
        return code;
    case WAITSOME: case TESTSOME:
        while (left > 0 && code == MPI_SUCCESS) code = complete_some(method, count, requests, statuses, &left);
        return code;
    case WAITANY: case TESTANY:
        while (left > 0 && code == MPI_SUCCESS) code = complete_any(method, count, requests, statuses, &left);
        return code;
    default:
        for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
            int at = method == WAIT_BACKWARDS ? count - 1 - i : i;
            code = complete_one(method, &requests[at], &statuses[at]);
        }
        return code;
    }
}

/* The representations "inverted1" to "inverted16": every bit is turned. The functions are told how many entries of a
 * predefined type, of that many bytes, to convert, and from which on. */
static inline int invert_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint lb;
    (void)state;
    return MPI_Type_get_extent(type, &lb, extent);
}

static inline int invert(void *user, MPI_Datatype type, int64_t count, unsigned char *file, int64_t first, int64_t item, int to_file)
{
    int size, position = 0, code = MPI_Type_size(type, &size);
    int64_t whole = ((first + count) * item + size - 1) / size, bytes = whole * size;
    unsigned char *packed = malloc((size_t)bytes + 1);
    if (code == MPI_SUCCESS) code = MPI_Pack(user, (int)whole, type, packed, (int)bytes, &position, MPI_COMM_SELF);
    for (int64_t i = 0; i < count * item; i++) {
        if (to_file) file[i] = (unsigned char)~packed[first * item + i];
        else packed[first * item + i] = (unsigned char)~file[i];
    }
    position = 0;
    if (!to_file && code == MPI_SUCCESS) code = MPI_Unpack(packed, (int)bytes, &position, user, (int)whole, type, MPI_COMM_SELF);
    free(packed);
    return code;
}

static inline int invert_read(void *user, MPI_Datatype type, int count, void *file, MPI_Offset first, void *state)
{
    return invert(user, type, count, file, first, (int64_t)(intptr_t)state, 0);
}

static inline int invert_write(void *user, MPI_Datatype type, int count, void *file, MPI_Offset first, void *state)
{
    return invert(user, type, count, file, first, (int64_t)(intptr_t)state, 1);
}

static inline int invert_read_large(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset first, void *state)
{
    return invert(user, type, count, file, first, (int64_t)(intptr_t)state, 0);
}

static inline int invert_write_large(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset first, void *state)
{
    return invert(user, type, count, file, first, (int64_t)(intptr_t)state, 1);
}

typedef int Invert_large(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
extern int register_large(const char *, Invert_large *, Invert_large *, int (*)(MPI_Datatype, MPI_Aint *, void *), void *)
    __asm__("MPI_Register_datarep_c") __attribute__((weak));

/* Some with MPI_Count arguments, where the process has that routine. */
static inline int register_inverted(const char *name, int item)
{
    if (register_large && item >= 4)
        return register_large(name, invert_read_large, invert_write_large, invert_extent, (void *)(intptr_t)item);
    return MPI_Register_datarep(name, invert_read, invert_write, invert_extent, (void *)(intptr_t)item);
}

#endif
