//===- Description.h - one format, described as data -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every format is the same shape:
//
//   value(i) = S(group(i)) * level(code(i)) [ - Z(group(i)) ]
//
// rounded to binary32 after each step; without scales, the level itself. A
// FormatDescription says where the bits of each code, scale, sign and offset
// live and how each becomes a number; sizes,
// verifiers, the scalar codec, the vector and GPU emitters, the scanner and the
// documentation are derived from it. No other place knows a format.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_DESCRIPTION_H
#define GRIT_FORMAT_DESCRIPTION_H

#include "grit/Format/FormatWord.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// One digit of a mixed-radix bit address: `((index / div) % mod) * stride`
/// bits. A `mod` of 0 means that the digit is not reduced. With a table, which
/// has `mod` entries, `table[(index / div) % mod] * stride`.
struct Digit {
  int64_t div = 1;
  int64_t mod = 0;
  int64_t stride = 0;
  std::vector<int64_t> table = {};

  int64_t at(int64_t index) const {
    int64_t q = index / div;
    if (mod)
      q %= mod;
    return (table.empty() ? q : table[q]) * stride;
  }
  friend bool operator==(const Digit &, const Digit &) = default;
};

/// `width` bits, found at bit `base` plus the digits of the index, that form
/// bits [shift, shift + width) of a value. Bit b of a plane is bit b % 8 of
/// byte b / 8 (least significant first).
struct BitSlice {
  int64_t base = 0;
  unsigned width = 0;
  unsigned shift = 0;
  std::vector<Digit> digits;

  int64_t at(int64_t index) const {
    int64_t bit = base;
    for (const Digit &digit : digits)
      bit += digit.at(index);
    return bit;
  }
  friend bool operator==(const BitSlice &, const BitSlice &) = default;
};

/// Several digits of `base` in the bits of one value: of the bits B, w wide,
/// digit t = the sum of `place` is
///
///   (((B * base^t) mod 2^w) * base) >> w
///
/// so that B / 2^w is a fraction and t counts its digits after the point.
struct Radix {
  unsigned base = 0;
  std::vector<Digit> place;

  unsigned digit(uint64_t bits, unsigned width, int64_t index) const;
  friend bool operator==(const Radix &, const Radix &) = default;
};

/// Where the bits of the values of one kind live: in one plane, each value the
/// sum of one or more slices, or a digit of that sum.
struct BitField {
  unsigned plane = 0;
  std::vector<BitSlice> slices;
  /// Above 0: a stream of values of this width, most significant bit first,
  /// that cross bytes. Value i takes bits i * width to (i + 1) * width - 1 of
  /// the plane, where bit t is bit 7 - t % 8 of byte t / 8. No digits say that:
  /// `slices` is one slice that no reader of slices accepts.
  unsigned msbStreamWidth = 0;
  /// With it a value is a digit, and values of different places share bits.
  std::optional<Radix> radix = std::nullopt;

  /// The stream of `width` bits per value that fills `plane`.
  static BitField msbStream(unsigned plane, unsigned width) {
    return {plane, {{1, 32, 0, {}}}, width};
  }
  bool isMsbStream() const { return msbStreamWidth != 0; }

  /// Total width in bits of a value.
  unsigned width() const;
  /// Total width of the bits that a value is read from: more than `width` where
  /// they hold several digits.
  unsigned storedWidth() const;
  friend bool operator==(const BitField &, const BitField &) = default;
};

/// A stored number. With a table, which has an entry for each code and no word,
/// `table[code]`; otherwise
///
///   (decode(word, code) * times + plus) * 2^exp2
///
/// Of an integer word the bracket is exact: it fits in 24 bits. Of another word
/// `times` is 1 or -1, and the sum is rounded to binary32 (GPTQ's z + 1, whose
/// z may be a float).
struct Number {
  FormatWord word;
  int exp2 = 0;
  int64_t times = 1;
  int64_t plus = 0;
  std::vector<float> table = {};

  bool isTable() const { return !table.empty(); }
  /// True for the number that the word alone says, less a power of two.
  bool isPlain() const { return !isTable() && times == 1 && plus == 0; }
  /// The value of a code; of a table, of a code that it has an entry for.
  float decode(uint32_t code) const;
  friend bool operator==(const Number &, const Number &) = default;
};

