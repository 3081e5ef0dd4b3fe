/* What the error tests share: a call, and the classes one of which it must return. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../level.h"

static int rank, size, wrong;
static const char *directory = ".";
static const char *doing = "starting";

#define CLASS(name) {name, #name}
static const char *class_name(int class)
{
    const struct { int class; const char *name; } names[] = {
        CLASS(MPI_SUCCESS), CLASS(MPI_ERR_BUFFER), CLASS(MPI_ERR_COUNT), CLASS(MPI_ERR_TYPE), CLASS(MPI_ERR_TAG),
        CLASS(MPI_ERR_COMM), CLASS(MPI_ERR_RANK), CLASS(MPI_ERR_REQUEST), CLASS(MPI_ERR_ARG), CLASS(MPI_ERR_UNKNOWN),
        CLASS(MPI_ERR_OTHER), CLASS(MPI_ERR_INTERN), CLASS(MPI_ERR_ACCESS), CLASS(MPI_ERR_AMODE),
        CLASS(MPI_ERR_BAD_FILE), CLASS(MPI_ERR_CONVERSION), CLASS(MPI_ERR_DUP_DATAREP), CLASS(MPI_ERR_FILE_EXISTS),
        CLASS(MPI_ERR_FILE_IN_USE), CLASS(MPI_ERR_FILE), CLASS(MPI_ERR_INFO), CLASS(MPI_ERR_IO), CLASS(MPI_ERR_NOT_SAME),
        CLASS(MPI_ERR_NO_SPACE), CLASS(MPI_ERR_NO_SUCH_FILE), CLASS(MPI_ERR_QUOTA), CLASS(MPI_ERR_READ_ONLY),
        CLASS(MPI_ERR_UNSUPPORTED_DATAREP), CLASS(MPI_ERR_UNSUPPORTED_OPERATION),
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].class == class) return names[i].name;
    return "a class without a name";
}

static inline int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

/* Ends with -1. */
static inline void expect_one_of(int code, const char *what, int line, const int *classes)
{
    int class = class_of(code);
    for (int i = 0; classes[i] != -1; i++)
        if (class == classes[i]) return;
    wrong++;
    printf("line %d, rank %d of %d: %s gives %s, expected %s", line, rank, size, what, class_name(class), class_name(classes[0]));
    for (int i = 1; classes[i] != -1; i++) printf(" or %s", class_name(classes[i]));
    printf("\n");
    fflush(stdout);
}

#define EXPECT(call, ...)                                                      \
    do {                                                                       \
        doing = #call;                                                         \
        expect_one_of(call, #call, __LINE__, (const int[]){__VA_ARGS__, -1}); \
    } while (0)
#define FINE(call) EXPECT(call, MPI_SUCCESS)
#define TRUE(condition)                                                                      \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            wrong++;                                                                         \
            printf("line %d, rank %d of %d: not so: %s\n", __LINE__, rank, size, #condition); \
        }                                                                                    \
    } while (0)

static inline void on_alarm(int number)
{
    (void)number;
    char line[512];
    int length = snprintf(line, sizeof line, "rank %d of %d hangs in %s\n", rank, size, doing);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(3);
    sleep(1);
    _exit(1);
}

/* A rank that hangs says where. Tools that run programs slowly give more time. */
static inline void patience(void)
{
    const char *seconds = getenv("CHECK_SECONDS");
    signal(SIGALRM, on_alarm);
    alarm(seconds ? (unsigned)atoi(seconds) : 40);
}

/* What every test needs once MPI has been started. */
static inline void prepare(int *count, char ***words)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (*count > 1) directory = (*words)[1];
    patience();
}

static inline void begin(int *count, char ***words)
{
    start_mpi(count, words);
    prepare(count, words);
}

static inline char *path(const char *name)
{
    char *result = malloc(4096);
    snprintf(result, 4096, "%s/%s", directory, name);
    return result;
}

/* A new empty file, opened by all. */
static inline MPI_File open_new(const char *name)
{
    MPI_File file;
    FINE(MPI_File_open(MPI_COMM_WORLD, path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    return file;
}

/* Every rank got the same class? */
static inline void same_class(int code, const char *what, int line)
{
    int class = class_of(code), low, high;
    MPI_Allreduce(&class, &low, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&class, &high, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (low == high) return;
    wrong++;
    if (rank == 0) printf("line %d: %s gives %s on one rank and %s on another\n", line, what, class_name(low), class_name(high));
}

#define SAME_CLASS(call)                     \
    do {                                     \
        doing = #call;                       \
        same_class(call, #call, __LINE__);   \
    } while (0)

static inline int finish(void)
{
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("No Errors\n");
    MPI_Finalize();
    return all != 0;
}

#endif
