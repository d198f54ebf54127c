//===- EncodeTest.cpp - what holds for every encoder ----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeInputs.h"
#include "FormatTestUtils.h"
#include <algorithm>

#include <cmath>

using namespace grit;
using namespace grit::test;

/// Whether a scale can say that a value of its group is not finite.
static bool scalesCarryNaN(const std::string &name) {
  return contract(name).isGrade() ||
         contract(name).description().encoding.rule == EncodeRule::Exp2Floor;
}

/// Whether rows share scales, other than one of the whole array.
static bool rowsShareScales(const FormatDescription &format) {
  return format.encoding.rule == EncodeRule::TableAbsMaxNested ||
         std::ranges::any_of(format.scales, [](const Factor &factor) {
           return factor.order == ElementOrder::Block;
         });
}

//===----------------------------------------------------------------------===//
// Every contract
//===----------------------------------------------------------------------===//

TEST(Encode, ContractsWithoutAnEncoderAreRefusedByName) {
  std::vector<std::string> encodable = encodableNames();
  for (const std::string &name : registeredContractNames()) {
    if (std::ranges::find(encodable, name) != encodable.end())
      continue;
    ArraySpec spec = take(ArraySpec::get(contract(name), {64, 256}));
    auto planes = encode(spec, std::vector<float>(64 * 256));
    ASSERT_FALSE(planes) << name;
    EXPECT_EQ(planes.error().field, "encode rule") << planes.error().str();
    EXPECT_NE(planes.error().str().find(name), std::string::npos)
        << planes.error().str();
  }
}

/// A rule that has no use for a part of a format says which.
TEST(Encode, RulesRefusePartsThatTheyHaveNoUseFor) {
  const std::pair<const char *, const char *> cases[] = {
      {"planes=[8/4@0,16/4@1],codes=p0:2@0+i/2*8+i%2*2,"
       "level=v2:s8[0102030405060708],scales=[(binary16,lin/4,p1:16@0+i*16)],"
       "axis=4",
       "level"},
      {"planes=[8/1@0,16/4@1,4/4@2],codes=p0:8@0+i*8,level=s8,"
       "signs=4:each:p2:4@0+i*4,scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
       "signs"},
      {"planes=[2/1@0,64/0@1,16/4@1],codes=p0:2@0+i*2,level=binary16,"
       "book=p1:16@0+i*16,scales=[(binary16,lin/4,p2:16@0+i*16)],axis=4",
       "book"},
      {"planes=[8/2@0,16/4@1],codes=p0:base10^(+i%2*1):8@0+i/2*8,level=u4,"
       "scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
       "codes"},
      {"planes=[4/1@0],codes=p0:4@0+i*4,level=u4,scales=[]", "scales"},
      {"planes=[8/1@0,16/axis@1],codes=p0:8@0+i*8,level=s8,"
       "scales=[d=(binary16,axis,p1:16@0+i*16)]",
       "d"},
      {"planes=[8/1@0,16/2x2@1],codes=p0:8@0+i*8,level=s8,"
       "scales=[d=(binary16,2x2,p1:16@0+i*16)]",
       "d"},
      {"planes=[8/1@0,16/4@1,16/0@1],codes=p0:8@0+i*8,level=s8,"
       "scales=[(binary16,lin/4,p1:16@0+i*16),d=>/(binary16,all,p2:16@0)],"
       "axis=4",
       "d"},
      {"planes=[8/1@0,16/4@1],codes=p0:8@0+i*8,level=s8,"
       "scales=[d=(binary16*-1,lin/4,p1:16@0+i*16)],axis=4",
       "d"},
  };
  for (auto [parts, field] : cases) {
    std::string text = "gritfmt1(encode=ratio," + std::string(parts) + ")";
    ArraySpec spec = take(ArraySpec::get(contract(text), {2, 4}));
    auto planes = encode(spec, std::vector<float>(8));
    ASSERT_FALSE(planes) << text;
    EXPECT_EQ(planes.error().field, field) << planes.error().str();
  }
}

namespace {
class EveryContract : public testing::TestWithParam<std::string> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, EveryContract, testing::ValuesIn(encodableNames()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (c == '.')
                               c = '_';
                           return name;
                         });

