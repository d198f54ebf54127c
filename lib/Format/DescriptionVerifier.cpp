//===- DescriptionVerifier.cpp - is a description well-formed? -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Field by field first, then plane by plane: every bit address of a plane's
// fields is followed over one period, after which all of them repeat. A bit
// outside the plane or claimed twice is found there, so that code which works
// from a description needs no checks of its own.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Description.h"
#include <numeric>

using namespace grit;

namespace {

/// Bits followed per plane; a format that repeats later than that is refused.
constexpr int64_t kMaxPeriodBits = int64_t(1) << 24;
/// Keeps every product of two sizes within int64.
constexpr int64_t kMaxSize = int64_t(1) << 40;
constexpr int64_t kMaxStride = int64_t(1) << 32;
constexpr size_t kMaxDigits = 16;
/// A bias or addend below this keeps differences of small integers exact.
constexpr int64_t kMaxBias = int64_t(1) << 22;
constexpr unsigned kMaxTableBits = 16;

Error fault(std::string field, std::string message, std::string declared = {},
            std::string found = {}) {
  Error error;
  error.status = Status::GradeUnknown;
  error.message = "the format description is not well-formed: " + message;
  error.field = std::move(field);
  error.declared = std::move(declared);
  error.found = std::move(found);
  error.fix = "correct the description of the format";
  return error;
}

std::string str(int64_t value) { return std::to_string(value); }

bool exceeds(int64_t value, int64_t limit) {
  return value < -limit || value > limit;
}

/// Least common multiple, 0 when it exceeds kMaxSize.
int64_t boundedLcm(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  int64_t factor = b / std::gcd(a, b);
  return a > kMaxSize / factor ? 0 : a * factor;
}

/// The number of indices after which a digit repeats (or, without a modulus,
/// has moved on by a whole stride); 0 when it exceeds kMaxSize.
int64_t wrapOf(const Digit &digit) {
  if (digit.mod == 0)
    return digit.div;
  return digit.mod > kMaxSize / digit.div ? 0 : digit.div * digit.mod;
}

/// A field with the elements that share one value: `count` values for every
/// `elements` elements (1 for 1 but for survivors of a sparse format).
struct Use {
  std::string name;
  const BitField *bits;
  int64_t elements; ///< 0: one value for the whole array
  int64_t count;
};

class Verifier {
public:
  explicit Verifier(const FormatDescription &description) : desc(description) {}

  std::optional<Error> run();

private:
  std::optional<Error> verifyPlanes();
  std::optional<Error> verifyField(const Use &use);
  std::optional<Error> verifyNumber(const std::string &name,
                                    const Number &number);
  std::optional<Error> verifyLevel();
  std::optional<Error> verifyFactor(const std::string &name,
                                    const Factor &factor);
  std::optional<Error> verifyFactors();
  std::optional<Error> verifySparsity();
  std::optional<Error> verifyStream(const Use &use);
  std::optional<Error> verifyAddresses(unsigned plane);
  std::optional<Error> mark(const Use &use, int64_t values,
                            std::vector<bool> &used);

  const FormatDescription &desc;
  std::vector<Use> uses;
  int64_t whole = 1; ///< the number of elements is a multiple of this
};

} // namespace

std::optional<Error> Verifier::verifyPlanes() {
  if (desc.planes.empty())
    return fault("planes", "it has no planes");
  if (desc.axisMultiple < 1 || desc.axisMultiple > kMaxSize)
    return fault("axisMultiple", "out of range", "1 to 2^40",
                 str(desc.axisMultiple));
  if (desc.arrayMultiple < 1 || desc.arrayMultiple > kMaxSize)
    return fault("arrayMultiple", "out of range", "1 to 2^40",
                 str(desc.arrayMultiple));
  whole = boundedLcm(desc.axisMultiple, desc.arrayMultiple);
  if (whole == 0)
    return fault("arrayMultiple",
                 "its common multiple with axisMultiple is above 2^40");
  for (const PlaneInfo &plane : desc.planes) {
    std::string field = "plane '" + plane.name + "'";
    if (plane.name.empty())
      return fault("planes", "a plane has no name");
    for (const PlaneInfo &other : desc.planes)
      if (&other != &plane && other.name == plane.name)
        return fault(field, "two planes have this name");
    if (plane.bits < 1 || plane.bits > kMaxSize)
      return fault(field, "its bits are out of range", "1 to 2^40",
                   str(plane.bits));
    if (plane.elements < 0 || plane.elements > kMaxSize)
      return fault(field, "its elements are out of range", "0 to 2^40",
                   str(plane.elements));
    if (plane.elements && whole % plane.elements != 0)
      return fault(field, "arrays need not hold a whole number of its units",
                   "a divisor of " + str(whole) +
                       " (axisMultiple and arrayMultiple)",
                   str(plane.elements));
    if (plane.placement > 2)
      return fault(field, "no such placement word",
                   "0 (data), 1 (scale) or 2 (meta)", str(plane.placement));
  }
  return std::nullopt;
}

