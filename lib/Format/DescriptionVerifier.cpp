//===- DescriptionVerifier.cpp - is a description well-formed? -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescriptionVerifier.h"

using namespace grit;
using namespace grit::verifier;

Error verifier::fault(std::string field, std::string message,
                      std::string declared, std::string found) {
  Error error;
  error.status = Status::GradeUnknown;
  error.message = "the format description is not well-formed: " + message;
  error.field = std::move(field);
  error.declared = std::move(declared);
  error.found = std::move(found);
  error.fix = "correct the description of the format";
  return error;
}

namespace {

class Verifier {
public:
  explicit Verifier(const FormatDescription &description) : desc(description) {}

  std::optional<Error> run();

private:
  std::optional<Error> verifyMultiples();
  std::optional<Error> verifyPlane(const PlaneInfo &plane) const;
  std::optional<Error> verifyUnit(const std::string &name,
                                  const PlaneInfo &plane) const;
  std::optional<Error> verifyCodes();
  std::optional<Error> verifySigns();
  std::optional<Error> verifyBook();
  std::optional<Error> verifyGroup(const std::string &name,
                                   const Factor &factor) const;
  std::optional<Error> verifyFactors(const std::string &kind,
                                     const std::vector<Factor> &factors);
  std::optional<Error> verifyOffset();
  std::optional<Error> verifyDerived();
  std::optional<Error> verifySparsity();
  std::optional<Error> verifyOrder();
  std::optional<Error> add(Use use) {
    uses.push_back(std::move(use));
    return verifyField(desc, uses.back());
  }

  const FormatDescription &desc;
  std::vector<Use> uses;
  int64_t whole = 1; ///< the number of elements is a multiple of this
};

} // namespace

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

std::optional<Error> Verifier::verifyMultiples() {
  if (desc.axisMultiple < 1 || desc.axisMultiple > kMaxSize)
    return fault("axis", "out of range", "1 to 2^40", str(desc.axisMultiple));
  if (desc.arrayMultiple < 1 || desc.arrayMultiple > kMaxSize)
    return fault("array", "out of range", "1 to 2^40", str(desc.arrayMultiple));
  whole = boundedLcm(desc.axisMultiple, desc.arrayMultiple);
  if (whole == 0)
    return fault("array", "its common multiple with axis is above 2^40",
                 "at most 2^40", str(desc.arrayMultiple));
  return std::nullopt;
}

std::optional<Error> Verifier::verifyUnit(const std::string &name,
                                          const PlaneInfo &plane) const {
  if (plane.rows < 0 || plane.rows > kMaxSize ||
      (plane.rows && plane.elements < 1))
    return fault(name, "the rows of its blocks are out of range",
                 "0, or 1 to 2^40 with as many elements", str(plane.rows));
  if (plane.elements == kWholeAxis || plane.elements == kAxisPositions)
    return std::nullopt;
  if (plane.elements < 0 || plane.elements > kMaxSize)
    return fault(name, "its elements are out of range", "0 to 2^40",
                 str(plane.elements));
  if (plane.elements && !plane.rows && whole % plane.elements != 0)
    return fault(name, "arrays need not hold a whole number of its units",
                 "a divisor of " + str(whole) +
                     " (the multiple that axis and array give)",
                 str(plane.elements));
  return std::nullopt;
}

