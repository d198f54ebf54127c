//===- LayerFamiliesTest.cpp - the table against the registry -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Scan/LayerFamilies.h"
#include "grit/Container/ElementType.h"
#include "grit/Format/Contract.h"
#include <gtest/gtest.h>
#include <sstream>

using namespace grit;
using namespace grit::scan;

static std::vector<std::string> wordsOf(std::string_view list) {
  std::istringstream stream{std::string(list)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

/// Planes of the contract that `family` spells for these numbers.
static void checkContract(const FamilyRow &family, const Spelling &spelling,
                          int64_t bits, int64_t group) {
  std::string text = fillIn(spelling.contract,
                            {{'b', bits}, {'g', group}, {'r', 64}, {'c', 32}});
  Expected<Contract> contract = Contract::parse(text);
  ASSERT_TRUE(contract) << text;
  // Blocks of any size have no names.
  EXPECT_EQ(contract->isRegistered(), !family.anyBlock) << text;
  size_t planes = family.stated.empty() ? 0 : 1;
  for (const PartRow &row : family.parts)
    planes += row.use == Use::Plane && row.presence != Presence::Absent;
  const FormatDescription &description = contract->description();
  // Grades have planes that may be absent, with no bits.
  size_t expected = 0;
  for (const PlaneInfo &plane : description.planes)
    expected += plane.bits != 0;
  EXPECT_EQ(planes, expected) << text;
  EXPECT_EQ(description.codes.storedWidth(), static_cast<unsigned>(bits))
      << text;
  // A plane that lies in the state is the last one, under its name there.
  if (!family.stated.empty())
    EXPECT_EQ(description.planes.back().name, family.stated) << text;
}

TEST(LayerFamiliesTest, EveryRowFitsTheRegistry) {
  for (const FamilyRow &family : layerFamilies()) {
    SCOPED_TRACE(std::string(family.title));
    std::vector<std::string> widths = wordsOf(family.bits);
    ASSERT_FALSE(widths.empty());
    for (const std::string &width : widths)
      for (int64_t group : {32, 64, 128}) {
        int64_t bits = std::stoll(width);
        for (const Spelling &spelling : family.spellings)
          checkContract(family, spelling, bits,
                        family.group ? family.group : group);
        for (std::string_view text : {family.data, family.scale, family.meta}) {
          std::string placement =
              fillIn(text, {{'w', 32 / bits}, {'p', 8 / bits}});
          EXPECT_TRUE(text.empty() || Placement::parse(placement)) << placement;
        }
      }
  }
}

TEST(LayerFamiliesTest, EveryRowIsWellFormed) {
  for (const FamilyRow &family : layerFamilies()) {
    SCOPED_TRACE(std::string(family.title));
    ASSERT_GE(family.parts.size(), 2u);
    // Codes come first, scales second; contracts are chosen by their type.
    EXPECT_EQ(family.parts[0].use, Use::Plane);
    EXPECT_EQ(family.parts[0].presence, Presence::Mark);
    EXPECT_EQ(family.parts[1].use, Use::Plane);
    for (const PartRow &row : family.parts) {
      EXPECT_EQ(row.presence == Presence::Absent, row.shape.empty());
      for (const std::string &type : wordsOf(row.types))
        EXPECT_TRUE(lookupElementType(type)) << type;
    }
    for (const Spelling &spelling : family.spellings)
      for (const std::string &type : wordsOf(spelling.types))
        EXPECT_TRUE(listHas(family.parts[1].types, type)) << type;
  }
}

TEST(LayerFamiliesTest, Words) {
  EXPECT_TRUE(listHas("F16 BF16", "BF16"));
  EXPECT_FALSE(listHas("F16 BF16", "F1"));
  EXPECT_FALSE(listHas("BF16", "F16"));
  EXPECT_FALSE(listHas("F16", ""));
  EXPECT_FALSE(listHas("", ""));
  EXPECT_EQ(fillIn("a{b}({g}){x}{", {{'b', 4}, {'g', 128}}), "a4(128){x}{");
}