/// How far a code may be from the nearest one, as a part of the group's largest
/// magnitude: one rounding of the quotient; where codes are chosen before the
/// scale (and a minimum) is rounded to binary16, that rounding, too.
static float slackOf(const FormatDescription &format) {
  switch (format.encoding.rule) {
  case EncodeRule::GgmlSignedMax:
  case EncodeRule::GgmlAbsMax:
  case EncodeRule::GgmlAbsMaxClamped:
  case EncodeRule::GgmlTableSearch:
    return 0x1p-10f;
  case EncodeRule::GgmlMinMax:
    return 0x1p-9f;
  case EncodeRule::GptqSymmetric:
  case EncodeRule::HqqMinMax:
    return 0x1p-9f;
  case EncodeRule::MlxEdge:
  case EncodeRule::ZeroPointMinMax:
    return 0x1p-6f; // bfloat16
  case EncodeRule::TableAbsMaxNested:
    return 0.25f; // scales that are rounded to a table
  case EncodeRule::AbsMax:
    return format.encoding.steps.narrow ? 0x1p-6f : 0x1p-20f;
  case EncodeRule::Exp2Floor: // MXINT8 leaves its lowest code out
    return format.level.number.word.isInteger() ? 0x1p-6f : 0x1p-20f;
  case EncodeRule::RowAbsMax: // of values rounded to bfloat16
    return 0x1p-8f;
  default:
    return format.encoding.rounding == Rounding::RTZ ? 0.5f : 0x1p-20f;
  }
}

/// How many consecutive elements have a slack in common, in rows of 256.
static size_t slackSpan(const FormatDescription &format) {
  switch (format.encoding.rule) {
  case EncodeRule::AbsMax:
  case EncodeRule::HqqMinMax:
  case EncodeRule::GptqSymmetric:
  case EncodeRule::MlxEdge:
  case EncodeRule::ZeroPointMinMax:
    return 256;
  default:
    return 32;
  }
}

// (E8)
TEST_P(EveryContract, NoOtherCodeIsNearer) {
  ArraySpec spec = rowsOf(GetParam(), 4);
  const FormatDescription &format = spec.contract.description();
  if (format.codes.radix)
    return; // Of codes that share bits, not one alone can be tried.
  if (format.level.vector > 1)
    return; // Only vectors near the point of the elements are tried.
  for (const char *kind : {"bell", "outlier", "ties", "scales", "negative"}) {
    // A subnormal binary16 scale is too coarse for a bound by its rounding, and
    // the largest of these is beyond one.
    bool isNarrow = slackOf(format) >= 0x1p-10f ||
                    format.encoding.rule == EncodeRule::GroupedAbsMax;
    if (isNarrow && std::string_view(kind) == "scales")
      continue;
    std::vector<float> x = encodeInputs(kind, 11, spec.numElements());
    std::vector<Bytes> planes = encodeAll(spec, x);
    std::vector<float> decoded = decodeAll(spec, planes);
    std::vector<float> least(x.size(), INFINITY);
    int64_t stored = spec.numElements();
    if (format.sparsity)
      stored = stored / format.sparsity->m * format.sparsity->n;
    // Decode with every element set to each code in turn.
    for (uint32_t code = 0; code < 1u << format.codes.width(); ++code) {
      std::vector<std::span<uint8_t>> spans(planes.begin(), planes.end());
      for (int64_t i = 0; i < stored; ++i)
        writeField(format.codes, i, code, spans);
      std::vector<float> candidate = decodeAll(spec, planes);
      for (size_t i = 0; i < x.size(); ++i)
        least[i] = std::fmin(least[i], std::fabs(candidate[i] - x[i]));
    }
    size_t wrong = 0;
    const size_t span = slackSpan(format);
    for (size_t i = 0; i < x.size(); ++i) {
      float largest = 0;
      for (size_t j = i / span * span; j < (i / span + 1) * span; ++j)
        largest = std::fmax(largest, std::fabs(x[j]));
      wrong += !(std::fabs(decoded[i] - x[i]) <=
                 least[i] + largest * slackOf(format));
    }
    EXPECT_EQ(wrong, 0u) << kind;
  }
}

