/* A thousand writes of 4 KiB to 4 MiB under way at once: all are complete in the end, the bytes are right, and the library
 * needs little memory of its own for them. */
#include "lesson.h"

enum { WRITES = 1000, SMALLEST = 4 << 10, LARGEST = 4 << 20, KIB_ALLOWED = 128 << 10 };

static long resident_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kib);
    if (status) fclose(status);
    return kib;
}

/* Most are small, so that the file stays below 200 MB on each rank. */
static int length_of(int number)
{
    return number % 50 == 49 ? LARGEST >> number / 50 % 4 : SMALLEST << number % 4;
}

int main(int count, char **words)
{
    begin(&count, &words);
    static MPI_Request requests[WRITES];
    static MPI_Status statuses[WRITES];
    MPI_File file = open_new("a_thousand_writes");
    char *data = malloc(LARGEST), *back = malloc(LARGEST);
    for (int i = 0; i < LARGEST; i++) data[i] = (char)(i * 31 + i / 251 + rank);
    MPI_Offset total = 0;
    for (int i = 0; i < WRITES; i++) total += length_of(i);
    MPI_Offset at = rank * total;
    memset(back, 0, LARGEST);
    long before = resident_kib();
    for (int i = 0; i < WRITES; i++) {
        statuses[i] = spoilt();
        FINE(MPI_File_iwrite_at(file, at, data, length_of(i), MPI_BYTE, &requests[i]));
        at += length_of(i);
    }
    FINE(MPI_Waitall(WRITES, requests, statuses));
    long more = resident_kib() - before;
    if (more >= KIB_ALLOWED) printf("rank %d needed %ld KiB\n", rank, more);
    TRUE(more < KIB_ALLOWED);
    int wrong = 0;
    at = rank * total;
    for (int i = 0; i < WRITES; i++) {
        wrong += bytes_of(&statuses[i]) != length_of(i);
        FINE(MPI_File_read_at(file, at, back, length_of(i), MPI_BYTE, MPI_STATUS_IGNORE));
        wrong += memcmp(data, back, length_of(i)) != 0;
        at += length_of(i);
    }
    TRUE(wrong == 0);
    FINE(MPI_File_close(&file));
    free(data);
    free(back);
    return finish();
}