std::optional<Error> Verifier::verifyPlane(const PlaneInfo &plane) const {
  std::string name = "plane '" + plane.name + "'";
  if (plane.name.empty())
    return fault("planes", "a plane has no name");
  for (const PlaneInfo &other : desc.planes)
    if (&other != &plane && other.name == plane.name)
      return fault(name, "two planes have this name");
  if (plane.bits < 1 || plane.bits > kMaxSize)
    return fault(name, "its bits are out of range", "1 to 2^40",
                 str(plane.bits));
  if (plane.placement > 2)
    return fault(name, "no such placement word",
                 "0 (data), 1 (scale) or 2 (meta)", str(plane.placement));
  return verifyUnit(name, plane);
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

std::optional<Error> Verifier::verifyCodes() {
  const Level &level = desc.level;
  Use codes{"codes", &desc.codes, {level.vector}, 1};
  if (desc.sparsity) {
    codes.group.elements = desc.sparsity->m;
    codes.count = desc.sparsity->n;
    if (level.vector != 1 || level.signs)
      return fault("level", "codes of kept elements stand for one element each",
                   "no vectors and no signs", "N:M sparsity");
  }
  constexpr unsigned kMaxVector = 256;
  if (level.vector < 1 || level.vector > kMaxVector)
    return fault("level", "its vectors are out of range", "1 to 256",
                 str(level.vector));
  if (level.vector > 1 && desc.axisMultiple % level.vector != 0)
    return fault("level", "the group axis need not hold whole vectors",
                 "axisMultiple a multiple of " + str(level.vector),
                 str(desc.axisMultiple));
  if (level.vector > 1 && !level.number.isTable() && !level.book)
    return fault("level", "vectors need a table or a book", "either",
                 level.number.word.str());
  if (auto error = add(std::move(codes)))
    return error;
  if (level.book)
    return verifyBook();
  return verifyNumber("level", level.number, desc.codes.width(), level.vector);
}

std::optional<Error> Verifier::verifyBook() {
  const BitField &book = *desc.level.book;
  unsigned width = desc.codes.width();
  if (width > kMaxTableBits)
    return fault("book", "codes are too wide for a book", "at most 16 bits",
                 str(width));
  if (desc.level.number.isTable())
    return fault("book", "its entries are numbers of a format word",
                 "a format word", "a table");
  if (auto error =
          add({"book", &book, {0}, (int64_t(1) << width) * desc.level.vector}))
    return error;
  return verifyNumber("book", desc.level.number, book.width());
}

std::optional<Error> Verifier::verifySigns() {
  if (!desc.level.signs)
    return std::nullopt;
  const Signs &signs = *desc.level.signs;
  unsigned least = signs.parity ? 2 : 1;
  if (signs.group < least || signs.group > 32)
    return fault("signs", "their group is out of range", str(least) + " to 32",
                 str(signs.group));
  if (desc.axisMultiple % signs.group != 0)
    return fault("signs", "the group axis need not hold whole groups of signs",
                 "axisMultiple a multiple of " + str(signs.group),
                 str(desc.axisMultiple));
  if (signs.bits.width() != signs.group - signs.parity)
    return fault("signs", "there is not one bit for each",
                 str(signs.group - signs.parity) + " bits",
                 str(signs.bits.width()));
  return add({"signs", &signs.bits, {signs.group}, 1});
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

std::optional<Error> Verifier::verifyGroup(const std::string &name,
                                           const Factor &factor) const {
  if ((factor.rows != 0) != (factor.order == ElementOrder::Block) ||
      factor.rows < 0 || factor.rows > kMaxSize)
    return fault(name, "the rows of its blocks are out of range",
                 "1 to 2^40 in blocks, 0 elsewhere", str(factor.rows));
  bool isLine = factor.group == kWholeAxis;
  if (isLine && factor.order != ElementOrder::AxisFastest)
    return fault(name, "lines of the group axis are counted along it",
                 "the axis fastest", "another order");
  if (!isLine && (factor.group < 0 || factor.group > kMaxSize ||
                  (factor.rows && factor.group == 0)))
    return fault(name, "its group is out of range", "0 to 2^40",
                 str(factor.group));
  int64_t counted =
      factor.order == ElementOrder::RowMajor ? whole : desc.axisMultiple;
  if (!isLine && !factor.rows && factor.group && counted % factor.group != 0)
    return fault(name, "arrays need not hold a whole number of its groups",
                 "a divisor of " + str(counted), str(factor.group));
  return std::nullopt;
}

std::optional<Error>
Verifier::verifyFactors(const std::string &kind,
                        const std::vector<Factor> &factors) {
  bool first = true;
  for (const Factor &factor : factors) {
    std::string name = kind + " '" + factor.name + "'";
    if (auto error = verifyNumber(name, factor.number, factor.bits.width()))
      return error;
    if (auto error = verifyGroup(name, factor))
      return error;
    if (auto error = verifyDemands(desc, name, factor, kind == "scale"))
      return error;
    if (factor.afterLevel && kind != "scale")
      return fault(name, "only a scale can follow the level", "a scale", kind);
    if (!factor.afterLevel && first && factor.op != FactorOp::Multiply)
      return fault(name, "the first factor has nothing to join", "multiply",
                   "another operation");
    first &= factor.afterLevel;
    if (auto error = add({name, &factor.bits, {factor.group, factor.rows}, 1}))
      return error;
  }
  return std::nullopt;
}

std::optional<Error> Verifier::verifyOffset() {
  size_t count = desc.offset.factors.size();
  bool countIsRight = desc.offset.kind == Offset::Kind::None        ? count == 0
                      : desc.offset.kind == Offset::Kind::ZeroPoint ? count == 1
                                                                    : count > 0;
  if (!countIsRight)
    return fault("offset", "wrong number of factors",
                 "none: 0, zero point: 1, minimum: 1 or more", str(count));
  return verifyFactors("offset", desc.offset.factors);
}

std::optional<Error> Verifier::verifyDerived() {
  for (const Derived &derived : desc.derived) {
    const Factor &field = derived.field;
    std::string name = "derived '" + field.name + "'";
    if (field.op != FactorOp::Multiply || field.afterLevel ||
        !field.demands.empty() || field.group <= 0 ||
        field.order != ElementOrder::RowMajor)
      return fault(name, "it is not a number of consecutive elements",
                   "a plain field of groups of a fixed size", "another");
    if (auto error = verifyNumber(name, field.number, field.bits.width()))
      return error;
    if (auto error = verifyGroup(name, field))
      return error;
    if (auto error = add({name, &field.bits, {field.group, 0}, 1}))
      return error;
  }
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
  return add({"sparsity indices", &sparsity.indices, {sparsity.m}, sparsity.n});
}

/// One size of groups that divides lines, and nothing that follows the order of
/// elements but the codes.
std::optional<Error> Verifier::verifyOrder() {
  if (!desc.order)
    return std::nullopt;
  int64_t size = 0;
  for (const auto *factors : {&desc.scales, &desc.offset.factors})
    for (const Factor &factor : *factors) {
      if (factor.group == 0 || factor.group == kWholeAxis)
        continue;
      if (factor.order != ElementOrder::RowMajor ||
          desc.axisMultiple % factor.group != 0 ||
          (size && factor.group != size))
        return fault("order",
                     "factor '" + factor.name +
                         "' has groups that no order can be of",
                     "groups of one size that divide the group axis, counted "
                     "in row-major order",
                     factor.rows ? "blocks" : "groups of " + str(factor.group));
      size = factor.group;
    }
  if (size == 0)
    return fault("order", "there are no groups that it could be of",
                 "a factor with groups", "none");
  if (desc.encoding.rule != EncodeRule::None || !desc.derived.empty())
    return fault("order", "no rule encodes groups in an order",
                 "encode=none, and nothing derived", "others");
  return add({"order", &*desc.order, {kAxisPositions}, 1});
}

std::optional<Error> Verifier::run() {
  if (desc.planes.empty())
    return fault("planes", "it has no planes");
  if (auto error = verifyMultiples())
    return error;
  for (const PlaneInfo &plane : desc.planes)
    if (auto error = verifyPlane(plane))
      return error;
  if (auto error = verifySparsity())
    return error;
  if (auto error = verifyCodes())
    return error;
  if (auto error = verifySigns())
    return error;
  if (auto error = verifyFactors("scale", desc.scales))
    return error;
  if (auto error = verifyOffset())
    return error;
  if (auto error = verifyDerived())
    return error;
  if (auto error = verifyOrder())
    return error;
  if (const Projection &into = desc.projection; !into.isIdentity())
    if (auto error = verifyNumber("projection", Number{into.format, 0},
                                  into.format.width()))
      return error;
  if (auto error = verifyIllegalCodes(desc))
    return error;
  for (unsigned plane = 0; plane < desc.planes.size(); ++plane)
    if (auto error = verifyAddresses(desc, uses, plane))
      return error;
  return std::nullopt;
}

std::optional<Error> grit::validate(const FormatDescription &description) {
  return Verifier(description).run();
}