std::optional<Error> Verifier::verifyField(const Use &use) {
  const BitField &field = *use.bits;
  if (field.plane >= desc.planes.size())
    return fault(use.name, "its plane does not exist",
                 "less than " + str(desc.planes.size()), str(field.plane));
  if (field.isMsbStream()) {
    if (field != BitField::msbStream(field.plane, field.msbStreamWidth) ||
        field.msbStreamWidth > 32)
      return fault(use.name, "a stream has a width up to 32 and no slices");
    uses.push_back(use);
    return std::nullopt;
  }
  if (field.slices.empty())
    return fault(use.name, "it has no bits");
  uint64_t covered = 0;
  for (const BitSlice &slice : field.slices) {
    if (slice.width < 1 || slice.width > 32 || slice.shift > 32 ||
        slice.width + slice.shift > 32)
      return fault(use.name, "a slice does not fit in 32 bits",
                   "width + shift at most 32",
                   str(slice.width) + " + " + str(slice.shift));
    uint64_t bits = ((uint64_t(1) << slice.width) - 1) << slice.shift;
    if (covered & bits)
      return fault(use.name, "two slices form the same bits of the value");
    covered |= bits;
    if (exceeds(slice.base, kMaxSize) || slice.digits.size() > kMaxDigits)
      return fault(use.name, "a slice has a base or digits out of range",
                   "base within 2^40, at most 16 digits",
                   "base " + str(slice.base) + ", " + str(slice.digits.size()) +
                       " digits");
    for (const Digit &digit : slice.digits)
      if (digit.div < 1 || digit.div > kMaxSize || digit.mod < 0 ||
          digit.mod > kMaxSize || exceeds(digit.stride, kMaxStride))
        return fault(use.name, "a digit is out of range",
                     "div 1 to 2^40, mod 0 to 2^40, stride within 2^32",
                     "div " + str(digit.div) + ", mod " + str(digit.mod) +
                         ", stride " + str(digit.stride));
  }
  if (covered & (covered + 1))
    return fault(use.name, "its slices leave a gap in the value");
  uses.push_back(use);
  return std::nullopt;
}

std::optional<Error> Verifier::verifyNumber(const std::string &name,
                                            const Number &number) {
  if (number.word.isAbsent())
    return fault(name, "it has no format word");
  if (auto error = number.word.validate())
    return fault(name, error->message, error->declared, number.word.str());
  if (number.exp2 < -256 || number.exp2 > 256)
    return fault(name, "its power of two is out of range", "-256 to 256",
                 str(number.exp2));
  return std::nullopt;
}

std::optional<Error> Verifier::verifyLevel() {
  unsigned width = desc.codes.width();
  if (desc.level.kind == Level::Kind::Table) {
    if (width > kMaxTableBits)
      return fault("level", "codes are too wide for a table", "at most 16 bits",
                   str(width));
    if (desc.level.table.size() != size_t(1) << width)
      return fault("level", "the table does not have one entry per code",
                   str(int64_t(1) << width), str(desc.level.table.size()));
    return std::nullopt;
  }
  const Number &number = desc.level.number;
  if (auto error = verifyNumber("level", number))
    return error;
  if (number.word.width() != width)
    return fault("level", "its width is not that of the codes", str(width),
                 str(number.word.width()));
  if (desc.level.bias && !number.word.isInteger())
    return fault("level", "a bias needs an integer word", "an integer word",
                 number.word.str());
  if (desc.level.bias && (exceeds(desc.level.bias, kMaxBias) ||
                          number.word.width() > 22 || number.exp2))
    return fault("level", "the difference with the bias might not be exact",
                 "width and bias below 23 bits, no power of two",
                 "bias " + str(desc.level.bias));
  return std::nullopt;
}