/// The order in which elements are counted to form groups. The first two agree
/// when the group axis is the last one.
enum class ElementOrder : uint8_t {
  /// Row-major linear index over the whole array.
  RowMajor,
  /// The group axis runs fastest, whichever it is: with the shape seen as
  /// [outer, axis, inner], index = (outer * I + inner) * A + axis.
  AxisFastest,
  /// Blocks of `rows` x `group` elements over the last two dimensions, counted
  /// in row-major order matrix by matrix. Blocks at the edges may be cut short.
  Block,
};

/// As the number of elements per group: all along the group axis, so that there
/// is one group for every line. Counted with the axis fastest.
inline constexpr int64_t kWholeAxis = -1;
/// As the number of elements per unit of a plane: the positions along the group
/// axis, whatever the other axes are.
inline constexpr int64_t kAxisPositions = -2;

/// How a factor joins what stands before it.
enum class FactorOp : uint8_t { Multiply, Divide, Add };

/// What the numbers of a factor are in a legal array. Decode is defined without
/// it; level 2 of a check verifies it.
enum class Demand : uint8_t {
  Finite,      ///< no NaN and no infinity
  Unsigned,    ///< the sign bit is 0
  NotNegative, ///< 0 or more: -0 is 0
  Positive,    ///< more than 0
  PlusZero,    ///< a zero is +0
  ZeroClears,  ///< under a zero, the level of every element is a zero
};

/// A set of demands.
struct Demands {
  uint8_t bits = 0;

  bool has(Demand demand) const {
    return bits >> static_cast<unsigned>(demand) & 1;
  }
  void add(Demand demand) {
    bits = static_cast<uint8_t>(bits | 1u << static_cast<unsigned>(demand));
  }
  bool empty() const { return bits == 0; }
  friend bool operator==(const Demands &, const Demands &) = default;
};

/// The words of the text, in the order of the enumeration.
inline constexpr std::string_view kDemandNames[] = {
    "finite",   "unsigned",  "not_negative",
    "positive", "plus_zero", "zero_clears"};

/// One factor of a scale or of an offset: a number per group of elements.
struct Factor {
  std::string name; ///< "d", "sc", "dmin", ...: for people and documents
  Number number;
  BitField bits;     ///< addressed by the group index
  int64_t group = 0; ///< elements per group; 0: one group, the whole array
  ElementOrder order = ElementOrder::RowMajor;
  int64_t rows = 0; ///< of a block: its extent along the last dimension but one
  /// The first factor starts the product, and is a Multiply.
  FactorOp op = FactorOp::Multiply;
  /// Applied to the scaled level, and not to S.
  bool afterLevel = false;
  Demands demands = {};

  friend bool operator==(const Factor &, const Factor &) = default;
};

/// Which levels are negated.
struct Signs {
  /// A value for every `group` elements, bit j of which is that of element j.
  BitField bits;
  unsigned group = 0;
  /// The value has a bit less: the sign of the last element is the XOR of the
  /// others.
  bool parity = false;

  /// Whether element `position` of the group is negated.
  bool isNegative(uint32_t value, unsigned position) const;
  friend bool operator==(const Signs &, const Signs &) = default;
};

/// How a code becomes a number.
struct Level {
  Number number;
  /// Above 1: a code stands for that many consecutive elements, and entry
  /// `code * vector + position` of the table or book is the level of one.
  unsigned vector = 1;
  std::optional<Signs> signs = std::nullopt;
  /// A table that each array carries: `number` decodes entry number `code` of
  /// this field, which fills a plane of constant size.
  std::optional<BitField> book = std::nullopt;

  /// The number of entry `code` (times `vector`, plus the position), where
  /// no book has to be read.
  float decode(uint32_t code) const { return number.decode(code); }
  friend bool operator==(const Level &, const Level &) = default;
};

/// What is taken away from the scaled level.
struct Offset {
  enum class Kind : uint8_t {
    None,
    /// f32(S * f32(e - z)): z is an integer in level units.
    ZeroPoint,
    /// f32(f32(S * e) - Z): Z has factors of its own.
    Minimum,
  };
  Kind kind = Kind::None;
  /// ZeroPoint: exactly one. Minimum: outermost first, joined like a scale.
  std::vector<Factor> factors;

  friend bool operator==(const Offset &, const Offset &) = default;
};

