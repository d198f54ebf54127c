//===- Descriptor.h - the 64-byte descriptor of a grade's array -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_DESCRIPTOR_H
#define GRIT_FORMAT_DESCRIPTOR_H

#include "grit/Format/FormatWord.h"
#include "grit/Format/Grade.h"
#include "grit/Format/Placement.h"
#include <array>
#include <cstdint>
#include <span>

namespace grit {

using DescriptorBytes = std::array<uint8_t, 64>;

/// The fields of the 64 bytes (GRIT v1, section 3.1), as found: nothing here
/// implies that they make sense.
struct Descriptor {
  static constexpr uint32_t kMagic = 0x31545247; // "GRT1"
  enum Flags : uint8_t {
    HasZp = 0x01,
    ZpMinus1 = 0x02,
    Sparse = 0x04,
    MsbFirst = 0x08,
    Interleaved = 0x10,
    ZpL1Scaled = 0x20,
    Reserved = 0xC0,
  };
  static constexpr uint32_t kNoteAssumed = 1;

  uint32_t magic = kMagic;
  uint8_t headerBytes = 64, version = 1, levels = 1, flags = 0;
  FormatWord elem, scale0, scale1, zp;
  int16_t groupAxis = 0;
  uint16_t k0 = 0, k1 = 0;
  uint8_t spN = 0, spM = 0, spMetaFormat = 0, spOrder = 0, container = 0;
  uint8_t frameReserved = 0;
  uint32_t note = 0;
  Placements placements;
  uint64_t gradeId = 0;

  /// Reads fields byte by byte: any alignment, any host.
  static Descriptor read(std::span<const uint8_t, 64> bytes);
  DescriptorBytes write() const;

  /// The frame that `grade` demands (placements, axis and note left alone).
  static Expected<Descriptor> fromGrade(const Grade &grade);

  friend bool operator==(const Descriptor &, const Descriptor &) = default;
};

} // namespace grit

#endif // GRIT_FORMAT_DESCRIPTOR_H
