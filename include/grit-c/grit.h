/*===- grit-c/grit.h - the C interface of grit ---------------------------===*\
|*                                                                            *|
|* Part of the grit project, under the Apache License v2.0 with LLVM          *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What a program needs to hold quantized arrays, to check them at a          *|
|* boundary, and to quantize and dequantize them. Plain C11, also usable from *|
|* C++; the library is libgrit.so. Functions that the compiler writes take    *|
|* their quantized operands as grit_array_view_t and call                     *|
|* grit_check_expected before they touch a plane.                             *|
|*                                                                            *|
|* Every function that can fail returns a grit_status_t, which must not be    *|
|* dropped, and writes the reason into a grit_detail_t; a null detail is      *|
|* allowed everywhere. Functions neither keep pointers nor allocate what the  *|
|* caller has to free, and may be called from any thread.                     *|
|*                                                                            *|
|* Hosts are little-endian: grit_desc_t is the 64 bytes as they are stored.   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef GRIT_C_GRIT_H
#define GRIT_C_GRIT_H

#include <stddef.h>
#include <stdint.h>

/** Rises when a structure or a function here changes its meaning or layout. */
#define GRIT_ABI_VERSION 1

/** The largest rank of an array. */
#define GRIT_MAXRANK 8
/** The number of places for planes in a view. */
#define GRIT_MAXPLANES 4

#if defined(__GNUC__) || defined(__clang__)
#define GRIT_NODISCARD __attribute__((warn_unused_result))
#define GRIT_API __attribute__((visibility("default")))
#else
#define GRIT_NODISCARD
#define GRIT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===- Statuses and their details ----------------------------------===*/

/** The outcomes of a check; the set is closed. Failures of other functions use
    the nearest one. */
typedef enum grit_status_t {
  GRIT_OK = 0,
  /** The shape, the group axis and the sizes of the planes do not fit. */
  GRIT_SIZE_MISMATCH = 1,
  /** The contract is not known, or the descriptor contradicts it. */
  GRIT_GRADE_UNKNOWN = 2,
  /** A placement is not acceptable, or not the one that is required. */
  GRIT_PLACEMENT_UNKNOWN = 3,
  /** The bytes contradict the digest or the declared order of indices. */
  GRIT_DIGEST_MISMATCH = 4
} grit_status_t;

/** Why a function failed. All of it is empty or 0 after a success, except that
    grit_check writes a message that begins with "warning: " when the array is
    valid and its group axis is not the innermost one. */
typedef struct grit_detail_t {
  /** The reason as text of one or more lines: what, then "field:",
      "declared:", "found:", "cause:" and "fix:" where they apply. */
  char message[1024];
  /** The field at fault, e.g. "plane_bytes[scale0]". */
  char field[48];
  /** The numbers that were compared, where numbers were compared: bytes of a
      plane, a rank, an extent, a placement word, a contract id. */
  int64_t expected, actual;
  /** 0 data, 1 scale0, 2 scale1, 3 aux (for a foreign format, the plane's
      index), or -1. */
  int32_t plane;
  grit_status_t status;
} grit_detail_t;

/** "Ok", "SizeMismatch", "GradeUnknown", "PlacementUnknown" or
    "DigestMismatch". */
GRIT_API const char *grit_status_name(grit_status_t status);

/** The version of the library, e.g. "0.1.0". */
GRIT_API const char *grit_version(void);
/** GRIT_ABI_VERSION of the library that is loaded. */
GRIT_API uint32_t grit_abi_version(void);

/** Called by grit_report_failure. */
typedef void (*grit_failure_handler_t)(grit_status_t status,
                                       const grit_detail_t *detail,
                                       const char *location, void *user);

/** Sets what happens when a compiled function refuses an operand; null sets
    the default, which prints to the standard error stream and returns. */
GRIT_API void grit_set_failure_handler(grit_failure_handler_t handler,
                                       void *user);

/** Hands a failure to the handler. `location` says where it happened, e.g. the
    name of the function and of its source; it may be null. */
GRIT_API void grit_report_failure(grit_status_t status,
                                  const grit_detail_t *detail,
                                  const char *location);

/*===- Views of arrays ---------------------------------------------===*/

/** A format word; 0 is "absent". */
typedef uint16_t grit_fmt_t;

