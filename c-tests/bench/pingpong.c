/* Latency and bandwidth of messages between two ranks, no file anywhere: pingpong [ROUNDS] */
#include "bench.h"

static char data[1 << 20];

/* A request is waited for by MPI_Wait, which the library also exports. */
static void pass(int waiting, int size)
{
    MPI_Request request;
    if (!waiting) {
        MPI_Send(data, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Isend(data, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void take(int waiting, int size)
{
    MPI_Request request;
    if (!waiting) {
        MPI_Recv(data, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(data, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rounds = count > 1 ? atoi(words[1]) : 2000;
    for (int size = 8; rank < 2 && size <= 1 << 20; size = size == 8 ? 1 << 20 : 2 << 20)
        for (int waiting = 0; waiting < 2; waiting++) {
            int turns = size == 8 ? rounds : rounds / 20;
            double best = 1e9;
            for (int repetition = 0; repetition < 20; repetition++) {
                double start = wall_seconds();
                for (int i = 0; i < turns; i++) {
                    if (rank == 0) pass(waiting, size);
                    take(waiting, size);
                    if (rank == 1) pass(waiting, size);
                }
                double seconds = (wall_seconds() - start) / turns / 2;
                if (seconds < best) best = seconds;
            }
            if (rank == 0) printf("%d bytes, %s: %.3f us\n", size, waiting ? "Isend Irecv Wait" : "Send Recv", 1e6 * best);
        }
    return MPI_Finalize();
}
