/* Random MPI-IO programs checked against a byte-exact model.
 *
 * Every rank draws the same program from the same seed, so every rank knows what all ranks do and keeps the whole
 * model: the bytes of the file, the views, and the pointers of all ranks. Nothing is exchanged to agree on what is
 * right, hence a wrong answer on one rank is found on that rank, at the step where it happens.
 *
 *   options.c   the command line
 *   draw.c      random numbers, the arena, text
 *   type.c      datatypes with a typemap kept beside the handle (the MPI is never asked what a type contains)
 *   constructor.c one function for each way to make a datatype
 *   draw_type.c random nested datatypes
 *   model.c     the file: sparse pages, size, and who touched which byte since the last synchronisation
 *   view.c      random views
 *   routine.c   the table of data access routines
 *   access.c    one data access of one rank: memory and expected bytes
 *   call.c      its call, and the checks of memory and status
 *   step_*.c    the steps of a program
 *   emit.c      the program as C source; alone.h is what such a program needs, shared.h what both do
 *   comm.c      communicators, and those that files refuse
 *   leak.c      what a program must not leave behind
 *   main.c      the loop over seeds, files
 */
#ifndef RANDOM_H
#define RANDOM_H

#include "shared.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_RANKS = 16, MAX_PENDING = 12, MAX_STEPS = 1000, MAX_FILES = 4, PAGE = 4096, PAGE_LISTS = 1024, GUARD = 64 };

/* draw.c */
typedef struct { uint64_t state; } Random;
uint64_t draw(Random *random);
int64_t below(Random *random, int64_t limit);
int64_t between(Random *random, int64_t low, int64_t high); /* both included */
bool chance(Random *random, int percent);
void *keep(size_t bytes); /* zeroed memory that lives until the program of this seed ends */
void release_kept(void);
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *list(const char *type, const int *values, int count); /* as C source */

/* options.c */
enum Feature {
    HOLES, EOF_COUNTS, NONBLOCKING, NONBLOCKING_COLLECTIVE, SPLIT, SHARED, ORDERED, RACES, HINTS, UNEVEN_HINTS, REOPEN,
    ATOMIC, LARGE_COUNT, VIEWS, TYPES, DATAREPS, SIZES, BOTTOM, EMPTY_FILETYPES, SUBCOMMS, FAR, SEQUENTIAL, APPEND,
    F90_TYPES, DARRAY, OWN_DATAREPS, SESSIONS, INTERCOMMS, WAIT_ORDER, PAIRS, LOWER_BOUNDS, ZERO_BLOCKS, UNORDERED,
    OUTSTANDING_RACES, SECOND_OPENINGS, FEATURES
};
typedef struct {
    bool on[FEATURES];
    bool verbose, keep_files;
    int print;    /* as C source, for so many ranks */
    int largest, files; /* most bytes of an access, most files */
    uint64_t seed;
    int count, every, steps, timeout;
    bool dropped[MAX_STEPS];
    const char *directory;
    const char *forced_hints; /* key=value;key=value */
} Options;
extern Options options;
void parse_options(int count, char **words);

/* The program under way: which seed, who am I, where are we. */
typedef struct File File;
typedef struct {
    uint64_t seed;
    MPI_Comm comm;
    bool in_session;
    File *files[MAX_FILES];
    int file_count, current; /* the file of the step */
    int group, rank, size, step;
    const char *doing; /* the current step in words: printed on failure and on timeout */
    const char *call;  /* the MPI call in it */
    int accesses;      /* of this rank so far */
    int64_t least;     /* bytes that accesses have at least, if not 0: others get time to come between their parts */
    Random random;
} Program;
extern Program program;
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void require(int code, const char *routine);
#define must(expression) (program.call = #expression, require(expression, #expression))
/* A call that concerns files or other ranks, and the same as C source: one or the other is wanted. */
#define io(expression, ...) (options.print ? emit(__VA_ARGS__) : must(expression))
void say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* with --verbose, first rank only */

/* emit.c */
typedef struct Type Type;
void emit(const char *format, ...) __attribute__((format(printf, 1, 2)));       /* a call that must succeed */
void emit_check(const char *format, ...) __attribute__((format(printf, 1, 2))); /* any other statement */
void emit_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void emit_type(const Type *type);
char *patches(int64_t first, int64_t count, bool (*changed)(const void *, int64_t), int (*byte)(const void *, int64_t), const void *of);
void emit_head(void);
void begin_function(int rank);
void end_function(void);
void emit_main(void);

/* type.c */
typedef struct {
    int64_t offset;
    int size;  /* bytes that external32 reverses together */
    int basic; /* what MPI_Get_elements counts: 0 for the second half of a complex number */
} Element;

