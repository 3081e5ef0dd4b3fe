/* How much memory a process has allocated. */
#ifndef ALLOCATED_H
#define ALLOCATED_H

#include <malloc.h>
#include <stddef.h>

/* Bytes in use; 0 where the C library cannot tell. */
static inline size_t allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
#else
    return 0;
#endif
}

#endif
