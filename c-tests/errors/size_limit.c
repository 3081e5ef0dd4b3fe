/* The system refuses to let the file grow beyond a limit: an error, never a full count; the part below the limit and
 * later accesses are not harmed. */
#include "check.h"

#include <sys/resource.h>

static char memory[1 << 16], back[1 << 16];

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("size_limit");
    MPI_Status status;
    struct rlimit limit = {1 << 18, 1 << 18};
    signal(SIGXFSZ, SIG_IGN);
    memset(memory, 'x', sizeof memory);
    FINE(MPI_File_write_at_all(file, 1000 * rank, memory, 1000, MPI_BYTE, &status));
    TRUE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_File_write_at(file, (1 << 20) + rank, memory, 1, MPI_BYTE, &status);
    TRUE(code != MPI_SUCCESS);
    code = MPI_File_write_at_all(file, (1 << 20) + (MPI_Offset)sizeof memory * rank, memory, sizeof memory, MPI_BYTE, &status);
    TRUE(code != MPI_SUCCESS);
    same_class(code, "write_at_all beyond the limit", __LINE__);
    FINE(MPI_File_read_at_all(file, 1000 * rank, back, 1000, MPI_BYTE, &status));
    TRUE(memcmp(memory, back, 1000) == 0);
    FINE(MPI_File_write_at_all(file, 1000 * rank, memory, 1000, MPI_BYTE, &status));
    FINE(MPI_File_close(&file));
    return finish();
}
