/* Random hints: sensible, extreme and nonsense values of every hint that the library knows, and of one that it does not.
 * None of them may change what a program does. The promise romio_no_indep_rw is made by open_file, which keeps it. */
#include "random.h"

#include <stdlib.h>
#include <string.h>

#define TOGGLE {"enable", "disable", "automatic", "enable", "disable", "perhaps"}
#define BOOLEAN {"true", "false", "TRUE", "false", "", "2"}
#define SIZE {"1", "512", "4097", "65536", "0", "lots"}
#define COUNT {"1", "2", "1000", "0", "-1", "99999999999999999999"}

static const struct {
    const char *key, *values[6];
} hints[] = {
    {"romio_ds_read", TOGGLE},
    {"romio_ds_write", TOGGLE},
    {"ind_rd_buffer_size", {"1", "100", "4096", "1000000", "0", "-1"}},
    {"ind_wr_buffer_size", {"1", "100", "4096", "1000000", "0", "-1"}},
    {"mpiio_rs_num_threads", {"0", "1", "2", "3", "-1", "all"}},
    {"cb_buffer_size", {"512", "4096", "10000", "65536", "1", "lots"}},
    {"cb_buffer_size", {"4096", "16384", "100000", "1048576", "0", "9223372036854775807"}},
    {"cb_nodes", {"1", "2", "3", "1000", "0", "-4"}},
    {"cb_config_list", {"*:1", "*:*", "*:2", "nosuchhost:1", "*:0", "::::"}},
    {"romio_cb_read", TOGGLE},
    {"romio_cb_write", TOGGLE},
    {"romio_cb_read", TOGGLE},
    {"romio_cb_write", TOGGLE},
    {"collective_buffering", BOOLEAN},
    {"romio_min_fdomain_size", {"0", "100", "65536", "1", "9999999999", "a"}},
    {"romio_cb_alltoall", TOGGLE},
    {"romio_cb_ds_threshold", {"0", "50", "100", "1000", "-5", "many"}},
    {"romio_cb_fr_alignment", {"1", "7", "4096", "65536", "0", "-"}},
    {"romio_cb_fr_types", {"1", "2", "aar", "0", "-1", "x"}},
    {"romio_cb_pfr", TOGGLE},
    {"cray_cb_nodes_multiplier", COUNT},
    {"romio_lustre_co_ratio", COUNT},
    {"romio_lustre_coll_threshold", SIZE},
    {"romio_lustre_ds_in_coll", TOGGLE},
    {"romio_lustre_cb_lock_ahead_write", BOOLEAN},
    {"romio_lustre_cb_lock_ahead_read", BOOLEAN},
    {"cray_cb_write_lock_mode", {"0", "1", "2", "3", "-1", "x"}},
    {"aggregator_placement_stride", COUNT},
    {"cb_align", {"0", "1", "2", "512", "x", "1000000"}},
    {"striping_factor", {"1", "2", "4", "0", "-1", "wide"}},
    {"striping_unit", {"4096", "65536", "1000", "0", "-1", "big"}},
    {"start_iodevice", COUNT},
    {"fs_ufs_lock_algorithm", {"0", "1", "2", "3", "9", "x"}},
    {"direct_read", BOOLEAN},
    {"direct_write", BOOLEAN},
    {"direct_io", BOOLEAN},
    {"access_style", {"sequential", "random", "reverse_sequential", "write_mostly", "read_mostly,random", ",,"}},
    {"file_perm", {"0644", "0600", "666", "0644", "9", "rw"}},
    {"abort_on_rw_error", TOGGLE},
    {"romio_synchronized_flush", {"enabled", "disabled", "enable", "disable", "1", "x"}},
    {"mpiio_rs_verbose", BOOLEAN},
    {"mpiio_rs_report", {"0", "text:/dev/null", "json:/dev/null", "text:/nosuchfolder/report", "xml", ":"}},
    {"mpiio_rs_partitioning", {"even", "static_cyclic", "group_cyclic", "even", "static_cyclic", "odd"}},
    {"mpiio_rs_transfer", {"two_sided", "put_fence", "put_lock", "shared_memory", "two_sided", "pigeon"}},
    {"mpiio_rs_overlap", {"none", "communication", "write", "write_communication", "write_communication_2", "flow"}},
    {"mpiio_rs_progress", {"none", "automatic", "none", "automatic", "none", "always"}},
    {"mpiio_rs_prefetch", TOGGLE},
    {"mpiio_rs_declare_ranges", BOOLEAN},
    {"mpiio_rs_fitting_stripes", BOOLEAN},
    {"mpiio_rs_lock_ahead", {"off", "global", "stripe", "cycle", "automatic", "x"}},
    {"mpiio_rs_lock_ahead_individual", {"off", "element", "view", "automatic", "element", "x"}},
    {"mpiio_rs_lock_ahead_requests", {"synchronous", "asynchronous", "automatic", "synchronous", "0", "x"}},
    {"mpiio_rs_lock_ahead_extents", COUNT},
    {"mpiio_rs_data_shipping", BOOLEAN},
    {"mpiio_rs_data_shipping_agents", {"0", "0,1", "1+2", "x", "-1", " "}},
    {"mpiio_rs_data_shipping_partition", SIZE},
    {"mpiio_rs_fine_grain_writes", BOOLEAN},
    {"mpiio_rs_clear_cache", BOOLEAN},
    {"mpiio_rs_local_aggregators", {"1", "2", "3", "1000", "0", "-1"}},
    {"mpiio_rs_layers", {"0", "1", "2", "1", "2", "3"}},
    {"filename", {"elsewhere", "/", "", "x", "y", "z"}},
    {"romio_filesystem_type", {"NFS:", "UFS:", "LUSTRE:", "x", "", "0"}},
    {"romio_visibility_immediate", BOOLEAN},
    {"romio_aggregator_list", {"0", "0 1", "7", "x", "", "-1"}},
    {"IBM_largeblock_io", BOOLEAN},
    {"cb_block_size", SIZE},
    {"chunked", {"10,10", "1", "0,0", "x", "", ","}},
    {"chunked_item", SIZE},
    {"chunked_size", {"5,5", "1", "0,0", "x", "", ","}},
    {"io_node_list", {"a,b", "*", "", "0", "x", ","}},
    {"nb_proc", {"1", "4", "100000", "0", "-1", "some"}},
    {"num_io_nodes", COUNT},
    {"panfs_concurrent_write", BOOLEAN},
    {"romio_daos_chunk_size", SIZE},
    {"romio_daos_obj_class", {"SX", "S1", "x", "", "0", " "}},
    {"pfs_svr_buf", BOOLEAN},
    {"no_such_hint_at_all", {"1", "2", "", " ", "true", "\xc3\xa9"}},
};

