//===- LayersOfWords.cpp - codes in 32-bit words -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::scan;

static std::string widthText(unsigned bits) {
  return bits ? std::to_string(bits) + " bits" : "unknown width";
}
static std::string groupText(int64_t group) {
  return group > 0 ? ", groups of " + std::to_string(group) : "";
}

static bool isMatrix(const TensorInfo *tensor) {
  return tensor && tensor->shape.size() == 2 && tensor->shape[0] > 0 &&
         tensor->shape[1] > 0;
}

//===----------------------------------------------------------------------===//
// GPTQ and AWQ
//===----------------------------------------------------------------------===//

namespace {
/// The readings of qweight [a, b], scales [g, n], qzeros [g, m].
struct Readings {
  bool gptq = false, awq = false;
  unsigned gptqBits = 0, awqBits = 0; ///< that the shapes imply
};
} // namespace

static Readings readShapes(const TensorInfo &codes, const TensorInfo &scales,
                           const TensorInfo *zeros) {
  Readings readings;
  int64_t a = codes.shape[0], b = codes.shape[1];
  int64_t g = scales.shape[0], n = scales.shape[1];
  int64_t m = isMatrix(zeros) ? zeros->shape[1] : 0;
  constexpr int64_t kLargest = int64_t(1) << 40;
  if (a > kLargest || b > kLargest || m > kLargest || n > kLargest)
    return readings;
  readings.gptq = b == n && (m == 0 || m * 32 % n == 0);
  if (readings.gptq && m)
    readings.gptqBits = static_cast<unsigned>(m * 32 / n);
  readings.awq = b * 32 % n == 0 && b < n && (m == 0 || m == b) && a % g == 0;
  if (readings.awq)
    readings.awqBits = static_cast<unsigned>(b * 32 / n);
  return readings;
}

static void judgeZeros(const Recognition &scan, const Module &module,
                       const Layer &layer) {
  const QuantConfig &config = scan.checkpoint.config;
  if (!layer.zero)
    return;
  scan.add(Id::DenseZeroPoints, module, *layer.codes,
           "zero points of " + layer.family + " are dense, " +
               std::to_string(layer.bits) + " bits each",
           "one zero point per byte", layer.zero->dtype);
  if (layer.scale->shape[0] != layer.zero->shape[0])
    scan.add(Id::ScaleShape, module, *layer.codes,
             "scales and zero points differ in their groups",
             std::to_string(layer.scale->shape[0]) + " groups of scales",
             std::to_string(layer.zero->shape[0]) + " of zero points");
  if (layer.family == "gptq" && config.checkpointFormat.empty())
    scan.add(Id::ZeroPointConvention, module, *layer.codes,
             "zero points of GPTQ, stored as they are or minus one",
             "checkpoint_format", "nothing");
}

static std::optional<Layer> recognizeGptqOrAwq(const Recognition &scan,
                                               const Module &module) {
  const QuantConfig &config = scan.checkpoint.config;
  const TensorInfo *codes = module.get("qweight");
  const TensorInfo *scales = module.get("scales");
  if (!isMatrix(codes) || codes->dtype != "I32")
    return std::nullopt;
  Layer layer;
  layer.codes = codes;
  layer.scale = scales;
  layer.zero = isMatrix(module.get("qzeros")) ? module.get("qzeros") : nullptr;
  layer.index = module.get("g_idx");
  if (!isMatrix(scales)) {
    layer.family = "gptq or awq";
    layer.label = "GPTQ or AWQ, without scales";
    if (!scan.mayHave(module, "scales"))
      scan.add(Id::MissingScale, module, *codes, "qweight has no scales",
               "scales", "nothing");
    return layer;
  }
  Readings readings = readShapes(*codes, *scales, layer.zero);
  bool isAwq = readings.awq && !readings.gptq;
  if (readings.awq == readings.gptq)
    isAwq = config.method == "awq";
  layer.family = isAwq ? "awq" : "gptq";
  std::optional<int64_t> bits = config.bitsOf(module.name);
  unsigned implied = isAwq ? readings.awqBits : readings.gptqBits;
  if (bits && implied && *bits != implied)
    scan.add(Id::PackedBits, module, *codes,
             "the shapes imply " + std::to_string(implied) + " bits",
             std::to_string(*bits) + " bits",
             codes->dtype + " " + shapeText(codes->shape) + " with scales " +
                 shapeText(scales->shape));
  if (implied)
    bits = implied;
  layer.bits =
      bits && *bits > 0 && *bits <= 8 ? static_cast<unsigned>(*bits) : 0;
  int64_t g = scales->shape[0];
  layer.group = scan.judgeGroups(
      module, *codes, isAwq ? codes->shape[0] : codes->shape[0], g,
      isAwq ? layer.bits : 32,
      layer.bits ? std::optional<int64_t>(layer.bits) : std::nullopt,
      config.groupSizeOf(module.name));
  if (layer.bits && layer.group)
    layer.shape = {scales->shape[1],
                   isAwq ? codes->shape[0] : codes->shape[0] * 32 / layer.bits};
  layer.label = std::string(isAwq ? "AWQ, " : "GPTQ, ") +
                widthText(layer.bits) + groupText(layer.group);
  layer.certainty = Certainty::Inferred;
  if (isAwq)
    scan.add(Id::OrderUnproven, module, *codes,
             "AWQ interleaves the codes of a word; some tools do not", {},
             "qweight " + codes->dtype);
  judgeZeros(scan, module, layer);
  return layer;
}

