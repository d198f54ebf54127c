//===- ArraySpec.cpp - an array under a contract: sizes, checks, identity -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckSteps.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fields.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;
using check_steps::sizeError;

static std::string str(int64_t value) { return std::to_string(value); }

/// a * b for non-negative numbers, or nothing when it exceeds int64.
static std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

Expected<ArraySpec> ArraySpec::get(Contract contract,
                                   std::vector<int64_t> shape, int axis,
                                   std::optional<Placements> placements) {
  int rank =
      static_cast<int>(shape.size() <= kMaxRank ? shape.size() : kMaxRank + 1);
  if (axis < 0)
    axis += rank;
  Placements chosen = placements ? *placements : contract.canonicalPlacements();
  ArraySpec spec{std::move(contract), std::move(shape), axis, chosen};
  if (auto error = spec.verify())
    return tl::make_unexpected(std::move(*error));
  return spec;
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

static std::optional<Error> verifyPlacements(const ArraySpec &spec) {
  static constexpr const char *names[] = {"placement_data", "placement_scale",
                                          "placement_meta"};
  const Placement words[] = {spec.placements.data, spec.placements.scale,
                             spec.placements.meta};
  bool governs[3] = {};
  for (const PlaneInfo &plane : spec.contract.description().planes)
    governs[plane.placement] = true;
  auto refuse = [&](int i, std::string message, std::string declared,
                    std::string cause, std::string fix) {
    return Error{Status::PlacementUnknown,
                 std::move(message),
                 names[i],
                 std::move(declared),
                 words[i].specName(),
                 std::move(cause),
                 std::move(fix),
                 -1};
  };
  for (int i = 0; i < 3; ++i)
    if (!words[i].isAcceptable())
      return refuse(i, "the placement word is not acceptable",
                    "0, a registered word, a layout hash (class 8) or opaque "
                    "(class 15)",
                    "the word belongs to another version, or bytes are damaged",
                    "use a registered placement, e.g. row_major");
  // Only the meta word says by being zero that there is no such plane.
  if (governs[2] && words[2].isUnspecified())
    return refuse(2, "the array has an aux plane and no placement for it",
                  "a placement other than 0", "the word was left out",
                  "use " + spec.contract.canonicalPlacements().meta.str());
  for (int i = spec.contract.isGrade() ? 2 : 1; i < 3; ++i)
    if (!governs[i] && !words[i].isUnspecified())
      return refuse(i, "a placement is given for a plane that does not exist",
                    "UNSPECIFIED (0)", "the contract has no such plane",
                    "write 0");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// "k0=32", "32 elements per block": why the axis must divide.
static std::string axisReason(const Contract &contract) {
  std::string multiple = str(contract.description().axisMultiple);
  const Grade *grade = contract.grade();
  if (!grade)
    return "blocks of " + multiple + " elements";
  std::string text = "k0=" + str(grade->k0);
  if (grade->isSparse())
    text += ", sp=" + str(grade->spN) + ":" + str(grade->spM);
  return text;
}

static std::optional<Error> verifyExtents(const ArraySpec &spec) {
  int64_t rank = spec.shape.size();
  if (rank > kMaxRank)
    return sizeError("too many dimensions", "rank", "1 to " + str(kMaxRank),
                     str(rank), {}, "merge leading dimensions");
  for (int64_t i = 0; i < rank; ++i)
    if (spec.shape[i] < 0)
      return sizeError("a negative extent", "shape[" + str(i) + "]",
                       "0 or more", str(spec.shape[i]), {},
                       "correct the shape " + shapeText(spec.shape));
  if (rank == 0)
    return sizeError("an array has no axis", "rank", "1 to " + str(kMaxRank),
                     "0", "the shape [] is that of a single number",
                     "give the array an axis, e.g. the shape [1]");
  if (spec.axis < 0 || spec.axis >= rank)
    return sizeError("the group axis does not exist", "group_axis",
                     "0 to " + str(rank - 1), str(spec.axis), {},
                     "use an axis of the shape " + shapeText(spec.shape));
  if (std::find(spec.shape.begin(), spec.shape.end(), 0) != spec.shape.end())
    return std::nullopt;
  int64_t product = 1;
  for (int64_t extent : spec.shape)
    if (auto next = multiply(product, extent))
      product = *next;
    else
      return sizeError("the number of elements exceeds 64 bits", "shape",
                       "less than 2^63 elements", shapeText(spec.shape),
                       "damaged or hostile extents", "correct the shape");
  return std::nullopt;
}

/// "pad the axis to N, or ", unless N would exceed 64 bits.
static std::string padding(int64_t extent, int64_t multiple) {
  int64_t padded;
  if (__builtin_add_overflow(extent, multiple - extent % multiple, &padded))
    return "";
  return "pad the axis to " + str(padded) + ", or ";
}

static std::optional<Error> verifyGroups(const ArraySpec &spec) {
  const FormatDescription &desc = spec.contract.description();
  int64_t extent = spec.shape[spec.axis];
  std::string axisName = "shape[" + str(spec.axis) + "]";
  if (extent % desc.axisMultiple != 0)
    return sizeError("the group axis does not hold whole groups", axisName,
                     "a multiple of " + str(desc.axisMultiple) + " (" +
                         axisReason(spec.contract) + ")",
                     str(extent),
                     "a last group would be cut short, and " +
                         spec.contract.displayName() + " has no ragged groups",
                     padding(extent, desc.axisMultiple) +
                         "choose another axis or contract");
  int64_t elements = spec.numElements();
  if (elements % desc.arrayMultiple != 0)
    return sizeError("the array does not hold whole level-1 groups", "shape",
                     "a number of elements that is a multiple of " +
                         str(desc.arrayMultiple),
                     str(elements) + " elements in " + shapeText(spec.shape),
                     {}, "pad the array, or choose another contract");
  // A grade counts groups in row-major order whatever its axis. Blocks of
  // somebody else's format run along the last axis, and nothing else.
  if (spec.contract.isGrade())
    return std::nullopt;
  for (const Factor &factor : desc.scales)
    if (factor.order != ElementOrder::RowMajor)
      return std::nullopt;
  for (size_t i = spec.axis + 1; i < spec.shape.size(); ++i)
    if (spec.shape[i] > 1)
      return sizeError("blocks of this format run along the last axis",
                       "group_axis", str(spec.shape.size() - 1), str(spec.axis),
                       {}, "use the last axis (-1)");
  return std::nullopt;
}

static std::optional<Error> verifyShape(const ArraySpec &spec) {
  if (auto error = verifyExtents(spec))
    return error;
  return verifyGroups(spec);
}

std::optional<Error> ArraySpec::verify() const {
  if (auto error = verifyPlacements(*this))
    return error;
  return verifyShape(*this);
}

int64_t ArraySpec::numElements() const {
  int64_t product = 1;
  for (int64_t extent : shape) {
    if (extent <= 0)
      return 0;
    // A product beyond int64 is no size of a verified array.
    product = multiply(product, extent).value_or(0);
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static int64_t bytesOf(int64_t bits) { return bits / 8 + (bits % 8 != 0); }

Expected<PlaneSizes> ArraySpec::planeSizes() const {
  if (auto error = verifyShape(*this))
    return tl::make_unexpected(std::move(*error));
  PlaneSizes sizes;
  for (const PlaneInfo &plane : contract.description().planes) {
    int64_t units = unitCount(*this, plane.elements, plane.rows);
    auto bits = multiply(units, plane.bits);
    if (!bits)
      return tl::make_unexpected(
          sizeError("the size of plane " + plane.name + " exceeds 64 bits",
                    "shape", "less than 2^63 bits per plane", shapeText(shape),
                    "damaged or hostile extents", "correct the shape"));
    sizes.push_back(bytesOf(*bits));
  }
  return sizes;
}

/// "numel=4096 / 32 x 8 bits = 128 bytes".
static std::string arithmetic(const ArraySpec &spec, const PlaneInfo &plane,
                              int64_t bytes) {
  std::string text;
  if (plane.elements == 0)
    text = "one per array";
  else {
    text = "numel=" + str(spec.numElements());
    if (plane.rows)
      text = str(unitCount(spec, plane.elements, plane.rows)) + " blocks of " +
             str(plane.rows) + " x " + str(plane.elements);
    else if (plane.elements == kWholeAxis)
      text += " / " + str(spec.shape[spec.axis]);
    else if (plane.elements == kAxisPositions)
      text = "extent " + str(spec.shape[spec.axis]) + " of the group axis";
    else if (plane.elements != 1)
      text += " / " + str(plane.elements);
  }
  return text + " x " + str(plane.bits) + " bits = " + str(bytes) + " bytes";
}

/// What size was probably meant when plane `index` has `found` bytes.
static std::string likelyCause(const ArraySpec &spec, size_t index,
                               const PlaneSizes &expected,
                               const PlaneSizes &found) {
  const auto &planes = spec.contract.description().planes;
  const PlaneInfo &plane = planes[index];
  int64_t actual = found[index], elements = spec.numElements();
  if (actual == 0)
    return "the plane is missing";
  for (size_t other = 0; other < planes.size(); ++other)
    if (other != index && expected[other] == actual)
      return "this is the size of plane " + planes[other].name +
             ": the planes may be in another order";
  auto bits = multiply(elements, plane.bits);
  auto foundBits = multiply(actual, 8);
  if (plane.elements < 1 || plane.rows || !bits || !foundBits)
    return "the bytes belong to another contract";
  if (plane.elements > 1 && *bits % *foundBits == 0 &&
      *bits / *foundBits != plane.elements)
    return "it fits groups of " + str(*bits / *foundBits) +
           " elements instead of " + str(plane.elements);
  if (plane.elements == 1 && elements && *foundBits % elements == 0)
    return "it fits " + str(*foundBits / elements) +
           " bits per element instead of " + str(plane.bits);
  return actual < expected[index] ? "the bytes are cut short"
                                  : "there are bytes too many: padding, or "
                                    "another shape";
}

std::optional<Error> ArraySpec::checkPlaneSizes(const PlaneSizes &found) const {
  Expected<PlaneSizes> expected = planeSizes();
  if (!expected)
    return expected.error();
  const FormatDescription &desc = contract.description();
  if (found.size() != expected->size())
    return sizeError("wrong number of planes", "planes", str(expected->size()),
                     str(found.size()), {},
                     "give the planes of " + contract.displayName() +
                         " in order");
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == (*expected)[i])
      continue;
    const PlaneInfo &plane = desc.planes[i];
    return sizeError(
        "the size of plane " + plane.name + " is not what the shape demands",
        "plane_bytes[" + plane.name + "]",
        str((*expected)[i]) +
            " bytes: " + arithmetic(*this, plane, (*expected)[i]),
        str(found[i]) + " bytes", likelyCause(*this, i, *expected, found),
        "check the shape " + shapeText(shape) + " and the contract " +
            contract.displayName(),
        static_cast<int>(planeSlot(desc, i)));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

std::optional<std::array<uint8_t, 64>> ArraySpec::descriptor() const {
  if (!contract.isGrade())
    return std::nullopt;
  Expected<Descriptor> result = Descriptor::fromGrade(*contract.grade());
  if (!result)
    return std::nullopt;
  result->groupAxis = static_cast<int16_t>(axis);
  result->placements = placements;
  result->note = note;
  return result->write();
}

std::array<uint8_t, 16> ArraySpec::gid() const {
  Fnv128 hash;
  hash.update(contract.canonical());
  hash.updateLE(0, 1);
  if (auto bytes = descriptor()) {
    // The frame: everything but the note.
    std::span<const uint8_t> all(*bytes);
    hash.update(all.subspan(0, 28));
    hash.update(all.subspan(32, 32));
  } else {
    hash.updateLE(static_cast<uint32_t>(axis), 4);
    for (Placement word : {placements.data, placements.scale, placements.meta})
      hash.updateLE(word.raw(), 8);
  }
  hash.updateLE(shape.size(), 4);
  for (int64_t extent : shape)
    hash.updateLE(static_cast<uint64_t>(extent), 8);
  return hash.finish();
}
