//===- AuditTest.cpp - assumed placements, the ledger, verification -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Audit.h"
#include "FormatTestUtils.h"
#include "grit/Format/Check.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Note.h"
#include <cstdlib>
#include <fstream>
#include <type_traits>

using namespace grit;
using namespace grit::test;

namespace {

/// An array and its descriptor.
struct Sample {
  ArraySpec spec;
  Descriptor descriptor;
  std::vector<Bytes> planes;
  std::vector<ByteSpan> spans;
  Assumptions assumed;

  Sample(const char *contractName, std::vector<int64_t> shape)
      : spec(take(ArraySpec::get(contract(contractName), std::move(shape)))),
        descriptor(Descriptor::read(*spec.descriptor())) {
    Random random(11);
    planes = randomPlanes(spec, random);
    spans.assign(planes.begin(), planes.end());
  }
  Sample(const Sample &) = delete;
  PlacedArray placed() const { return {spec, spans}; }
};

/// The environment variable, for one test.
struct Ceiling {
  explicit Ceiling(const char *text) { setenv("GRIT_AUDIT_MAX_RATE", text, 1); }
  ~Ceiling() { unsetenv("GRIT_AUDIT_MAX_RATE"); }
};

} // namespace

// A reason has no default, is a literal, and says something; a blank literal
// does not compile (A1).
TEST(Audit, ReasonsAreMandatory) {
  static_assert(!std::is_default_constructible_v<AssumptionReason>);
  static_assert(!std::is_constructible_v<AssumptionReason, std::string>);
  static_assert(!std::is_constructible_v<AssumptionReason, const char *>);
  EXPECT_FALSE(AssumptionReason::check(""));
  EXPECT_FALSE(AssumptionReason::check(" \t\n"));
  EXPECT_FALSE(AssumptionReason::check(std::string_view("\0 \x7f", 3)));
  EXPECT_EQ(take(AssumptionReason::check("a vendor says so")).str(),
            "a vendor says so");
}

// Only the word, the note and the roles change; a word that no boundary
// accepts, and a role without a plane, change nothing (A2, A3, A12).
TEST(Audit, AssumeChangesWordAndNote) {
  Sample sample("mxfp4", {128, 128});
  Descriptor before = sample.descriptor;
  size_t records = audit::numRecords();
  EXPECT_FALSE(assumePlacement(sample.descriptor, sample.spec.shape,
                               sample.assumed, PlaneRole::Data,
                               Placement(0x2000000000000000), "test"));
  EXPECT_FALSE(assumePlacement(sample.descriptor, sample.spec.shape,
                               sample.assumed, PlaneRole::Meta,
                               placements::LinearMeta, "test"));
  EXPECT_EQ(sample.descriptor, before);
  EXPECT_TRUE(sample.assumed.empty());
  EXPECT_EQ(audit::numRecords(), records);

  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Scale,
                              placements::Swizzle128x4B, "test"));
  EXPECT_TRUE(Note::read(sample.descriptor.note).assumed);
  EXPECT_TRUE(sample.assumed.contains(PlaneRole::Scale));
  EXPECT_FALSE(sample.assumed.contains(PlaneRole::Data));
  Descriptor expected = before;
  expected.placements.scale = placements::Swizzle128x4B;
  expected.note = Descriptor::kNoteAssumed;
  EXPECT_EQ(sample.descriptor, expected);

  // The identity changes by the word alone.
  AssumptionRecord record = audit::records().back();
  EXPECT_EQ(record.gidBefore, sample.spec.gid());
  ArraySpec moved = sample.spec;
  moved.placements.scale = placements::Swizzle128x4B;
  EXPECT_EQ(record.gidAfter, moved.gid());
  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Data,
                              placements::RowMajor, "the word it has"));
  record = audit::records().back();
  EXPECT_EQ(record.gidBefore, record.gidAfter);
}

