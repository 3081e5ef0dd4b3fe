/* How much memory a call took: the peak of the process against what it had before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ALLOWED_KIBIBYTES = 64 * 1024 };

/* A line such as "VmHWM:   1234 kB" of /proc/self/status. */
static long status_kibibytes(const char *key)
{
    char line[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, key, strlen(key)) == 0)
            value = atol(line + strlen(key) + 1);
    if (status)
        fclose(status);
    return value;
}

/* Call before the view is set. A library that unrolls the view fails early instead of filling the machine. */
static long memory_before(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)status_kibibytes("VmSize") * 1024 + (rlim_t)1024 * 1024 * 1024;
    setrlimit(RLIMIT_AS, &limit);
    return status_kibibytes("VmRSS");
}

static int judge_growth(const char *what, long before)
{
    long grown = status_kibibytes("VmHWM") - before;
    printf("%s: peak memory grew by %ld KiB, allowed %d KiB: %s\n", what, grown, ALLOWED_KIBIBYTES,
           grown <= ALLOWED_KIBIBYTES ? "ok" : "TOO MUCH");
    return grown > ALLOWED_KIBIBYTES;
}

static void check(int code, const char *doing)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", doing, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
