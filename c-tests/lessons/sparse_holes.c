/* Holes that nobody's view fills stay holes, and take no room.
 *
 * Sieving writes back what lies between the pieces. Where the file had nothing there it writes zeros, and a sparse file of one page
 * in many fills the disk (ROMIO's automatic sieving does that). Where the views of all ranks together leave no holes there is
 * nothing to lose. */
#include "lesson.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, PIECES = 64 };

static long blocks_of(const char *name)
{
    struct stat status;
    int file = open(name, O_RDWR);
    TRUE(file >= 0 && fsync(file) == 0 && fstat(file, &status) == 0);
    close(file);
    return (long)status.st_blocks;
}

/* Each rank has a page of every `step` pages, from its own place on; or all have the same ones, and rank 0 writes. */
static void write_pages(const char *name, int step, int same)
{
    static char mine[PIECES * PAGE];
    MPI_Datatype pages;
    MPI_File file = open_with(name, NULL, NULL);
    for (int i = 0; i < PIECES * PAGE; i++) mine[i] = (char)(1 + (rank * 31 + i / PAGE + i) % 100);
    MPI_Type_vector(PIECES, PAGE, step * PAGE, MPI_BYTE, &pages);
    MPI_Type_commit(&pages);
    FINE(MPI_File_set_view(file, same ? 0 : (MPI_Offset)rank * PAGE, MPI_BYTE, pages, "native", MPI_INFO_NULL));
    FINE(MPI_File_write(file, mine, same && rank ? 0 : PIECES * PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Type_free(&pages);
    FINE(MPI_File_close(&file));
}

/* What must be there: every byte of the pages, and nothing else. */
static void check_pages(const char *name, int step, int owners)
{
    char page[PAGE];
    int file = open(name, O_RDONLY);
    TRUE(file >= 0);
    for (int at = 0; at < (PIECES - 1) * step + owners; at++) {
        int owner = at % step, piece = at / step, different = 0;
        TRUE(pread(file, page, PAGE, (off_t)at * PAGE) == PAGE);
        for (int i = 0; i < PAGE; i++)
            different += page[i] != (owner < owners ? (char)(1 + (owner * 31 + piece + piece * PAGE + i) % 100) : 0);
        if (different) printf("page %d: %d bytes are wrong\n", at, different);
        wrong += different != 0;
    }
    close(file);
}

/* The same pages by pwrite: what they cost on this file system. */
static long blocks_by_hand(const char *name, int step, int owners)
{
    char page[PAGE];
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(page, 1, PAGE);
    for (int piece = 0; piece < PIECES; piece++)
        for (int owner = 0; owner < owners; owner++)
            TRUE(pwrite(file, page, PAGE, (off_t)(piece * step + owner) * PAGE) == PAGE);
    close(file);
    return blocks_of(name);
}

int main(int count, char **words)
{
    begin(&count, &words);
    const struct { const char *name; int step, same; } cases[] = {
        {"sparse", size + 1, 0}, {"whole", size, 0}, {"same", size, 1},
    };
    for (int i = 0; i < 3; i++) {
        const char *name = cases[i].name;
        int step = cases[i].step, owners = cases[i].same ? 1 : size;
        write_pages(name, step, cases[i].same);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            check_pages(path(name), step, owners);
            long blocks = blocks_of(path(name)), expected = blocks_by_hand(path("by hand"), step, owners);
            /* A file system keeps lists of what it has given. */
            if (blocks > expected + 128) {
                printf("%s: %ld blocks, and %ld by hand\n", name, blocks, expected);
                wrong++;
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
