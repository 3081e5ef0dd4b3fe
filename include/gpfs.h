/* What the library uses of the interface of IBM Storage Scale (GPFS) to programs: one function with a list of structures.
 *
 * Written from the documented layouts; no header of GPFS is needed to build. Data shipping is in releases up to 3.5 at least
 * and no longer in 5.0; fine grain write sharing is in 5.1.2 and later. The Rust side is src/driver/gpfs/abi.rs. */
#ifndef MPIIO_RS_GPFS_H
#define MPIIO_RS_GPFS_H

#include <stddef.h>

enum { GPFS_MAGIC = 0x47504653, GPFS_FCNTL_CURRENT_VERSION = 1, GPFS_MAX_FCNTL_LENGTH = 65536 };
enum {
    GPFS_ACCESS_RANGE = 1001,
    GPFS_FREE_RANGE = 1002,
    GPFS_MULTIPLE_ACCESS_RANGE = 1003,
    GPFS_CLEAR_FILE_CACHE = 1004,
    GPFS_FINE_GRAIN_WRITE_SHARING = 1005,
    GPFS_DATA_SHIP_START = 2002,
    GPFS_DATA_SHIP_MAP = 2003,
    GPFS_DATA_SHIP_STOP = 2004,
};
enum { GPFS_MAX_RANGE_COUNT = 8, GPFS_MAX_DS_AGENT_NODES = 2048 };

typedef struct {
    int totalLength, fcntlVersion, errorOffset, fcntlReserved;
} gpfsFcntlHeader_t;

typedef struct {
    int structLen, structType;
    long long start, length; /* length 0: to the end of the file */
    int isWrite;
    char padding[4];
} gpfsAccessRange_t;

typedef struct {
    int structLen, structType;
    long long start, length;
} gpfsFreeRange_t;

typedef struct {
    long long blockNumber;
    int start, length, isWrite; /* within the block */
    char padding[4];
} gpfsRangeArray_t;

typedef struct {
    int structLen, structType;
    int accRangeCnt; /* in: how many; out: how many of them were accepted */
    int relRangeCnt;
    gpfsRangeArray_t accRangeArray[GPFS_MAX_RANGE_COUNT];
    gpfsRangeArray_t relRangeArray[GPFS_MAX_RANGE_COUNT];
} gpfsMultipleAccessRange_t;

typedef struct {
    int structLen, structType;
} gpfsClearFileCache_t;

typedef struct {
    int structLen, structType;
    int enable, taskId, totalTasks, recordSize;
} gpfsFineGrainWriteSharing_t;

typedef struct {
    int structLen, structType;
    int numInstances, reserved;
} gpfsDataShipStart_t;

/* As many node numbers follow as structLen says, an even number of them. */
typedef struct {
    int structLen, structType;
    int partitionSize, agentCount;
} gpfsDataShipMap_t;

typedef struct {
    int structLen, structType;
} gpfsDataShipStop_t;

int gpfs_fcntl(int fileDesc, void *fcntlArgP);

#define GPFS_CHECK(what, value) _Static_assert((what) == (value), #what)
GPFS_CHECK(sizeof(gpfsFcntlHeader_t), 16);
GPFS_CHECK(sizeof(gpfsAccessRange_t), 32);
GPFS_CHECK(offsetof(gpfsAccessRange_t, isWrite), 24);
GPFS_CHECK(sizeof(gpfsFreeRange_t), 24);
GPFS_CHECK(sizeof(gpfsRangeArray_t), 24);
GPFS_CHECK(sizeof(gpfsMultipleAccessRange_t), 400);
GPFS_CHECK(offsetof(gpfsMultipleAccessRange_t, relRangeArray), 208);
GPFS_CHECK(sizeof(gpfsClearFileCache_t), 8);
GPFS_CHECK(sizeof(gpfsFineGrainWriteSharing_t), 24);
GPFS_CHECK(sizeof(gpfsDataShipStart_t), 16);
GPFS_CHECK(sizeof(gpfsDataShipMap_t), 16);
GPFS_CHECK(sizeof(gpfsDataShipStop_t), 8);

#endif
