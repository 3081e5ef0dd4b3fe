/* Hints that mean nothing, and names with colons: the file works as without them.
 *
 * Stripes of zero bytes have divided by zero in all layers (PnetCDF#234, MPAS#576, darshan#272), sizes beyond an int
 * became negative ones, and a time stamp in a name looked like a file system (mpich#5772). */
#include "lesson.h"

enum { SETS = 4, KEYS = 16 };

/* Sets of hints for one opening each. */
static const char *const hints[SETS][KEYS][2] = {
    {{"striping_unit", "0"}, {"striping_factor", "0"}, {"start_iodevice", "-1"}, {"cb_nodes", "0"}, {"cb_buffer_size", "0"},
     {"ind_rd_buffer_size", "0"}, {"ind_wr_buffer_size", "0"}, {"cb_config_list", "*:0"}, {"romio_lustre_co_ratio", "0"},
     {"romio_ds_write", "perhaps"}, {"romio_cb_write", "0"}, {"file_perm", "not octal"}, {"romio_filesystem_type", "NFS:"}},
    {{"striping_unit", "-1"}, {"striping_factor", "4294967296"}, {"cb_nodes", "-5"}, {"cb_buffer_size", "1"},
     {"ind_rd_buffer_size", "1"}, {"ind_wr_buffer_size", "1"}, {"cb_config_list", ":,:"}, {"romio_ds_write", "enable"},
     {"romio_ds_read", "enable"}, {"filename", "elsewhere"}, {"access_style", "write_once,random"}},
    {{"striping_unit", "9223372036854775807"}, {"cb_nodes", "99999999999"}, {"cb_buffer_size", "9223372036854775807"},
     {"ind_rd_buffer_size", "9223372036854775807"}, {"ind_wr_buffer_size", "4294967296"}, {"cb_config_list", "nowhere:3"},
     {"romio_ds_read", "enable"}, {"romio_ds_write", "enable"}, {"romio_no_indep_rw", "%n%s"}},
    {{"cb_buffer_size", "99999999999999999999"}, {"ind_rd_buffer_size", "1e6"}, {"ind_wr_buffer_size", "0x10"},
     {"cb_config_list", " "}, {"romio_ds_read", " "}, {"mpiio_rs_num_threads", "-3"}, {"nc_header_align_size", "1048576"}},
};

static void use(MPI_File file)
{
    int numbers[100], back[100] = {0};
    MPI_Datatype every_other;
    MPI_Type_vector(100, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < 100; i++) numbers[i] = 1000 * rank + i;
    FINE(MPI_File_set_view(file, 800 * rank, MPI_INT, every_other, "native", MPI_INFO_NULL));
    FINE(MPI_File_write_at_all(file, 0, numbers, 100, MPI_INT, MPI_STATUS_IGNORE));
    FINE(MPI_File_read_at(file, 0, back, 100, MPI_INT, MPI_STATUS_IGNORE));
    TRUE(memcmp(numbers, back, sizeof back) == 0);
    MPI_Type_free(&every_other);
}

static void open_and_use(const char *name, MPI_Info info)
{
    MPI_File file;
    FINE(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    if (info != MPI_INFO_NULL) FINE(MPI_File_set_info(file, info));
    use(file);
    FINE(MPI_File_close(&file));
}

int main(int count, char **words)
{
    begin(&count, &words);
    for (int set = 0; set < SETS; set++) {
        MPI_Info info;
        MPI_Info_create(&info);
        for (int i = 0; i < KEYS && hints[set][i][0]; i++) MPI_Info_set(info, hints[set][i][0], hints[set][i][1]);
        open_and_use(path("hints"), info);
        MPI_Info_free(&info);
    }
    TRUE(chdir(directory) == 0);
    const char *const names[] = {"2026-01-01T12:00:00.nc", "c:file", "ufs:plain", "xfs:plain", ":", "%s%n"};
    const char *const files[] = {"2026-01-01T12:00:00.nc", "c:file", "plain", "plain", ":", "%s%n"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        open_and_use(names[i], MPI_INFO_NULL);
        TRUE(access(files[i], R_OK) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) FINE(MPI_File_delete(names[i], MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        TRUE(access(files[i], R_OK) != 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
