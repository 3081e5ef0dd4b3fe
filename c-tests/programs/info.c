/* Hints that are known are given back as they are in force; unknown ones do no harm. Which hints there are differs from
 * implementation to implementation, hence an expected output. */
#include "say.h"

static void show(MPI_File file, const char *key)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    FINE(MPI_File_get_info(file, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (rank == 0) printf("%s: %s\n", key, found ? value : "(none)");
    MPI_Info_free(&info);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_Info info;
    MPI_File file;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "romio_ds_write", "disable");
    MPI_Info_set(info, "surely_unknown", "17");
    FINE(MPI_File_open(MPI_COMM_WORLD, path("info"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    MPI_Info_free(&info);
    show(file, "cb_buffer_size");
    show(file, "cb_nodes");
    show(file, "romio_ds_write");
    MPI_Info_create(&info);
    MPI_Info_set(info, "ind_rd_buffer_size", "65536");
    FINE(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    show(file, "ind_rd_buffer_size");
    show(file, "cb_buffer_size");
    FINE(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
