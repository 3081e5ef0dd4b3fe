/* A variable that says no is no yes: nothing is printed of hints and errors where MPIIO_RS_VERBOSE, or one of the names that
 * ROMIO and Cray's MPI have for it, is 0 or the like. */
#include "lesson.h"

#include <fcntl.h>

static const char *const words_for_no[] = {"0", "false", "no", "off", "disable", ""};

static void say(const char *no)
{
    const char *const names[] = {"MPIIO_RS_VERBOSE", "ROMIO_PRINT_HINTS", "MPICH_MPIIO_HINTS_DISPLAY"};
    char *said, text[4096] = "";
    MPI_File file;
    for (int i = 0; i < 3; i++) setenv(names[i], no, 1);
    said = path("said");
    sprintf(said + strlen(said), "%d", rank);
    int before = dup(STDERR_FILENO), heard = open(said, O_RDWR | O_CREAT | O_TRUNC, 0600);
    TRUE(before >= 0 && heard >= 0 && dup2(heard, STDERR_FILENO) == STDERR_FILENO);
    EXPECT(MPI_File_open(MPI_COMM_SELF, path("missing"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    FINE(MPI_File_open(MPI_COMM_SELF, said, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    FINE(MPI_File_close(&file));
    dup2(before, STDERR_FILENO);
    close(before);
    if (pread(heard, text, sizeof text - 1, 0) != 0) {
        wrong++;
        printf("rank %d: with '%s' it says: %s\n", rank, no, text);
    }
    close(heard);
}

int main(int count, char **words)
{
    begin(&count, &words);
    /* what it says of errors is decided at the first of them */
    for (int i = 0; i < 6; i++) say(words_for_no[(rank + i) % 6]);
    return finish();
}
