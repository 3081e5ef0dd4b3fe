//! The hint table itself: one row per hint, in the order `MPI_File_get_info` answers them.

use super::table::{Effect, Kind, Row};

const OTHER_FILE_SYSTEM: Effect = Effect::Never("this file system is used through POSIX here");
const DIRECTIVE: Effect = Effect::Never("describes storage the library does not manage");

/// Every hint the library knows.
pub static TABLE: &[Row] = &[
    // Individual access: data sieving and threads.
    Row::new(
        "romio_ds_read",
        Kind::Toggle,
        "automatic",
        Effect::Now,
        "Data sieving for reads: read a window with its holes and pick the wanted bytes.",
    )
    .variables(&["OMPI_MCA_fbtl_posix_read_datasieving"]),
    Row::new(
        "romio_ds_write",
        Kind::Toggle,
        "automatic",
        Effect::Now,
        "Data sieving for writes: read a window, change the wanted bytes and write it back.",
    )
    .variables(&["OMPI_MCA_fbtl_posix_write_datasieving"]),
    Row::new(
        "ind_rd_buffer_size",
        Kind::Size(1),
        "4194304",
        Effect::Now,
        "Largest window for data sieving in reads; more than 512 KiB are not used, they leave the cache.",
    ),
    Row::new(
        "ind_wr_buffer_size",
        Kind::Size(1),
        "524288",
        Effect::Now,
        "Largest window for data sieving in writes; more than 512 KiB are not used, they leave the cache.",
    ),
    Row::new(
        "mpiio_rs_num_threads",
        Kind::Count(0),
        "0",
        Effect::Now,
        "Threads a rank may use for one large access; 0 takes them from the cores a rank has.",
    )
    .variables(&["MPIIO_RS_NUM_THREADS"]),
    Row::new(
        "mpiio_rs_progress",
        Kind::Choice("automatic, none"),
        "automatic",
        Effect::Now,
        "Whether nonblocking and split accesses go on in threads of the library; none finishes them inside the call.",
    )
    .variables(&["MPIIO_RS_PROGRESS"])
    .at_open(),
    // Collective buffering.
    Row::new(
        "cb_buffer_size",
        Kind::Size(1),
        "16777216",
        Effect::Now,
        "Collective buffer of a node, with a quarter more for marks; not more than 4 MiB are used, and on a single node half a MiB for each core and one more.",
    )
    .variables(&["OMPI_MCA_io_ompio_bytes_per_agg"]),
    Row::new(
        "cb_nodes",
        Kind::Count(0),
        "0",
        Effect::Now,
        "Most ranks that access the file in a collective call, spread over the nodes; 0 leaves it to all of them.",
    )
    .variables(&["OMPI_MCA_io_ompio_num_aggregators"])
    .at_open(),
    Row::new(
        "cb_config_list",
        Kind::Text,
        "*:1",
        Effect::Now,
        "Most ranks of each host that access the file in a collective call, as `host:count`; `*:1` is one on every host; no limit unless it is given.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_layers",
        Kind::Choice("automatic, 0, 1, 2"),
        "automatic",
        Effect::Now,
        "Layers of collective calls: 0 each rank alone, 1 each sends to the aggregators, 2 ranks of a node are gathered first.",
    ),
    Row::new(
        "mpiio_rs_local_aggregators",
        Kind::Count(0),
        "0",
        Effect::Now,
        "Groups of ranks that are gathered first, in all; 0 is one on each node.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_partitioning",
        Kind::Choice("automatic, even, static_cyclic, group_cyclic"),
        "automatic",
        Effect::Now,
        "How the file is divided among the ranks that access it in a collective call.",
    ),
    Row::new(
        "mpiio_rs_transfer",
        Kind::Choice("automatic, two_sided, put_fence, put_lock, shared_memory"),
        "automatic",
        Effect::Now,
        "How bytes come from one group of ranks to another; inside a group it is always shared memory.",
    ),
    Row::new(
        "mpiio_rs_overlap",
        Kind::Choice(
            "automatic, flow, none, communication, write, write_communication, write_communication_2",
        ),
        "automatic",
        Effect::Now,
        "What of a collective call is under way at the same time; flow leaves the file to whoever has time.",
    ),
    Row::new(
        "romio_cb_read",
        Kind::Toggle,
        "automatic",
        Effect::Now,
        "Collective buffering for reads; automatic does what should be faster.",
    ),
    Row::new(
        "romio_cb_write",
        Kind::Toggle,
        "automatic",
        Effect::Now,
        "Collective buffering for writes; automatic does what should be faster.",
    ),
    Row::new(
        "collective_buffering",
        Kind::Boolean,
        "",
        Effect::Later("romio_cb_read and romio_cb_write say that here"),
        "Whether the application benefits from collective buffering.",
    ),
    Row::new(
        "romio_no_indep_rw",
        Kind::Boolean,
        "false",
        Effect::Now,
        "The application promises collective calls only, so only aggregators need to open the file; every rank does all the same.",
    )
    .at_open(),
    Row::new(
        "romio_min_fdomain_size",
        Kind::Size(0),
        "",
        Effect::Later("parts of the file are stripes, or windows where there are none"),
        "Smallest part of the file given to an aggregator.",
    ),
    Row::new(
        "romio_cb_alltoall",
        Kind::Toggle,
        "",
        Effect::Later("mpiio_rs_transfer says how bytes are brought"),
        "Exchange data with an all-to-all call instead of messages.",
    ),
    Row::new(
        "romio_cb_ds_threshold",
        Kind::Count(0),
        "",
        Effect::Later("romio_lustre_ds_in_coll says whether holes are written back"),
        "Percentage of wanted bytes below which collective calls do not sieve.",
    ),
    Row::new(
        "romio_cb_fr_alignment",
        Kind::Size(0),
        "",
        Effect::Later("parts of the file end where stripes or blocks do"),
        "Alignment of the parts of the file given to aggregators.",
    ),
    Row::new(
        "cray_cb_nodes_multiplier",
        Kind::Count(1),
        "",
        Effect::Now,
        "Aggregators for each stripe of the file.",
    ),
    Row::new(
        "romio_lustre_co_ratio",
        Kind::Count(1),
        "",
        Effect::Now,
        "Most aggregators for each stripe of a striped file.",
    ),
    Row::new(
        "romio_lustre_coll_threshold",
        Kind::Size(0),
        "",
        Effect::Now,
        "Average size of the pieces from which collective calls are not buffered where that is automatic, on every file system; 0 buffers all; 64 KiB if nothing is said.",
    ),
    Row::new(
        "romio_lustre_ds_in_coll",
        Kind::Toggle,
        "",
        Effect::Now,
        "Data sieving inside collective writes, on every file system: disable writes no holes back, else it is as romio_ds_write says.",
    ),
    Row::new(
        "aggregator_placement_stride",
        Kind::Count(-1),
        "",
        Effect::Later("cb_config_list and cb_nodes say where aggregators are"),
        "Distance in ranks between aggregators; -1 spreads them over the nodes.",
    )
    .variables(&["MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE"])
    .at_open(),
    Row::new(
        "cb_align",
        Kind::Count(0),
        "",
        Effect::Later("parts of the file end where stripes or blocks do"),
        "How the parts of the file given to aggregators are aligned with stripes.",
    )
    .variables(&["MPICH_MPIIO_CB_ALIGN"]),
    // Layout.
    Row::new(
        "striping_factor",
        Kind::Count(-1),
        "",
        Effect::Now,
        "Devices a new file is striped over; -1 means all; answered when known.",
    )
    .aliases(&["stripe_width"])
    .variables(&["OMPI_MCA_fs_lustre_stripe_width"])
    .at_open(),
    Row::new(
        "striping_unit",
        Kind::Size(0),
        "",
        Effect::Now,
        "Bytes of a new file on one device before the next; answered when known.",
    )
    .aliases(&["stripe_size"])
    .variables(&["OMPI_MCA_fs_lustre_stripe_size"])
    .at_open(),
    Row::new(
        "start_iodevice",
        Kind::Count(-1),
        "",
        Effect::Now,
        "First device of a new file; -1 lets the file system choose; answered when known.",
    )
    .aliases(&["romio_lustre_start_iodevice"])
    .at_open(),
    Row::new(
        "mpiio_rs_fitting_stripes",
        Kind::Boolean,
        "",
        Effect::Now,
        "A new Lustre file that nobody gives stripes, nor its directory, gets a number fit for the job; `false` turns that off.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_lock_ahead",
        Kind::Choice("automatic, off, global, stripe, cycle"),
        "",
        Effect::Now,
        "Locks that aggregators ask for before they write on Lustre: for their domain, for each of its stripes, for each window; automatic is global where several nodes write.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_lock_ahead_individual",
        Kind::Choice("automatic, off, element, view"),
        "",
        Effect::Now,
        "Locks that a rank on its own asks for before it writes on Lustre: for each piece of an access, or of the view when it is set; automatic is element where aggregators ask too.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_lock_ahead_requests",
        Kind::Choice("automatic, synchronous, asynchronous"),
        "",
        Effect::Now,
        "Whether these requests wait for their locks; automatic waits for those of domains and views.",
    )
    .at_open(),
    Row::new(
        "romio_lustre_cb_lock_ahead_write",
        Kind::Boolean,
        "",
        Effect::Now,
        "Aggregators ask for the locks of a write before they write.",
    )
    .at_open(),
    Row::new(
        "romio_lustre_cb_lock_ahead_read",
        Kind::Boolean,
        "",
        Effect::Now,
        "Aggregators ask for the locks of a read before they read.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_lock_ahead_extents",
        Kind::Count(1),
        "",
        Effect::Now,
        "Most locks asked for at once, up to 1023; 500 if nothing is said.",
    )
    .aliases(&["romio_lustre_cb_lock_ahead_num_extents"])
    .at_open(),
    Row::new(
        "cray_cb_write_lock_mode",
        Kind::Count(0),
        "",
        Effect::Now,
        "Locks of aggregators: 0 standard, 1 and 2 requested ahead.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_data_shipping",
        Kind::Boolean,
        "",
        Effect::Now,
        "On a GPFS that still has it, certain nodes access the file for all others; not together with atomic mode.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_data_shipping_agents",
        Kind::Text,
        "",
        Effect::Now,
        "GPFS numbers of these nodes, separated by commas, blanks or +; without it GPFS deals blocks to all.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_data_shipping_partition",
        Kind::Size(0),
        "",
        Effect::Now,
        "Bytes that each of them is given in turn, rounded to blocks.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_declare_ranges",
        Kind::Boolean,
        "",
        Effect::Now,
        "Aggregators declare the part of the file they access, and free it afterwards; where it is not GPFS, Linux is told to read it ahead or to begin to write it out.",
    )
    .variables(&["ROMIO_GPFS_DECLARE_ACCESS"])
    .at_open(),
    Row::new(
        "mpiio_rs_fine_grain_writes",
        Kind::Boolean,
        "",
        Effect::Now,
        "On GPFS 5.1.2 and later, small writes of several nodes share blocks; errors may come as late as MPI_File_sync or MPI_File_close.",
    )
    .at_open(),
    Row::new(
        "mpiio_rs_clear_cache",
        Kind::Boolean,
        "",
        Effect::Now,
        "On GPFS, forget at open what this node has cached of the file.",
    )
    .aliases(&["gpfsClearFileCache"])
    .at_open(),
    Row::new(
        "mpiio_rs_prefetch",
        Kind::Toggle,
        "",
        Effect::Now,
        "Scattered pieces are told to the file system before a rank on its own reads them; automatic does not.",
    )
    .at_open(),
    Row::new(
        "fs_ufs_lock_algorithm",
        Kind::Text,
        "",
        Effect::Never("ranges are locked where sieving or atomic mode needs it, and only there"),
        "Open MPI's choice of file locks.",
    )
    .aliases(&["fs_lustre_lock_algorithm"])
    .variables(&["OMPI_MCA_fs_ufs_lock_algorithm", "OMPI_MCA_fs_lustre_lock_algorithm"]),
    Row::new(
        "direct_read",
        Kind::Boolean,
        "",
        Effect::Now,
        "Read past the page cache: whole pages in the middle of each system call; its ends, NFS, and Lustre and GPFS where they are told of accesses ahead, go through it.",
    )
    .variables(&["MPIO_DIRECT_READ"])
    .at_open(),
    Row::new(
        "direct_write",
        Kind::Boolean,
        "",
        Effect::Now,
        "Write past the page cache, likewise.",
    )
    .variables(&["MPIO_DIRECT_WRITE"])
    .at_open(),
    Row::new(
        "direct_io",
        Kind::Boolean,
        "",
        Effect::Now,
        "Read and write past the page cache, likewise.",
    )
    .at_open(),
    // What the application says about itself and its file.
    Row::new(
        "access_style",
        Kind::Text,
        "",
        Effect::Later("not passed on to the file system in this version"),
        "How the file will be used: read_once, write_once, read_mostly, sequential, random, ...",
    ),
    Row::new(
        "file_perm",
        Kind::Permissions,
        "",
        Effect::Now,
        "Permission bits of a new file, before the umask.",
    )
    .at_open(),
    Row::new(
        "abort_on_rw_error",
        Kind::Toggle,
        "",
        Effect::Later("errors go to the error handler of the file in this version"),
        "End the job at the first failed read or write.",
    )
    .variables(&["MPICH_MPIIO_ABORT_ON_RW_ERROR"]),
    Row::new(
        "romio_synchronized_flush",
        Kind::Toggle,
        "",
        Effect::Never("all ranks agree on the result of every MPI_File_sync"),
        "MPI_File_sync also waits for the other ranks.",
    )
    .aliases(&["romio_synchronizing_flush"]),
    // Reports.
    Row::new(
        "mpiio_rs_verbose",
        Kind::Boolean,
        "false",
        Effect::Now,
        "Print the hints of a file when it is opened.",
    )
    .variables(&["ROMIO_PRINT_HINTS", "MPICH_MPIIO_HINTS_DISPLAY", "MPIIO_RS_VERBOSE"]),
    Row::new(
        "mpiio_rs_report",
        Kind::Report,
        "0",
        Effect::Now,
        "What happened to a file, when it is closed: to standard error, or appended to PATH.",
    )
    .variables(&["MPICH_MPIIO_STATS", "MPIIO_RS_REPORT"]),
    // What the library answers.
    Row::new(
        "filename",
        Kind::ReadOnly,
        "",
        Effect::Now,
        "The name the file was opened with.",
    ),
    Row::new(
        "romio_filesystem_type",
        Kind::ReadOnly,
        "",
        Effect::Now,
        "The driver in use; the variable ROMIO_FSTYPE_FORCE, such as `ufs:`, chooses another.",
    )
    .variables(&["ROMIO_FSTYPE_FORCE"]),
    Row::new(
        "romio_visibility_immediate",
        Kind::ReadOnly,
        "",
        Effect::Now,
        "Whether a finished write is at once visible to the other ranks.",
    ),
    Row::new(
        "romio_aggregator_list",
        Kind::ReadOnly,
        "",
        Effect::Now,
        "Ranks that access the file in collective calls, when there are any.",
    ),
    // Accepted because job scripts have them; never answered.
    Row::new(
        "romio_cb_fr_types",
        Kind::Text,
        "",
        Effect::Never("the file is divided along stripes or evenly, as its layout asks"),
        "How ROMIO divides the file among aggregators.",
    )
    .aliases(&["romio_cb_fr_type"]),
    Row::new(
        "romio_cb_pfr",
        Kind::Toggle,
        "",
        Effect::Never("no data stays in an aggregator between calls"),
        "Aggregators keep their part of the file from call to call.",
    ),
    Row::new(
        "IBM_largeblock_io",
        Kind::Boolean,
        "",
        Effect::Never("data are shipped only where mpiio_rs_data_shipping asks for it"),
        "Large blocks are accessed by each rank.",
    ),
    Row::new("cb_block_size", Kind::Size(0), "", DIRECTIVE, "Block size for collective access."),
    Row::new("chunked", Kind::Text, "", DIRECTIVE, "Dimensions of a multidimensional array."),
    Row::new("chunked_item", Kind::Text, "", DIRECTIVE, "Bytes of an element of the array."),
    Row::new("chunked_size", Kind::Text, "", DIRECTIVE, "Dimensions of a subarray."),
    Row::new("io_node_list", Kind::Text, "", DIRECTIVE, "Devices to store the file on."),
    Row::new("nb_proc", Kind::Count(0), "", DIRECTIVE, "Processes that typically run the program."),
    Row::new("num_io_nodes", Kind::Count(0), "", DIRECTIVE, "Devices in the system."),
    Row::new(
        "panfs_concurrent_write",
        Kind::Boolean,
        "",
        OTHER_FILE_SYSTEM,
        "Concurrent writes on PanFS.",
    ),
    Row::new(
        "romio_daos_chunk_size",
        Kind::Size(0),
        "",
        OTHER_FILE_SYSTEM,
        "Chunk size of a new DAOS file.",
    ),
    Row::new(
        "romio_daos_obj_class",
        Kind::Text,
        "",
        OTHER_FILE_SYSTEM,
        "Object class of a new DAOS file.",
    ),
    Row::new("pfs_svr_buf", Kind::Boolean, "", OTHER_FILE_SYSTEM, "Server buffering on Intel PFS."),
];
