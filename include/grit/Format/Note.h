//===- Note.h - what people say about an array's bytes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_NOTE_H
#define GRIT_FORMAT_NOTE_H

#include "grit/Format/Descriptor.h"

namespace grit {

/// The note of a descriptor in its fields (GRIT v1, section 11.1). Any 32 bits
/// are legal; no check, decode or identity depends on them.
struct Note {
  /// A placement was assumed, not established.
  bool assumed = false;
  /// Which tool wrote the array; 0 when nobody said.
  uint8_t producer = 0;
  /// The bits without a meaning, kept as they were.
  uint32_t reserved = 0;

  static constexpr Note read(uint32_t bits) {
    return {(bits & Descriptor::kNoteAssumed) != 0,
            static_cast<uint8_t>(bits >> 8), bits & kReservedMask};
  }
  constexpr uint32_t write() const {
    return (assumed ? Descriptor::kNoteAssumed : 0) | uint32_t(producer) << 8 |
           (reserved & kReservedMask);
  }

  /// Bits 7 to 1 and 31 to 16.
  static constexpr uint32_t kReservedMask = 0xFFFF00FE;

  /// The note of an array that is made from two: assumed when one of them is,
  /// of the producer that both name.
  static constexpr Note merge(const Note &a, const Note &b) {
    return {a.assumed || b.assumed,
            a.producer == b.producer ? a.producer : uint8_t(0), 0};
  }

  friend constexpr bool operator==(const Note &, const Note &) = default;
};

/// The bytes of a descriptor that are hashed: all but the note.
inline std::array<uint8_t, 60> frameBytes(const DescriptorBytes &bytes) {
  std::array<uint8_t, 60> frame;
  for (size_t i = 0; i < frame.size(); ++i)
    frame[i] = bytes[i < 28 ? i : i + 4];
  return frame;
}

} // namespace grit

#endif // GRIT_FORMAT_NOTE_H
