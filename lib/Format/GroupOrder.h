//===- GroupOrder.h - which group an element is in -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_GROUPORDER_H
#define GRIT_LIB_FORMAT_GROUPORDER_H

#include "grit/Format/Codec.h"
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace grit {

/// The groups of an array's elements: those of the shape, or in the order that
/// the array carries. Copies share the order.
class GroupOrder {
public:
  explicit GroupOrder(const ArraySpec &spec) : spec(&spec) {}

  /// Reads the order, where the contract has one. Refuses a number that is no
  /// group of a line.
  std::optional<Error> read(std::span<const ByteSpan> planes);

  int64_t groupOf(const Factor &factor, int64_t element) const {
    if (!groups || factor.group == 0 || factor.group == kWholeAxis)
      return groupIndex(factor, element, *spec);
    int64_t extent = static_cast<int64_t>(groups->size());
    return element / extent * (extent / factor.group) +
           (*groups)[static_cast<size_t>(element % extent)];
  }

private:
  const ArraySpec *spec;
  std::shared_ptr<const std::vector<uint32_t>> groups; ///< null: of the shape
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_GROUPORDER_H