// The note keeps its producer and its reserved bits (B28).
TEST(Note, FieldsAndFrame) {
  for (uint32_t bits : {0u, 1u, 0xFFFFFFFFu, 0x12345678u, 0x0000AB00u}) {
    EXPECT_EQ(Note::read(bits).write(), bits);
    EXPECT_EQ(Note::read(bits).producer, bits >> 8 & 0xFF);
    EXPECT_EQ(Note::read(bits).assumed, bits & 1);
  }
  Sample sample("nvf4", {64});
  DescriptorBytes plain = sample.descriptor.write();
  sample.descriptor.note = 0xFFFFFFFF;
  DescriptorBytes noted = sample.descriptor.write();
  EXPECT_NE(plain, noted);
  EXPECT_EQ(frameBytes(plain), frameBytes(noted)); // (B3, B23)
}

// Keys in sorted order, one line, text of any kind (A7, A8).
TEST(Audit, RecordsAreLinesOfJson) {
  Sample sample("i8s24", {32});
  std::string line;
  audit::setSink(
      [&](const AssumptionRecord &, std::string_view text) { line = text; });
  ASSERT_TRUE(assumePlacement(
      sample.descriptor, sample.spec.shape, sample.assumed, PlaneRole::Meta,
      placements::ColMajor, "says \"so\"\n\xC3\xA9\xFF", "a.cpp:7"));
  audit::setSink(nullptr);
  EXPECT_EQ(line.find("{\"gid_after\":\""), 0u) << line;
  size_t stamp = line.find("\"timestamp\":");
  ASSERT_NE(stamp, std::string::npos);
  EXPECT_GT(std::stod(line.substr(stamp + 12)), 1.6e9);
  size_t from = line.find("\"placement_from\"");
  EXPECT_EQ(line.substr(from, stamp - from),
            "\"placement_from\":\"0x1000000000000011\","
            "\"placement_from_name\":\"LINEAR_META\","
            "\"placement_to\":\"0x1000000000000002\","
            "\"placement_to_name\":\"COL_MAJOR\",\"plane_role\":\"meta\","
            "\"reason\":\"says \\\"so\\\"\\u000a\xC3\xA9\\ufffd\","
            "\"source_location\":\"a.cpp:7\",");

  sample.descriptor.gradeId = 1;
  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Data,
                              placements::ColMajor, "unknown grade"));
  AssumptionRecord record = audit::records().back();
  EXPECT_EQ(record.json().find("{\"gid_after\":null,\"gid_before\":null,"), 0u);
  EXPECT_NE(record.sourceLocation.find("AuditTest.cpp:"), std::string::npos);
}

TEST(Audit, LedgerFilesGrow) {
  std::string path = testing::TempDir() + "ledger.jsonl";
  std::remove(path.c_str());
  Sample sample("mxfp4", {32});
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(audit::openLedger(path));
    ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                                sample.assumed, PlaneRole::Data,
                                placements::ColMajor, "test"));
    audit::setSink(nullptr);
  }
  std::ifstream in(path);
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) {
    EXPECT_EQ(line.front(), '{');
    EXPECT_EQ(line.back(), '}');
    ++lines;
  }
  EXPECT_EQ(lines, 2);
  EXPECT_FALSE(audit::openLedger(testing::TempDir() + "no/such/folder/x"));
}

