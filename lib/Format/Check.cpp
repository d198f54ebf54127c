//===- Check.cpp - grit_check: the boundary check -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Check.h"
#include "CheckSteps.h"
#include "GroupOrder.h"
#include "PlacedField.h"
#include "grit/Format/Audit.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>

using namespace grit;
using namespace grit::check_steps;

//===----------------------------------------------------------------------===//
// Step 5: the contents
//===----------------------------------------------------------------------===//

static Error contentError(std::string message, std::string field,
                          std::string declared, std::string found,
                          std::string cause, std::string fix, int plane = -1) {
  return {Status::DigestMismatch, std::move(message),
          std::move(field),       std::move(declared),
          std::move(found),       std::move(cause),
          std::move(fix),         plane};
}

/// Step 5.2: the indices of every run rise strictly and are below m. Indices
/// whose placement has no map cannot be found, and pass.
static std::optional<Error> checkIndices(const ArraySpec &spec, int plane,
                                         std::span<const ByteSpan> planes) {
  const Sparsity &sparsity = *spec.contract.description().sparsity;
  int64_t numRuns = spec.numElements() / sparsity.m;
  if (numRuns == 0)
    return std::nullopt;
  Expected<PlacedField> indices = PlacedField::of(spec, indicesOf(sparsity));
  if (!indices)
    return std::nullopt;
  for (int64_t run = 0; run < numRuns; ++run) {
    int64_t previous = -1;
    for (unsigned j = 0; j < sparsity.n; ++j) {
      int64_t index = indices->read(run * sparsity.n + j, planes);
      if (index > previous && index < sparsity.m) {
        previous = index;
        continue;
      }
      std::string found;
      for (unsigned i = 0; i < sparsity.n; ++i)
        found += (i ? ", " : "") +
                 std::to_string(indices->read(run * sparsity.n + i, planes));
      Error error = contentError(
          "the indices of run " + std::to_string(run) + " are out of order",
          "aux", "strictly rising indices below " + std::to_string(sparsity.m),
          found,
          "the plane is damaged, lies in another placement than "
          "placement_meta says, or was written by an encoder that does not "
          "sort",
          "encode again, or declare the order 'unord'", plane);
      error.code = ErrorCode::IndicesUnordered;
      return error;
    }
  }
  return std::nullopt;
}

/// Step 5, for planes whose sizes are right. `planes` and `sizes` are in the
/// order of the C ABI.
static std::optional<Error>
checkContents(const ArraySpec &spec, std::span<const int64_t> sizes,
              std::span<const uint8_t *const> planes,
              const std::optional<std::array<uint8_t, 16>> &expected,
              std::array<ByteSpan, 4> &slots) {
  for (size_t i = 0; i < sizes.size() && i < slots.size(); ++i) {
    if (sizes[i] == 0)
      continue;
    const uint8_t *data = i < planes.size() ? planes[i] : nullptr;
    if (!data)
      return contentError(
          "plane " + std::to_string(i) + " has bytes to verify and no address",
          "planes[" + std::to_string(i) + "]",
          std::to_string(sizes[i]) + " bytes", "null",
          "a level-2 check was asked for without its planes",
          "give the planes, or check at level 1", static_cast<int>(i));
    slots[i] = ByteSpan(data, static_cast<size_t>(sizes[i]));
  }
  if (expected) {
    std::array<uint8_t, 16> found = digest(slots);
    if (found != *expected)
      return contentError("the bytes are not those of the digest", "digest",
                          toHex(*expected), toHex(found),
                          "a plane was changed after the digest was taken, or "
                          "the digest is that of another array",
                          "fetch the array again, or take a new digest if the "
                          "change was meant");
  }
  const FormatDescription &description = spec.contract.description();
  const std::optional<Sparsity> &sparsity = description.sparsity;
  bool mustRise = sparsity && sparsity->ascending;
  bool hasRules = hasLegality(description);
  if (!mustRise && !hasRules && !description.order)
    return std::nullopt;
  std::vector<ByteSpan> ordered;
  for (unsigned i = 0; i < description.planes.size(); ++i)
    ordered.push_back(slots[planeSlot(description, i)]);
  if (hasRules)
    if (auto error = checkLegality(spec, ordered))
      return error;
  if (!mustRise)
    return description.order ? GroupOrder(spec).read(ordered) : std::nullopt;
  return checkIndices(
      spec, static_cast<int>(planeSlot(description, sparsity->indices.plane)),
      ordered);
}