/// N:M structured sparsity: `n` of every `m` consecutive elements are stored.
struct Sparsity {
  unsigned n = 0, m = 0;
  /// The position (0..m-1) of survivor slot j of run q, addressed by q * n + j.
  BitField indices;
  /// Indices of a run rise strictly; a kernel may rely on it.
  bool ascending = true;

  friend bool operator==(const Sparsity &, const Sparsity &) = default;
};

/// One byte buffer of an array.
struct PlaneInfo {
  std::string name; ///< "data", "scale0", "scale1", "aux" or "blocks"
  /// The plane holds `bits` bits for every `elements` elements; for
  /// `elements` = 0, `bits` bits for the whole array; for kWholeAxis, for every
  /// line of the group axis; for kAxisPositions, for every position along it.
  /// Rounded up to bytes.
  int64_t elements = 1;
  int64_t bits = 0;
  /// Which of grit_desc_t's placement words governs it (0 data, 1 scale,
  /// 2 meta), and whether it carries a scale pair etc. is said by the fields.
  unsigned placement = 0;
  /// Above 0: the bits are those of a block of `rows` x `elements`.
  int64_t rows = 0;

  /// Whether the number of units takes more than the number of elements.
  bool dependsOnShape() const { return elements < 0 || rows != 0; }
  friend bool operator==(const PlaneInfo &, const PlaneInfo &) = default;
};

/// The projection of the binary32 result of decode (grade keys dt, dr, ds).
struct Projection {
  FormatWord format = words::Binary32;
  Rounding rounding = Rounding::RNE;
  Saturation saturation = Saturation::SatFinite;

  bool isIdentity() const { return format == words::Binary32; }
  friend bool operator==(const Projection &, const Projection &) = default;
};

/// The encoder of a format. A rule is an algorithm with a name; it takes
/// widths, levels, groups and addresses from the description.
enum class EncodeRule : uint8_t {
  None,          ///< decode only: encode is refused
  Exp2Floor,     ///< shared exponent floor(log2 amax) - emax (OCP MX)
  Exp2Ceil,      ///< ... rounded up
  Exp2Rne,       ///< ... rounded to nearest
  Ratio,         ///< amax / maxnorm, one or two levels
  AffineMinMax,  ///< (max - min) / (2^w - 1), with a minimum
  GgmlSignedMax, ///< the element of largest magnitude maps to the lowest code
  GgmlAbsMax,    ///< amax / 127, reciprocal multiply, half away from zero
  GgmlExp2,      ///< ggml's MXFP4: floor(log2 amax) - 2 + 127, nearest level
  GgmlAffineSearch, ///< ggml's search for scale and minimum, from 21 guesses
  GgmlTableSearch,  ///< ggml's search over a table of levels, one or two scales
  TableAbsMax,      ///< amax scale, codes by midpoints (QLoRA's NF4)
  GgmlAffineSearch16,  ///< the affine search from 16 guesses
  GgmlAffineSearchAbs, ///< ... that sums distances, weighed by magnitude
  GgmlSymmetricSearch, ///< scales of both signs, from 19 guesses
  GgmlSymmetricRefine, ///< ... from one guess, by moving single codes
  GgmlReciprocalMax,   ///< signed max whose reciprocal is taken first
  GgmlAbsMaxClamped,   ///< absmax, codes clamped where their conversion fails
  GgmlMinMax,          ///< (max - min) / (2^w - 1), minimum added, half up
  GgmlMeanSign,        ///< the mean magnitude and the signs
  GgmlHalfUp,          ///< an 8-bit float scale, rounded half up in binary32
  AbsMax,              ///< amax over a number, as AbsMaxSteps say
  TableAbsMaxNested,   ///< TableAbsMax, whose scales are codes of a table
  ZeroPointMinMax, ///< (max - min) / (2^w - 1), the rounded zero point added
  GptqSymmetric,   ///< 2 amax / (2^w - 1), a zero point in the middle
  HqqMinMax,       ///< the inverse scale first, a zero point that is no integer
  MlxEdge,         ///< the edge of the range that is far from 0 has a code
  GgmlGridSearch,  ///< codes of vectors and signs, from 19 guesses
  GgmlGridSearchAside,     ///< ... from 13 around a scale without the grid
  GgmlGridSearchShrunk,    ///< ... from 19, the factor times 0.9875
  GgmlGridSearch31,        ///< ... from 31, the factor times 1.0125
  GgmlGridSearchStretched, ///< ... from 19, the factor times 1.033
  GgmlGridSplit,           ///< three levels and a shift, from every split
  GgmlGridSplitFit,        ///< ... with a factor of least squares
  GroupedAbsMax, ///< amax / qmax, codes by the reciprocal of the stored scale
  GroupedSearch, ///< the scale of least squared error among 68 more
  RowAbsMax,     ///< a scale per line, of values rounded to bfloat16
};