std::optional<Error> Verifier::verifyFactor(const std::string &name,
                                            const Factor &factor) {
  if (auto error = verifyNumber(name, factor.number))
    return error;
  if (factor.number.word.width() != factor.bits.width())
    return fault(name, "its width is not that of its bits",
                 str(factor.number.word.width()), str(factor.bits.width()));
  if (factor.group < 0 || factor.group > kMaxSize)
    return fault(name, "its group is out of range", "0 to 2^40",
                 str(factor.group));
  int64_t counted =
      factor.order == ElementOrder::RowMajor ? whole : desc.axisMultiple;
  if (factor.group && counted % factor.group != 0)
    return fault(name, "arrays need not hold a whole number of its groups",
                 "a divisor of " + str(counted), str(factor.group));
  return verifyField({name, &factor.bits, factor.group, 1});
}

std::optional<Error> Verifier::verifyFactors() {
  if (desc.scales.empty())
    return fault("scales", "it has no scale");
  for (const Factor &factor : desc.scales)
    if (auto error = verifyFactor("scale '" + factor.name + "'", factor))
      return error;
  size_t count = desc.offset.factors.size();
  bool countIsRight = desc.offset.kind == Offset::Kind::None        ? count == 0
                      : desc.offset.kind == Offset::Kind::ZeroPoint ? count == 1
                                                                    : count > 0;
  if (!countIsRight)
    return fault("offset", "wrong number of factors",
                 "none: 0, zero point: 1, minimum: 1 or more", str(count));
  if (exceeds(desc.offset.addend, kMaxBias) ||
      (desc.offset.addend && desc.offset.kind != Offset::Kind::ZeroPoint))
    return fault("offset", "an addend is for a zero point, below 2^22", "0",
                 str(desc.offset.addend));
  for (const Factor &factor : desc.offset.factors)
    if (auto error = verifyFactor("offset '" + factor.name + "'", factor))
      return error;
  return std::nullopt;
}

std::optional<Error> Verifier::verifySparsity() {
  if (!desc.sparsity)
    return std::nullopt;
  const Sparsity &sparsity = *desc.sparsity;
  if (sparsity.n < 1 || sparsity.n >= sparsity.m || sparsity.m > 32)
    return fault("sparsity", "N of M is out of range", "1 <= N < M <= 32",
                 str(sparsity.n) + ":" + str(sparsity.m));
  unsigned width = sparsity.indices.width();
  if (width < 32 && (uint64_t(1) << width) < sparsity.m)
    return fault("sparsity", "the indices are too narrow for M",
                 "at least " + str(sparsity.m) + " values",
                 str(width) + " bits");
  if (desc.axisMultiple % sparsity.m != 0)
    return fault("sparsity", "the group axis need not hold whole runs",
                 "axisMultiple a multiple of " + str(sparsity.m),
                 str(desc.axisMultiple));
  return verifyField(
      {"sparsity indices", &sparsity.indices, sparsity.m, sparsity.n});
}

/// Marks the bits of the first `values` values of one field.
std::optional<Error> Verifier::mark(const Use &use, int64_t values,
                                    std::vector<bool> &used) {
  for (int64_t index = 0; index < values; ++index)
    for (const BitSlice &slice : use.bits->slices) {
      int64_t bit = slice.at(index);
      if (bit < 0 || bit + slice.width > static_cast<int64_t>(used.size()))
        return fault(use.name,
                     "value " + str(index) + " lies outside plane '" +
                         desc.planes[use.bits->plane].name + "'",
                     "bits 0 to " + str(used.size()), "bit " + str(bit));
      for (unsigned i = 0; i < slice.width; ++i) {
        if (used[bit + i])
          return fault(use.name, "value " + str(index) + " shares bit " +
                                     str(bit + i) + " of plane '" +
                                     desc.planes[use.bits->plane].name +
                                     "' with another value");
        used[bit + i] = true;
      }
    }
  return std::nullopt;
}