//===----------------------------------------------------------------------===//
// compressed-tensors
//===----------------------------------------------------------------------===//

static void judgeSymmetry(const Recognition &scan, const Module &module,
                          const Layer &layer) {
  const std::optional<bool> &symmetric = scan.checkpoint.config.symmetric;
  if (!symmetric)
    return;
  if (!*symmetric && !layer.zero && !scan.mayHave(module, "weight_zero_point"))
    scan.add(Id::ZeroPointAbsent, module, *layer.codes,
             "declared asymmetric, and there are no zero points",
             "weight_zero_point", "nothing");
  if (*symmetric && layer.zero)
    scan.add(Id::ZeroPointUndeclared, module, *layer.codes,
             "declared symmetric, and there are zero points", "none",
             layer.zero->dtype + " " + shapeText(layer.zero->shape));
}

static std::optional<Layer> recognizePacked(const Recognition &scan,
                                            const Module &module) {
  const TensorInfo *codes = module.get("weight_packed");
  if (!isMatrix(codes) || codes->dtype != "I32")
    return std::nullopt;
  const QuantConfig &config = scan.checkpoint.config;
  Layer layer;
  layer.codes = codes;
  layer.family = "compressed-tensors";
  layer.scale = module.get("weight_scale");
  layer.zero = module.get("weight_zero_point");
  layer.index = module.get("weight_g_idx");
  std::optional<int64_t> bits = config.bitsOf(module.name);
  layer.bits =
      bits && *bits > 0 && *bits <= 8 ? static_cast<unsigned>(*bits) : 0;
  layer.label = "compressed-tensors, " +
                (layer.bits ? widthText(layer.bits)
                            : std::string("4 or 8 bits (ambiguous)"));
  if (!layer.bits)
    layer.certainty = Certainty::Ambiguous;
  if (!isMatrix(layer.scale)) {
    if (!scan.mayHave(module, "weight_scale"))
      scan.add(Id::MissingScale, module, *codes,
               "weight_packed has no weight_scale", "weight_scale", "nothing");
    return layer;
  }
  int64_t rows = codes->shape[0];
  if (layer.scale->shape[0] != rows)
    scan.add(Id::ScaleShape, module, *codes,
             "the scale has another number of rows than the codes",
             std::to_string(rows) + " rows",
             std::to_string(layer.scale->shape[0]) + " rows");
  std::optional<int64_t> group = config.groupSizeOf(module.name);
  if (config.strategy == "channel")
    group.reset();
  layer.group = scan.judgeGroups(
      module, *codes, codes->shape[1], layer.scale->shape[1], 32,
      layer.bits ? std::optional<int64_t>(layer.bits) : std::nullopt, group);
  layer.label += groupText(layer.group);
  if (layer.bits && layer.group)
    layer.shape = {rows, codes->shape[1] * 32 / layer.bits};
  judgeSymmetry(scan, module, layer);
  return layer;
}

//===----------------------------------------------------------------------===//
// MLX
//===----------------------------------------------------------------------===//

static std::optional<Layer> recognizeMlx(const Recognition &scan,
                                         const Module &module) {
  const TensorInfo *codes = module.get("weight");
  const TensorInfo *scales = module.get("scales");
  if (!isMatrix(codes) || codes->dtype != "U32" || !isMatrix(scales))
    return std::nullopt;
  const QuantConfig &config = scan.checkpoint.config;
  Layer layer;
  layer.codes = codes;
  layer.scale = scales;
  layer.zero = module.get("biases");
  layer.family = "mlx";
  std::optional<int64_t> bits = config.bitsOf(module.name);
  layer.bits =
      bits && *bits > 0 && *bits <= 8 ? static_cast<unsigned>(*bits) : 0;
  if (scales->shape[0] != codes->shape[0])
    scan.add(Id::ScaleShape, module, *codes,
             "the scale has another number of rows than the codes",
             std::to_string(codes->shape[0]) + " rows",
             std::to_string(scales->shape[0]) + " rows");
  layer.group = scan.judgeGroups(
      module, *codes, codes->shape[1], scales->shape[1], 32,
      layer.bits ? std::optional<int64_t>(layer.bits) : std::nullopt,
      config.groupSizeOf(module.name));
  layer.label = "MLX, " + widthText(layer.bits) + groupText(layer.group) +
                ": the minimum of each group is added";
  layer.reason = "GRIT v1 spells zero points and quantized minima, and no "
                 "minimum that is a number of the scale's type";
  layer.certainty = Certainty::NotExpressible;
  return layer;
}

std::optional<Layer> grit::scan::recognizeWords(const Recognition &scan,
                                                const Module &module) {
  for (auto recognize : {recognizeGptqOrAwq, recognizePacked, recognizeMlx})
    if (std::optional<Layer> layer = recognize(scan, module))
      return layer;
  return std::nullopt;
}
