//===- CAPIAuditTest.cpp - assumptions about placements from C ------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit-c/grit.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

struct Array {
  grit_array_view_t array;
  std::vector<uint8_t> data, scales;
  grit_assumptions_t assumed = 0;

  Array() : data(32 * 64 / 2), scales(64) {
    const int64_t shape[] = {32, 64};
    EXPECT_EQ(grit_view_init("mxfp4", 2, shape, 1, &array, nullptr), GRIT_OK);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<uint8_t>(i * 7);
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = static_cast<uint8_t>(100 + i);
    view().plane[0] = data.data();
    view().plane[1] = scales.data();
  }
  Array(const Array &) = delete;
  grit_view_t &view() { return array.u.grade; }
};

} // namespace

// The macro takes a literal and says where it stands; the view is changed, its
// identity is not known any more, and the ledger has a line (A1, A3, A7).
TEST(CAPIAudit, Assume) {
  Array a;
  std::string line;
  grit_audit_set_sink(
      [](const char *text, void *user) {
        *static_cast<std::string *>(user) = text;
      },
      &line);
  uint64_t records = grit_audit_records();
  grit_detail_t detail;
  ASSERT_EQ(GRIT_ASSUME_PLACEMENT(&a.view(), &a.assumed, GRIT_ROLE_SCALE,
                                  GRIT_PLACEMENT_COL_MAJOR,
                                  "the vendor's tool writes columns", &detail),
            GRIT_OK)
      << detail.message;
  grit_audit_set_sink(nullptr, nullptr);
  EXPECT_EQ(grit_audit_records(), records + 1);
  EXPECT_NE(line.find("\"reason\":\"the vendor's tool writes columns\""),
            std::string::npos)
      << line;
  EXPECT_NE(line.find("CAPIAuditTest.cpp:"), std::string::npos) << line;
  EXPECT_EQ(a.assumed, 1u << GRIT_ROLE_SCALE);
  EXPECT_EQ(a.view().d.note, GRIT_NOTE_ASSUMED);
  EXPECT_EQ(a.view().d.placement_scale, GRIT_PLACEMENT_COL_MAJOR);
  const uint8_t zeros[16] = {};
  EXPECT_EQ(std::memcmp(a.view().gid, zeros, 16), 0);
  EXPECT_EQ(grit_assumptions_of(&a.view()),
            1u << GRIT_ROLE_DATA | 1u << GRIT_ROLE_SCALE);

  EXPECT_NE(grit_assume_placement_at(&a.view(), &a.assumed, GRIT_ROLE_DATA,
                                     GRIT_PLACEMENT_ROW_MAJOR, " ", "x:1",
                                     &detail),
            GRIT_OK);
  EXPECT_STREQ(detail.field, "reason");
  EXPECT_NE(grit_assume_placement_at(&a.view(), &a.assumed, 7,
                                     GRIT_PLACEMENT_ROW_MAJOR, "r", "x:1",
                                     &detail),
            GRIT_OK);
  EXPECT_NE(grit_assume_placement_at(nullptr, &a.assumed, GRIT_ROLE_DATA,
                                     GRIT_PLACEMENT_ROW_MAJOR, "r", "x:1",
                                     nullptr),
            GRIT_OK);
  EXPECT_EQ(grit_audit_records(), records + 1);
}

// Bytes that lie in columns pass as columns, and nothing else does (A5, A6).
TEST(CAPIAudit, Verify) {
  Array reference, a;
  for (size_t r = 0; r < 32; ++r)
    for (size_t c = 0; c < 2; ++c)
      a.scales[c * 32 + r] = reference.scales[r * 2 + c];
  grit_detail_t detail;
  ASSERT_EQ(GRIT_ASSUME_PLACEMENT(&a.view(), &a.assumed, GRIT_ROLE_SCALE,
                                  GRIT_PLACEMENT_COL_MAJOR, "test", &detail),
            GRIT_OK);
  a.scales[40] ^= 1;
  EXPECT_EQ(grit_verify_placement(&a.view(), &a.assumed, GRIT_ROLE_SCALE,
                                  &reference.view(), &detail),
            GRIT_DIGEST_MISMATCH);
  EXPECT_EQ(detail.plane, 1);
  EXPECT_EQ(a.view().d.note, GRIT_NOTE_ASSUMED);
  a.scales[40] ^= 1;
  EXPECT_EQ(grit_verify_placement(&a.view(), &a.assumed, GRIT_ROLE_SCALE,
                                  &a.view(), &detail),
            GRIT_PLACEMENT_UNKNOWN); // assumed itself
  ASSERT_EQ(grit_verify_placement(&a.view(), &a.assumed, GRIT_ROLE_SCALE,
                                  &reference.view(), &detail),
            GRIT_OK)
      << detail.message;
  EXPECT_EQ(a.assumed, 0u);
  EXPECT_EQ(a.view().d.note, 0u);

  uint8_t digest[16];
  ASSERT_EQ(grit_digest(&a.view(), digest, &detail), GRIT_OK);
  ASSERT_EQ(GRIT_ASSUME_PLACEMENT(&a.view(), &a.assumed, GRIT_ROLE_DATA,
                                  GRIT_PLACEMENT_ROW_MAJOR, "test", &detail),
            GRIT_OK);
  a.data[0] ^= 1;
  EXPECT_EQ(grit_verify_placement_digest(&a.view(), &a.assumed, GRIT_ROLE_DATA,
                                         digest, &detail),
            GRIT_DIGEST_MISMATCH);
  a.data[0] ^= 1;
  EXPECT_EQ(grit_verify_placement_digest(&a.view(), &a.assumed, GRIT_ROLE_DATA,
                                         digest, &detail),
            GRIT_OK);
  EXPECT_EQ(a.view().d.note, 0u);
  a.view().plane[0] = nullptr;
  EXPECT_EQ(grit_verify_placement_digest(&a.view(), &a.assumed, GRIT_ROLE_DATA,
                                         digest, &detail),
            GRIT_DIGEST_MISMATCH);
}

// Every check of a grade's array is a crossing (A9).
TEST(CAPIAudit, Rate) {
  Array a;
  uint64_t before = grit_audit_crossings();
  EXPECT_EQ(grit_check(&a.view(), 1, nullptr), GRIT_OK);
  EXPECT_EQ(grit_check_array(&a.array, 1, nullptr), GRIT_OK);
  EXPECT_EQ(grit_audit_crossings(), before + 2);
  EXPECT_DOUBLE_EQ(grit_audit_rate(),
                   static_cast<double>(grit_audit_records()) /
                       static_cast<double>(grit_audit_crossings()));
  std::string path = testing::TempDir() + "no/such/folder/ledger";
  EXPECT_NE(grit_audit_open(path.c_str(), nullptr), GRIT_OK);
}
