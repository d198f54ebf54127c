//===- GradeOrder.h - which grade may stand in for which -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GRIT v1, section 4.3: a grade k refines a grade r when every behaviour that k
// permits is one that r permits. Both decode alike, and the accumulation
// contract of k is at least as strict, key by key.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_GRADEORDER_H
#define GRIT_FORMAT_GRADEORDER_H

#include "grit/Format/Grade.h"
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// Keys 19 to 23 of a grade: what it says about sums of products.
struct Accumulation {
  std::string ao = "unspec";
  FormatWord ap = words::Binary32, ab = words::Binary32, ai = words::Binary32;
  std::string an = "any";

  static Accumulation of(const Grade &grade) {
    return {grade.ao, grade.ap, grade.ab, grade.ai, grade.an};
  }
  /// The grade with this accumulation contract in place of its own.
  Grade in(Grade grade) const;
  /// "ao=seq,ap=binary16": the keys that are not at their default, or "".
  std::string str() const;

  friend bool operator==(const Accumulation &, const Accumulation &) = default;
};

/// k refines r, for accumulation contracts: a partial order.
bool refines(const Accumulation &k, const Accumulation &r);

/// k refines r, for grades: the same decode projection, and an accumulation
/// contract that refines. Reflexive and transitive.
bool refines(const Grade &k, const Grade &r);

/// How two grades stand to each other.
enum class Relation : uint8_t {
  Same,      ///< each refines the other: they may differ in encode alone
  Refines,   ///< the first refines the second
  RefinedBy, ///< the second refines the first
  Unrelated,
};

/// "same", "refines", "refined-by" or "unrelated".
std::string_view relationName(Relation relation);

Relation relate(const Grade &a, const Grade &b);

/// Fails unless a kernel of grade `kernel` may serve `request`: names each key
/// that stands against it with both values, and the relax(...) of the request
/// that would allow the kernel, where there is one.
Expected<void> serves(const Grade &kernel, const Grade &request);

/// The strictest accumulation contract that both refine. Refused where a key
/// has none: two formats of products have no common one.
Expected<Accumulation> join(const Accumulation &a, const Accumulation &b);

/// `grade` with a weaker promise: one of the keys 19 to 23 gets a value that
/// its own refines, in any spelling. Every other key or value is refused.
Expected<Grade> relax(const Grade &grade, std::string_view key,
                      std::string_view value);

} // namespace grit

#endif // GRIT_FORMAT_GRADEORDER_H
