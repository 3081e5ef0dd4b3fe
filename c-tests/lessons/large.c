/* Beyond 2, 4 and 8 GiB: offsets, sizes, pointers, extents, and single requests whose bytes no int can count.
 *
 * Ints have cut them in every layer (mpich#1742, mpich#2731, ompi#7045, ompi#14379), and a write of more than 0x7ffff000
 * bytes is a short one on Linux, which must be continued (ompi#2399). Files are sparse here, and large buffers are the
 * same few pages again and again, so this needs neither disk nor memory; `large DIRECTORY whole` writes 3 GiB for real. */
#include "lesson.h"

#include <stdint.h>
#include <sys/mman.h>

static const MPI_Offset GIB = 1 << 30;

/* Bytes across each border, of each rank at its own place. */
static void borders(MPI_File file)
{
    const MPI_Offset borders[] = {GIB << 1, GIB << 2, GIB << 3};
    char data[64], back[64];
    MPI_Offset length = -1;
    for (int i = 0; i < 3; i++) {
        MPI_Offset at = borders[i] - 32 + 64 * (rank - size / 2);
        memset(data, 1 + rank + i, sizeof data);
        FINE(MPI_File_write_at_all(file, at, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
        synchronise(file);
        FINE(MPI_File_read_at(file, at, back, 64, MPI_BYTE, MPI_STATUS_IGNORE));
        TRUE(memcmp(data, back, 64) == 0);
        FINE(MPI_File_read_at(file, 0, back, 64, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int j = 0; j < 64; j++) TRUE(back[j] == 0); /* nothing came around */
        FINE(MPI_File_get_size(file, &length));
        TRUE(length == borders[i] - 32 + 64 * (size - size / 2));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    FINE(MPI_File_set_size(file, 9 * GIB));
    FINE(MPI_File_seek(file, -8, MPI_SEEK_END));
    FINE(MPI_File_get_position(file, &length));
    TRUE(length == 9 * GIB - 8);
    FINE(MPI_File_seek_shared(file, 5 * GIB, MPI_SEEK_SET));
    FINE(MPI_File_write_ordered(file, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
    FINE(MPI_File_get_position_shared(file, &length));
    TRUE(length == 5 * GIB + 64 * size);
}

/* Ints 3 GiB apart, a displacement beyond 4 GiB, and more than 2^31 etypes. */
static void views(MPI_File file)
{
    MPI_Datatype apart, block;
    int numbers[3] = {rank + 1, rank + 2, rank + 3}, back[3] = {0};
    MPI_Offset offset = -1;
    MPI_Type_create_hvector(3, 1, 3 * GIB, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    FINE(MPI_File_set_view(file, 5 * GIB + 4 * rank, MPI_INT, apart, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_at_all(file, 0, numbers, 3, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_read_at_all(file, 0, back, 3, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(memcmp(numbers, back, sizeof back) == 0);
    FINE(MPI_File_get_byte_offset(file, 2, &offset));
    TRUE(offset == 11 * GIB + 4 * rank);
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    FINE(MPI_File_read_at(file, (11 * GIB + 4 * rank) / 4, back, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(back[0] == numbers[2]);
    FINE(MPI_File_seek(file, (MPI_Offset)1 << 32, MPI_SEEK_SET));
    FINE(MPI_File_get_byte_offset(file, (MPI_Offset)1 << 32, &offset));
    TRUE(offset == (MPI_Offset)1 << 34);
    /* one block of 2^31 ints: a filetype of 8 GiB */
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    FINE(MPI_File_set_view(file, 0, MPI_DOUBLE, block, "native", MPI_INFO_NULL));
    FINE(MPI_File_get_byte_offset(file, (MPI_Offset)5 << 30, &offset));
    TRUE(offset == 40 * GIB);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&apart);
    MPI_Type_free(&block);
}

/* Near the largest offset there is: done or refused, and never anywhere else. */
static void far_away(MPI_File file)
{
    const MPI_Offset far = (MPI_Offset)1 << 62, last = INT64_MAX;
    MPI_Offset before = -1, after = -1;
    char byte = 'x', back = 0;
    MPI_Datatype ends, tiles;
    FINE(MPI_File_get_size(file, &before));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(MPI_File_write_at(file, last, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG, MPI_ERR_IO);
    EXPECT(MPI_File_write_at_all(file, last - 1, &back, 4, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG, MPI_ERR_IO);
    MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, INT64_MAX - 2}, MPI_INT, &ends);
    MPI_Type_commit(&ends);
    if (MPI_File_set_view(file, 0, MPI_INT, ends, "native", MPI_INFO_NULL) == MPI_SUCCESS)
        EXPECT(MPI_File_write_at_all(file, 1, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG, MPI_ERR_IO);
    MPI_Type_create_resized(MPI_INT, 0, far, &tiles);
    MPI_Type_commit(&tiles);
    FINE(MPI_File_set_view(file, 0, MPI_INT, tiles, "native", MPI_INFO_NULL));
    for (int tile = 2; tile < 9; tile++)
        EXPECT(MPI_File_write_at(file, tile, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG, MPI_ERR_IO);
    FINE(MPI_File_set_view(file, far, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    EXPECT(MPI_File_write_at(file, far, &before, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG, MPI_ERR_IO);
    EXPECT(MPI_File_write_at(file, far / 8, &before, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG, MPI_ERR_IO);
    FINE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FINE(MPI_File_get_size(file, &after));
    TRUE(before == after);
    MPI_Barrier(MPI_COMM_WORLD);
    /* some file systems have files of this size, and some do not */
    if (MPI_File_write_at(file, far + rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
        FINE(MPI_File_read_at(file, far + rank, &back, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        TRUE(back == byte);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&ends);
    MPI_Type_free(&tiles);
}

/* `length` bytes of addresses, a multiple of `pages`, all on the same `pages` bytes of memory. */
static char *folded(size_t length, size_t pages)
{
    char *start = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FILE *memory = tmpfile();
    if (start == MAP_FAILED || !memory || ftruncate(fileno(memory), (off_t)pages)) return NULL;
    for (size_t at = 0; at < length; at += pages)
        if (mmap(start + at, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fileno(memory), 0) == MAP_FAILED) return NULL;
    fclose(memory);
    return start;
}

extern int read_at_c(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Status *) __asm__("MPI_File_read_at_c") __attribute__((weak));
extern int write_at_c(MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *) __asm__("MPI_File_write_at_c") __attribute__((weak));

/* More than 2 GiB at once: read from a hole, written to nowhere. */
static void requests(MPI_File hole)
{
    const MPI_Count length = 3 * (MPI_Count)GIB;
    const size_t pages = 4 << 20, room = (size_t)length + pages;
    char *memory = folded(room, pages);
    MPI_Status status;
    MPI_File nowhere;
    MPI_Datatype pieces;
    TRUE(memory != NULL);
    if (!memory) return;
    FINE(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &nowhere));
    status = spoilt();
    FINE(MPI_File_read_at(hole, GIB, memory, (int)(length / 4), MPI_INT, &status));
    TRUE(bytes_of(&status) == length);
    status = spoilt();
    FINE(MPI_File_write(nowhere, memory, (int)(length / 8), MPI_DOUBLE, &status));
    TRUE(bytes_of(&status) == length);
    MPI_Offset position = -1;
    FINE(MPI_File_get_position(nowhere, &position));
    TRUE(position == length);
    /* two pieces of memory, one of them longer than an int */
    MPI_Type_create_hindexed(2, (int[]){(int)(length / 4) - 100, 50}, (MPI_Aint[]){0, length}, MPI_INT, &pieces);
    MPI_Type_commit(&pieces);
    status = spoilt();
    FINE(MPI_File_write_at(nowhere, 0, memory, 1, pieces, &status));
    TRUE(bytes_of(&status) == length - 200);
    status = spoilt();
    FINE(MPI_File_read_at(hole, 0, memory, 1, pieces, &status));
    TRUE(bytes_of(&status) == length - 200);
    if (read_at_c && write_at_c) {
        status = spoilt();
        FINE(write_at_c(nowhere, 0, memory, length, MPI_BYTE, &status));
        TRUE(bytes_of(&status) == length);
        status = spoilt();
        FINE(read_at_c(hole, 10 * GIB, memory, length, MPI_BYTE, &status)); /* to the end, at 12 GiB */
        TRUE(bytes_of(&status) == 2 * GIB);
    }
    MPI_Type_free(&pieces);
    FINE(MPI_File_close(&nowhere));
    munmap(memory, room);
}

/* 3 GiB of numbers, written at once and read back in parts. */
static void whole(MPI_File file)
{
    const MPI_Count length = 3 * (MPI_Count)GIB;
    int *numbers = malloc((size_t)length), part[1024], different = 0;
    MPI_Status status;
    for (MPI_Count i = 0; i < length / 4; i++) numbers[i] = (int)(i * 2654435761u);
    FINE(MPI_File_write_at(file, 4, numbers, (int)(length / 4), MPI_INT, &status));
    TRUE(bytes_of(&status) == length);
    for (MPI_Count at = 0; at < length / 4; at += 1000003) {
        FINE(MPI_File_read_at(file, 4 + 4 * at, part, 1024, MPI_INT, &status));
        for (MPI_Count i = 0; i < bytes_of(&status) / 4; i++) different += part[i] != numbers[at + i];
    }
    TRUE(different == 0);
    free(numbers);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("large"), own;
    borders(file);
    views(file);
    far_away(file);
    FINE(MPI_File_close(&file));
    if (rank == 0) {
        FINE(MPI_File_open(MPI_COMM_SELF, path("hole"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &own));
        FINE(MPI_File_set_size(own, 12 * GIB));
        requests(own);
        if (count > 2) whole(own);
        FINE(MPI_File_close(&own));
    }
    return finish();
}