// Every check by descriptor is a crossing; the rate follows, and the ceiling
// refuses what would exceed it (A9, A10).
TEST(Audit, RateAndCeiling) {
  Sample sample("mxfp4", {32});
  DescriptorBytes bytes = sample.descriptor.write();
  std::vector<int64_t> sizes = {16, 1, 0, 0};
  auto assumeOnce = [&] {
    return assumePlacement(sample.descriptor, sample.spec.shape, sample.assumed,
                           PlaneRole::Data, placements::RowMajor, "test");
  };
  ASSERT_TRUE(assumeOnce());
  uint64_t crossings = audit::crossings();
  while (audit::crossings() < 4 * audit::numRecords() + 8)
    ASSERT_FALSE(check({bytes, sample.spec.shape, sizes, {}, {}}, 1));
  EXPECT_GE(audit::crossings(), crossings);
  EXPECT_DOUBLE_EQ(audit::rate(), static_cast<double>(audit::numRecords()) /
                                      static_cast<double>(audit::crossings()));
  size_t records = audit::numRecords();
  {
    Ceiling ceiling("0");
    Expected<void> refused = assumeOnce();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().field, "GRIT_AUDIT_MAX_RATE");
  }
  {
    Ceiling ceiling("0.25");
    EXPECT_TRUE(assumeOnce()); // (records + 1) / crossings is below
  }
  {
    Ceiling ceiling("1e9");
    EXPECT_TRUE(assumeOnce());
  }
  EXPECT_EQ(audit::numRecords(), records + 2);
}

// What is no number of 0 or more closes the door (A11).
TEST(Audit, DamagedCeilingsRefuse) {
  Sample sample("mxfp4", {32});
  Descriptor before = sample.descriptor;
  for (const char *text :
       {"", "x", "-1", "0.5x", " 1", "nan", "inf", "1e999"}) {
    Ceiling ceiling(text);
    EXPECT_FALSE(assumePlacement(sample.descriptor, sample.spec.shape,
                                 sample.assumed, PlaneRole::Data,
                                 placements::RowMajor, "test"))
        << text;
  }
  EXPECT_EQ(sample.descriptor, before);
}

/// Moves the items of a plane by hand: SWIZZLE_128x4B of one byte per item.
static Bytes swizzled(const Bytes &plane, int64_t columns) {
  Bytes moved(plane.size());
  for (int64_t x = 0; x < static_cast<int64_t>(plane.size()); ++x) {
    int64_t r = x / columns, c = x % columns;
    moved[((r / 128) * (columns / 4) + c / 4) * 512 + r % 32 * 16 +
          r / 32 % 4 * 4 + c % 4] = plane[x];
  }
  return moved;
}

// The bytes decide, not the word; each role on its own; the mark goes with the
// last assumption (A5, A6).
TEST(Audit, VerifyReadsTheBytes) {
  Sample reference("mxfp4", {256, 256}), sample("mxfp4", {256, 256});
  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Scale,
                              placements::Swizzle128x4B, "test"));
  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Data,
                              placements::RowMajor, "test"));
  sample.spec.placements = sample.descriptor.placements;

  // The scales lie row by row: the claim is wrong.
  Expected<void> result =
      verifyPlacement(sample.descriptor, sample.assumed, PlaneRole::Scale,
                      sample.placed(), reference.placed());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, Status::DigestMismatch);
  EXPECT_EQ(result.error().plane, 1);
  EXPECT_TRUE(sample.assumed.contains(PlaneRole::Scale));

  sample.planes[1] = swizzled(reference.planes[1], 8);
  sample.spans.assign(sample.planes.begin(), sample.planes.end());
  ASSERT_TRUE(verifyPlacement(sample.descriptor, sample.assumed,
                              PlaneRole::Scale, sample.placed(),
                              reference.placed()));
  // Data is still assumed.
  EXPECT_TRUE(Note::read(sample.descriptor.note).assumed);

  // One bit of the last item.
  sample.planes[0].back() ^= 0x80;
  result = verifyPlacement(sample.descriptor, sample.assumed, PlaneRole::Data,
                           sample.placed(), reference.placed());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().declared.find("item 65535"), std::string::npos);
  sample.planes[0].back() ^= 0x80;
  ASSERT_TRUE(verifyPlacement(sample.descriptor, sample.assumed,
                              PlaneRole::Data, sample.placed(),
                              reference.placed()));
  EXPECT_TRUE(sample.assumed.empty());
  EXPECT_FALSE(Note::read(sample.descriptor.note).assumed);
}

