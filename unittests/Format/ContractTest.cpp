//===- ContractTest.cpp - the registry of contracts -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "Golden.h"
#include "grit/Format/Fingerprint.h"
#include <set>

using namespace grit;
using namespace grit::test;

static std::string hex(const std::array<uint8_t, 16> &bytes) {
  return toHex(bytes);
}

//===----------------------------------------------------------------------===//
// Names and identities
//===----------------------------------------------------------------------===//

// (E26, B21)
TEST(Contract, GradesHaveThePublishedIdentity) {
  ASSERT_EQ(golden::file().grades.size(), 6u);
  for (const golden::Grade &grade : golden::file().grades) {
    Contract byName = contract(grade.name);
    EXPECT_EQ(byName.canonical(), grade.canonical);
    EXPECT_EQ(byName.id(), grade.id);
    EXPECT_TRUE(byName.isRegistered());
    EXPECT_TRUE(byName.isGrade());
    EXPECT_EQ(contract(grade.canonical), byName);
    EXPECT_EQ(*Contract::lookupId(grade.id), byName);
    int64_t k0 = byName.grade()->k0;
    int64_t elements = byName.grade()->k1.value_or(1);
    ArraySpec spec =
        take(ArraySpec::get(byName, {std::max<int64_t>(k0, k0 * elements)}));
    auto descriptor = *spec.descriptor();
    EXPECT_EQ(Bytes(descriptor.begin(), descriptor.end()), grade.descriptor)
        << grade.name;
  }
}

// (B22)
TEST(Contract, GoldenGids) {
  unsigned compared = 0;
  auto compare = [&](const std::vector<golden::Vector> &vectors) {
    for (const golden::Vector &vector : vectors) {
      ArraySpec spec = take(ArraySpec::get(contract(vector.grade), vector.shape,
                                           vector.descriptor[16]));
      // The note is not part of the frame: a vector may carry one.
      auto descriptor = *spec.descriptor();
      std::copy_n(vector.descriptor.begin() + 28, 4, descriptor.begin() + 28);
      EXPECT_EQ(Bytes(descriptor.begin(), descriptor.end()), vector.descriptor)
          << vector.name;
      EXPECT_EQ(hex(spec.gid()), toHex(vector.gid)) << vector.name;
      EXPECT_EQ(toBase32(spec.gid()), vector.gidBase32) << vector.name;
      ++compared;
    }
  };
  compare(golden::file().vectors);
  compare(golden::file().decodeOnly);
  EXPECT_EQ(compared, 33u);
}

