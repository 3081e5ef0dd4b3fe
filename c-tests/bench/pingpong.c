/* Latency and bandwidth of messages between two ranks, no file anywhere: pingpong [ROUNDS] */
#include "bench.h"

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rounds = count > 1 ? atoi(words[1]) : 2000;
    static char data[1 << 20];
    for (int size = 8; rank < 2 && size <= 1 << 20; size = size == 8 ? 1 << 20 : 2 << 20) {
        int turns = size == 8 ? rounds : rounds / 20;
        double best = 1e9;
        for (int repetition = 0; repetition < 20; repetition++) {
            double start = wall_seconds();
            for (int i = 0; i < turns; i++) {
                if (rank == 0) MPI_Send(data, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(data, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank == 1) MPI_Send(data, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
            double seconds = (wall_seconds() - start) / turns / 2;
            if (seconds < best) best = seconds;
        }
        if (rank == 0) printf("%d bytes %.3f us %.0f MB/s\n", size, 1e6 * best, size / best / 1e6);
    }
    return MPI_Finalize();
}