/** The descriptor of a grade's array: 64 bytes, stored little-endian. */
typedef struct grit_desc_t {
  uint32_t magic;     /**< 0x31545247, "GRT1" */
  uint8_t hdr_bytes;  /**< 64 */
  uint8_t version;    /**< 1 */
  uint8_t n_levels;   /**< 1 or 2 */
  uint8_t flags;      /**< GRIT_F_... */
  grit_fmt_t elem;    /**< format of the elements */
  grit_fmt_t scale0;  /**< format of the level-0 scales */
  grit_fmt_t scale1;  /**< format of the level-1 scales, or 0 */
  grit_fmt_t zp_fmt;  /**< format of the zero points, or 0 */
  int16_t group_axis; /**< 0 to rank - 1 */
  uint16_t k0;        /**< elements per level-0 group */
  uint16_t k1;        /**< level-0 groups per level-1 group; 0: per tensor */
  uint8_t sp_n;       /**< survivors ... */
  uint8_t sp_m;       /**< ... of every sp_m elements; 0 if dense */
  uint8_t sp_meta_fmt;
  uint8_t sp_order;
  uint8_t container;
  uint8_t frame_rsvd; /**< 0 */
  uint32_t note;      /**< anything; not part of the array's identity */
  uint64_t placement_data;
  uint64_t placement_scale; /**< of both scale planes */
  uint64_t placement_meta;  /**< of the aux plane; 0 where there is none */
  uint64_t grade_id;
} grit_desc_t;

#define GRIT_MAGIC 0x31545247u
#define GRIT_F_HAS_ZP 0x01
#define GRIT_F_ZP_MINUS1 0x02
#define GRIT_F_SPARSE 0x04
#define GRIT_F_MSB_FIRST 0x08
#define GRIT_F_INTERLEAVED 0x10
#define GRIT_F_ZP_L1SCALED 0x20
/** A bit of the note: the placement was assumed, not established. */
#define GRIT_NOTE_ASSUMED 0x00000001u

#define GRIT_PLACEMENT_UNSPECIFIED UINT64_C(0)
#define GRIT_PLACEMENT_ROW_MAJOR UINT64_C(0x1000000000000001)
#define GRIT_PLACEMENT_COL_MAJOR UINT64_C(0x1000000000000002)
#define GRIT_PLACEMENT_SWIZZLE_128x4B UINT64_C(0x1000000000000003)
#define GRIT_PLACEMENT_TILE_16x16 UINT64_C(0x1000000000000004)
#define GRIT_PLACEMENT_BLOCK_AOS UINT64_C(0x1000000000000005)
#define GRIT_PLACEMENT_LINEAR_META UINT64_C(0x1000000000000011)
#define GRIT_PLACEMENT_META_M16N8K32 UINT64_C(0x1000000000000012)
#define GRIT_PLACEMENT_PACK_K4_12B UINT64_C(0x1000000000000020)

/** An array under a grade: the descriptor, the shape and the four planes data,
    scale0, scale1 and aux. A plane that is absent is null and has 0 bytes. */
typedef struct grit_view_t {
  grit_desc_t d;
  int32_t rank;
  int64_t shape[GRIT_MAXRANK];
  void *plane[GRIT_MAXPLANES];
  int64_t plane_bytes[GRIT_MAXPLANES];
  uint8_t gid[16]; /**< the identity, or all zero when nobody computed it */
} grit_view_t;

/** An array under a format that is not a grade, e.g. "gguf.q4_k". */
typedef struct grit_foreign_view_t {
  uint64_t id; /**< of the format; see grit_contract_id */
  int32_t rank;
  int32_t axis; /**< 0 to rank - 1 */
  int64_t shape[GRIT_MAXRANK];
  uint64_t placement[3]; /**< data, scale, meta */
  void *plane[GRIT_MAXPLANES];
  int64_t plane_bytes[GRIT_MAXPLANES];
  uint8_t gid[16];
} grit_foreign_view_t;

/** Which member of a grit_array_view_t is set. */
enum { GRIT_ARRAY_GRADE = 0, GRIT_ARRAY_FOREIGN = 1 };

/** An array under any contract. */
typedef struct grit_array_view_t {
  int32_t tag; /**< GRIT_ARRAY_GRADE or GRIT_ARRAY_FOREIGN */
  union {
    grit_view_t grade;
    grit_foreign_view_t foreign;
  } u;
} grit_array_view_t;

/*===- Checks ------------------------------------------------------===*/

/** Checks an array of a grade. Level 1 (and every lower one) reads the
    descriptor, the shape and the sizes, and no plane. Level 2 (and every higher
    one) also reads the planes: the order of sparse indices. */