/* How a type was made, as C source. */
typedef struct {
    const char *routine, *before, *after; /* arguments before and after the types it is made of */
    const Type *const *parts;
    int part_count;
} Recipe;

struct Type {
    MPI_Datatype handle;
    int number; /* 0: predefined */
    const char *name, *code;
    Recipe recipe;
    Element *elements; /* in the order of the typemap */
    int element_count;
    int kind; /* of all its elements; MIXED if they differ */
    int64_t size, lb, extent, true_lb, true_ub;
    int64_t *bytes, *reversed; /* address of the n-th byte of the data stream: native, external32 */
    bool doubtful; /* the MPI itself takes it for something else */
    const char *text;
};

enum { KINDS = 18, PLAIN_KINDS = 12, MIXED = -1, MAX_TYPES = 1 << 16 };

/* With some 500 datatypes alive MPICH 4.0 packs new ones wrongly, on one rank and not on another, and conversions of the test
 * pack. After so many, accesses take what is there. */
enum { MOST_PACKED = 400 };

Type *named_type(int kind);
int draw_kind(Random *random);
Type *new_type(int64_t elements);
void append_type(Type *type, const Type *of, int64_t displacement);
int next_type_number(void);
Type *finish_type(Type *type, Recipe recipe);
void free_types(void);

/* constructor.c */
Type *dup_type(const Type *of);
Type *contiguous_type(const Type *of, int count);
Type *vector_type(const Type *of, int count, int length, int stride);
Type *hvector_type(const Type *of, int count, int length, int stride);
Type *indexed_type(const Type *of, int count, const int *lengths, const int *displacements);
Type *hindexed_type(const Type *of, int count, const int *lengths, const int *displacements);
Type *indexed_block_type(const Type *of, int count, int length, const int *displacements);
Type *hindexed_block_type(const Type *of, int count, int length, const int *displacements);
Type *struct_type(int count, const int *lengths, const int *displacements, const Type *const *members);
Type *subarray_type(const Type *of, int dimensions, const int *sizes, const int *subsizes, const int *starts, int order);
Type *darray_type(const Type *of, int size, int rank, int dimensions, const int *sizes, const int *distributions,
                  const int *arguments, const int *grid, int order);
Type *resized_type(const Type *of, int64_t lb, int64_t extent);

/* draw_type.c */
Type *draw_memory_type(Random *random, const Type *leaf, bool may_overlap); /* leaf NULL: any mixture */
Type *draw_file_type(Random *random, const Type *etype);                    /* legal as a filetype over this etype */
bool is_legal_filetype(const Type *type);

/* model.c */
typedef struct Page {
    int64_t index;
    struct Page *next;
    unsigned char data[PAGE];
    unsigned char writer[PAGE];        /* rank + 1 that wrote since the last synchronisation; 0 nobody */
    uint16_t readers[PAGE];            /* ranks that read since then */
    unsigned char pending_writes[PAGE]; /* accesses under way */
    unsigned char pending_reads[PAGE];
    bool unknown[PAGE];                /* left by a race that was only printed */
} Page;

typedef struct {
    int64_t displacement;
    Type *etype, *filetype;
    int kind;  /* of the basic elements of the etype: accesses must match */
    bool reversed;      /* external32 */
    unsigned char mask; /* turned bits: a representation of ours */
    bool converts;      /* either of them: whole elements only */
    const char *datarep;
} View;

typedef struct Access Access;

struct File {
    MPI_File handle;
    int number;
    char *path;
    const char *name; /* of the path, its last part */
    int amode;
    bool collective_only; /* as promised with romio_no_indep_rw */
    bool atomic, can_read, can_write, sequential;
    Page **pages; /* PAGE_LISTS of them; two openings of a file have the same */
    int64_t initial_size; /* before the program */
    int64_t size, stable_size; /* stable: smallest size since the last synchronisation */
    uint16_t size_writers, size_readers;
    int pending_size_writes, pending_size_reads;
    View *views[MAX_RANKS];
    bool same_view;
    int64_t pointer[MAX_RANKS], shared_pointer; /* in etypes */
    Access *pending[MAX_RANKS][MAX_PENDING];
    Access *split[MAX_RANKS]; /* the split collective under way, if any */
    int64_t far;              /* where the views of this program start: 0, or beyond 4 GiB */
};

