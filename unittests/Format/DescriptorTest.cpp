//===- DescriptorTest.cpp - the 64-byte descriptor -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Descriptor.h"
#include "Golden.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Fingerprint.h"
#include <gtest/gtest.h>
#include <random>

using namespace grit;

static Descriptor readDescriptor(const golden::Bytes &bytes) {
  EXPECT_EQ(bytes.size(), 64u);
  return Descriptor::read(std::span<const uint8_t, 64>(bytes.data(), 64));
}

// (G30, B1)
TEST(Descriptor, CanonicalOnesFromTheirGrades) {
  for (const golden::Grade &entry : golden::file().grades) {
    Expected<Grade> grade = Grade::parse(entry.canonical);
    ASSERT_TRUE(grade);
    Expected<Descriptor> d = Descriptor::fromGrade(*grade);
    ASSERT_TRUE(d);
    d->placements = {placements::RowMajor, placements::RowMajor,
                     grade->isSparse()       ? placements::LinearMeta
                     : grade->hasZeroPoint() ? placements::RowMajor
                                             : placements::Unspecified};
    EXPECT_EQ(toHex(d->write()), toHex(entry.descriptor)) << entry.name;
  }
}

// (B1)
TEST(Descriptor, FieldsAndOffsets) {
  DescriptorBytes bytes;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i);
  Descriptor d = Descriptor::read(bytes);
  EXPECT_EQ(d.magic, 0x03020100u);
  EXPECT_EQ(d.headerBytes, 4);
  EXPECT_EQ(d.version, 5);
  EXPECT_EQ(d.levels, 6);
  EXPECT_EQ(d.flags, 7);
  EXPECT_EQ(d.elem.raw(), 0x0908);
  EXPECT_EQ(d.scale0.raw(), 0x0B0A);
  EXPECT_EQ(d.scale1.raw(), 0x0D0C);
  EXPECT_EQ(d.zp.raw(), 0x0F0E);
  EXPECT_EQ(d.groupAxis, 0x1110);
  EXPECT_EQ(d.k0, 0x1312);
  EXPECT_EQ(d.k1, 0x1514);
  EXPECT_EQ(d.spN, 22);
  EXPECT_EQ(d.spM, 23);
  EXPECT_EQ(d.spMetaFormat, 24);
  EXPECT_EQ(d.spOrder, 25);
  EXPECT_EQ(d.container, 26);
  EXPECT_EQ(d.frameReserved, 27);
  EXPECT_EQ(d.note, 0x1F1E1D1Cu);
  EXPECT_EQ(d.placements.data.raw(), 0x2726252423222120u);
  EXPECT_EQ(d.placements.scale.raw(), 0x2F2E2D2C2B2A2928u);
  EXPECT_EQ(d.placements.meta.raw(), 0x3736353433323130u);
  EXPECT_EQ(d.gradeId, 0x3F3E3D3C3B3A3938u);
}

// (B2)
TEST(Descriptor, AnyBytesRoundTripAtAnyAlignment) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::array<uint8_t, 72> buffer;
    for (uint8_t &byte : buffer)
      byte = static_cast<uint8_t>(random());
    auto bytes = std::span<const uint8_t, 64>(buffer.data() + i % 8, 64);
    DescriptorBytes again = Descriptor::read(bytes).write();
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), again.begin()));
  }
}

TEST(Descriptor, NegativeAxis) {
  Descriptor d;
  d.groupAxis = -1;
  DescriptorBytes bytes = d.write();
  EXPECT_EQ(bytes[16], 0xFF);
  EXPECT_EQ(bytes[17], 0xFF);
  EXPECT_EQ(Descriptor::read(bytes).groupAxis, -1);
}

// (G31)
TEST(Descriptor, GroupsThatDoNotFit) {
  for (const char *text : {"grit1(e=u4,k0=65536,s0=u8,esr=ratio)",
                           "grit1(e=u4,k0=1,s0=u8,k1=65536,s1=u8,esr=ratio)"}) {
    Expected<Descriptor> d = Descriptor::fromGrade(*Grade::parse(text));
    ASSERT_FALSE(d);
    EXPECT_EQ(d.error().found, "65536");
    EXPECT_EQ(d.error().status, Status::GradeUnknown);
  }
}

/// gid is over the canonical string, the frame and the shape, not the note.
// (B22, B23)
TEST(Descriptor, GidsOfGoldenVectors) {
  const golden::File &file = golden::file();
  for (const auto *list : {&file.vectors, &file.decodeOnly})
    for (const golden::Vector &v : *list) {
      Expected<Contract> contract = Contract::parse(v.grade);
      ASSERT_TRUE(contract) << v.grade;
      Descriptor d = readDescriptor(v.descriptor);
      ArraySpec spec{*contract, v.shape, d.groupAxis, d.placements};
      EXPECT_EQ(toHex(spec.gid()), toHex(v.gid)) << v.name;
      EXPECT_EQ(toBase32(spec.gid()), v.gidBase32) << v.name;
      d.note = 0;
      ASSERT_TRUE(spec.descriptor());
      EXPECT_EQ(toHex(*spec.descriptor()), toHex(d.write())) << v.name;
    }
}
