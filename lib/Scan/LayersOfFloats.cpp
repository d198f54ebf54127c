//===- LayersOfFloats.cpp - codes of 4 and 8 bits with scales per block -*- C++
//-*-===//
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

static constexpr int64_t kLargest = int64_t(1) << 40;

/// Rows (all axes but the last) and columns of a tensor of bounded extents.
static std::optional<std::pair<int64_t, int64_t>>
matrixOf(std::span<const int64_t> shape) {
  if (shape.empty())
    return std::nullopt;
  int64_t rows = 1;
  for (int64_t extent : shape.first(shape.size() - 1))
    if (extent <= 0 || __builtin_mul_overflow(rows, extent, &rows) ||
        rows > kLargest)
      return std::nullopt;
  if (shape.back() <= 0 || shape.back() > kLargest)
    return std::nullopt;
  return std::pair(rows, shape.back());
}

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static std::string scaleText(const TensorInfo &scale) {
  return scale.dtype + " " + shapeText(scale.shape);
}

/// The scale plane of `rows` x `groups` against the one that is there.
static void judgeBlockScale(const Recognition &scan, const Module &module,
                            Layer &layer, int64_t rows, int64_t groups) {
  const TensorInfo &scale = *layer.scale;
  auto found = matrixOf(scale.shape);
  int64_t paddedRows = roundUp(rows, 128), paddedGroups = roundUp(groups, 4);
  bool isAligned = paddedRows == rows && paddedGroups == groups;
  int64_t count = found ? found->first * found->second : 0;
  bool isLinear = found && found->first == rows && found->second == groups;
  bool isPadded = count == paddedRows * paddedGroups;
  if (isAligned && isPadded) {
    scan.add(Id::SwizzleAmbiguous, module, *layer.codes,
             "scales of " + layer.family +
                 ": linear and swizzled planes have this size",
             "a placement", scaleText(scale));
    return;
  }
  if (isLinear)
    return;
  if (isPadded) {
    layer.swizzled = true;
    scan.add(Id::SwizzleAmbiguous, module, *layer.codes,
             "scales of " + layer.family +
                 " are padded to 128 rows and 4 columns: inferred swizzle, or "
                 "only padding",
             "a placement", scaleText(scale));
    return;
  }
  scan.add(Id::ScaleShape, module, *layer.codes,
           "the scale does not cover the codes",
           "[" + std::to_string(rows) + ", " + std::to_string(groups) + "]",
           scaleText(scale));
}

static void finishBlocks(const Recognition &scan, const Module &module,
                         Layer &layer, std::pair<int64_t, int64_t> matrix,
                         int64_t perByte) {
  int64_t columns = matrix.second * perByte;
  layer.shape.assign(layer.codes->shape.begin(), layer.codes->shape.end() - 1);
  layer.shape.push_back(columns);
  judgeBlockScale(scan, module, layer, matrix.first,
                  (columns + layer.group - 1) / layer.group);
  if (perByte == 2)
    scan.add(Id::OrderUnproven, module, *layer.codes,
             "FP4 codes in bytes: which half holds the first element is not "
             "stated",
             {}, layer.codes->dtype);
  if (layer.scale->dtype == "U8")
    scan.add(Id::ByteScale, module, *layer.codes,
             "bytes read as powers of two (e8m0)", "F8_E8M0",
             layer.scale->dtype);
}

//===----------------------------------------------------------------------===//
// NVFP4, MXFP4, MXFP8
//===----------------------------------------------------------------------===//

static bool isE8M0(const TensorInfo &tensor) {
  return tensor.dtype == "U8" || tensor.dtype == "F8_E8M0";
}

