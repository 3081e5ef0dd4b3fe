/* MPI_FILE_NULL is no file: every routine says MPI_ERR_FILE. */
#include "every_routine.h"

int main(int count, char **words)
{
    begin(&count, &words);
    refuse(MPI_FILE_NULL);
    return finish();
}
