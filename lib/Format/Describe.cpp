//===- Describe.cpp - the description that a grade spells -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Grade.h"
#include <numeric>

using namespace grit;

/// The descriptor holds group sizes in 16 bits.
static constexpr uint64_t kMaxGroup = 0xFFFF;

static tl::unexpected<Error> refuse(const Grade &grade, std::string field,
                                    std::string message, std::string declared,
                                    std::string found) {
  return makeError(
      Status::GradeUnknown, std::move(message), std::move(field),
      std::move(declared), std::move(found),
      "the grade string parses, but no array can have this grade: " +
          grade.canonical(),
      "correct the grade string");
}

/// Bits that a code takes in a plane: PAD8 gives narrow codes a byte each.
static unsigned containerWidth(FormatWord word, bool pad8) {
  return pad8 && word.width() <= 8 ? 8 : word.width();
}

/// One value per step, one after the other.
static BitField packed(unsigned plane, unsigned width, int64_t step,
                       int64_t base = 0) {
  return {plane, {{base, width, 0, {{1, 0, step}}}}};
}

/// Codes of the data plane. Least significant first they follow one another in
/// the bit order of the plane; most significant first, the first code of a byte
/// takes its high bits, and codes of six bits run on into the next byte.
static BitField codeBits(unsigned plane, const Grade &grade) {
  unsigned width = grade.e.width(), step = containerWidth(grade.e, grade.pad8);
  if (!grade.msbFirst || step >= 8)
    return packed(plane, width, step);
  if (8 % step != 0)
    return BitField::msbStream(plane, width);
  int64_t perByte = 8 / step;
  return {plane,
          {{8 - int64_t(step),
            width,
            0,
            {{perByte, 0, 8}, {1, perByte, -int64_t(step)}}}}};
}

/// Says what the grammar admits and the planes cannot hold.
static Expected<void> verifyGrade(const Grade &grade) {
  auto group = [&](std::string field, uint64_t value,
                   uint64_t least) -> Expected<void> {
    if (value < least || value > kMaxGroup)
      return refuse(grade, field, "group size out of range",
                    std::to_string(least) + " to 65535", std::to_string(value));
    return {};
  };
  if (auto ok = group("k0", grade.k0, 1); !ok)
    return ok;
  if (grade.zpLevel1 && !grade.hasZeroPoint())
    return refuse(grade, "zps",
                  "zps says how a zero point is scaled, and there "
                  "is none",
                  "zp", "no zp");
  if (grade.hasLevel1()) {
    if (auto ok = group("k1", *grade.k1, 0); !ok)
      return ok;
    if (grade.s1.width() < 8)
      return refuse(grade, "s1",
                    "a level-1 scale below 8 bits has no agreed packing",
                    "a format of 8 bits or more", grade.s1.str());
  } else if (grade.zpLevel1) {
    return refuse(grade, "zps", "zps=l1 needs a second scale level",
                  "k1 and s1", "neither");
  }
  if (!grade.isSparse())
    return {};
  std::string sparsity =
      std::to_string(grade.spN) + ":" + std::to_string(grade.spM);
  if (grade.hasZeroPoint())
    return refuse(
        grade, "zp", "sparsity and a zero point would share the aux plane",
        "one of the two", "sp=" + sparsity + ", zp=" + grade.zp.str());
  if (grade.spN < 1 || grade.spN >= grade.spM || grade.spM > 32)
    return refuse(grade, "sp", "N of M is out of range", "1 <= N < M <= 32",
                  sparsity);
  if (grade.spMetaBits != 2 && grade.spMetaBits != 4)
    return refuse(grade, "sp", "indices are u2 or u4", "2 or 4 bits",
                  std::to_string(grade.spMetaBits));
  if (grade.spM > 1u << grade.spMetaBits)
    return refuse(grade, "sp", "the index format cannot hold every position",
                  "M at most " + std::to_string(1u << grade.spMetaBits) +
                      " for u" + std::to_string(grade.spMetaBits),
                  sparsity);
  return {};
}

