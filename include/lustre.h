/* What the library uses of Lustre's interface to programs: structures, numbers and the functions of liblustreapi.
 *
 * Written from the documented layouts, of Lustre 2.11 and later; no header of Lustre is needed to build. The Rust side is
 * src/driver/lustre/abi.rs; both are checked against one table of sizes and offsets. */
#ifndef MPIIO_RS_LUSTRE_H
#define MPIIO_RS_LUSTRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

enum { LUSTRE_SUPER_MAGIC = 0x0BD00BD0 };

/* ---- layouts: the attribute "lustre.lov", and the argument of GETSTRIPE and SETSTRIPE ---- */

enum {
    LOV_USER_MAGIC_V1 = 0x0BD10BD0,
    LOV_USER_MAGIC_V3 = 0x0BD30BD0,
    LOV_USER_MAGIC_SPECIFIC = 0x0BD50BD0,
    LOV_USER_MAGIC_COMP_V1 = 0x0BD60BD0,
};
enum { LOV_PATTERN_RAID0 = 0x001, LOV_PATTERN_MDT = 0x100, LOV_PATTERN_OVERSTRIPING = 0x200 };
enum { LCME_FL_STALE = 0x01, LCME_FL_INIT = 0x10, LCME_FL_EXTENSION = 0x40 };
/* No objects yet: SETSTRIPE must follow. O_NOCTTY and FASYNC together mean it to every release. */
enum { LUSTRE_O_LOV_DELAY_CREATE = 0x2100 };

struct lov_user_ost_data {
    uint64_t l_ost_oi[2];
    uint32_t l_ost_gen;
    uint32_t l_ost_idx;
} __attribute__((packed));

/* Version 1; version 3 has a name of 16 bytes between this and the objects. */
struct lov_user_md {
    uint32_t lmm_magic;
    uint32_t lmm_pattern;
    uint64_t lmm_oi[2];
    uint32_t lmm_stripe_size;
    uint16_t lmm_stripe_count;
    uint16_t lmm_stripe_offset; /* the first server on write; on read the generation of the layout */
} __attribute__((packed));

struct lov_user_md_v3 {
    struct lov_user_md lmm;
    char lmm_pool_name[16];
} __attribute__((packed));

struct lov_comp_md {
    uint32_t lcm_magic;
    uint32_t lcm_size;
    uint32_t lcm_layout_gen;
    uint16_t lcm_flags;
    uint16_t lcm_entry_count;
    uint16_t lcm_mirror_count;
    uint8_t lcm_ec_count;
    uint8_t lcm_padding[13];
} __attribute__((packed));

struct lov_comp_md_entry {
    uint32_t lcme_id;
    uint32_t lcme_flags;
    uint64_t lcme_start;
    uint64_t lcme_end; /* the first byte behind it; all ones is the end of all files */
    uint32_t lcme_offset;
    uint32_t lcme_size;
    uint32_t lcme_layout_gen;
    uint64_t lcme_timestamp;
    uint32_t lcme_extra;
} __attribute__((packed));

/* ---- advice ---- */

enum { LADVISE_MAGIC = 0x1ADF1CE0, LAH_COUNT_MAX = 1024 };
enum { LU_LADVISE_LOCKNOEXPAND = 3, LU_LADVISE_LOCKAHEAD = 4 };
enum { MODE_READ_USER = 1, MODE_WRITE_USER = 2 };
enum { LF_ASYNC = 1, LF_UNSET = 2 };
enum { LLA_RESULT_SENT = 0, LLA_RESULT_DIFFERENT = 1, LLA_RESULT_SAME = 2 };

struct llapi_lu_ladvise {
    uint16_t lla_advice;
    uint16_t lla_lockahead_mode;
    uint32_t lla_peradvice_flags;
    uint64_t lla_start;
    uint64_t lla_end; /* the last byte, itself included */
    uint32_t lla_lockahead_result;
    uint32_t lla_value4;
};

struct llapi_ladvise_hdr {
    uint32_t lah_magic;
    uint32_t lah_count;
    uint64_t lah_flags;
    uint32_t lah_value1;
    uint32_t lah_value2;
    uint64_t lah_value3;
};

/* ---- numbers of ioctl: the kernel's macros know what the processor wants ---- */

static const unsigned long LL_IOC_LOV_SETSTRIPE = _IOW('f', 154, long);
static const unsigned long LL_IOC_LOV_GETSTRIPE = _IOW('f', 155, long);
static const unsigned long LL_IOC_GROUP_LOCK = _IOW('f', 158, long);
static const unsigned long LL_IOC_GROUP_UNLOCK = _IOW('f', 159, long);
static const unsigned long LL_IOC_LADVISE = _IOR('f', 250, struct llapi_lu_ladvise);

int llapi_ladvise(int fd, unsigned long long flags, int count, struct llapi_lu_ladvise *advices);
int llapi_group_lock(int fd, int gid);
int llapi_group_unlock(int fd, int gid);

#define LUSTRE_CHECK(what, value) _Static_assert((what) == (value), #what)
LUSTRE_CHECK(sizeof(struct lov_user_ost_data), 24);
LUSTRE_CHECK(offsetof(struct lov_user_ost_data, l_ost_idx), 20);
LUSTRE_CHECK(sizeof(struct lov_user_md), 32);
LUSTRE_CHECK(offsetof(struct lov_user_md, lmm_stripe_size), 24);
LUSTRE_CHECK(offsetof(struct lov_user_md, lmm_stripe_offset), 30);
LUSTRE_CHECK(sizeof(struct lov_user_md_v3), 48);
LUSTRE_CHECK(sizeof(struct lov_comp_md), 32);
LUSTRE_CHECK(offsetof(struct lov_comp_md, lcm_entry_count), 14);
LUSTRE_CHECK(sizeof(struct lov_comp_md_entry), 48);
LUSTRE_CHECK(offsetof(struct lov_comp_md_entry, lcme_offset), 24);
LUSTRE_CHECK(offsetof(struct lov_comp_md_entry, lcme_timestamp), 36);
LUSTRE_CHECK(sizeof(struct llapi_lu_ladvise), 32);
LUSTRE_CHECK(offsetof(struct llapi_lu_ladvise, lla_start), 8);
LUSTRE_CHECK(offsetof(struct llapi_lu_ladvise, lla_lockahead_result), 24);
LUSTRE_CHECK(sizeof(struct llapi_ladvise_hdr), 32);
#ifdef __x86_64__
LUSTRE_CHECK(_IOW('f', 154, long), 0x4008669A);
LUSTRE_CHECK(_IOW('f', 155, long), 0x4008669B);
LUSTRE_CHECK(_IOW('f', 158, long), 0x4008669E);
LUSTRE_CHECK(_IOW('f', 159, long), 0x4008669F);
LUSTRE_CHECK(_IOR('f', 250, struct llapi_lu_ladvise), 0x802066FA);
#endif

#endif
