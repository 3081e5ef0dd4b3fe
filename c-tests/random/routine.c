/* The table of data access routines, and the MPI-4 large-count forms of them where the process has them. */
#include "random.h"

typedef MPI_Offset At;
typedef MPI_Datatype Of;

/* The large-count forms are declared under names of our own, weakly: mpi.h may or may not declare them, and the process
 * may or may not have them. */
#define LARGE(name, ...) extern int large_##name(__VA_ARGS__) __asm__("MPI_File_" #name "_c") __attribute__((weak));
#define FAMILY(direction, Memory)                                                                    \
    LARGE(direction##_at, MPI_File, At, Memory, MPI_Count, Of, MPI_Status *)                         \
    LARGE(direction##_at_all, MPI_File, At, Memory, MPI_Count, Of, MPI_Status *)                     \
    LARGE(direction, MPI_File, Memory, MPI_Count, Of, MPI_Status *)                                  \
    LARGE(direction##_all, MPI_File, Memory, MPI_Count, Of, MPI_Status *)                            \
    LARGE(direction##_shared, MPI_File, Memory, MPI_Count, Of, MPI_Status *)                         \
    LARGE(direction##_ordered, MPI_File, Memory, MPI_Count, Of, MPI_Status *)                        \
    LARGE(i##direction##_at, MPI_File, At, Memory, MPI_Count, Of, MPI_Request *)                     \
    LARGE(i##direction##_at_all, MPI_File, At, Memory, MPI_Count, Of, MPI_Request *)                 \
    LARGE(i##direction, MPI_File, Memory, MPI_Count, Of, MPI_Request *)                              \
    LARGE(i##direction##_all, MPI_File, Memory, MPI_Count, Of, MPI_Request *)                        \
    LARGE(i##direction##_shared, MPI_File, Memory, MPI_Count, Of, MPI_Request *)                     \
    LARGE(direction##_at_all_begin, MPI_File, At, Memory, MPI_Count, Of)                             \
    LARGE(direction##_all_begin, MPI_File, Memory, MPI_Count, Of)                                    \
    LARGE(direction##_ordered_begin, MPI_File, Memory, MPI_Count, Of)
FAMILY(read, void *)
FAMILY(write, const void *)

typedef void (*Function)(void);
#define PLAIN(is_write, is_collective, positioning, synchronism, name)                                      \
    {#name, is_write, is_collective, positioning, synchronism, (Function)MPI_File_##name, (Function)large_##name, NULL}
#define HALF(is_write, positioning, name)                                                                   \
    {#name "_begin", is_write, true, positioning, SPLIT_BEGIN, (Function)MPI_File_##name##_begin,            \
     (Function)large_##name##_begin, (Function)MPI_File_##name##_end}
#define ROWS(is_write, name)                                        \
    PLAIN(is_write, false, EXPLICIT, BLOCKING, name##_at),          \
    PLAIN(is_write, true, EXPLICIT, BLOCKING, name##_at_all),       \
    PLAIN(is_write, false, INDIVIDUAL, BLOCKING, name),             \
    PLAIN(is_write, true, INDIVIDUAL, BLOCKING, name##_all),        \
    PLAIN(is_write, false, SHARED_POINTER, BLOCKING, name##_shared), \
    PLAIN(is_write, true, SHARED_POINTER, BLOCKING, name##_ordered), \
    PLAIN(is_write, false, EXPLICIT, NONBLOCKED, i##name##_at),     \
    PLAIN(is_write, true, EXPLICIT, NONBLOCKED, i##name##_at_all),  \
    PLAIN(is_write, false, INDIVIDUAL, NONBLOCKED, i##name),        \
    PLAIN(is_write, true, INDIVIDUAL, NONBLOCKED, i##name##_all),   \
    PLAIN(is_write, false, SHARED_POINTER, NONBLOCKED, i##name##_shared), \
    HALF(is_write, EXPLICIT, name##_at_all),                        \
    HALF(is_write, INDIVIDUAL, name##_all),                         \
    HALF(is_write, SHARED_POINTER, name##_ordered)

const Routine *find_routine(bool write, enum Positioning positioning, bool collective, enum Synchronism synchronism)
{
    static const Routine routines[] = {ROWS(false, read), ROWS(true, write)};
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        const Routine *routine = &routines[i];
        if (routine->write == write && routine->positioning == positioning && routine->collective == collective &&
            routine->synchronism == synchronism)
            return routine;
    }
    fail("there is no such routine");
}