GRIT_API GRIT_NODISCARD grit_status_t grit_check(const grit_view_t *view,
                                                 int level,
                                                 grit_detail_t *detail);

/** grit_check, and at level 2 the comparison with a digest. */
GRIT_API GRIT_NODISCARD grit_status_t
grit_check_digest(const grit_view_t *view, int level, const uint8_t digest[16],
                  grit_detail_t *detail);

/** grit_check for an array under any contract. */
GRIT_API GRIT_NODISCARD grit_status_t grit_check_array(
    const grit_array_view_t *view, int level, grit_detail_t *detail);

/** What a function demands of an operand. */
typedef struct grit_expect_t {
  const char *name;     /**< of the operand, for messages; may be null */
  uint64_t contract_id; /**< the grade id, or the id of a foreign format */
  int32_t rank;
  int32_t axis;
  const int64_t *shape;  /**< `rank` extents, -1 for any */
  uint64_t placement[3]; /**< data, scale, meta; 0 for any */
} grit_expect_t;

/** grit_check_array, and then: every plane has an address, the contract is the
    one expected (or a grade that decodes identically), the placements are, and
    so are group axis, rank and extents. The message names the operand. */
GRIT_API GRIT_NODISCARD grit_status_t
grit_check_expected(const grit_array_view_t *view, const grit_expect_t *expect,
                    int level, grit_detail_t *detail);

/*===- Tensors of plain numbers ------------------------------------===*/

/** The types of numbers in a tensor. 0 is none of them. */
typedef enum grit_dtype_t {
  GRIT_DTYPE_F32 = 1,
  GRIT_DTYPE_F64 = 2,
  GRIT_DTYPE_F16 = 3,
  GRIT_DTYPE_BF16 = 4,
  GRIT_DTYPE_I8 = 5,
  GRIT_DTYPE_I16 = 6,
  GRIT_DTYPE_I32 = 7,
  GRIT_DTYPE_I64 = 8
} grit_dtype_t;

/** A tensor of plain numbers, row-major without gaps. Its memory holds the
    product of the extents many numbers. A function that writes a tensor takes
    it as a pointer to non-const, and its memory must overlap no other
    operand's. */
typedef struct grit_tensor_view_t {
  void *data;    /**< aligned for its type; null only where it holds nothing */
  int32_t dtype; /**< a grit_dtype_t */
  int32_t rank;  /**< 0 to GRIT_MAXRANK */
  int64_t shape[GRIT_MAXRANK];
} grit_tensor_view_t;

/** What a function demands of a tensor. */
typedef struct grit_tensor_expect_t {
  const char *name; /**< of the operand, for messages; may be null */
  int32_t dtype;
  int32_t rank;
  const int64_t *shape; /**< `rank` extents, -1 for any */
} grit_tensor_expect_t;

/** Checks type, rank, extents, size and address of a tensor. Reads the view and
    nothing that it points at. */
GRIT_API GRIT_NODISCARD grit_status_t grit_check_tensor_expected(
    const grit_tensor_view_t *view, const grit_tensor_expect_t *expect,
    grit_detail_t *detail);

/** Two extents that a function requires to be equal. */
typedef struct grit_shared_extent_t {
  const char *first, *second;    /**< the operands' names */
  int32_t first_dim, second_dim; /**< the dimensions; -1: a number passed */
} grit_shared_extent_t;

/** Fails with GRIT_SIZE_MISMATCH unless `first` equals `second`. */
GRIT_API GRIT_NODISCARD grit_status_t
grit_check_shared_extent(const grit_shared_extent_t *shared, int64_t first,
                         int64_t second, grit_detail_t *detail);

/*===- Making and reading arrays -----------------------------------===*/

/** The id of a contract: a name ("mxfp4", "gguf.q4_k", in any case) or a grade
    string ("grit1(...)"). */
GRIT_API GRIT_NODISCARD grit_status_t grit_contract_id(const char *contract,
                                                       uint64_t *id,
                                                       grit_detail_t *detail);

/** The bytes of every plane of an array, 0 for an absent one. `axis` counts
    from the end when negative. `num_planes` (may be null) becomes 4 for a
    grade, and the number of planes of a foreign format. */
GRIT_API GRIT_NODISCARD grit_status_t grit_plane_sizes(
    const char *contract, int32_t rank, const int64_t *shape, int32_t axis,
    int64_t sizes[GRIT_MAXPLANES], int32_t *num_planes, grit_detail_t *detail);

/** Fills a view of an array in its canonical placements: everything but the
    planes, which are null. The caller sets plane[i] to plane_bytes[i] bytes. */
