//===- EncodeRules.h - what the encoders of all formats share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule chooses codes; it knows neither planes nor bit positions. The driver
// (Encode.cpp) gathers the values of a unit, selects survivors, calls the rule
// and hands the codes to the packer (PlaneWriter.h).
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODERULES_H
#define GRIT_LIB_FORMAT_ENCODERULES_H

#include "StepTable.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Description.h"
#include "grit/Format/Status.h"
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// The elements that share every factor but the array-wide ones, and the codes
/// that a rule chooses for them.
struct EncodeUnit {
  int64_t first = 0; ///< row-major index of the first element, for messages
  std::span<const float> values;     ///< stored ones, in counting order
  std::span<const float> importance; ///< one weight per value, or empty
  std::span<uint8_t> codes;          ///< one per value, or per vector of them
  std::span<uint32_t> wideCodes;     ///< instead, where codes exceed 8 bits
  /// Per factor of the description, the codes of the groups of this unit (one
  /// for an array-wide factor, which `prepare` has set).
  std::vector<std::span<uint32_t>> scales, offsets;
  std::span<uint32_t> signs; ///< a value for each group of signs
  /// Of the row that the unit lies in, where the rule asks for it.
  float rowMeanSquare = 0;
  /// What derived fields multiply: set by a rule that rounds one scale.
  float exactScale = 0;
};

/// The algorithm behind an EncodeRule, bound to a description.
class Rule {
public:
  virtual ~Rule() = default;

  /// True when a value that is not finite cannot be expressed (or has no
  /// defined code): the driver then refuses it. Otherwise the rule poisons the
  /// group.
  virtual bool refusesNonFinite() const = 0;
  virtual bool usesImportance() const { return false; }
  virtual bool needsImportance() const { return false; }
  /// Whether weights depend on the whole row.
  virtual bool usesRowMeanSquare() const { return false; }

  /// Chooses the array-wide factors, once, from all values; `scales` holds one
  /// vector of codes per scale factor.
  virtual void prepare(std::span<const float> values,
                       std::span<std::vector<uint32_t>> scales) const {}

  /// Chooses the codes of a unit. Runs on several threads at once.
  virtual std::optional<Error> encode(EncodeUnit &unit) const = 0;
};

using RulePtr = std::unique_ptr<const Rule>;

// One factory per family of rules. Each refuses a description whose parts the
// algorithm has no use for.
Expected<RulePtr> makeExp2Rule(const FormatDescription &format);
Expected<RulePtr> makeRatioRule(const FormatDescription &format);
Expected<RulePtr> makeAffineMinMaxRule(const FormatDescription &format);
Expected<RulePtr> makeTableAbsMaxRule(const FormatDescription &format);
Expected<RulePtr> makeTableAbsMaxNestedRule(const FormatDescription &format);
Expected<RulePtr> makeAbsMaxRule(const FormatDescription &format);
Expected<RulePtr> makeZeroPointMinMaxRule(const FormatDescription &format);
Expected<RulePtr> makeGptqSymmetricRule(const FormatDescription &format);
Expected<RulePtr> makeHqqMinMaxRule(const FormatDescription &format);
Expected<RulePtr> makeMlxEdgeRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlMaxRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlReciprocalMaxRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlMinMaxRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlMeanSignRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlExp2Rule(const FormatDescription &format);
Expected<RulePtr> makeGgmlHalfUpRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlAffineSearchRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlSymmetricRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlTableSearchRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlGridSearchRule(const FormatDescription &format);
Expected<RulePtr> makeGgmlGridSplitRule(const FormatDescription &format);
Expected<RulePtr> makeGroupedRule(const FormatDescription &format,
                                  bool negativeScales);
Expected<RulePtr> makeRowAbsMaxRule(const FormatDescription &format);

/// The rule of the options or of the contract, or why it does not fit it.
Expected<RulePtr> makeRule(const Contract &contract,
                           const EncodeOptions &options = {});

//===----------------------------------------------------------------------===//
// Shared pieces
//===----------------------------------------------------------------------===//

