/* A nonblocking collective call returns whatever the other ranks do, also on a rank whose system gives it no thread: before
 * the file is opened, or only afterwards. What was started there completes like everybody's. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lesson.h"

enum { PIECES = 300, PIECE = 512, FILES = 3 };

static char data[PIECES * PIECE], back[PIECES * PIECE];

static void *nothing(void *argument)
{
    return argument;
}

/* From here on the system has no thread for this rank. A limit of processes would not hold for root. */
static void take_threads_away(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    TRUE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    TRUE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    pthread_t thread;
    TRUE(pthread_create(&thread, NULL, nothing, NULL) == EAGAIN);
}

/* Rank 0 has started what it has on all files, and rank 1 on the others, before anybody else starts anything. */
static void wait_for_the_one_before(void)
{
    if (rank > 0) MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void let_the_next_go(void)
{
    if (rank < size - 1) MPI_Send(NULL, 0, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
}

static MPI_File open_interleaved(const char *name)
{
    MPI_File file = open_new(name);
    MPI_Datatype type;
    MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
    return file;
}

/* Ranks start on the files in different orders, each beside an access of its own, and one after the other. */
static void write_all(MPI_File *files, MPI_File own)
{
    MPI_Request requests[2 * FILES];
    MPI_Status statuses[2 * FILES];
    wait_for_the_one_before();
    for (int i = 0; i < FILES; i++) {
        int file = (rank + i) % FILES;
        FINE(MPI_File_iwrite_at_all(files[file], 0, data, sizeof data, MPI_BYTE, &requests[2 * i]));
        FINE(MPI_File_iwrite_at(own, i * (MPI_Offset)sizeof data, data, sizeof data, MPI_BYTE, &requests[2 * i + 1]));
    }
    /* What is this rank's own completes before anybody else has come. */
    for (int i = 0; i < FILES; i++) FINE(MPI_Wait(&requests[2 * i + 1], &statuses[2 * i + 1]));
    let_the_next_go();
    for (int i = 0; i < FILES; i++) FINE(MPI_Wait(&requests[2 * i], &statuses[2 * i]));
    for (int i = 0; i < 2 * FILES; i++) TRUE(bytes_of(&statuses[i]) == sizeof data);
}

static void read_back(MPI_File file)
{
    MPI_Request request;
    MPI_Status status = spoilt();
    synchronise(file);
    wait_for_the_one_before();
    FINE(MPI_File_iread_at_all(file, 0, back, sizeof back, MPI_BYTE, &request));
    let_the_next_go();
    FINE(MPI_Wait(&request, &status));
    TRUE(bytes_of(&status) == sizeof back && memcmp(data, back, sizeof data) == 0);
    memset(back, 0, sizeof back);
    FINE(MPI_File_read_at_all_begin(file, 0, back, sizeof back, MPI_BYTE));
    FINE(MPI_File_read_at_all_end(file, back, &status));
    TRUE(bytes_of(&status) == sizeof back && memcmp(data, back, sizeof data) == 0);
}

static void use_files(const char *const *names, MPI_File *files, MPI_File own)
{
    memset(data, names[0][0] + rank, sizeof data);
    write_all(files, own);
    for (int i = 0; i < FILES; i++) {
        read_back(files[i]);
        FINE(MPI_File_close(&files[i]));
    }
}

int main(int count, char **words)
{
    static const char *const before[FILES] = {"a_before", "b_before", "c_before"};
    static const char *const after[FILES] = {"d_after", "e_after", "f_after"};
    MPI_File files[FILES], own;
    char name[32];
    begin(&count, &words);
    snprintf(name, sizeof name, "own_%d", rank);
    FINE(MPI_File_open(MPI_COMM_SELF, path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &own));
    for (int i = 0; i < FILES; i++) files[i] = open_interleaved(before[i]);
    if (rank % 2 == 0) take_threads_away();
    use_files(before, files, own);
    for (int i = 0; i < FILES; i++) files[i] = open_interleaved(after[i]);
    use_files(after, files, own);
    FINE(MPI_File_close(&own));
    return finish();
}
