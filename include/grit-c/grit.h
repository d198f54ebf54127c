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
/** Rises when something is added; 0 again when GRIT_ABI_VERSION rises. */
#define GRIT_ABI_MINOR 3

/** The largest rank of an array. */
#define GRIT_MAXRANK 8
/** The number of places for planes in a view. */
#define GRIT_MAXPLANES 4

#if defined(__cplusplus) && __cplusplus >= 201703L
#define GRIT_NODISCARD [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define GRIT_NODISCARD __attribute__((warn_unused_result))
#else
#define GRIT_NODISCARD
#endif
#if defined(__GNUC__) || defined(__clang__)
#define GRIT_API __attribute__((visibility("default")))
#else
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

/** Why a function failed. All of it is empty or 0 after a success, except for
    the warnings of grit_check: each is a line of the message that begins with
    "warning: ", `field` is that of the first, and `actual` is the set of their
    GRIT_WARN_... flags. */
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

/** Warnings of a check that succeeds. The first two are those of every level,
    the others those of the probes of level 3. */
enum {
  /** An axis after the group axis is longer than 1; groups are runs of the
      row-major order. */
  GRIT_WARN_GROUP_AXIS = 1,
  /** GRIT_F_ZP_MINUS1 has no effect together with GRIT_F_ZP_L1SCALED. */
  GRIT_WARN_MINUS1 = 2,
  /** All sampled exponent-only scales are equal. */
  GRIT_WARN_SCALES_WITHOUT_SPREAD = 4,
  /** No sampled s8 code reaches half of the range. */
  GRIT_WARN_CODES_FAR_FROM_LIMIT = 8
};

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

/** The same for a failure of which there is only a message: what compiled
    functions call when an operation fails. */