/// Refuses a description that a rule has no answer for.
tl::unexpected<Error> refuseRule(std::string_view rule, std::string field,
                                 std::string declared, std::string found);

/// Refuses a unit in which a scale became infinite or NaN, though its values
/// are finite: the format of the scale cannot hold it.
std::optional<Error> checkScalesFinite(const FormatDescription &format,
                                       const EncodeUnit &unit);

/// What the codes of a format are.
enum class LevelKind : uint8_t { Number, Table };

/// Why no rule fills the planes of a format, or nothing: rules choose a code
/// for each element, or for a vector from a table, and plain factors that are
/// multiplied.
std::optional<Error> checkStructure(const FormatDescription &format);

/// Nothing, or why `format` is not: `scales` scale factors, no offset, and
/// elements that are plain numbers or a table.
std::optional<Error> checkScaled(const FormatDescription &format,
                                 std::string_view rule, LevelKind kind,
                                 size_t scales = 1);

/// How a rule turns quotients into codes of the elements.
class ElementCoder {
public:
  /// Refuses elements that are no numbers of a word, or multiples of one.
  static Expected<ElementCoder> get(const FormatDescription &format,
                                    std::string_view rule);

  /// Stores the codes of values[i] / scale, all i; under a scale of 0 those of
  /// the zeros with the sign of the values.
  std::optional<Error> encode(EncodeUnit &unit, float scale) const;

  /// The code of a number that is no NaN, where codes have at most 8 bits.
  uint8_t code(float x) const { return (*table)(dropsSign ? std::fabs(x) : x); }
  bool isNarrow() const { return table.has_value(); }

  /// The greatest number of an element.
  float largest() const;

private:
  ElementCoder(const Number &number, const Encoding &encoding)
      : number(number), encoding(encoding) {}
  std::optional<Error> encodeWide(EncodeUnit &unit, float scale) const;
  Expected<uint32_t> codeOf(float x) const;

  Number number;
  Encoding encoding;
  std::optional<StepTable> table; ///< none: codes of more than 8 bits
  bool dropsSign = false;         ///< magnitudes are encoded
};

/// Refuses what encode is given: placements, shape and number of values; and
/// weights that do not go with the array, or that the rule does not take.
std::optional<Error> checkEncodeArguments(const ArraySpec &spec,
                                          std::span<const float> values);
std::optional<Error> checkImportance(const ArraySpec &spec, const Rule &rule,
                                     const EncodeOptions &options);

/// Makes every code of the unit 0.
void clearCodes(EncodeUnit &unit);

/// A number as messages show it: enough digits to tell floats apart.
std::string numberText(float x);

/// max |v|, 0 for none. Not-a-number values do not count.
float absMax(std::span<const float> values);
bool allFinite(std::span<const float> values);

/// The code of `x` in a word that holds it; the nearest without a NaN. A
/// `times` of -1 is undone first; other arithmetic of the number is not.
uint32_t wordCode(const Number &number, float x, const Encoding &encoding);

/// The code of the positive scale `x`; where it underflows, the smallest
/// positive one, so that nothing is divided by zero.
uint32_t positiveCode(const Number &number, float x, const Encoding &encoding);

/// The code of NaN, where the word has one.
std::optional<uint32_t> nanCode(const Number &number);

/// True for unsigned integers of at most 8 bits: their codes are their values.
bool isByteInteger(const Number &number);

/// Refuses values whose search has no result.
Error searchOverflow(const EncodeUnit &unit);

/// Rounds numbers of binary32 to a float with a sign, to nearest and ties to
/// even; beyond its range, to infinity.
class WordRounder {
public:
  /// True for words that the rounding is meant for.
  static bool isFor(FormatWord word);
  explicit WordRounder(FormatWord word);
  float operator()(float x) const;

private:
  int mantissaBits, minExponent;
  float largest;
};

/// How ggml stores a scale: nearest, ties to even, infinite on overflow.
inline constexpr Encoding kIeee{EncodeRule::None, Rounding::RNE,
                                Saturation::OvfInf};

/// A float as the int that x86's conversion gives, in and out of range.
inline int32_t toInt(float x) {
  return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x) : INT32_MIN;
}

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODERULES_H