GRIT_API GRIT_NODISCARD grit_status_t
grit_view_init(const char *contract, int32_t rank, const int64_t *shape,
               int32_t axis, grit_array_view_t *view, grit_detail_t *detail);

/** Quantizes `count` values (row-major) into the planes of a view, which must
    be writable. The planes are left alone when it fails. */
GRIT_API GRIT_NODISCARD grit_status_t grit_quantize(const float *values,
                                                    int64_t count,
                                                    grit_array_view_t *view,
                                                    grit_detail_t *detail);

/** Writes the `count` values of an array (row-major). */
GRIT_API GRIT_NODISCARD grit_status_t
grit_dequantize(const grit_array_view_t *view, float *values, int64_t count,
                grit_detail_t *detail);

#ifdef __cplusplus
} /* extern "C" */
#define GRIT_STATIC_ASSERT(condition) static_assert(condition, #condition)
#else
#define GRIT_STATIC_ASSERT(condition) _Static_assert(condition, #condition)
#endif

/* The layout is part of the interface: compiled functions address fields. */
GRIT_STATIC_ASSERT(sizeof(grit_desc_t) == 64);
GRIT_STATIC_ASSERT(offsetof(grit_desc_t, group_axis) == 16);
GRIT_STATIC_ASSERT(offsetof(grit_desc_t, note) == 28);
GRIT_STATIC_ASSERT(offsetof(grit_desc_t, placement_data) == 32);
GRIT_STATIC_ASSERT(offsetof(grit_desc_t, grade_id) == 56);
GRIT_STATIC_ASSERT(sizeof(grit_view_t) == 216);
GRIT_STATIC_ASSERT(offsetof(grit_view_t, rank) == 64);
GRIT_STATIC_ASSERT(offsetof(grit_view_t, shape) == 72);
GRIT_STATIC_ASSERT(offsetof(grit_view_t, plane) == 136);
GRIT_STATIC_ASSERT(offsetof(grit_view_t, plane_bytes) == 168);
GRIT_STATIC_ASSERT(offsetof(grit_view_t, gid) == 200);
GRIT_STATIC_ASSERT(sizeof(grit_foreign_view_t) == 184);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, rank) == 8);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, axis) == 12);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, shape) == 16);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, placement) == 80);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, plane) == 104);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, plane_bytes) == 136);
GRIT_STATIC_ASSERT(offsetof(grit_foreign_view_t, gid) == 168);
GRIT_STATIC_ASSERT(sizeof(grit_array_view_t) == 224);
GRIT_STATIC_ASSERT(offsetof(grit_array_view_t, u) == 8);
GRIT_STATIC_ASSERT(sizeof(grit_expect_t) == 56);
GRIT_STATIC_ASSERT(offsetof(grit_expect_t, contract_id) == 8);
GRIT_STATIC_ASSERT(offsetof(grit_expect_t, rank) == 16);
GRIT_STATIC_ASSERT(offsetof(grit_expect_t, axis) == 20);
GRIT_STATIC_ASSERT(offsetof(grit_expect_t, shape) == 24);
GRIT_STATIC_ASSERT(offsetof(grit_expect_t, placement) == 32);
GRIT_STATIC_ASSERT(sizeof(grit_tensor_view_t) == 80);
GRIT_STATIC_ASSERT(offsetof(grit_tensor_view_t, dtype) == 8);
GRIT_STATIC_ASSERT(offsetof(grit_tensor_view_t, rank) == 12);
GRIT_STATIC_ASSERT(offsetof(grit_tensor_view_t, shape) == 16);
GRIT_STATIC_ASSERT(sizeof(grit_tensor_expect_t) == 24);
GRIT_STATIC_ASSERT(offsetof(grit_tensor_expect_t, dtype) == 8);
GRIT_STATIC_ASSERT(offsetof(grit_tensor_expect_t, rank) == 12);
GRIT_STATIC_ASSERT(offsetof(grit_tensor_expect_t, shape) == 16);
GRIT_STATIC_ASSERT(sizeof(grit_shared_extent_t) == 24);
GRIT_STATIC_ASSERT(offsetof(grit_shared_extent_t, first_dim) == 16);
GRIT_STATIC_ASSERT(sizeof(grit_detail_t) == 1096);
GRIT_STATIC_ASSERT(sizeof(grit_status_t) == 4);

#undef GRIT_STATIC_ASSERT

#endif /* GRIT_C_GRIT_H */