static std::optional<Layer> recognizeFp4(const Recognition &scan,
                                         const Module &module) {
  const TensorInfo *codes = module.any({"weight_packed", "weight"});
  if (!codes || codes->dtype != "U8")
    return std::nullopt;
  auto matrix = matrixOf(codes->shape);
  bool isPacked = module.get("weight_packed") == codes;
  const TensorInfo *scale = module.get("weight_scale");
  if (!matrix)
    return std::nullopt;
  Layer layer;
  layer.codes = codes;
  layer.bits = 4;
  if (!scale) {
    if (!isPacked)
      return std::nullopt;
    layer.family = "fp4";
    layer.label = "FP4 codes without scales";
    if (!scan.mayHave(module, "weight_scale"))
      scan.add(Id::MissingScale, module, *codes,
               "weight_packed has no weight_scale", "weight_scale", "nothing");
    return layer;
  }
  layer.scale = scale;
  layer.second = module.any({"weight_scale_2", "weight_global_scale"});
  if (layer.second)
    layer.secondKind = module.get("weight_scale_2") == layer.second
                           ? SecondScale::Multiplier
                           : SecondScale::Divisor;
  layer.input = module.any({"input_scale", "input_global_scale"});
  if (scale->dtype == "F8_E4M3") {
    layer.family = "nvfp4";
    layer.group = 16;
    layer.contract = layer.second ? "nvf4" : "";
    layer.label = "NVFP4, groups of 16";
  } else if (isE8M0(*scale)) {
    layer.family = "mxfp4";
    layer.group = 32;
    layer.contract = "mxfp4";
    layer.label = "MXFP4, groups of 32";
  } else {
    return std::nullopt;
  }
  if (layer.secondKind == SecondScale::Divisor)
    scan.add(Id::ReciprocalScale, module, *codes,
             "weight_global_scale divides; weight_scale_2 multiplies");
  finishBlocks(scan, module, layer, *matrix, 2);
  return layer;
}

/// Experts in one tensor: blocks [..., groups, 16], scales [..., groups].
static std::optional<Layer> recognizeExperts(const Recognition &scan,
                                             const Module &module) {
  const TensorInfo *blocks = module.get("_blocks");
  const TensorInfo *scales = module.get("_scales");
  if (!blocks || blocks->dtype != "U8" || blocks->shape.size() < 2 ||
      blocks->shape.back() != 16)
    return std::nullopt;
  Layer layer;
  layer.codes = blocks;
  layer.scale = scales;
  layer.family = "mxfp4";
  layer.bits = 4;
  layer.group = 32;
  layer.contract = "mxfp4";
  layer.label = "MXFP4, groups of 32";
  if (!scales) {
    if (!scan.checkpoint.mayHave(module.name + "_scales"))
      scan.add(Id::MissingScale, module, *blocks, "_blocks has no _scales",
               "scales", "nothing");
    return layer;
  }
  std::vector<int64_t> expected(blocks->shape.begin(), blocks->shape.end() - 1);
  if (scales->shape != expected)
    scan.add(Id::ScaleShape, module, *blocks,
             "the scale does not cover the codes", shapeText(expected),
             scaleText(*scales));
  layer.shape = expected;
  if (layer.shape.back() <= kLargest)
    layer.shape.back() *= 32;
  scan.add(Id::OrderUnproven, module, *blocks,
           "FP4 codes in bytes: which half holds the first element is not "
           "stated",
           {}, blocks->dtype);
  if (scales->dtype == "U8")
    scan.add(Id::ByteScale, module, *blocks,
             "bytes read as powers of two (e8m0)", "F8_E8M0", scales->dtype);
  auto [parent, role] = splitName(module.name);
  if (role == "gate_up_proj" || role == "w13")
    scan.add(Id::FusedRows, module, *blocks,
             "rows of gate and up in one matrix: stacked or alternating");
  return layer;
}

//===----------------------------------------------------------------------===//
// FP8 and INT8
//===----------------------------------------------------------------------===//

namespace {
/// How the shape of a scale can be read for a weight of rows x columns.
struct ScaleReadings {
  bool tensor = false, channel = false, groups = false, block = false;
  bool any() const { return tensor || channel || groups || block; }
};
} // namespace

static ScaleReadings readScale(std::span<const int64_t> shape, int64_t rows,
                               int64_t columns,
                               const std::vector<int64_t> &block) {
  ScaleReadings readings;
  int64_t r = shape.size() >= 2   ? shape[shape.size() - 2]
              : shape.size() == 1 ? shape[0]
                                  : 1;
  int64_t c = shape.size() >= 2 ? shape.back() : 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i)
    if (shape[i] <= 0 || r <= 0 || __builtin_mul_overflow(r, shape[i], &r))
      return readings;
  if (r <= 0 || c <= 0)
    return readings;
  readings.tensor = r == 1 && c == 1;
  readings.channel = r == rows && c == 1;
  readings.groups = r == rows && c > 1 && columns % c == 0;
  if (shape.size() < 2)
    return readings;
  if (block.size() == 2)
    readings.block = r == (rows + block[0] - 1) / block[0] &&
                     c == (columns + block[1] - 1) / block[1];
  else
    readings.block =
        r < rows && rows % r == 0 && columns % c == 0 && !readings.tensor;
  return readings;
}