void new_info(MPI_Info *info)
{
    must(MPI_Info_create(info));
    emit("MPI_Info_create(&info)");
}

void free_info(MPI_Info *info)
{
    if (*info == MPI_INFO_NULL) return;
    must(MPI_Info_free(info));
    emit("MPI_Info_free(&info)");
}

void set_hint(MPI_Info *info, const char *key, const char *value)
{
    if (*info == MPI_INFO_NULL) new_info(info);
    if (!*value) return; /* some MPIs refuse empty values */
    must(MPI_Info_set(*info, key, value));
    emit("MPI_Info_set(info, \"%s\", \"%s\")", key, value);
}

static void set_forced(MPI_Info *info)
{
    if (!options.forced_hints) return;
    char *copy = text("%s", options.forced_hints);
    for (char *pair = strtok(copy, ";"); pair; pair = strtok(NULL, ";")) {
        char *equals = strchr(pair, '=');
        if (!equals) fail("a hint is written key=value, not %s", pair);
        *equals = 0;
        set_hint(info, pair, equals + 1);
    }
}

/* What is chosen for collective access, all of it at once: most of its combinations are too rare among single hints. */
static void draw_ways(MPI_Info *info)
{
    static const struct {
        const char *key, *values[5];
    } ways[] = {
        {"mpiio_rs_layers", {"1", "2", "1", "2", "2"}},
        {"mpiio_rs_local_aggregators", {"0", "2", "3", "2", "1"}},
        {"mpiio_rs_transfer", {"two_sided", "put_fence", "put_lock", "put_fence", "put_lock"}},
        {"mpiio_rs_overlap", {"none", "communication", "write", "write_communication", "write_communication_2"}},
        {"mpiio_rs_partitioning", {"even", "static_cyclic", "group_cyclic", "even", "static_cyclic"}},
        {"cb_nodes", {"1", "2", "3", "0", "0"}},
        {"cb_buffer_size", {"1", "65536", "16777216", "1048576", "4194304"}},
        {"romio_lustre_ds_in_coll", {"enable", "disable", "automatic", "enable", "disable"}},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const char *value = ways[i].values[below(&program.random, 5)];
        if (!options.on[HINTS]) continue;
        say("      hint %s=%s", ways[i].key, value);
        set_hint(info, ways[i].key, value);
    }
}

/* Draws for all ranks alike and returns what this rank passes. */
MPI_Info draw_info(void)
{
    Random *random = &program.random;
    MPI_Info info = MPI_INFO_NULL;
    if (chance(random, 12)) draw_ways(&info);
    int drawn = chance(random, 50) ? (int)between(random, 1, 6) : 0;
    for (int i = 0; i < drawn; i++) {
        size_t which = (size_t)below(random, sizeof hints / sizeof *hints);
        const char *value = hints[which].values[below(random, 6)];
        uint64_t ranks = draw(random);
        bool uneven = chance(random, 15) && options.on[UNEVEN_HINTS];
        if (!options.on[HINTS] || (uneven && (ranks >> program.rank & 1))) continue;
        say("      hint %s=%s%s", hints[which].key, value, uneven ? " on some ranks" : "");
        set_hint(&info, hints[which].key, value);
    }
    set_forced(&info);
    return info;
}
