//===- CAPIGradesTest.cpp - grades, warnings and constants of grit.h ------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "grit-c/grit.h"
#include <cstring>
#include <gtest/gtest.h>

static uint64_t idOf(const char *name) {
  uint64_t id = 0;
  EXPECT_EQ(grit_contract_id(name, &id, nullptr), GRIT_OK) << name;
  return id;
}

// The constants of appendix A.1 are those of the library (C31, E26).
TEST(CAPIGrades, Constants) {
  EXPECT_EQ(GRIT_GRADE_MXFP4, idOf("mxfp4"));
  EXPECT_EQ(GRIT_GRADE_MXFP4_RNE, idOf("mxfp4_rne"));
  EXPECT_EQ(GRIT_GRADE_NVF4, idOf("nvf4"));
  EXPECT_EQ(GRIT_GRADE_NVF4_RTZ, idOf("nvf4_rtz"));
  EXPECT_EQ(GRIT_GRADE_Q4KS, idOf("q4ks"));
  EXPECT_EQ(GRIT_GRADE_I8S24, idOf("i8s24"));
  const std::pair<const char *, int> words[] = {{"e2m1", GRIT_FMT_E2M1},
                                                {"e4m3", GRIT_FMT_E4M3},
                                                {"e8m0", GRIT_FMT_E8M0},
                                                {"binary16", GRIT_FMT_BINARY16},
                                                {"binary32", GRIT_FMT_BINARY32},
                                                {"u2", GRIT_FMT_U2},
                                                {"u4", GRIT_FMT_U4},
                                                {"u6", GRIT_FMT_U6},
                                                {"u8", GRIT_FMT_U8},
                                                {"s4", GRIT_FMT_S4},
                                                {"s8", GRIT_FMT_S8}};
  for (auto [token, word] : words) {
    std::string grade =
        "grit1(e=" + std::string(token) + ",k0=8,s0=u8,esr=ratio)";
    int64_t shape = 8;
    grit_array_view_t view;
    ASSERT_EQ(grit_view_init(grade.c_str(), 1, &shape, 0, &view, nullptr),
              GRIT_OK);
    EXPECT_EQ(view.u.grade.d.elem, word) << token;
    EXPECT_EQ(view.u.grade.d.hdr_bytes, GRIT_HDR_BYTES);
    EXPECT_EQ(view.u.grade.d.version, GRIT_VERSION);
    EXPECT_EQ(view.u.grade.d.container, GRIT_CT_DENSE);
    EXPECT_EQ(view.u.grade.d.sp_meta_fmt, GRIT_SPMETA_NONE);
  }
  int64_t shape = 32;
  grit_array_view_t view;
  ASSERT_EQ(grit_view_init("grit1(e=u4,k0=32,s0=u8,sp=2:4:u4:asclsb,ct=pad8,"
                           "esr=ratio)",
                           1, &shape, 0, &view, nullptr),
            GRIT_OK);
  EXPECT_EQ(view.u.grade.d.container, GRIT_CT_PAD8);
  EXPECT_EQ(view.u.grade.d.sp_meta_fmt, GRIT_SPMETA_U4);
  EXPECT_EQ(view.u.grade.d.sp_order, GRIT_SPORDER_ASC_LSB);
}

// Warnings have lines, a field and flags; a null detail is fine, and a check
// without warnings leaves nothing (C27, C28, C30, C32).
TEST(CAPIGrades, WarningsInTheDetail) {
  const int64_t shape[] = {64, 2};
  grit_array_view_t array;
  ASSERT_EQ(grit_view_init("mxfp4", 2, shape, 0, &array, nullptr), GRIT_OK);
  grit_view_t &view = array.u.grade;
  std::vector<uint8_t> data(64), scales(4, 0x7F);
  view.plane[0] = data.data();
  view.plane[1] = scales.data();
  grit_detail_t detail;
  ASSERT_EQ(grit_check(&view, 3, &detail), GRIT_OK);
  EXPECT_EQ(detail.actual,
            GRIT_WARN_GROUP_AXIS | GRIT_WARN_SCALES_WITHOUT_SPREAD);
  EXPECT_STREQ(detail.field, "group_axis");
  std::string text = detail.message;
  EXPECT_EQ(text.find("warning: the group axis 0"), 0u) << text;
  EXPECT_NE(text.find("\nwarning: all of the 4 sampled scales"),
            std::string::npos)
      << text;
  EXPECT_EQ(detail.status, GRIT_OK);
  EXPECT_EQ(detail.plane, -1);
  EXPECT_EQ(grit_check(&view, 3, nullptr), GRIT_OK);
  scales[2] = 0x7E;
  ASSERT_EQ(grit_check(&view, 3, &detail), GRIT_OK);
  EXPECT_EQ(detail.actual, GRIT_WARN_GROUP_AXIS);
  view.shape[0] = 2;
  view.shape[1] = 64;
  view.d.group_axis = 1;
  ASSERT_EQ(grit_check(&view, 3, &detail), GRIT_OK);
  EXPECT_EQ(detail.actual, 0);
  EXPECT_STREQ(detail.message, "");
  EXPECT_STREQ(detail.field, "");
}