TEST(Contract, Names) {
  const std::vector<std::string> expected = {"mxfp4",
                                             "mxfp4_rne",
                                             "nvf4",
                                             "nvf4_rtz",
                                             "q4ks",
                                             "i8s24",
                                             "mxfp8_e4m3",
                                             "gguf.f32",
                                             "gguf.f16",
                                             "gguf.bf16",
                                             "gguf.i8",
                                             "gguf.i16",
                                             "gguf.i32",
                                             "gguf.q4_0",
                                             "gguf.q4_1",
                                             "gguf.q5_0",
                                             "gguf.q5_1",
                                             "gguf.q8_0",
                                             "gguf.q8_1",
                                             "gguf.q2_k",
                                             "gguf.q3_k",
                                             "gguf.q4_k",
                                             "gguf.q5_k",
                                             "gguf.q6_k",
                                             "gguf.q8_k",
                                             "gguf.iq1_s",
                                             "gguf.iq1_m",
                                             "gguf.iq2_xxs",
                                             "gguf.iq2_xs",
                                             "gguf.iq2_s",
                                             "gguf.iq3_xxs",
                                             "gguf.iq3_s",
                                             "gguf.iq4_nl",
                                             "gguf.iq4_xs",
                                             "gguf.tq1_0",
                                             "gguf.tq2_0",
                                             "gguf.mxfp4",
                                             "gguf.nvfp4",
                                             "gguf.q1_0",
                                             "gguf.q2_0",
                                             "hurray.nf4",
                                             "mxfp8_e5m2",
                                             "mxfp6_e2m3",
                                             "mxfp6_e3m2",
                                             "mxint8",
                                             "ct.fp8_tensor",
                                             "ct.fp8_tensor_bf16",
                                             "ct.fp8_channel",
                                             "ct.fp8_channel_bf16",
                                             "ct.int8_channel",
                                             "ct.int8_channel_bf16",
                                             "ct.int4",
                                             "ct.int4_f16",
                                             "ct.int4_zp",
                                             "ct.int4_order",
                                             "ct.int4_f16_order",
                                             "ct.int4_zp_order",
                                             "ct.int8",
                                             "ct.int8_f16",
                                             "ct.int8_zp",
                                             "ct.int8_order",
                                             "ct.int8_f16_order",
                                             "ct.int8_zp_order",
                                             "ct.int8_group",
                                             "ct.int8_group_bf16",
                                             "ct.int8_group_f16",
                                             "ct.int8_channel_zp",
                                             "ct.int8_channel_zp_bf16",
                                             "ct.int8_group_zp",
                                             "ct.int8_group_zp_bf16",
                                             "ct.int8_group_zp_f16",
                                             "ct.nvfp4",
                                             "fnuz.fp8_tensor",
                                             "fnuz.fp8_channel",
                                             "deepseek.fp8",
                                             "deepseek.fp8_bf16",
                                             "deepseek.fp8_ue8m0",
                                             "bnb.nf4",
                                             "bnb.nf4_double",
                                             "bnb.fp4",
                                             "bnb.fp4_double",
                                             "bnb.int8",
                                             "mlx.q2_bf16",
                                             "mlx.q2_f16",
                                             "mlx.q3_bf16",
                                             "mlx.q3_f16",
                                             "mlx.q4_bf16",
                                             "mlx.q4_f16",
                                             "mlx.q5_bf16",
                                             "mlx.q5_f16",
                                             "mlx.q6_bf16",
                                             "mlx.q6_f16",
                                             "mlx.q8_bf16",
                                             "mlx.q8_f16",
                                             "mlx.nvfp4",
                                             "hqq.q1",
                                             "hqq.q2",
                                             "hqq.q3",
                                             "hqq.q4",
                                             "hqq.q8",
                                             "hqq.q1_axis0",
                                             "hqq.q2_axis0",
                                             "hqq.q3_axis0",
                                             "hqq.q4_axis0",
                                             "hqq.q8_axis0",
                                             "gptq.q2",
                                             "gptq.q2_v2",
                                             "gptq.q3",
                                             "gptq.q3_v2",
                                             "gptq.q4",
                                             "gptq.q4_v2",
                                             "gptq.q8",
                                             "gptq.q8_v2",
                                             "gptq.q2_order",
                                             "gptq.q2_v2_order",
                                             "gptq.q3_order",
                                             "gptq.q3_v2_order",
                                             "gptq.q4_order",
                                             "gptq.q4_v2_order",
                                             "gptq.q8_order",
                                             "gptq.q8_v2_order",
                                             "ninfer.nvfp4",
                                             "ninfer.nvfp4_stacked",
                                             "ninfer.q2_g64_fp16",
                                             "ninfer.q4_g64_fp16",
                                             "ninfer.q5_g64_fp16",
                                             "ninfer.q6_g64_fp16",
                                             "ninfer.q8_g32_fp16",
                                             "ninfer.t2_g128_fp16",
                                             "ninfer.fp8_e4m3fn_row_bf16",
                                             "ninfer.fp8_e4m3fn_row_fp16",
                                             "ninfer.pq2_0"};
  EXPECT_EQ(registeredContractNames(), expected);
  std::set<uint64_t> ids;
  for (const std::string &name : expected) {
    Contract contract = test::contract(name);
    EXPECT_EQ(contract.name(), name);
    EXPECT_FALSE(contract.summary().empty());
    EXPECT_TRUE(ids.insert(contract.id()).second);
    EXPECT_EQ(contract.id(), fnv1a64(contract.canonical()));
    EXPECT_EQ(*Contract::lookupId(contract.id()), contract);
    // The canonical text is a spelling, too.
    EXPECT_EQ(test::contract(contract.canonical()), contract);
  }
  EXPECT_FALSE(Contract::lookupId(0));
}

/// Identities of foreign formats are on disk: they must never change.
TEST(Contract, ForeignIdsAreFixed) {
  const std::pair<const char *, uint64_t> cases[] = {
      {"gguf.q4_0", 0x9699a6323a630c59},
      {"gguf.q4_k", 0x586b2cffaec297a8},
      {"gguf.q8_0", 0x6dede786c0a3e4f9},
      {"gguf.mxfp4", 0xe15062f68b263874},
      {"gguf.iq4_nl", 0xba99a8a420513efb},
      {"hurray.nf4", 0x95e3ddf296a4765d},
      {"hurray.nf4(block=128)", 0x377666dff353d570},
  };
  for (auto [name, id] : cases)
    EXPECT_EQ(contract(name).id(), id)
        << name << std::hex << " 0x" << contract(name).id();
}

TEST(Contract, SpellingsOfNames) {
  for (const char *text :
       {"mxfp4", "MXFP4", "GRADE_MXFP4", "grade_mxfp4", " MxFp4 ",
        "grit1(esr=OCPMX, s0=ue8m0, k0=032, e=fp4)"})
    EXPECT_EQ(contract(text).name(), "mxfp4") << text;
  EXPECT_EQ(contract("GGUF.Q4_K").name(), "gguf.q4_k");
  EXPECT_EQ(contract("Hurray.NF4(Block = 64)").name(), "hurray.nf4");
  EXPECT_EQ(contract("hurray.nf4(block=128)").name(), "hurray.nf4(block=128)");
  EXPECT_NE(contract("hurray.nf4(block=128)"), contract("hurray.nf4"));
  EXPECT_NE(contract("gguf.mxfp4"), contract("mxfp4"));
  Contract other = contract("grit1(e=s4,k0=16,s0=binary16,esr=ratio)");
  EXPECT_FALSE(other.isRegistered());
  EXPECT_EQ(other.name(), "grit1(e=s4,k0=16,s0=binary16,esr=ratiomaxabs)");
}

