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
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// What a check that succeeds may say about an array that is legal and may mean
/// something else than its writer thought.
struct Warning {
  enum class Kind : uint8_t {
    /// An axis after the group axis is longer than 1 (C28).
    GroupAxisNotInnermost,
    /// ZP_MINUS1 together with ZP_L1SCALED (C36).
    Minus1WithoutEffect,
    /// Level 3: all sampled exponent-only scales are equal.
    ScalesWithoutSpread,
    /// Level 3: no sampled s8 code reaches half of the range.
    CodesFarFromLimit,
  };
  Kind kind;
  std::string message; ///< one sentence, lower case, without a full stop
  std::string field;   ///< e.g. "group_axis", "scale0"
  std::string found;   ///< the value that was met
  std::string fix;     ///< what the user can do
};

/// "group-axis-not-innermost", "minus1-without-effect", "scales-without-spread"
/// or "codes-far-from-limit".
std::string_view warningName(Warning::Kind kind);

/// What a boundary sees of a grade's array.
struct CheckInput {
  std::span<const uint8_t> descriptor; ///< 64 bytes, or GradeUnknown
  std::span<const int64_t> shape;
  std::span<const int64_t> planeBytes; ///< data, scale0, scale1, aux
  /// Read from level 2 on; null where a plane is absent.
  std::span<const uint8_t *const> planes;
  std::optional<std::array<uint8_t, 16>> digest; ///< compared from level 2 on
};

/// Steps 1 to 5 of grit_check in their normative order; the first failure is
/// returned. Level 1 (and 0) reads the descriptor, the shape and the sizes;
/// level 2 reads the planes; level 3 also looks at up to 64 groups of them.
/// Never traps, never reads beyond what it was given. Where the check succeeds,
/// its warnings are added to `warnings`, which may be null.
std::optional<Error> check(const CheckInput &input, int level,
                           std::vector<Warning> *warnings = nullptr);

/// The same five statuses for an array under any contract, whose identity is
/// already established by `spec`. Only a grade's array has warnings.
std::optional<Error>
check(const ArraySpec &spec, std::span<const int64_t> planeBytes, int level,
      std::span<const uint8_t *const> planes = {},
      std::optional<std::array<uint8_t, 16>> digest = std::nullopt,
      std::vector<Warning> *warnings = nullptr);

/// The array that a descriptor and a shape declare (steps 1 to 4.5).
Expected<ArraySpec> specFromDescriptor(std::span<const uint8_t> descriptor,
                                       std::span<const int64_t> shape);

} // namespace grit

#endif // GRIT_FORMAT_CHECK_H
