/* Random hints: sensible, extreme and nonsense values. None of them may change what a program does.
 * Hints that are promises of the caller (romio_no_indep_rw, access_style=read_once) are not among them. */
#include "random.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *values[6];
} hints[] = {
    {"cb_buffer_size", {"512", "4096", "10000", "65536", "1", "lots"}},
    {"cb_nodes", {"1", "2", "3", "1000", "0", "-4"}},
    {"cb_config_list", {"*:1", "*:*", "*:2", "nosuchhost:1", "", "::::"}},
    {"cb_align", {"0", "1", "2", "512", "x", "1000000"}},
    {"romio_cb_write", {"enable", "disable", "automatic", "enable", "disable", "perhaps"}},
    {"romio_cb_read", {"enable", "disable", "automatic", "enable", "disable", "perhaps"}},
    {"collective_buffering", {"true", "false", "true", "false", "TRUE", "2"}},
    {"romio_ds_write", {"enable", "disable", "automatic", "enable", "disable", "?"}},
    {"romio_ds_read", {"enable", "disable", "automatic", "enable", "disable", "?"}},
    {"ind_rd_buffer_size", {"1", "100", "4096", "1000000", "0", "-1"}},
    {"ind_wr_buffer_size", {"1", "100", "4096", "1000000", "0", "-1"}},
    {"romio_min_fdomain_size", {"0", "100", "65536", "1", "9999999999", "a"}},
    {"romio_cb_alltoall", {"enable", "disable", "automatic", "automatic", "maybe", "on"}},
    {"romio_cb_fr_alignment", {"1", "7", "4096", "65536", "0", "-"}},
    {"romio_cb_ds_threshold", {"0", "50", "100", "1000", "-5", "many"}},
    {"romio_synchronized_flush", {"enabled", "disabled", "enabled", "disabled", "1", "x"}},
    {"striping_unit", {"4096", "65536", "1000", "0", "-1", "big"}},
    {"striping_factor", {"1", "2", "4", "0", "-1", "wide"}},
    {"mpiio_rs_num_threads", {"0", "1", "2", "3", "-1", "all"}},
    {"mpiio_rs_partitioning", {"even", "static-cyclic", "group-cyclic", "even", "odd", ""}},
    {"mpiio_rs_transfer", {"two-sided", "put-fence", "put-lock", "shared-memory", "pigeon", ""}},
    {"mpiio_rs_overlap", {"none", "communication", "write", "write-communication", "write-communication-2", "x"}},
    {"file_perm", {"0644", "0600", "666", "0644", "9", "rw"}},
    {"nb_proc", {"1", "4", "100000", "0", "-1", "some"}},
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

static void set_pair(MPI_Info *info, const char *key, const char *value)
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
        set_pair(info, pair, equals + 1);
    }
}

/* Draws for all ranks alike and returns what this rank passes. */
MPI_Info draw_info(void)
{
    Random *random = &program.random;
    MPI_Info info = MPI_INFO_NULL;
    int drawn = chance(random, 50) ? (int)between(random, 1, 6) : 0;
    for (int i = 0; i < drawn; i++) {
        size_t which = (size_t)below(random, sizeof hints / sizeof *hints);
        const char *value = hints[which].values[below(random, 6)];
        uint64_t ranks = draw(random);
        bool uneven = chance(random, 15) && options.on[UNEVEN_HINTS];
        if (!options.on[HINTS] || (uneven && (ranks >> program.rank & 1))) continue;
        say("      hint %s=%s%s", hints[which].key, value, uneven ? " on some ranks" : "");
        set_pair(&info, hints[which].key, value);
    }
    set_forced(&info);
    return info;
}
