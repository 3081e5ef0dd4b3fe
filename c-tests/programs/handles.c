/* Fortran handles: the same file either way, and MPI_FILE_NULL. */
#include "say.h"

#ifdef MPI_ABI /* the standard ABI gave them other names */
#define MPI_File_c2f MPI_File_toint
#define MPI_File_f2c MPI_File_fromint
#endif

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("handles"), same = MPI_File_f2c(MPI_File_c2f(file));
    MPI_Offset value;
    FINE(MPI_File_set_size(same, 33));
    FINE(MPI_File_get_size(file, &value));
    say("%s, size %lld", same == file ? "the same" : "different", (long long)value);
    say("null: %s", MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL ? "the same" : "different");
    FINE(MPI_File_close(&file));
    say("closed: %s", file == MPI_FILE_NULL ? "null" : "not null");
    MPI_Finalize();
    return 0;
}
