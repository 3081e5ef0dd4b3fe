#include "random.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint64_t draw(Random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    return mix(random->state);
}

int64_t below(Random *random, int64_t limit)
{
    return limit <= 1 ? 0 : (int64_t)(draw(random) % (uint64_t)limit);
}

int64_t between(Random *random, int64_t low, int64_t high)
{
    return low + below(random, high - low + 1);
}

bool chance(Random *random, int percent)
{
    return below(random, 100) < percent;
}

/* Everything a program allocates dies with the program, so nothing needs an owner. */
typedef struct Kept { struct Kept *next; } Kept;
static Kept *kept;

void *keep(size_t bytes)
{
    /* 16 bytes of header keep the alignment of malloc */
    Kept *block = calloc(1, bytes + 16);
    if (!block) fail("out of memory for %zu bytes", bytes);
    block->next = kept;
    kept = block;
    return (char *)block + 16;
}

void release_kept(void)
{
    while (kept) {
        Kept *next = kept->next;
        free(kept);
        kept = next;
    }
}

char *text(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *result = keep((size_t)length + 1);
    vsnprintf(result, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return result;
}

char *list(const char *type, const int *values, int count)
{
    char *result = keep((size_t)count * 14 + 32), *end = result + sprintf(result, "(%s[]){", type);
    for (int i = 0; i < count; i++) end += sprintf(end, i ? ", %d" : "%d", values[i]);
    strcpy(end, "}");
    return result;
}