// Without a map, with another array, or against another word than the
// descriptor's, nothing is verified (A5).
TEST(Audit, VerifyRefuses) {
  Sample reference("q4ks", {4, 256}), sample("q4ks", {4, 256});
  auto verify = [&](PlaneRole role, const PlacedArray &against) {
    Expected<void> result = verifyPlacement(sample.descriptor, sample.assumed,
                                            role, sample.placed(), against);
    return result ? Status::Ok : result.error().status;
  };
  EXPECT_EQ(verify(PlaneRole::Meta, reference.placed()), Status::Ok);
  Sample other("q4ks", {8, 256});
  EXPECT_EQ(verify(PlaneRole::Meta, other.placed()), Status::SizeMismatch);
  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Data,
                              Placement(0xF000000000000000), "test"));
  EXPECT_EQ(verify(PlaneRole::Data, reference.placed()),
            Status::PlacementUnknown); // the claim is not the descriptor's
  sample.spec.placements.data = Placement(0xF000000000000000);
  EXPECT_EQ(verify(PlaneRole::Data, reference.placed()),
            Status::PlacementUnknown); // opaque
  sample.spans.pop_back();
  EXPECT_EQ(verify(PlaneRole::Scale, reference.placed()), Status::SizeMismatch);
  EXPECT_TRUE(sample.assumed.contains(PlaneRole::Data));
}

// A digest of the bytes in the claimed placement stands for a reference (A5).
TEST(Audit, VerifyByDigest) {
  Sample sample("mxfp4", {32});
  std::array<uint8_t, 16> known = digest(std::vector<ByteSpan>(sample.spans));
  sample.descriptor.note = Descriptor::kNoteAssumed;
  sample.assumed = Assumptions::of(sample.descriptor);
  EXPECT_FALSE(sample.assumed.contains(PlaneRole::Meta));
  std::array<uint8_t, 16> other = known;
  other[15] ^= 1;
  Expected<void> result =
      verifyPlacement(sample.descriptor, sample.assumed, PlaneRole::Data,
                      sample.placed(), other);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, Status::DigestMismatch);
  EXPECT_TRUE(verifyPlacement(sample.descriptor, sample.assumed,
                              PlaneRole::Data, sample.placed(), known));
  EXPECT_TRUE(Note::read(sample.descriptor.note).assumed);
  EXPECT_TRUE(verifyPlacement(sample.descriptor, sample.assumed,
                              PlaneRole::Scale, sample.placed(), known));
  EXPECT_FALSE(Note::read(sample.descriptor.note).assumed);
}

// The mark goes through a descriptor into an array and back, and an array that
// is made from several has it when one of them has it (A4).
TEST(Audit, TheMarkTravels) {
  Sample sample("mxfp4", {32});
  ASSERT_TRUE(assumePlacement(sample.descriptor, sample.spec.shape,
                              sample.assumed, PlaneRole::Data,
                              placements::ColMajor, "test"));
  DescriptorBytes bytes = sample.descriptor.write();
  ArraySpec read = take(specFromDescriptor(bytes, sample.spec.shape));
  EXPECT_EQ(*read.descriptor(), bytes);
  ArraySpec plain = read;
  plain.note = 0;
  EXPECT_EQ(read.gid(), plain.gid());

  Note marked{true, 7, 0}, clean{false, 7, 0}, other{false, 8, 0};
  EXPECT_EQ(Note::merge(marked, clean), marked);
  EXPECT_EQ(Note::merge(clean, marked), marked);
  EXPECT_EQ(Note::merge(clean, clean), clean);
  EXPECT_EQ(Note::merge(clean, other).producer, 0);
}

TEST(Audit, RolesByName) {
  EXPECT_EQ(take(parseRole("scale1")), PlaneRole::Scale);
  EXPECT_EQ(take(parseRole("aux")), PlaneRole::Meta);
  EXPECT_EQ(take(parseRole("data")), PlaneRole::Data);
  EXPECT_FALSE(parseRole("Data"));
}