TEST_P(EveryContract, RelativeErrorIsThatOfItsBits) {
  ArraySpec spec = specOf(GetParam(), {64, 256});
  std::vector<float> x = encodeInputs("bell", 5, spec.numElements());
  std::vector<float> decoded = decodeAll(spec, encodeAll(spec, x));
  double error = 0, norm = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    error += std::pow(double(decoded[i]) - x[i], 2);
    norm += std::pow(double(x[i]), 2);
  }
  double relative = std::sqrt(error / norm);
  // Half of the values are dropped by 2:4; four bits of anything give a tenth,
  // and every bit less doubles it, as truncation does. Ternary codes under the
  // largest magnitude lose most of a bell. Bytes give a hundredth, or what
  // their fraction does.
  const FormatDescription &format = spec.contract.description();
  double limit = 0.13;
  const EncodeRule rule = format.encoding.rule;
  if (format.level.vector > 1)
    limit = 0.13 * std::exp2(4 - format.bitsPerElement());
  else if (format.codes.width() < 4)
    limit = std::ldexp(0.13, 4 - int(format.codes.width()));
  if (format.codes.width() == 2 && (rule == EncodeRule::GgmlAbsMax ||
                                    rule == EncodeRule::GgmlAbsMaxClamped ||
                                    rule == EncodeRule::GroupedAbsMax))
    limit = 0.8;
  if (format.codes.width() == 2 && rule == EncodeRule::GptqSymmetric)
    limit = 0.9;
  if (format.sparsity || format.encoding.rounding == Rounding::RTZ)
    limit = 0.4;
  else if (format.codes.width() == 8 && format.level.vector == 1)
    limit =
        format.level.number.word.isInteger()
            ? 0.01
            : std::ldexp(0.24, -static_cast<int>(
                                   format.level.number.word.mantissaBits()));
  EXPECT_LT(relative, limit);
  EXPECT_GT(relative, 0.001);
}

// (E7)
TEST_P(EveryContract, ZerosStayZeros) {
  ArraySpec spec = rowsOf(GetParam(), 2);
  std::vector<float> x = encodeInputs("zero", 1, spec.numElements());
  for (float y : decodeAll(spec, encodeAll(spec, x)))
    EXPECT_EQ(y, 0);
}

// (B19)
TEST_P(EveryContract, EmptyArraysHaveTheSizesOfTheEquations) {
  ArraySpec spec = specOf(GetParam(), {0, 256});
  auto planes = encodeAll(spec, {});
  PlaneSizes sizes = take(spec.planeSizes());
  ASSERT_EQ(planes.size(), sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    EXPECT_EQ(int64_t(planes[i].size()), sizes[i]);
}

TEST_P(EveryContract, RowsDoNotDependOnEachOtherNorOnThreads) {
  if (rowsShareScales(contract(GetParam()).description()))
    return;
  ArraySpec whole = specOf(GetParam(), {256, 256});
  ArraySpec row = specOf(GetParam(), {1, 256});
  std::vector<float> x = encodeInputs("bell", 3, whole.numElements());
  x[0] = 4; // the largest of every row, for scales of the whole array
  for (int64_t r = 1; r < 256; ++r)
    x[r * 256] = -4;
  std::vector<float> together = decodeAll(whole, encodeAll(whole, x));
  std::vector<float> alone;
  for (int64_t r = 0; r < 256; ++r) {
    std::vector<float> part(&x[r * 256], &x[r * 256] + 256);
    for (float y : decodeAll(row, encodeAll(row, part)))
      alone.push_back(y);
  }
  expectSameBits(together, alone, GetParam());
}

// (E5, E21)
TEST_P(EveryContract, ValuesThatAreNotFinite) {
  ArraySpec spec = specOf(GetParam(), {512, 256});
  std::vector<float> x = encodeInputs("bell", 9, spec.numElements());
  x[300] = -INFINITY;
  x[100000] = NAN;
  auto planes = encode(spec, x, neededImportance(spec));
  if (!scalesCarryNaN(GetParam())) {
    // The first one is named, whichever thread met one first.
    ASSERT_FALSE(planes);
    EXPECT_EQ(planes.error().field, "values[300]");
    EXPECT_EQ(planes.error().found, "-inf");
    return;
  }
  std::vector<float> decoded = decodeAll(spec, take(std::move(planes)));
  int64_t unit = 0;
  for (const Factor &factor : spec.contract.description().scales)
    unit = std::max(unit, factor.group);
  const bool sparse = spec.contract.description().sparsity.has_value();
  for (int64_t i = 0; i < spec.numElements(); ++i) {
    bool poisoned = i / unit == 300 / unit || i / unit == 100000 / unit;
    // A masked position is zero even then.
    if (poisoned && sparse && decoded[i] == 0)
      continue;
    ASSERT_EQ(std::isnan(decoded[i]), poisoned) << i;
  }
  EXPECT_TRUE(std::isnan(decoded[300]));
  EXPECT_TRUE(std::isnan(decoded[100000]));
}

// (E2)
TEST_P(EveryContract, WrongNumberOfValues) {
  ArraySpec spec = rowsOf(GetParam(), 2);
  const auto count = static_cast<size_t>(spec.numElements());
  auto planes = encode(spec, std::vector<float>(count - 1));
  ASSERT_FALSE(planes);
  EXPECT_EQ(planes.error().status, Status::SizeMismatch);
  EXPECT_EQ(planes.error().declared, std::to_string(count) + " values");
  EXPECT_EQ(planes.error().found, std::to_string(count - 1) + " values");
}

static bool usesImportance(EncodeRule rule) {
  constexpr EncodeRule kUsing[] = {
      EncodeRule::GgmlAffineSearch,    EncodeRule::GgmlAffineSearch16,
      EncodeRule::GgmlAffineSearchAbs, EncodeRule::GgmlSymmetricSearch,
      EncodeRule::GgmlSymmetricRefine, EncodeRule::GgmlTableSearch,
      EncodeRule::GgmlSignedMax,       EncodeRule::GgmlMinMax,
      EncodeRule::GgmlGridSearch,      EncodeRule::GgmlGridSearchAside,
      EncodeRule::GgmlGridSearch31,    EncodeRule::GgmlGridSearchShrunk,
      EncodeRule::GgmlGridSplit,       EncodeRule::GgmlGridSearchStretched,
      EncodeRule::GgmlGridSplitFit};
  return std::ranges::find(kUsing, rule) != std::end(kUsing);
}

TEST_P(EveryContract, ImportanceIsUsedOrRefused) {
  ArraySpec spec = rowsOf(GetParam(), 2);
  std::vector<float> x = encodeInputs("outlier", 2, spec.numElements());
  std::vector<float> weights = importanceInputs(4, 256);
  auto weighted = encode(spec, x, weights);
  EncodeRule rule = spec.contract.description().encoding.rule;
  if (!usesImportance(rule)) {
    ASSERT_FALSE(weighted);
    EXPECT_EQ(weighted.error().field, "importance");
    return;
  }
  EXPECT_NE(take(std::move(weighted)), encodeAll(spec, x));
  auto shorter = encode(spec, x, std::span(weights).first(255));
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().status, Status::SizeMismatch);
  weights[17] = -1;
  auto negative = encode(spec, x, weights);
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().field, "importance[17]");
}

