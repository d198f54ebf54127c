//===- ByteOrder.h - which bytes of a plane form words -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A description addresses bits, so that it does not say in which order a
// machine stores the bytes of a number: everything is little-endian. Files of
// other machines hold the same blocks with the bytes of each word turned round.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_BYTEORDER_H
#define GRIT_FORMAT_BYTEORDER_H

#include "grit/Format/Description.h"
#include <span>

namespace grit {

/// The numbers of more than one byte in a unit of bytes that repeats.
class ByteOrder {
public:
  struct Word {
    int64_t offset = 0, bytes = 0;
    friend auto operator<=>(const Word &, const Word &) = default;
  };

  ByteOrder() = default;
  explicit ByteOrder(int64_t unit) : unit(unit) {}
  /// Of a plane: the fields of it whose values fill 2, 4 or 8 whole bytes.
  static ByteOrder of(const FormatDescription &format, unsigned plane);

  /// Adds a word within the unit. One that is there already is ignored.
  void add(Word word);

  int64_t unitBytes() const { return unit; }
  std::span<const Word> words() const { return list; }
  /// Turns the bytes of every word round; whole units.
  void swap(std::span<uint8_t> bytes) const;

private:
  int64_t unit = 1;
  std::vector<Word> list; ///< rising
};

} // namespace grit

#endif // GRIT_FORMAT_BYTEORDER_H
