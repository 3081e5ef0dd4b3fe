/* Registering a data representation twice, or under a reserved name. */
#include "check.h"

static int extent(MPI_Datatype type, MPI_Aint *result, void *state)
{
    MPI_Aint lb;
    (void)state;
    return MPI_Type_get_extent(type, &lb, result);
}

int main(int count, char **words)
{
    begin(&count, &words);
    char long_name[2 * MPI_MAX_DATAREP_STRING];
    memset(long_name, 'd', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    FINE(MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL));
    EXPECT(MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL), MPI_ERR_DUP_DATAREP);
    EXPECT(MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL), MPI_ERR_DUP_DATAREP, MPI_ERR_ARG);
    EXPECT(MPI_Register_datarep(long_name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL), MPI_ERR_ARG);
    MPI_File file = open_new("datarep");
    FINE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "ours", MPI_INFO_NULL));
    FINE(MPI_File_close(&file));
    return finish();
}
