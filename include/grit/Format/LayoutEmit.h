//===- LayoutEmit.h - layout maps as code -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the arithmetic of a LayoutMap with the operations of whoever calls: a
// compiler that builds instructions, or plain numbers. The operations come from
// an object with a type `Value` and these members, all on integers of at least
// 0; a number among the arguments is a constant.
//
//   Value constant(int64_t)             Value add(Value, Value)
//   Value multiply(Value, int64_t)      Value subtract(Value, Value)
//   Value divide(Value, int64_t)        Value bitXor(Value, Value)
//   Value remainder(Value, int64_t)     Value bitAnd(Value, int64_t)
//   Value shiftLeft(Value, unsigned)    Value shiftRight(Value, unsigned)
//   Value lookup(std::span<const uint32_t> table, Value)
//
// What multiplies or divides by 1 is left out. Neither does the code reduce an
// index beyond the domain, so that the map of mapOfAnyRows (Layout.h) is code
// for any number of rows.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_LAYOUTEMIT_H
#define GRIT_FORMAT_LAYOUTEMIT_H

#include "grit/Format/LayoutMap.h"
#include <map>
#include <optional>

namespace grit {

/// The code of one map; see emitSlot.
template <typename Operations> class LayoutEmitter {
public:
  using Value = typename Operations::Value;
  explicit LayoutEmitter(Operations &operations) : ops(operations) {}

  Value emit(const LayoutStep &step, Value index) {
    return std::visit([&](const auto &kind) { return apply(kind, index); },
                      step);
  }

private:
  Value times(Value value, int64_t factor) {
    return factor == 1 ? value : ops.multiply(value, factor);
  }
  Value over(Value value, int64_t divisor) {
    return divisor == 1 ? value : ops.divide(value, divisor);
  }

  Value apply(const DigitMove &move, Value index) {
    std::optional<Value> slot;
    for (size_t i = 0; i < move.digits.size(); ++i) {
      auto [radix, stride] = move.digits[i];
      bool last = i + 1 == move.digits.size();
      Value digit = last ? index : ops.remainder(index, radix);
      if (!last)
        index = over(index, radix);
      if (stride == 0)
        continue;
      Value term = times(digit, stride);
      slot = slot ? ops.add(*slot, term) : term;
    }
    return slot ? *slot : ops.constant(0);
  }

  /// Puts `replaced` for the part of the index that is `part` now.
  Value exchange(Value index, Value part, Value replaced, int64_t base) {
    return ops.add(index, times(ops.subtract(replaced, part), base));
  }

  /// Bits that move equally far move together: the exclusive or has a term per
  /// distance, not per bit.
  Value apply(const BitMix &mix, Value index) {
    Value part =
        ops.remainder(over(index, mix.base), int64_t(1) << mix.images.size());
    std::map<int, int64_t> masks;
    for (size_t from = 0; from < mix.images.size(); ++from)
      for (size_t to = 0; to < mix.images.size(); ++to)
        if (mix.images[from] >> to & 1)
          masks[static_cast<int>(to) - static_cast<int>(from)] |= int64_t(1)
                                                                  << from;
    std::optional<Value> mixed;
    for (auto [distance, mask] : masks) {
      bool whole = mask == (int64_t(1) << mix.images.size()) - 1;
      Value term = whole ? part : ops.bitAnd(part, mask);
      if (distance > 0)
        term = ops.shiftLeft(term, static_cast<unsigned>(distance));
      if (distance < 0)
        term = ops.shiftRight(term, static_cast<unsigned>(-distance));
      mixed = mixed ? ops.bitXor(*mixed, term) : term;
    }
    return exchange(index, part, *mixed, mix.base);
  }

  Value apply(const SlotTable &table, Value index) {
    Value part = ops.remainder(over(index, table.base),
                               static_cast<int64_t>(table.slots.size()));
    return exchange(index, part, ops.lookup(table.slots, part), table.base);
  }

  Operations &ops;
};

/// The slot of `index` under `map`.
template <typename Operations>
typename Operations::Value emitSlot(const LayoutMap &map,
                                    Operations &operations,
                                    typename Operations::Value index) {
  LayoutEmitter<Operations> emitter(operations);
  for (const LayoutStep &step : map.steps())
    index = emitter.emit(step, index);
  return index;
}

} // namespace grit

#endif // GRIT_FORMAT_LAYOUTEMIT_H
