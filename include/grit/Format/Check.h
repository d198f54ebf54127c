//===- Check.h - grit_check: the boundary check -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_CHECK_H
#define GRIT_FORMAT_CHECK_H

#include "grit/Format/Contract.h"
#include "grit/Format/Descriptor.h"
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace grit {

/// What a boundary sees of a grade's array.
struct CheckInput {
  std::span<const uint8_t> descriptor; ///< 64 bytes, or GradeUnknown
  std::span<const int64_t> shape;
  std::span<const int64_t> planeBytes; ///< data, scale0, scale1, aux
  /// Read at level 2 only; null where a plane is absent.
  std::span<const uint8_t *const> planes;
  std::optional<std::array<uint8_t, 16>> digest; ///< compared at level 2
};

/// Steps 1 to 5 of grit_check in their normative order; the first failure is
/// returned. Level 1 (and 0) reads the descriptor, the shape and the sizes;
/// level 2 reads the planes. Never traps, never reads beyond what it was given.
std::optional<Error> check(const CheckInput &input, int level);

/// The same five statuses for an array under any contract, whose identity is
/// already established by `spec`.
std::optional<Error>
check(const ArraySpec &spec, std::span<const int64_t> planeBytes, int level,
      std::span<const uint8_t *const> planes = {},
      std::optional<std::array<uint8_t, 16>> digest = std::nullopt);

/// The array that a descriptor and a shape declare (steps 1 to 4.5).
Expected<ArraySpec> specFromDescriptor(std::span<const uint8_t> descriptor,
                                       std::span<const int64_t> shape);

} // namespace grit

#endif // GRIT_FORMAT_CHECK_H
