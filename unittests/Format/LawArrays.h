//===- LawArrays.h - random arrays for the laws -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_LAWARRAYS_H
#define GRIT_UNITTESTS_FORMAT_LAWARRAYS_H

#include "Covering.h"
#include "LayoutOracle.h"
#include "grit/Format/Rearrange.h"

namespace grit::test {

/// Contracts with small groups, one for each part that an array can have, and
/// the registered grades.
inline const std::vector<Contract> &lawContracts() {
  static const std::vector<Contract> contracts = [] {
    std::vector<Contract> result;
    for (const char *text :
         {"grit1(e=s8,k0=4,s0=binary16,esr=ratiomaxabs)",
          "grit1(e=e2m1,k0=2,s0=e4m3,k1=2,s1=binary32,esr=ratiomaxabs)",
          "grit1(e=e2m1,k0=4,s0=e4m3,k1=0,s1=binary32,esr=ratiomaxabs)",
          "grit1(e=u4,k0=4,s0=u6,k1=2,s1=binary16,zp=u6,zps=l1,"
          "esr=affineminmax)",
          "grit1(e=u2,k0=8,s0=binary16,zp=u8,po=msb,esr=custom:x)",
          "grit1(e=s8,k0=8,s0=binary16,sp=2:4:u2:asclsb,esr=ratiomaxabs)",
          "grit1(e=u6,k0=4,s0=e8m0,po=msb,esr=custom:x)", "mxfp4", "nvf4",
          "q4ks", "i8s24"})
      result.push_back(contract(text));
    return result;
  }();
  return contracts;
}

/// A grade with small groups and any of the parts that go together.
inline Contract randomGrade(Random &random) {
  auto pick = [&](std::initializer_list<const char *> texts) {
    return std::string(*(texts.begin() + random.next() % texts.size()));
  };
  std::string text =
      "grit1(e=" + pick({"e2m1", "s8", "u4", "u6", "s4", "e4m3"}) +
      ",k0=" + pick({"4", "8", "12", "16"}) +
      ",s0=" + pick({"e8m0", "e4m3", "u6", "binary16"});
  bool deep = random.next() % 2;
  if (deep)
    text += ",k1=" + pick({"0", "2", "3"}) +
            ",s1=" + pick({"binary16", "binary32"});
  switch (random.next() % 3) {
  case 0:
    text += ",zp=" + pick({"u6", "u8"}) + (deep ? pick({"", ",zps=l1"}) : "");
    break;
  case 1:
    text += ",sp=" + pick({"2:4:u2", "1:4:u4", "3:4:u2"}) +
            pick({":asclsb", ":unord"});
    break;
  default:
    break;
  }
  return contract(text + ",esr=custom:any,po=" + pick({"lsb", "msb"}) +
                  ",ct=" + pick({"dense", "pad8"}) + ")");
}

/// A contract for round number `round`: each of lawContracts now and then, and
/// random grades in between.
inline Contract lawContract(int round, Random &random) {
  if (round % 2 == 0)
    return lawContracts()[static_cast<size_t>(round / 2) %
                          lawContracts().size()];
  return randomGrade(random);
}

/// An array of a matrix of few whole groups.
inline ArraySpec lawMatrix(const Contract &contract, Random &random) {
  const FormatDescription &desc = contract.description();
  auto rows = static_cast<int64_t>(1 + random.next() % 6);
  auto groups = static_cast<int64_t>(1 + random.next() % 4);
  int64_t columns = desc.axisMultiple * groups;
  while (rows * columns % desc.arrayMultiple != 0)
    columns += desc.axisMultiple;
  return take(ArraySpec::get(contract, {rows, columns}));
}

/// The array with the layout of a text for planes of one role, or without it
/// where that does not fit.
inline void placeRole(ArraySpec &spec, unsigned role, const std::string &text) {
  Placements &words = spec.placements;
  Placement &word = role == 0   ? words.data
                    : role == 1 ? words.scale
                                : words.meta;
  Placement before = word;
  word = take(Placement::parse(text));
  const auto &planes = spec.contract.description().planes;
  for (unsigned i = 0; i < planes.size(); ++i)
    if (planes[i].placement == role && !planeItems(spec, i))
      word = before;
}

/// Gives each plane a random layout, or now and then a registered one.
inline ArraySpec withRandomPlacements(ArraySpec spec, LayoutSampler &sampler,
                                      Random &random) {
  const auto planes = spec.contract.description().planes;
  int64_t rows = spec.shape.front();
  for (unsigned i = 0; i < planes.size(); ++i) {
    if (planes[i].elements == 0)
      continue;
    int64_t items = take(planeItems(spec, i)).map.domain();
    if (items % rows != 0)
      continue;
    static constexpr const char *kNames[] = {"row_major", "col_major",
                                             "tile_16x16", "linear_meta"};
    std::string text =
        random.next() % 4 == 0
            ? kNames[random.next() % 4]
            : "layout(" +
                  sampler
                      .pick(rows, items / rows,
                            static_cast<int>(random.next() % 3), false)
                      .text +
                  ")";
    placeRole(spec, planes[i].placement, text);
  }
  return spec;
}

/// Clears the bits behind the last item of each plane, which mean nothing and
/// do not survive a move (P20).
inline void clearTails(const ArraySpec &spec, PlaneBytes &planes) {
  for (unsigned i = 0; i < planes.size(); ++i) {
    PlaneItems items = take(planeItems(spec, i));
    int64_t rest = items.map.domain() * items.packing.bits % 8;
    if (rest != 0)
      planes[i].back() &= static_cast<uint8_t>(
          items.packing.msbFirst ? 0xFF00 >> rest : (1 << rest) - 1);
  }
}

inline std::vector<ByteSpan> spansOf(const PlaneBytes &planes) {
  return {planes.begin(), planes.end()};
}

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_LAWARRAYS_H
