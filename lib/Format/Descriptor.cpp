//===- Descriptor.cpp - the 64-byte descriptor -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Descriptor.h"
#include "CheckSteps.h"

using namespace grit;

namespace {

/// Visits the fields of the 64 bytes in their order; reading and writing are
/// the same walk.
template <typename Visitor, typename Desc>
void visitFields(Visitor &&visit, Desc &d) {
  visit(d.magic);
  visit(d.headerBytes);
  visit(d.version);
  visit(d.levels);
  visit(d.flags);
  visit(d.elem);
  visit(d.scale0);
  visit(d.scale1);
  visit(d.zp);
  visit(d.groupAxis);
  visit(d.k0);
  visit(d.k1);
  visit(d.spN);
  visit(d.spM);
  visit(d.spMetaFormat);
  visit(d.spOrder);
  visit(d.container);
  visit(d.frameReserved);
  visit(d.note);
  visit(d.placements.data);
  visit(d.placements.scale);
  visit(d.placements.meta);
  visit(d.gradeId);
}

class Reader {
public:
  explicit Reader(const uint8_t *next) : next(next) {}

  void operator()(FormatWord &word) { word = FormatWord(take<uint16_t>()); }
  void operator()(Placement &word) { word = Placement(take<uint64_t>()); }
  template <typename Int> void operator()(Int &value) { value = take<Int>(); }

private:
  template <typename Int> Int take() {
    uint64_t value = 0;
    for (unsigned i = 0; i < sizeof(Int); ++i)
      value |= uint64_t(*next++) << (8 * i);
    return static_cast<Int>(value);
  }

  const uint8_t *next;
};

class Writer {
public:
  explicit Writer(uint8_t *next) : next(next) {}

  void operator()(FormatWord word) { put(word.raw(), 2); }
  void operator()(Placement word) { put(word.raw(), 8); }
  template <typename Int> void operator()(Int value) {
    put(static_cast<uint64_t>(value), sizeof(Int));
  }

private:
  void put(uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      *next++ = static_cast<uint8_t>(value >> (8 * i));
  }

  uint8_t *next;
};

} // namespace

Descriptor Descriptor::read(std::span<const uint8_t, 64> bytes) {
  Descriptor d;
  visitFields(Reader(bytes.data()), d);
  return d;
}

DescriptorBytes Descriptor::write() const {
  DescriptorBytes bytes;
  visitFields(Writer(bytes.data()), *this);
  return bytes;
}

Descriptor grit::frameOf(const Grade &grade) {
  Descriptor d;
  d.levels = grade.hasLevel1() ? 2 : 1;
  d.flags =
      static_cast<uint8_t>((grade.hasZeroPoint() ? Descriptor::HasZp : 0) |
                           (grade.zpMinusOne ? Descriptor::ZpMinus1 : 0) |
                           (grade.zpLevel1 ? Descriptor::ZpL1Scaled : 0) |
                           (grade.isSparse() ? Descriptor::Sparse : 0) |
                           (grade.msbFirst ? Descriptor::MsbFirst : 0));
  d.elem = grade.e;
  d.scale0 = grade.s0;
  d.scale1 = grade.s1;
  d.zp = grade.zp;
  d.k0 = static_cast<uint16_t>(grade.k0);
  d.k1 = static_cast<uint16_t>(grade.k1.value_or(0));
  d.spN = static_cast<uint8_t>(grade.spN);
  d.spM = static_cast<uint8_t>(grade.spM);
  d.spMetaFormat = static_cast<uint8_t>(grade.spMetaBits / 2);
  d.spOrder = grade.spAscending;
  d.container = grade.pad8;
  return d;
}

Expected<Descriptor> Descriptor::fromGrade(const Grade &grade) {
  auto fits = [](uint64_t value) { return value <= UINT16_MAX; };
  if (!fits(grade.k0) || !fits(grade.k1.value_or(0))) {
    std::string key = fits(grade.k0) ? "k1" : "k0";
    return makeError(Status::GradeUnknown,
                     key + " does not fit the 16 bits of a descriptor", key,
                     "at most 65535",
                     std::to_string(fits(grade.k0) ? *grade.k1 : grade.k0), {},
                     "use smaller groups, or k1=0 for one scale per tensor");
  }
  Descriptor d = frameOf(grade);
  d.gradeId = grade.id();
  return d;
}