//===----------------------------------------------------------------------===//
// The whole check
//===----------------------------------------------------------------------===//

/// Steps 1 to 4.5. `d` and `sizes` are set on success.
static Expected<const Contract *>
checkDeclared(std::span<const uint8_t> descriptor,
              std::span<const int64_t> shape, Descriptor &d, Sizes &sizes) {
  if (descriptor.size() != 64)
    return makeError(Status::GradeUnknown, "a descriptor has 64 bytes",
                     "descriptor", "64 bytes",
                     std::to_string(descriptor.size()) + " bytes",
                     "the descriptor was cut, or is of a later version",
                     "read the descriptor again");
  d = Descriptor::read(descriptor.first<64>());
  if (std::optional<Error> error = checkFrame(d))
    return tl::unexpected(std::move(*error));
  Expected<const Contract *> contract = checkGrade(d);
  if (!contract)
    return contract;
  if (std::optional<Error> error = checkPlacements(d))
    return tl::unexpected(std::move(*error));
  if (std::optional<Error> error = computeSizes(d, shape, sizes))
    return tl::unexpected(std::move(*error));
  return contract;
}

static ArraySpec specOf(const Contract &contract, const Descriptor &d,
                        std::span<const int64_t> shape) {
  return {contract,
          {shape.begin(), shape.end()},
          d.groupAxis,
          d.placements,
          d.note};
}

std::optional<Error> grit::check(const CheckInput &input, int level,
                                 std::vector<Warning> *warnings) {
  audit::countCrossing();
  Descriptor d;
  Sizes sizes;
  Expected<const Contract *> contract =
      checkDeclared(input.descriptor, input.shape, d, sizes);
  if (!contract)
    return std::move(contract.error());
  if (auto error = comparePlaneBytes(d, sizes, input.planeBytes))
    return error;
  // What allocates waits for a level that reads planes.
  std::array<ByteSpan, 4> slots;
  std::optional<ArraySpec> spec;
  if (level >= 2) {
    spec = specOf(**contract, d, input.shape);
    if (auto error = checkContents(*spec, sizes.planeBytes, input.planes,
                                   input.digest, slots))
      return error;
  }
  if (!warnings)
    return std::nullopt;
  warnAboutDeclaration(*(*contract)->grade(), d.groupAxis, input.shape,
                       *warnings);
  if (level >= 3)
    probe(*spec, slots, *warnings);
  return std::nullopt;
}

std::optional<Error>
grit::check(const ArraySpec &spec, std::span<const int64_t> planeBytes,
            int level, std::span<const uint8_t *const> planes,
            std::optional<std::array<uint8_t, 16>> expected,
            std::vector<Warning> *warnings) {
  if (std::optional<Error> error = spec.verify())
    return error;
  PlaneSizes sizes(planeBytes.begin(), planeBytes.end());
  if (std::optional<Error> error = spec.checkPlaneSizes(sizes))
    return error;
  const Grade *grade = warnings ? spec.contract.grade() : nullptr;
  if (level < 2) {
    if (grade)
      warnAboutDeclaration(*grade, spec.axis, spec.shape, *warnings);
    return std::nullopt;
  }
  const FormatDescription &description = spec.contract.description();
  std::array<int64_t, 4> slotBytes{};
  std::array<const uint8_t *, 4> slotPlanes{};
  for (unsigned i = 0; i < description.planes.size(); ++i) {
    unsigned slot = planeSlot(description, i);
    slotBytes[slot] = sizes[i];
    slotPlanes[slot] = i < planes.size() ? planes[i] : nullptr;
  }
  std::array<ByteSpan, 4> slots;
  if (auto error = checkContents(spec, slotBytes, slotPlanes, expected, slots))
    return error;
  if (!grade)
    return std::nullopt;
  warnAboutDeclaration(*grade, spec.axis, spec.shape, *warnings);
  if (level >= 3)
    probe(spec, slots, *warnings);
  return std::nullopt;
}

Expected<ArraySpec>
grit::specFromDescriptor(std::span<const uint8_t> descriptor,
                         std::span<const int64_t> shape) {
  Descriptor d;
  Sizes sizes;
  Expected<const Contract *> contract =
      checkDeclared(descriptor, shape, d, sizes);
  if (!contract)
    return tl::unexpected(contract.error());
  return specOf(**contract, d, shape);
}
