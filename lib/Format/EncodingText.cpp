//===- EncodingText.cpp - reads how codes are chosen ----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatReader.h"
#include "grit/Format/FormatText.h"
#include "grit/Format/Text.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace grit;

static constexpr std::string_view kRules[] = {"none",
                                              "exp2_floor",
                                              "exp2_ceil",
                                              "exp2_rne",
                                              "ratio",
                                              "affine_min_max",
                                              "ggml_signed_max",
                                              "ggml_abs_max",
                                              "ggml_exp2",
                                              "ggml_affine_search",
                                              "ggml_table_search",
                                              "table_abs_max",
                                              "ggml_affine_search_16",
                                              "ggml_affine_search_abs",
                                              "ggml_symmetric_search",
                                              "ggml_symmetric_refine",
                                              "ggml_reciprocal_max",
                                              "ggml_abs_max_clamped",
                                              "ggml_min_max",
                                              "ggml_mean_sign",
                                              "ggml_half_up",
                                              "abs_max",
                                              "table_abs_max_nested",
                                              "zero_point_min_max",
                                              "gptq_symmetric",
                                              "hqq_min_max",
                                              "mlx_edge",
                                              "ggml_grid_search",
                                              "ggml_grid_search_aside",
                                              "ggml_grid_search_shrunk",
                                              "ggml_grid_search_31",
                                              "ggml_grid_search_stretched",
                                              "ggml_grid_split",
                                              "ggml_grid_split_fit",
                                              "grouped_abs_max",
                                              "grouped_search",
                                              "row_abs_max"};
static constexpr std::string_view kRoundings[] = {"rne", "rna", "rtz", "rtp",
                                                  "rtn"};
static constexpr std::string_view kSaturations[] = {"satfinite", "satmax",
                                                    "ovfinf"};

std::string_view grit::encodeRuleName(EncodeRule rule) {
  return kRules[static_cast<unsigned>(rule)];
}

Expected<EncodeRule> grit::parseEncodeRule(std::string_view name) {
  auto found = std::ranges::find(kRules, name);
  if (found != std::end(kRules))
    return static_cast<EncodeRule>(found - std::begin(kRules));
  std::string known;
  for (std::string_view rule : kRules)
    known += (known.empty() ? "" : ", ") + std::string(rule);
  return makeError(Status::GradeUnknown, "no encode rule has this name", "rule",
                   known, quoteText(name), {},
                   didYouMean(name, std::vector<std::string_view>(
                                        std::begin(kRules), std::end(kRules))));
}

size_t FormatReader::choice(std::span<const std::string_view> names) {
  size_t place = cursor.position();
  std::string_view word = cursor.takeWord();
  auto found = std::ranges::find(names, word);
  if (found != names.end())
    return static_cast<size_t>(found - names.begin());
  std::string expected;
  for (std::string_view name : names)
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  cursor.failAt(place, "one of " + expected);
  return 0;
}

void FormatReader::readRounding(Rounding &rounding, Saturation &saturation) {
  rounding = static_cast<Rounding>(choice(kRoundings));
  cursor.expect(":");
  saturation = static_cast<Saturation>(choice(kSaturations));
}

Encoding FormatReader::readEncoding() {
  Encoding encoding;
  encoding.rule = static_cast<EncodeRule>(choice(kRules));
  if (cursor.take(":"))
    readRounding(encoding.rounding, encoding.saturation);
  if (encoding.rule != EncodeRule::AbsMax || !cursor.take("["))
    return encoding;
  do
    readStep(encoding.steps);
  while (cursor.take(","));
  cursor.expect("]");
  return encoding;
}

/// One step of abs_max, "over=127.5" or "narrow".
void FormatReader::readStep(AbsMaxSteps &steps) {
  static constexpr std::pair<std::string_view, bool AbsMaxSteps::*> flags[] = {
      {"epsilon", &AbsMaxSteps::epsilon},
      {"reciprocal", &AbsMaxSteps::reciprocal},
      {"narrow", &AbsMaxSteps::narrow},
      {"positive_zero", &AbsMaxSteps::positiveZero}};
  size_t place = cursor.position();
  std::string_view word = cursor.takeWord();
  for (auto [name, flag] : flags)
    if (word == name) {
      steps.*flag = true;
      return;
    }
  bool isNumber = word == "over" || word == "least";
  if (!isNumber && word != "scale")
    return cursor.failAt(place, "a step: over, least, scale, epsilon, "
                                "reciprocal, narrow, positive_zero");
  cursor.expect("=");
  if (!isNumber) {
    steps.scaleRounding = static_cast<Rounding>(choice(kRoundings));
    return;
  }
  place = cursor.position();
  float number = readEntry();
  if (!(number >= 0) || std::isinf(number))
    return cursor.failAt(place, "a finite number, 0 or more");
  (word == "over" ? steps.over : steps.least) = number;
}
