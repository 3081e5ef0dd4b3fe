/* The table of (call kind x fault): a row is a call of MPI-IO, a column a fault, a position the system call it hits. */
#ifndef FAULTS_H
#define FAULTS_H

#include "inject.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who hears of a failure. */
enum hearing {
    ALONE, /* the rank that failed */
    ALL,   /* every rank, with one class */
};

enum direction { READS, WRITES };

enum routine {
    AT, INDIVIDUAL, SHARED, AT_ALL, ALL_POINTERS, ORDERED, I_AT, I_INDIVIDUAL, I_SHARED, I_AT_ALL, I_ALL,
    SPLIT_AT_ALL, SPLIT_ALL, SPLIT_ORDERED, NO_ACCESS
};

/* How the bytes lie in memory and in the file. */
enum layout { CONTIGUOUS, STRIDED, SIEVED, GATHERED, VECTORED, EXTERNAL32, ATOMIC, ATOMIC_STRIDED, THREADS };

struct row {
    const char *name;
    enum hearing hearing;
    enum routine routine;
    enum direction direction;
    enum layout layout;
    void (*prepare)(const struct row *row); /* collective; leaves the call to be made */
    int (*act)(const struct row *row);      /* the call */
    void (*verify)(const struct row *row, int code);
};

enum effect {
    UNSEEN, /* the call succeeds as if nothing had happened */
    FAILS,  /* an error, or a success with everything right where the call can do without */
    CUTS,   /* the file gets shorter under the call */
};

struct column {
    const char *name;
    const char *calls, *action; /* for inject.c; no calls: `impose` does it */
    int onwards;                /* all positions behind the first fail too */
    enum effect effect;
    int error;
    int (*impose)(const struct row *row, int position); /* false: there is no such position */
    void (*lift)(void);
};

/* main.c */
extern int rank, size, faulty;
extern const struct column *fault_now;
extern char *directory, *path;
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
int class_of(int code);

/* rows.c */
extern const struct row rows[];
extern const int row_count;

/* access.c: data access */
extern MPI_File file;
extern int file_is_open;
long access_size(const struct row *row);
long base_size(const struct row *row);
void make_base(const struct row *row);
void open_file(int amode);
void close_file(void);
void prepare_access(const struct row *row);
int access_act(const struct row *row);
void verify_access(const struct row *row, int code);

/* limits.c: limits that the system itself imposes */
int impose_file_size(const struct row *row, int position);
void lift_file_size(void);
int impose_descriptors(const struct row *row, int position);
void lift_descriptors(void);
int impose_memory(const struct row *row, int position);
void lift_memory(void);
int impose_full(const struct row *row, int position);
void lift_full(void);
int impose_permission(const struct row *row, int position);
void lift_permission(void);

#endif
