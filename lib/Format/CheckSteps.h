//===- CheckSteps.h - the steps of grit_check -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per step. None of them allocates when nothing is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_CHECKSTEPS_H
#define GRIT_LIB_FORMAT_CHECKSTEPS_H

#include "grit/Format/Check.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Descriptor.h"
#include <array>
#include <optional>
#include <span>

namespace grit {

/// What a grade demands of the frame; placements, axis, note and grade id are
/// left at zero. The parts of k0 and k1 beyond 16 bits are lost.
Descriptor frameOf(const Grade &grade);

namespace check_steps {

/// The names of the four planes of a grade's array.
inline constexpr const char *kPlaneNames[] = {"data", "scale0", "scale1",
                                              "aux"};

/// Step 1: the bytes can be a descriptor of version 1.
std::optional<Error> checkFrame(const Descriptor &d);

/// Step 2: the grade is known, and the frame is what it demands. The contract
/// stays for the life of the process.
Expected<const Contract *> checkGrade(const Descriptor &d);

/// Step 3: the placement words are acceptable.
std::optional<Error> checkPlacements(const Descriptor &d);

/// The counts that the size equations use, and their results.
struct Sizes {
  int64_t numElements = 0, numStored = 0, numGroups0 = 0, numGroups1 = 0;
  std::array<int64_t, 4> planeBytes{};
};

/// Steps 4.1 to 4.5, and the size equations.
std::optional<Error> computeSizes(const Descriptor &d,
                                  std::span<const int64_t> shape, Sizes &sizes);

/// Step 4.6.
std::optional<Error> comparePlaneBytes(const Descriptor &d, const Sizes &sizes,
                                       std::span<const int64_t> planeBytes);

/// What the declaration of a grade's array warns about (C28, C36).
void warnAboutDeclaration(const Grade &grade, int groupAxis,
                          std::span<const int64_t> shape,
                          std::vector<Warning> &warnings);

/// The first demand that a number does not meet.
std::optional<Demand> unmetDemand(const Demands &demands, float x);
/// Whether the contract calls some codes or factors illegal.
bool hasLegality(const FormatDescription &description);
/// The first code or factor that the contract calls illegal. `planes` are in
/// the order of the description, their sizes right. Values whose placement has
/// no map cannot be found, and pass.
std::optional<Error> checkLegality(const ArraySpec &spec,
                                   std::span<const ByteSpan> planes);

/// The probes of level 3 on planes that passed step 5. `slots` are in the order
/// of the C ABI. A probe of values whose placement has no map is left out.
void probe(const ArraySpec &spec, std::span<const ByteSpan> slots,
           std::vector<Warning> &warnings);

/// A SizeMismatch from its parts (see Error).
Error sizeError(std::string message, std::string field, std::string declared,
                std::string found, std::string cause, std::string fix,
                int plane = -1);

} // namespace check_steps
} // namespace grit

#endif // GRIT_LIB_FORMAT_CHECKSTEPS_H