/// What a derived field holds of the elements of its group.
enum class DerivedRule : uint8_t {
  Sum,       ///< the sum of their levels
  ScaledSum, ///< ... times the scale before it was rounded to its word
};

/// A field that repeats what codes and scales say: encode writes it and decode
/// does not read it.
struct Derived {
  DerivedRule rule = DerivedRule::Sum;
  Factor field;
  friend bool operator==(const Derived &, const Derived &) = default;
};

/// How the rule AbsMax goes from the largest magnitude m of a group to codes.
struct AbsMaxSteps {
  /// The scale is m divided by this; 0: by the largest level.
  float over = 0;
  /// m is at least this.
  float least = 0;
  /// Of the scale into its word.
  Rounding scaleRounding = Rounding::RNE;
  /// A scale that is 0 becomes the distance from 1 to the next number of its
  /// word; else the smallest positive one.
  bool epsilon = false;
  /// Values are multiplied by 1 / scale, and not divided.
  bool reciprocal = false;
  /// Values and quotients are rounded to the word of the scale.
  bool narrow = false;
  /// A quotient of -0 becomes +0.
  bool positiveZero = false;

  friend bool operator==(const AbsMaxSteps &, const AbsMaxSteps &) = default;
};

/// How encode chooses codes. Not part of what bytes mean.
struct Encoding {
  EncodeRule rule = EncodeRule::None;
  Rounding rounding = Rounding::RNE;
  Saturation saturation = Saturation::SatFinite;
  AbsMaxSteps steps = {}; ///< of AbsMax
  friend bool operator==(const Encoding &, const Encoding &) = default;
};

/// A format. See the top of the file.
struct FormatDescription {
  std::vector<PlaneInfo> planes;
  BitField codes; ///< addressed by the row-major element index over the
                  ///< level's `vector`; when sparse, by the survivor's ordinal
  Level level;
  std::vector<Factor> scales; ///< outermost first: S = f32(s[0] * s[1] * ...);
                              ///< none: the value is the level
  Offset offset;
  std::optional<Sparsity> sparsity;
  /// The group of each position along the group axis, counted in its line:
  /// elements of a group need not be neighbours ("act-order"). An array carries
  /// it; without it, position k is in group k / group. Factors of a whole array
  /// or line stand apart.
  std::optional<BitField> order;
  Projection projection;
  Encoding encoding;
  std::vector<Derived> derived; ///< as the encoder: not part of the contract

  /// The extent of the group axis must be a multiple of this.
  int64_t axisMultiple = 1;
  /// The number of elements must be a multiple of this.
  int64_t arrayMultiple = 1;
  /// Codes that no legal array has, ascending. Decode is defined for them;
  /// level 2 of a check refuses them.
  std::vector<uint32_t> illegalCodes = {};

  bool isIllegal(uint32_t code) const;

  /// True when a NaN or an infinity can come out of decode.
  bool canBeNonFinite() const;
  /// Bits per element; planes whose share depends on the shape (constant, a
  /// number per line) aside.
  double bitsPerElement() const;
};

/// The position of a described plane in the four of the C ABI and of GRIT v1
/// (data, scale0, scale1, aux): by its name where all planes have one of these
/// names, as those of a grade do; else its index.
unsigned planeSlot(const FormatDescription &description, unsigned plane);

/// Says why a description is not well-formed (a slice out of its plane's unit,
/// overlapping fields, a level without all its entries, ...). What is
/// well-formed can be sized, read and written without further checks.
std::optional<Error> validate(const FormatDescription &description);

/// The canonical text of the decode contract, `gritfmt1(...)`: everything that
/// decides what bytes mean, and nothing else (no name, no encoder).
std::string canonicalText(const FormatDescription &description);

} // namespace grit

#endif // GRIT_FORMAT_DESCRIPTION_H