/// A stream is alone in its plane and fills it.
std::optional<Error> Verifier::verifyStream(const Use &use) {
  unsigned planeIndex = use.bits->plane;
  const PlaneInfo &plane = desc.planes[planeIndex];
  for (const Use &other : uses)
    if (&other != &use && other.bits->plane == planeIndex)
      return fault(use.name, "its plane has values of another kind",
                   "a plane of its own", other.name);
  // As many bits per element on either side.
  __int128 bits = use.bits->width() * use.count;
  if (use.elements == 0 || plane.elements == 0 ||
      static_cast<__int128>(plane.bits) * use.elements != bits * plane.elements)
    return fault(use.name, "it does not fill plane '" + plane.name + "'");
  return std::nullopt;
}

std::optional<Error> Verifier::verifyAddresses(unsigned planeIndex) {
  const PlaneInfo &plane = desc.planes[planeIndex];
  std::string name = "plane '" + plane.name + "'";
  for (const Use &use : uses)
    if (use.bits->plane == planeIndex && use.bits->isMsbStream())
      return verifyStream(use);
  // The period, in elements: after it every digit has gone round.
  int64_t period = plane.elements ? plane.elements : 1;
  for (const Use &use : uses) {
    if (use.bits->plane != planeIndex)
      continue;
    if ((use.elements == 0) != (plane.elements == 0))
      return fault(use.name,
                   "a plane of constant size holds values for the "
                   "whole array, and no other plane does",
                   name);
    if (plane.elements == 0)
      continue;
    int64_t values = use.count;
    for (const BitSlice &slice : use.bits->slices)
      for (const Digit &digit : slice.digits)
        values = boundedLcm(values, wrapOf(digit));
    int64_t groups = values / use.count;
    if (groups == 0 || groups > kMaxSize / use.elements)
      return fault(use.name, "its bit addresses do not repeat within 2^40");
    period = boundedLcm(period, groups * use.elements);
    if (period == 0)
      return fault(name, "its bit addresses do not repeat within 2^40");
  }
  int64_t units = plane.elements ? period / plane.elements : 1;
  if (plane.bits > kMaxPeriodBits / units)
    return fault(name, "it repeats too late to be checked",
                 "within " + str(kMaxPeriodBits) + " bits",
                 str(units) + " units of " + str(plane.bits) + " bits");
  int64_t periodBits = units * plane.bits;
  std::vector<bool> used(periodBits);
  bool holdsSomething = false;
  for (const Use &use : uses) {
    if (use.bits->plane != planeIndex)
      continue;
    holdsSomething = true;
    int64_t values =
        use.elements ? period / use.elements * use.count : int64_t(1);
    if (values > periodBits)
      return fault(use.name, "its values do not fit in " + name);
    if (auto error = mark(use, values, used))
      return error;
    // Nothing but the digits without a modulus moves on after a period.
    for (const BitSlice &slice : use.bits->slices)
      if (use.elements && slice.at(values) - slice.at(0) != periodBits)
        return fault(use.name, "its bit addresses do not advance with " + name,
                     str(periodBits) + " bits for " + str(values) + " values",
                     str(slice.at(values) - slice.at(0)) + " bits");
  }
  if (!holdsSomething)
    return fault(name, "it holds nothing");
  return std::nullopt;
}

std::optional<Error> Verifier::run() {
  if (auto error = verifyPlanes())
    return error;
  Use codes{"codes", &desc.codes, 1, 1};
  if (desc.sparsity) {
    codes.elements = desc.sparsity->m;
    codes.count = desc.sparsity->n;
  }
  if (auto error = verifySparsity())
    return error;
  if (auto error = verifyField(codes))
    return error;
  if (auto error = verifyLevel())
    return error;
  if (auto error = verifyFactors())
    return error;
  if (!desc.projection.isIdentity())
    if (auto error =
            verifyNumber("projection", Number{desc.projection.format, 0}))
      return error;
  for (unsigned plane = 0; plane < desc.planes.size(); ++plane)
    if (auto error = verifyAddresses(plane))
      return error;
  return std::nullopt;
}

std::optional<Error> grit::validate(const FormatDescription &description) {
  return Verifier(description).run();
}