unsigned char *model_byte(File *file, int64_t offset);
unsigned char model_value(File *file, int64_t offset);
bool model_unknown(File *file, int64_t offset);
void model_forget(File *file, int64_t offset);
void model_resize(File *file, int64_t size);
void model_clear_epoch(File *file);
bool in_user_space(int descriptor); /* whether the file is on a file system that a process of its own serves */
void model_verify(File *file);  /* the file as POSIX sees it */
void model_adopt(File *file, int64_t offset, int64_t length, unsigned char *into); /* bytes as POSIX sees them */
bool access_conflicts(const Access *access);
void mark_access(const Access *access);
void unmark_pending(const Access *access);

/* view.c */
int64_t view_offset(const View *view, int64_t position); /* byte of the file of a byte of the view's data stream */
int64_t view_end(const File *file, const View *view);    /* MPI_SEEK_END in etypes */
View *plain_view(void);
void set_view(File *file, MPI_Info info); /* the call, with this rank's view */
void step_set_view(File *file);

/* routine.c */
enum Positioning { EXPLICIT, INDIVIDUAL, SHARED_POINTER };
enum Synchronism { BLOCKING, NONBLOCKED, SPLIT_BEGIN };
typedef struct {
    const char *name;
    bool write, collective;
    enum Positioning positioning;
    enum Synchronism synchronism;
    void (*call)(void), (*large)(void), (*end)(void);
} Routine;
const Routine *find_routine(bool write, enum Positioning positioning, bool collective, enum Synchronism synchronism);

/* access.c */
struct Access {
    const Routine *routine;
    File *file;
    View *view;
    int rank;
    uint64_t identity;   /* seeds the contents of memory */
    uint64_t step_drawn; /* the same on all ranks of a collective access */
    int64_t offset;    /* in etypes; where the access starts, whatever the positioning */
    Type *memory;
    int64_t count, bytes, transferred;
    int64_t last;      /* first byte of the file after the access; 0 if empty */
    bool bottom, large, null_memory;
    bool racing; /* which bytes come is not known: only the status is checked */
    const char *text;
    /* only on the rank that does it */
    unsigned char *allocation, *expected, *origin;
    bool *unknown; /* expected bytes that are not known */
    int64_t allocation_size, lowest; /* bytes, and where the first lies relative to the origin */
    int number;
    MPI_Request request;
};
Access *draw_access(File *file, int rank, const Routine *routine, int64_t offset, bool may_be_empty);
void empty_access(Access *access);
int64_t access_etypes(const Access *access);
int64_t access_file_byte(const Access *access, int64_t position);
unsigned char access_file_value(const Access *access, int64_t position); /* what a write puts there */
int64_t access_address(const Access *access, int64_t position);          /* of a byte of the stream, relative to the origin */
void apply_write(const Access *access);
void describe_access(Access *access);
void prepare_access(Access *access);  /* memory and expected memory, before the model changes */

/* call.c */
void start_access(Access *access);    /* calls the routine; blocking ones are checked at once */
void finish_split(Access *access);
void check_access(Access *access, MPI_Status *status);

/* comm.c */
void make_communicator(int world_rank, int world_size);
void free_communicator(void);
void step_refused(File *file);

/* leak.c */
void check_leaks(void);   /* after each program */
long memory_growth(void); /* bytes on the rank with the most, over the programs of this launch */

/* step_access.c */
void step_independent(File *file);
void step_collective(File *file);
void step_ordered(File *file);
void step_wait(File *file);
void complete_all(File *file);  /* every outstanding request and split collective */
void finish_pending_split(File *file);
bool has_pending(const File *file);
void remember(Access *access); /* until it is completed */
void wait_for(Access **accesses, int count, uint64_t choice);

/* step_shared.c */
void step_shared_serial(File *file);
void step_shared_race(File *file);
void wait_for_one(Access *access);
void extract_stream(Access *access, unsigned char *into); /* what a racing read brought, if it changed nothing else */

/* step_atomic.c */
void step_atomic_race(File *file);
void step_outstanding_race(File *file);

/* step_second.c */
void step_second_opening(File *file);

/* hints.c */
MPI_Info draw_info(void);
void new_info(MPI_Info *info);
void set_hint(MPI_Info *info, const char *key, const char *value);
void free_info(MPI_Info *info); /* also MPI_INFO_NULL */

/* step_file.c */
void synchronise(File *file);
void verify_now(File *file);
void step_sync(File *file);
void step_seek(File *file);
void step_seek_shared(File *file);
void step_query(File *file);
void step_set_size(File *file);
void step_preallocate(File *file);
void step_atomicity(File *file);
void step_set_info(File *file);
const char *amode_source(int amode);
void open_file(File *file, int amode);
void step_reopen(File *file);
void close_file(File *file);
void set_atomicity(File *file, bool atomic);
void barrier(void);
void announce(const char *format, ...) __attribute__((format(printf, 1, 2))); /* sets what is being done */

#endif
