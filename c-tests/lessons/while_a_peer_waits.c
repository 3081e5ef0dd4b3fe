/* A nonblocking collective access completes while a rank that has started it sits in a receive or a barrier for one that
 * waits for the request. ROMIO gets on only in completion calls of its own requests, so there both wait for ever. */
#include "lesson.h"

enum { ROUNDS = 12, PIECES = 300, PIECE = 512 };

static char data[PIECES * PIECE], back[PIECES * PIECE];

/* Every rank writes its pieces of a file that all of them fill. */
static void interleave(MPI_File file)
{
    MPI_Datatype type;
    MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    FINE(MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
}

/* The last rank waits for its request before it lets the others go on. */
static void let_go(MPI_Request *request, int round)
{
    MPI_Status status = spoilt();
    int token = round;
    if (rank == size - 1) {
        FINE(MPI_Wait(request, &status));
        for (int other = 0; other < size - 1; other++)
            if (round % 2) MPI_Send(&token, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    } else if (round % 2) {
        MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (round % 2 == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (rank != size - 1) FINE(MPI_Wait(request, &status));
    TRUE(bytes_of(&status) == sizeof data);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("while_a_peer_waits");
    interleave(file);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        memset(data, 1 + (round + rank) % 100, sizeof data);
        FINE(MPI_File_iwrite_at_all(file, 0, data, sizeof data, MPI_BYTE, &request));
        let_go(&request, round);
        MPI_Barrier(MPI_COMM_WORLD);
        memset(back, 0, sizeof back);
        FINE(MPI_File_iread_at_all(file, 0, back, sizeof back, MPI_BYTE, &request));
        let_go(&request, round + 1);
        TRUE(memcmp(data, back, sizeof data) == 0);
    }
    FINE(MPI_File_close(&file));
    return finish();
}