/// Weighted squared errors of 256 elements each, which are whole groups, or of
/// the array where groups are blocks.
static std::vector<double> errorsOf(const ArraySpec &spec,
                                    const std::vector<Bytes> &planes,
                                    std::span<const float> x,
                                    std::span<const float> weights) {
  std::vector<float> decoded = decodeAll(spec, planes);
  bool areBlocks =
      spec.contract.description().scales.back().order == ElementOrder::Block;
  size_t part = areBlocks ? x.size() : 256;
  std::vector<double> errors(x.size() / part);
  for (size_t i = 0; i < x.size(); ++i)
    errors[i / part] +=
        weights[i % 256] * std::pow(double(decoded[i]) - x[i], 2);
  return errors;
}

TEST_P(EveryContract, ASearchNeverAddsError) {
  const int64_t least = contract(GetParam()).description().arrayMultiple;
  ArraySpec spec =
      specOf(GetParam(), {std::max<int64_t>(16, least / 256), 256});
  const bool isWeighed = importanceUse(spec.contract) != ImportanceUse::None;
  for (const char *kind : {"bell", "outlier", "ties", "uniform", "sparse"}) {
    std::vector<float> x = encodeInputs(kind, 13, spec.numElements());
    std::vector<float> weights(256, 1.0f);
    EncodeOptions options;
    if (isWeighed) {
      weights = importanceInputs(7, 256);
      options.importance = weights;
    }
    auto home = errorsOf(spec, take(encode(spec, x, options)), x, weights);
    options.search = EncodeOptions::Search::MeanSquare;
    auto found = errorsOf(spec, take(encode(spec, x, options)), x, weights);
    for (size_t i = 0; i < home.size(); ++i)
      EXPECT_LE(found[i], home[i]) << kind << " " << i;
  }
}

// (E3)
TEST_P(EveryContract, OtherPlacementsAreRefused) {
  ArraySpec spec = rowsOf(GetParam(), 2);
  spec.placements.data = placements::Unspecified;
  auto planes =
      encode(spec, std::vector<float>(static_cast<size_t>(spec.numElements())));
  ASSERT_FALSE(planes);
  EXPECT_EQ(planes.error().status, Status::PlacementUnknown);
}
