//===- EncodeGgmlGridScales.cpp - weights and odd scales ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlGrid.h"

using namespace grit;

std::vector<float> grit::gridWeights(const EncodeUnit &unit, GridWeights kind,
                                     float times) {
  std::span<const float> x = unit.values;
  const float meanSquare =
      times * sumOfSquares(x) / static_cast<float>(x.size());
  if (!unit.importance.empty())
    return importanceWeights(unit.importance, x, meanSquare);
  const float added =
      kind == GridWeights::SquaresPlusMean ? 0.25f * meanSquare : 0;
  std::vector<float> weights(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    weights[i] = added + x[i] * x[i];
  return weights;
}

Expected<OddScales> OddScales::get(const FormatDescription &format,
                                   std::string_view rule) {
  const std::vector<Factor> &scales = format.scales;
  if (scales.size() != 2)
    return refuseRule(rule, "scales", "2", std::to_string(scales.size()));
  if (scales[0].group <= 0 || scales[1].group <= 0)
    return refuseRule(rule, "scales", "groups of a fixed size", "others");
  const Number &inner = scales[1].number;
  if (inner.isTable() || !inner.word.isInteger() || !inner.word.isUnsigned() ||
      inner.word.width() > 8 || inner.times != 2 || inner.plus != 1)
    return refuseRule(rule, "scales", "integers n that stand for 2n + 1",
                      inner.word.str());
  OddScales odd;
  odd.outer = scales[0].number;
  odd.size = scales[1].group;
  odd.most = (1 << inner.word.width()) - 1;
  return odd;
}
