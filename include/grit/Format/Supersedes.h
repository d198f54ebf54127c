//===- Supersedes.h - which grades share their bytes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_SUPERSEDES_H
#define GRIT_FORMAT_SUPERSEDES_H

#include "grit/Format/Grade.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace grit {

/// What an edge permits.
enum class EdgeScope : uint8_t {
  Decode, ///< stored bytes may be read under either grade
  Full,   ///< and both encoders write the same bytes
};

/// A claim that one grade may take the place of another (GRIT v1, section
/// 11.2).
struct SupersedesEdge {
  std::string from, to; ///< canonical strings
  EdgeScope scope = EdgeScope::Decode;
  std::string reason;
};

/// An array to encode, for the proof of an edge of full scope.
struct EncodeCase {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// The edges of version 1.
std::span<const SupersedesEdge> supersedesEdges();

/// The mechanical precondition of an edge: a reason; equal decode projections;
/// for full scope, the same planes (or the same refusal) from both grades for
/// each of `suite`, which must not be empty.
Expected<void> verifyEdge(const SupersedesEdge &edge,
                          std::span<const EncodeCase> suite = {});

/// Whether two grades are equivalent: equal canonical strings, or a path of
/// edges of this scope or a stronger one, taken in either direction. `more` are
/// edges beside those of version 1; the caller has verified them.
bool equivalent(const Grade &a, const Grade &b, EdgeScope scope,
                std::span<const SupersedesEdge> more = {});

} // namespace grit

#endif // GRIT_FORMAT_SUPERSEDES_H