static void judgeStrategy(const Recognition &scan, const Module &module,
                          const Layer &layer, const ScaleReadings &readings,
                          int64_t rows) {
  const std::string &strategy = scan.checkpoint.config.strategy;
  bool fits = strategy.empty() || (strategy == "block" && readings.block) ||
              (strategy == "channel" && readings.channel) ||
              (strategy == "tensor" && readings.tensor) ||
              (strategy == "group" && readings.groups);
  if (!fits) {
    scan.add(Id::Strategy, module, *layer.codes,
             "the shape of the scale is not that of the declared strategy",
             strategy, scaleText(*layer.scale));
    return;
  }
  // [n, 1] with fewer scales than rows is where loaders went wrong.
  const std::vector<int64_t> &shape = layer.scale->shape;
  if (strategy == "block" && shape.size() == 2 && shape[1] == 1 &&
      shape[0] > 1 && shape[0] < rows)
    scan.add(Id::Strategy, module, *layer.codes,
             "ambiguous: blocks by declaration, and read as one scale per "
             "row by its shape",
             strategy, scaleText(*layer.scale));
}

static std::string strategyLabel(const ScaleReadings &readings,
                                 const std::vector<int64_t> &block) {
  if (readings.tensor)
    return "one scale";
  if (readings.channel)
    return "one scale per row";
  if (readings.groups)
    return "scales per run of a row";
  return block.size() == 2
             ? "one scale per block of " + std::to_string(block[0]) + " x " +
                   std::to_string(block[1])
             : "one scale per block of rows and columns";
}

static std::optional<Layer> recognizeBytes(const Recognition &scan,
                                           const Module &module) {
  const TensorInfo *codes = module.get("weight");
  if (!codes || (!codes->dtype.starts_with("F8_E4M3") &&
                 codes->dtype != "F8_E5M2" && codes->dtype != "I8"))
    return std::nullopt;
  auto matrix = matrixOf(codes->shape);
  Layer layer;
  layer.codes = codes;
  layer.bits = 8;
  layer.scale =
      module.any({"weight_scale", "weight_scale_inv", "scale", "SCB"});
  if (!matrix || !layer.scale)
    return std::nullopt;
  layer.input = module.get("input_scale");
  layer.zero = module.get("weight_zero_point");
  bool isInteger = codes->dtype == "I8";
  layer.family = isInteger ? "int8" : "fp8";
  if (module.get("scale") == layer.scale)
    scan.add(Id::ScaleSpelling, module, *codes, "the scale is named .scale",
             "weight_scale or weight_scale_inv", scaleText(*layer.scale));
  auto [rows, columns] = *matrix;
  layer.shape = codes->shape;
  auto grid = matrixOf(layer.scale->shape);
  if (isE8M0(*layer.scale) && !isInteger && grid && grid->first == rows &&
      columns % 32 == 0 && grid->second == columns / 32) {
    layer.family = "mxfp8";
    layer.group = 32;
    layer.label = "MXFP8, groups of 32";
    finishBlocks(scan, module, layer, *matrix, 1);
    return layer;
  }
  const std::vector<int64_t> &block = scan.checkpoint.config.block;
  ScaleReadings readings = readScale(layer.scale->shape, rows, columns, block);
  if (!readings.any())
    scan.add(Id::ScaleShape, module, *codes,
             "the scale does not cover the weight",
             "1, one per row, or one per block of " + shapeText(codes->shape),
             scaleText(*layer.scale));
  else
    judgeStrategy(scan, module, layer, readings, rows);
  layer.label = std::string(isInteger ? "INT8, " : "FP8, ") +
                strategyLabel(readings, block);
  if (readings.block && !readings.tensor && !readings.channel) {
    layer.certainty = Certainty::NotExpressible;
    layer.label += ": two-dimensional blocks";
    layer.reason = "groups of GRIT v1 are runs of elements, and these are "
                   "blocks of rows and columns";
  } else if (layer.scale->dtype == "BF16") {
    layer.certainty = Certainty::NotExpressible;
    layer.label += ": scales in bfloat16";
    layer.reason = "GRIT v1 has no format word for scales in bfloat16";
  }
  return layer;
}

std::optional<Layer> grit::scan::recognizeFloats(const Recognition &scan,
                                                 const Module &module) {
  for (auto recognize : {recognizeFp4, recognizeExperts, recognizeBytes})
    if (std::optional<Layer> layer = recognize(scan, module))
      return layer;
  return std::nullopt;
}