static EncodeRule encodeRule(const std::string &esr) {
  if (esr == "exp2floormaxabs")
    return EncodeRule::Exp2Floor;
  if (esr == "exp2ceilmaxabs")
    return EncodeRule::Exp2Ceil;
  if (esr == "exp2rnemaxabs")
    return EncodeRule::Exp2Rne;
  if (esr == "ratiomaxabs")
    return EncodeRule::Ratio;
  if (esr == "affineminmax")
    return EncodeRule::AffineMinMax;
  return EncodeRule::None; // custom:NAME says nothing that we could follow
}

namespace {
/// Adds one plane after the other, in the order data, scale0, scale1, aux.
class Builder {
public:
  explicit Builder(const Grade &grade) : grade(grade) {}
  FormatDescription build();

private:
  unsigned addPlane(std::string name, int64_t elements, int64_t bits,
                    unsigned placement) {
    desc.planes.push_back({std::move(name), elements, bits, placement});
    return desc.planes.size() - 1;
  }
  void addData();
  void addScales();
  void addAux();

  const Grade &grade;
  FormatDescription desc;
  Factor level1Minimum; ///< Z1 of a pair, before the zp plane is known
};
} // namespace

void Builder::addData() {
  int64_t step = containerWidth(grade.e, grade.pad8);
  unsigned plane = grade.isSparse()
                       ? addPlane("data", grade.spM, grade.spN * step, 0)
                       : addPlane("data", 1, step, 0);
  desc.codes = codeBits(plane, grade);
  desc.level.number.word = grade.e;
}

void Builder::addScales() {
  int64_t k0 = grade.k0;
  int64_t step0 = containerWidth(grade.s0, /*pad8=*/true);
  unsigned plane0 = addPlane("scale0", k0, step0, 1);
  Factor scale0{"s0",
                {grade.s0, 0},
                packed(plane0, grade.s0.width(), step0),
                k0,
                ElementOrder::RowMajor};
  if (grade.hasLevel1()) {
    int64_t group = k0 * int64_t(*grade.k1); // 0: per tensor
    int64_t width = grade.s1.width(), step = width * (grade.zpLevel1 ? 2 : 1);
    unsigned plane1 = addPlane("scale1", group, step, 1);
    Factor scale1{"s1",
                  {grade.s1, 0},
                  packed(plane1, width, step),
                  group,
                  ElementOrder::RowMajor};
    if (grade.zpLevel1) {
      level1Minimum = scale1;
      level1Minimum.name = "z1";
      level1Minimum.bits = packed(plane1, width, step, width);
    }
    desc.scales.push_back(std::move(scale1));
  }
  desc.scales.push_back(std::move(scale0));
}

void Builder::addAux() {
  if (grade.isSparse()) {
    int64_t width = grade.spMetaBits;
    unsigned plane = addPlane("aux", grade.spM, grade.spN * width, 2);
    desc.sparsity = {grade.spN, grade.spM, packed(plane, width, width),
                     grade.spAscending};
  } else if (grade.hasZeroPoint()) {
    int64_t k0 = grade.k0, step = containerWidth(grade.zp, /*pad8=*/true);
    unsigned plane = addPlane("aux", k0, step, 2);
    Factor zero{"zp",
                {grade.zp, 0},
                packed(plane, grade.zp.width(), step),
                k0,
                ElementOrder::RowMajor};
    if (grade.zpLevel1) {
      // zpc=minus1 has no effect here: only a shared zero point is shifted.
      desc.offset.kind = Offset::Kind::Minimum;
      desc.offset.factors.push_back(level1Minimum);
    } else {
      desc.offset.kind = Offset::Kind::ZeroPoint;
      zero.number.plus = grade.zpMinusOne ? 1 : 0;
    }
    desc.offset.factors.push_back(std::move(zero));
  }
}

FormatDescription Builder::build() {
  addData();
  addScales();
  addAux();
  desc.projection = {grade.dt, grade.dr, grade.ds};
  desc.encoding = {encodeRule(grade.esr), grade.er, grade.es};
  int64_t k0 = grade.k0;
  desc.axisMultiple = grade.isSparse() ? std::lcm<int64_t>(k0, grade.spM) : k0;
  if (grade.hasLevel1() && *grade.k1)
    desc.arrayMultiple = k0 * int64_t(*grade.k1);
  return std::move(desc);
}

Expected<FormatDescription> grit::describe(const Grade &grade) {
  if (auto ok = verifyGrade(grade); !ok)
    return tl::make_unexpected(ok.error());
  return Builder(grade).build();
}
