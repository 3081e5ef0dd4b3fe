/* Preloaded below the library: the last byte of every write of 64 bytes and more is changed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t) = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    unsigned char *damaged;
    if (size < 64 || !(damaged = malloc(size))) return next(descriptor, bytes, size, offset);
    memcpy(damaged, bytes, size);
    damaged[size - 1] ^= 1;
    ssize_t written = next(descriptor, damaged, size, offset);
    free(damaged);
    return written;
}
