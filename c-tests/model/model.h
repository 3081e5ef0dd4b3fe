/* A file system with a lock server, modelled on top of any directory: what both stand-ins share.
 *
 *     MODEL_ROOT     files below this directory belong to the model
 *     MODEL_STATE    a file for what all ranks share: layouts, locks, counts
 *     MODEL_LOG      where each request is written down, one line each
 *     MODEL_CLIENTS  how many ranks are one client node; default 1
 *     MODEL_SERVICE  microseconds that an access takes; default 0
 *     MODEL_LAYOUT   BYTESxCOUNT of new files, or `composite`, or `metadata` (the first part on the metadata server)
 *     MODEL_FAIL     failures joined by commas, see lustre.c and gpfs.c; statfs: the file system is not recognised, only named */
#ifndef MODEL_H
#define MODEL_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_FILES = 256, MOST_LOCKS = 65536, MOST_FDS = 4096, ANY = -1 };
enum mode { READ_LOCK = 1, WRITE_LOCK = 2, GROUP_LOCK = 3 };

/* The counts come first: c-tests/model/standins.py reads them. */
enum count { ENQUEUES, CALLBACKS, CANCELS, GRANTS, DROPPED, MATCHED, ACCESSES, WAITS, SHIPPED, UNRELEASED, LOCKS_MOST, SPECULATED, MESSAGES, MESSAGE_BYTES, COUNTS };

struct lock {
    int file, object, client, mode;
    uint64_t start, end; /* the last byte is in it; in bytes of the object */
    unsigned long group;
};

struct file {
    dev_t device;
    ino_t inode;
    int used, has_layout;
    uint64_t stripe_size, stripe_count;
    /* data shipping */
    int expected, arrived, leaving, shipping, verdict;
    unsigned round;
};

struct state {
    uint64_t counts[COUNTS];
    uint32_t ready;
    uint32_t mutex;
    int next_file;
    int lock_count;
    struct file files[MOST_FILES];
    struct lock locks[MOST_LOCKS];
};

struct opened {
    int file; /* less than 0: not the model's */
    int no_expand, shipping, held;
    unsigned long group;
};

extern struct state *state;
extern struct opened opened[MOST_FDS];

struct opened *of_descriptor(int fd);
int fails(const char *name);       /* whether MODEL_FAIL has this word */
int client(void);
void hold(void);                   /* the state is this process's alone until `release` */
void release(void);
void record(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Gives a lock on bytes of an object, or finds one that is there. Held, with the state held.
 * Returns 1 if it was there already, 0 if it was given, -1 if it was dropped. */
enum { EXPAND = 1, SPECULATIVE = 2 };
int enqueue(int file, int object, enum mode mode, uint64_t start, uint64_t end, int flags, unsigned long group);
/* Takes away a client's locks on bytes of an object; ANY for all. */
void cancel(int file, int object, int whose, uint64_t start, uint64_t end);
/* Calls `act` for what of a range of the file lies on each object. */
void each_object(const struct file *file, uint64_t start, uint64_t end,
                 void (*act)(int object, uint64_t start, uint64_t end, void *with), void *with);

/* What a stand-in makes of calls; a code less than 0 is -errno. */
int before_access(int fd, enum mode mode, uint64_t start, uint64_t length);
void when_created(struct file *file, int flags);
void when_closed(int fd);
int request(int fd, unsigned long number, void *argument, int *answer); /* 0: not the model's */
ssize_t attribute(int fd, const char *name, void *value, size_t size);
extern const long MAGIC;
extern const long BLOCK_SIZE; /* 0: as it is */

#endif