TEST(Contract, ANameWithoutItsNameSpaceIsCompleted) {
  const std::pair<const char *, const char *> kNames[] = {
      {"Q4_0", "gguf.q4_0"},   {"q8_0", "gguf.q8_0"},
      {"Q4_K", "gguf.q4_k"},   {"Q4_K_M", "gguf.q4_k"},
      {"q4_k_s", "gguf.q4_k"}, {"IQ4_NL", "gguf.iq4_nl"},
      {"nf4", "hurray.nf4"}};
  for (auto [name, wanted] : kNames) {
    Expected<Contract> contract = Contract::parse(name);
    ASSERT_FALSE(contract) << name;
    EXPECT_EQ(contract.error().fix,
              "did you mean '" + std::string(wanted) + "'?");
  }
}

TEST(Contract, UnknownNamesAreRefusedWithTheNearest) {
  const std::pair<const char *, const char *> cases[] = {
      {"mxfp5", "mxfp4"},
      {"gguf.q4k", "gguf.q4_k"},
      {"nf4", "hurray.nf4"},
      {"grade_gguf.q4_0", "mxfp4"},
      {"", "mxfp4"},
      {"\xff\xfe", "mxfp4"},
      {"gguf.q4_0(block=32)", "takes no parameter"},
      {"hurray.nf4(block=63)", "power of two from 8 to 2147483648"},
      {"hurray.nf4(block=4)", "power of two from 8"},
      {"hurray.nf4(block=4294967296)", "power of two from 8"},
      {"hurray.nf4(block=99999999999999999999)", "power of two from 8"},
      {"hurray.nf4(block=-64)", "power of two from 8"},
      {"hurray.nf4(block=64", "hurray.nf4(block=64)"},
      {"hurray.nf4(group=64)", "hurray.nf4(block=64)"},
      {"hurray.nf4()", "hurray.nf4(block=64)"},
      {"hurray.nf5(block=64)", "unknown contract"},
      {"gritfmt1(planes=[4/1@0])", "the part codes="},
      {"grit1(e=e2m1)", ""},
  };
  for (auto [text, part] : cases) {
    Expected<Contract> contract = Contract::parse(text);
    ASSERT_FALSE(contract) << text;
    EXPECT_EQ(contract.error().status, Status::GradeUnknown);
    EXPECT_NE(contract.error().str().find(part), std::string::npos)
        << text << ": " << contract.error().str();
  }
  EXPECT_FALSE(Contract::parse(std::string(1 << 20, 'q')));
}

TEST(Contract, FamilyMembersAreFoundById) {
  std::set<uint64_t> ids;
  for (int64_t block = 8; block <= int64_t(1) << 31; block *= 2) {
    Contract member =
        contract("hurray.nf4(block=" + std::to_string(block) + ")");
    EXPECT_TRUE(ids.insert(member.id()).second);
    EXPECT_EQ(*Contract::lookupId(member.id()), member);
    EXPECT_EQ(contract(member.name()), member);
    EXPECT_EQ(contract(member.canonical()), member);
  }
  EXPECT_EQ(ids.size(), 29u);
}

TEST(Contract, ForeignGid) {
  ArraySpec spec = take(ArraySpec::get(contract("hurray.nf4"), {128, 6}, 0));
  EXPECT_FALSE(spec.descriptor());
  Fnv128 hash;
  hash.update(spec.contract.canonical());
  const uint8_t rest[] = {0,                           // ends the text
                          0,   0, 0, 0,                // axis
                          1,   0, 0, 0, 0, 0, 0, 0x10, // data: row-major
                          1,   0, 0, 0, 0, 0, 0, 0x10, // scale: row-major
                          0,   0, 0, 0, 0, 0, 0, 0,    // meta: none
                          2,   0, 0, 0,                // rank
                          128, 0, 0, 0, 0, 0, 0, 0,    6, 0, 0, 0, 0, 0, 0, 0};
  hash.update(rest);
  EXPECT_EQ(hex(spec.gid()), hex(hash.finish()));
  std::set<std::string> gids{hex(spec.gid())};
  EXPECT_TRUE(
      gids.insert(
              hex(take(ArraySpec::get(contract("hurray.nf4"), {6, 128})).gid()))
          .second);
  EXPECT_TRUE(
      gids.insert(hex(take(ArraySpec::get(contract("hurray.nf4(block=32)"),
                                          {128, 6}, 0))
                          .gid()))
          .second);
}