GRIT_API void grit_report_message(grit_status_t status, const char *message,
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
#define GRIT_HDR_BYTES 64
/** The version of GRIT that descriptors are of. A program that has a macro of
    this name keeps it. */
#ifndef GRIT_VERSION
#define GRIT_VERSION 1
#endif

/** Format words. */
#define GRIT_FMT_ABSENT 0x0000
#define GRIT_FMT_E2M1 0x2043
#define GRIT_FMT_E4M3 0x2887
#define GRIT_FMT_E8M0 0x4807
#define GRIT_FMT_BINARY16 0x356F
#define GRIT_FMT_BINARY32 0x371F
#define GRIT_FMT_U2 0x43E1
#define GRIT_FMT_U4 0x43E3
#define GRIT_FMT_U6 0x43E5
#define GRIT_FMT_U8 0x43E7
#define GRIT_FMT_S4 0x03E3
#define GRIT_FMT_S8 0x03E7

/** Grade ids. */
#define GRIT_GRADE_MXFP4 UINT64_C(0x2370EE9EE454A183)
#define GRIT_GRADE_MXFP4_RNE UINT64_C(0x254285E10D6068C8)
#define GRIT_GRADE_NVF4 UINT64_C(0x00FF6F4C2870831E)
#define GRIT_GRADE_NVF4_RTZ UINT64_C(0x006C3850A3F42DEA)
#define GRIT_GRADE_Q4KS UINT64_C(0x1C600DE02594FB55)
#define GRIT_GRADE_I8S24 UINT64_C(0xBBBB283A2539EBE8)

/** Values of `container`. */
#define GRIT_CT_DENSE 0
#define GRIT_CT_PAD8 1
/** Values of `sp_meta_fmt`: none, or indices of two or four bits. */
#define GRIT_SPMETA_NONE 0
#define GRIT_SPMETA_U2 1
#define GRIT_SPMETA_U4 2
/** Values of `sp_order`. */
#define GRIT_SPORDER_UNORDERED 0
#define GRIT_SPORDER_ASC_LSB 1

/** Bits of `flags`. */
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
    descriptor, the shape and the sizes, and no plane. Level 2 also reads the
    planes: the order of sparse indices. Level 3 (and every higher one) also
    looks at up to 64 groups for what is legal and improbable; it warns, and
    never fails for that. */
GRIT_API GRIT_NODISCARD grit_status_t grit_check(const grit_view_t *view,
                                                 int level,
                                                 grit_detail_t *detail);

/** grit_check, and from level 2 on the comparison with a digest. A null digest
    is none. */
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

/*===- Grades ------------------------------------------------------===*/

/** Makes a grade known in this process: to grit_check by its id, and by `name`
    (in any case) to every function that takes a contract. The same pair may be
    registered again; a name or a grade that is taken is refused. `id` may be
    null. */
GRIT_API GRIT_NODISCARD grit_status_t grit_register_grade(
    const char *name, const char *grade, uint64_t *id, grit_detail_t *detail);

/** Makes a format known in this process: `text` is its description
    ("gritfmt1(...)", spec/gritfmt1.md), whose part `name =` says by what name
    every function that takes a contract knows it; compiled functions and checks
    know its id. A text with one parameter adds its whole family,
    "mine(block=128)". The same text may be registered again; a name or a format
    that is taken is refused. `id`, which may be null, becomes the format id.
   The detail of a text that cannot be read says line and column. */
GRIT_API GRIT_NODISCARD grit_status_t
grit_register_format(const char *text, uint64_t *id, grit_detail_t *detail);

/** What was registered `index`th in this process: the text of a grade, whose
    name `name` becomes, or of a format, for which `name` becomes null. Null
   past the last. The strings stay where they are. A compiler asks for them when
   it compiles, so that MLIR may use the names; `name` may be null. */
GRIT_API const char *grit_registered(size_t index, const char **name);

/** How two grades stand to each other (GRIT v1, section 4.3). */
typedef enum grit_relation_t {
  GRIT_RELATION_SAME = 0,       /**< each refines the other */
  GRIT_RELATION_REFINES = 1,    /**< the first refines the second */
  GRIT_RELATION_REFINED_BY = 2, /**< the second refines the first */
  GRIT_RELATION_UNRELATED = 3
} grit_relation_t;

/** Compares two grades, each a name or a grade string. */
GRIT_API GRIT_NODISCARD grit_status_t grit_relate(const char *first,
                                                  const char *second,
                                                  grit_relation_t *relation,
                                                  grit_detail_t *detail);

/** Fails with GRIT_GRADE_UNKNOWN unless a kernel of one grade may serve a
    request for the other; the detail names the keys and the relaxation that
    would help. */
GRIT_API GRIT_NODISCARD grit_status_t grit_serves(const char *kernel,
                                                  const char *request,
                                                  grit_detail_t *detail);

/** Writes the canonical string of `grade` with a weaker promise: key ao, ap,
    ab, ai or an gets a value that its own refines. A `text` that is too small
    is refused with GRIT_SIZE_MISMATCH. */
GRIT_API GRIT_NODISCARD grit_status_t grit_relax(const char *grade,
                                                 const char *key,
                                                 const char *value, char *text,
                                                 size_t capacity,
                                                 grit_detail_t *detail);

/** Writes the keys of the strictest accumulation contract that those of both
    grades refine, e.g. "ao=tree,an=ftz"; keys at their default are left out. */
GRIT_API GRIT_NODISCARD grit_status_t grit_join(const char *first,
                                                const char *second, char *text,
                                                size_t capacity,
                                                grit_detail_t *detail);

/** What equivalent grades have in common. Functions take it as a number, so
   that one that is no scope can be refused. */
typedef enum grit_scope_t {
  GRIT_SCOPE_DECODE = 0, /**< stored bytes may be read under either */
  GRIT_SCOPE_FULL = 1    /**< and both encoders write the same */
} grit_scope_t;

/** Sets `answer` to 1 when the grades are equivalent (section 11.2), else 0. */
GRIT_API GRIT_NODISCARD grit_status_t grit_equivalent(const char *first,
                                                      const char *second,
                                                      int32_t scope,
                                                      int32_t *answer,
                                                      grit_detail_t *detail);

/** The digest of the four planes of a view (section 6.5). */
GRIT_API GRIT_NODISCARD grit_status_t grit_digest(const grit_view_t *view,
                                                  uint8_t digest[16],
                                                  grit_detail_t *detail);

/*===- Assumptions about placements (section 12) -------------------===*/

/** What a placement word is about; a number in functions, as above. */
typedef enum grit_role_t {
  GRIT_ROLE_DATA = 0,
  GRIT_ROLE_SCALE = 1, /**< both scale planes */
  GRIT_ROLE_META = 2   /**< the aux plane */
} grit_role_t;

/** The roles of an array whose placement is assumed: bit r stands for role r.
    A caller keeps them beside the view. */
typedef uint32_t grit_assumptions_t;

/** The assumptions about an array of which nothing but the view is known: all
    of its roles where the note has GRIT_NOTE_ASSUMED. */
GRIT_API grit_assumptions_t grit_assumptions_of(const grit_view_t *view);

/** What GRIT_ASSUME_PLACEMENT calls, for languages without its macro. `where`
    is "file:line". */
GRIT_API GRIT_NODISCARD grit_status_t grit_assume_placement_at(
    grit_view_t *view, grit_assumptions_t *assumed, int32_t role, uint64_t word,
    const char *reason, const char *where, grit_detail_t *detail);

/** Declares that the bytes of a role lie in `word`, although nobody has shown
    it. Reads no plane; changes the word and the note of the view, clears its
    gid, and writes a record to the ledger. `reason` is a string literal that is
    not blank. */
#define GRIT_ASSUME_PLACEMENT(view, assumed, role, word, reason, detail)       \
  grit_assume_placement_at(view, assumed, role, word, "" reason "",            \
                           __FILE__ ":" GRIT_LINE_TEXT(__LINE__), detail)
#define GRIT_LINE_TEXT(line) GRIT_LINE_TEXT_OF(line)
#define GRIT_LINE_TEXT_OF(line) #line

/** Compares all values of a role with those of a reference, slot by slot, each
    under the placement of its view. On success the role is no assumption any
    more, and the note loses GRIT_NOTE_ASSUMED when none is left. A reference
    that is assumed itself is refused. */
GRIT_API GRIT_NODISCARD grit_status_t grit_verify_placement(
    grit_view_t *view, grit_assumptions_t *assumed, int32_t role,
    const grit_view_t *reference, grit_detail_t *detail);

/** The same with the digest that the planes have in the placements of the
    view. */
GRIT_API GRIT_NODISCARD grit_status_t grit_verify_placement_digest(
    grit_view_t *view, grit_assumptions_t *assumed, int32_t role,
    const uint8_t digest[16], grit_detail_t *detail);

/** Called for every assumption with its record, one line of JSON without its
    end. */
typedef void (*grit_audit_sink_t)(const char *line, void *user);

/** Sets where records go; null: nowhere. */
GRIT_API void grit_audit_set_sink(grit_audit_sink_t sink, void *user);
/** Appends records to a file of JSON lines from now on. */
GRIT_API GRIT_NODISCARD grit_status_t grit_audit_open(const char *path,
                                                      grit_detail_t *detail);
/** The number of records. */
GRIT_API uint64_t grit_audit_records(void);
/** The number of checks of arrays of a grade. */
GRIT_API uint64_t grit_audit_crossings(void);
/** Records by checks; no check counts as one. An assumption that would bring it
    above the environment variable GRIT_AUDIT_MAX_RATE is refused. */
GRIT_API double grit_audit_rate(void);

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

/** What grit_quantize_with does after the encoder of the contract. */
typedef enum grit_search_t {
  GRIT_SEARCH_NONE = 0,
  /** Tries other codes of the innermost scales and offsets, and keeps those
     that lower the squared error of a group. */
  GRIT_SEARCH_MEAN_SQUARE = 1
} grit_search_t;

/** How to quantize. Zeros and nulls are the defaults, but for `struct_bytes`.
 */
typedef struct grit_quantize_options_t {
  /** sizeof(grit_quantize_options_t). What a larger one of a later version adds
      must be zero. */
  uint64_t struct_bytes;
  /** How much the squared error of an element counts: a weight, 0 or more, for
      each element of the last axis, or as many for each matrix of the last two
      axes. Null: evenly. Some contracts need it; where neither encoder nor
      search uses it, it is refused. */
  const float *importance;
  int64_t importance_count;
  int32_t search;   /**< a grit_search_t */
  int32_t reserved; /**< 0 */
} grit_quantize_options_t;

/** grit_quantize under options; null are the defaults. Since minor version 3.
 */
GRIT_API GRIT_NODISCARD grit_status_t grit_quantize_with(
    const float *values, int64_t count, const grit_quantize_options_t *options,
    grit_array_view_t *view, grit_detail_t *detail);

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
