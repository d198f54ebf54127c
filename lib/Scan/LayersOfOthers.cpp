//===- LayersOfOthers.cpp - formats without a spelling in GRIT v1 -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"

using namespace grit;
using namespace grit::scan;

/// bitsandbytes, 4 bits: codes U8 [n, 1] into a table of 16 numbers.
static std::optional<Layer> recognizeCodebook(const Recognition &scan,
                                              const Module &module) {
  const TensorInfo *codes = module.get("weight");
  if (!codes || codes->dtype != "U8" || !module.get("weight.quant_map"))
    return std::nullopt;
  Layer layer;
  layer.codes = codes;
  layer.scale = module.get("weight.absmax");
  layer.bits = 4;
  layer.family = "bitsandbytes";
  layer.certainty = Certainty::NotExpressible;
  layer.label = "bitsandbytes, 4-bit codes into a table";
  layer.reason = "the file brings its own table of levels; GRIT v1 spells only "
                 "levels that a format word gives";
  if (!layer.scale && !scan.mayHave(module, "weight.absmax"))
    scan.add(Id::MissingScale, module, *codes,
             "4-bit codes of bitsandbytes have no weight.absmax",
             "weight.absmax", "nothing");
  return layer;
}

static std::optional<Layer> recognizeHqq(const Recognition &scan,
                                         const Module &module) {
  const TensorInfo *codes = module.get("W_q");
  if (!codes)
    return std::nullopt;
  Layer layer;
  layer.codes = codes;
  layer.scale = module.get("scale");
  layer.zero = module.get("zero");
  layer.family = "hqq";
  layer.certainty = Certainty::NotExpressible;
  layer.label = "HQQ: zero points are floating-point numbers";
  layer.reason = "GRIT v1 spells zero points that are integers";
  if (!layer.scale && !scan.mayHave(module, "scale"))
    scan.add(Id::MissingScale, module, *codes, "W_q has no scale", "scale",
             "nothing");
  return layer;
}

std::optional<Layer> grit::scan::recognizeOthers(const Recognition &scan,
                                                 const Module &module) {
  if (std::optional<Layer> layer = recognizeCodebook(scan, module))
    return layer;
  return recognizeHqq(scan, module);
}