// A name that a program gives works wherever a contract is named (G32).
TEST(CAPIGrades, Register) {
  const char *grade = "grit1(e=s4,k0=24,s0=binary16,esr=ratiomaxabs)";
  uint64_t id = 0;
  grit_detail_t detail;
  EXPECT_EQ(grit_contract_id("mine24", &id, &detail), GRIT_GRADE_UNKNOWN);
  int64_t shape = 24;
  grit_array_view_t view;
  ASSERT_EQ(grit_view_init(grade, 1, &shape, 0, &view, &detail), GRIT_OK);
  EXPECT_EQ(grit_check(&view.u.grade, 1, &detail), GRIT_GRADE_UNKNOWN);
  ASSERT_EQ(grit_register_grade("Mine24", grade, &id, &detail), GRIT_OK);
  EXPECT_EQ(id, view.u.grade.d.grade_id);
  EXPECT_EQ(grit_check(&view.u.grade, 1, &detail), GRIT_OK);
  EXPECT_EQ(idOf("MINE24"), id);
  EXPECT_EQ(grit_register_grade("mine24", grade, nullptr, nullptr), GRIT_OK);
  EXPECT_EQ(grit_register_grade("mxfp4", grade, &id, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_STREQ(detail.field, "name");
  EXPECT_EQ(grit_register_grade(nullptr, grade, &id, &detail),
            GRIT_GRADE_UNKNOWN);
}

// A format of a program's own is an array like any other, by name and id.
TEST(CAPIGrades, RegisterFormat) {
  const char *text = "gritfmt1(name=Mine.c,encode=ratio,planes=[data=4/1@0,"
                     "scale=16/12@1],codes=data:4@0+i*4,level=s4,"
                     "scales=[d=(binary16,lin/12,scale:16@0+i*16)],axis=12)";
  uint64_t id = 0;
  grit_detail_t detail;
  EXPECT_EQ(grit_contract_id("mine.c", &id, &detail), GRIT_GRADE_UNKNOWN);
  ASSERT_EQ(grit_register_format(text, &id, &detail), GRIT_OK);
  EXPECT_EQ(idOf("MINE.C"), id);
  EXPECT_EQ(grit_register_format(text, nullptr, nullptr), GRIT_OK);
  int64_t shape = 24;
  grit_array_view_t view;
  ASSERT_EQ(grit_view_init("mine.c", 1, &shape, 0, &view, &detail), GRIT_OK);

  std::string other = text;
  other.replace(other.find("level=s4"), 8, "level=u4");
  EXPECT_EQ(grit_register_format(other.c_str(), &id, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_STREQ(detail.field, "name");
  EXPECT_EQ(grit_register_format("gritfmt1(\n  planes=[x])", &id, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_STREQ(detail.field, "line 2, column 11");
  EXPECT_EQ(grit_register_format(nullptr, &id, &detail), GRIT_GRADE_UNKNOWN);
}

// What was registered can be told to another copy of the library.
TEST(CAPIGrades, Registered) {
  const char *grade = "grit1(e=s4,k0=20,s0=binary16,esr=ratiomaxabs)";
  const char *format = "gritfmt1(name=told,planes=[a=8/2@0],codes=a:4@0+i*4,"
                       "level=s4,scales=[],axis=2)";
  size_t count = 0;
  while (grit_registered(count, nullptr))
    ++count;
  ASSERT_EQ(grit_register_grade("Mine20", grade, nullptr, nullptr), GRIT_OK);
  ASSERT_EQ(grit_register_format(format, nullptr, nullptr), GRIT_OK);
  ASSERT_EQ(grit_register_format(format, nullptr, nullptr), GRIT_OK);
  const char *name = "";
  EXPECT_STREQ(grit_registered(count, &name), grade);
  EXPECT_STREQ(name, "mine20");
  EXPECT_STREQ(grit_registered(count + 1, &name), format);
  EXPECT_EQ(name, nullptr);
  EXPECT_EQ(grit_registered(count + 2, &name), nullptr);
  EXPECT_EQ(grit_registered(SIZE_MAX, nullptr), nullptr);
}

// Order, join and relax (G21 to G24); equivalence (G36).
TEST(CAPIGrades, Relations) {
  const char *seq = "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs,ao=seq)";
  const char *ftz = "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs,an=ftz)";
  grit_detail_t detail;
  grit_relation_t relation;
  ASSERT_EQ(grit_relate(seq, "mxfp4", &relation, &detail), GRIT_OK);
  EXPECT_EQ(relation, GRIT_RELATION_REFINES);
  ASSERT_EQ(grit_relate("mxfp4", seq, &relation, &detail), GRIT_OK);
  EXPECT_EQ(relation, GRIT_RELATION_REFINED_BY);
  ASSERT_EQ(grit_relate("mxfp4", "mxfp4_rne", &relation, &detail), GRIT_OK);
  EXPECT_EQ(relation, GRIT_RELATION_SAME);
  ASSERT_EQ(grit_relate(seq, ftz, &relation, &detail), GRIT_OK);
  EXPECT_EQ(relation, GRIT_RELATION_UNRELATED);
  EXPECT_EQ(grit_relate("gguf.q4_0", "mxfp4", &relation, &detail),
            GRIT_GRADE_UNKNOWN);

  EXPECT_EQ(grit_serves(seq, "mxfp4", &detail), GRIT_OK);
  EXPECT_EQ(grit_serves("mxfp4", seq, &detail), GRIT_GRADE_UNKNOWN);
  EXPECT_STREQ(detail.field, "ao");
  EXPECT_NE(std::strstr(detail.message, "relax(ao=unspec)"), nullptr);

  char text[128];
  ASSERT_EQ(grit_relax(seq, "ao", "any-tree", text, sizeof(text), &detail),
            GRIT_GRADE_UNKNOWN); // "anytree" is no spelling
  ASSERT_EQ(grit_relax(seq, "ao", "any_tree", text, sizeof(text), &detail),
            GRIT_OK);
  EXPECT_STREQ(text, "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs,ao=tree)");
  EXPECT_EQ(grit_relax(seq, "ao", "tree", text, 55, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.expected, 56);
  EXPECT_EQ(grit_relax("mxfp4", "ao", "seq", text, sizeof(text), &detail),
            GRIT_GRADE_UNKNOWN);
  ASSERT_EQ(grit_join(ftz, ftz, text, sizeof(text), &detail), GRIT_OK);
  EXPECT_STREQ(text, "an=ftz");
  ASSERT_EQ(grit_join(seq, ftz, text, sizeof(text), &detail), GRIT_OK);
  EXPECT_STREQ(text, "");

  int32_t answer = -1;
  ASSERT_EQ(grit_equivalent("mxfp4", "mxfp4_rne", GRIT_SCOPE_DECODE, &answer,
                            &detail),
            GRIT_OK);
  EXPECT_EQ(answer, 1);
  ASSERT_EQ(
      grit_equivalent("mxfp4", "mxfp4_rne", GRIT_SCOPE_FULL, &answer, &detail),
      GRIT_OK);
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(grit_equivalent("mxfp4", "nvf4", 3, &answer, &detail),
            GRIT_GRADE_UNKNOWN);
}

// The five statuses, their numbers and names, and nothing else (C1).
TEST(CAPIGrades, Statuses) {
  const std::pair<grit_status_t, const char *> statuses[] = {
      {GRIT_OK, "Ok"},
      {GRIT_SIZE_MISMATCH, "SizeMismatch"},
      {GRIT_GRADE_UNKNOWN, "GradeUnknown"},
      {GRIT_PLACEMENT_UNKNOWN, "PlacementUnknown"},
      {GRIT_DIGEST_MISMATCH, "DigestMismatch"}};
  int number = 0;
  for (auto [status, name] : statuses) {
    EXPECT_EQ(status, number++);
    EXPECT_STREQ(grit_status_name(status), name);
  }
  EXPECT_STREQ(grit_status_name(static_cast<grit_status_t>(5)),
               "status out of range");
}

// The digest of the library is the one that a check expects (B26, C24).
TEST(CAPIGrades, DigestOfAView) {
  for (const grit::golden::Vector &v : grit::golden::file().vectors) {
    grit_view_t view{};
    std::memcpy(&view.d, v.descriptor.data(), sizeof(view.d));
    view.rank = static_cast<int32_t>(v.shape.size());
    std::copy(v.shape.begin(), v.shape.end(), view.shape);
    for (int i = 0; i < 4; ++i) {
      view.plane[i] = const_cast<uint8_t *>(v.planes[i].data());
      view.plane_bytes[i] = static_cast<int64_t>(v.planes[i].size());
    }
    uint8_t digest[16];
    ASSERT_EQ(grit_digest(&view, digest, nullptr), GRIT_OK);
    EXPECT_EQ(std::memcmp(digest, v.digest.data(), 16), 0) << v.name;
    EXPECT_EQ(grit_check_digest(&view, 2, digest, nullptr), GRIT_OK);
    digest[3] ^= 4;
    EXPECT_EQ(grit_check_digest(&view, 2, digest, nullptr),
              GRIT_DIGEST_MISMATCH);
    view.plane_bytes[0] = -1;
    EXPECT_EQ(grit_digest(&view, digest, nullptr), GRIT_DIGEST_MISMATCH);
  }
}
