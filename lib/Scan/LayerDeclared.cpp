//===- LayerDeclared.cpp - layers against the configuration -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerAttempt.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;
using namespace grit::scan;

/// What a configuration without a mode means.
static constexpr std::string_view kUsualMode = "affine";

std::optional<Error> LayerAttempt::checkMethod() {
  if (!family.methods.empty() && !listHas(family.methods, method))
    return refuseLayer(
        "the tensors of the layer do not say how it is packed", "quant_method",
        methodsOf(module), method.empty() ? "nothing" : quoteText(method),
        config.path.empty() ? "there is no configuration beside the file"
                            : "the configuration is of another checkpoint",
        "put the checkpoint's config.json beside its files");
  bool isDeclared = false;
  for (const std::string &format : {config.version, config.checkpointFormat}) {
    isDeclared |= !format.empty();
    if (!family.formats.empty() && !format.empty() &&
        !listHas(family.formats, format))
      return refuseLayer("this packing has no description", "version",
                         std::string(family.formats), quoteText(format),
                         "the layer was packed for one kind of kernel",
                         "quantize again for the usual packing");
  }
  if (family.needsFormat && !isDeclared)
    return refuseLayer("the tensors of the layer do not say how it is packed",
                       "version", std::string(family.formats), "nothing",
                       "the configuration was edited, or is of another "
                       "checkpoint",
                       "fetch the checkpoint again, with its configuration");
  std::string mode = config.modeOf(module.name);
  if (!family.modes.empty() &&
      !listHas(family.modes, mode.empty() ? kUsualMode : mode))
    return refuseLayer("the numbers of the layer are of another kind", "mode",
                       std::string(family.modes),
                       mode.empty() ? "nothing" : quoteText(mode),
                       "the configuration is of another checkpoint",
                       "fetch the checkpoint again, with its configuration");
  return std::nullopt;
}

std::optional<Error> LayerAttempt::checkSymmetry() {
  bool wanted = family.symmetry == Symmetry::Symmetric;
  if (family.symmetry == Symmetry::Any || !config.symmetric ||
      *config.symmetric == wanted)
    return std::nullopt;
  return refuseLayer("the zero points and what is declared about them differ",
                     "symmetric", *config.symmetric ? "true" : "false",
                     wanted ? "no zero points" : "zero points",
                     "a tensor is missing, or the configuration is of another "
                     "checkpoint",
                     "fetch the checkpoint again, with its configuration");
}

Error LayerAttempt::widthError() const {
  if (!sizes.bits)
    return refuseLayer(
        "the tensors do not say how wide the codes are", "bits",
        std::string(family.bits), "nothing",
        "there is no configuration beside the file, or it does not "
        "state the width",
        "put the checkpoint's config.json beside its files");
  return refuseLayer("codes of this width have no contract", "bits",
                     std::string(family.bits), std::to_string(sizes.bits),
                     "the layer was quantized to another width",
                     "quantize again to one of these widths");
}

std::optional<Error> LayerAttempt::checkDeclared() {
  if (!listHas(family.bits, std::to_string(sizes.bits)))
    return widthError();
  std::optional<int64_t> group = config.groupSizeOf(module.name);
  bool isWhole = group && *group <= 0;
  bool hasGroups = std::ranges::any_of(parts, [](const FoundPart &part) {
    return std::ranges::count(part.row->shape, Count::Groups) != 0;
  });
  if (hasGroups && group && config.strategy != "channel" &&
      sizes.group != (isWhole ? sizes.columns : *group))
    return refuseLayer("the group size differs from the declared one",
                       "group_size", std::to_string(*group),
                       std::to_string(sizes.group),
                       "the scales were cut short, or the configuration is of "
                       "another checkpoint",
                       "fetch the checkpoint again, with its configuration");
  return std::nullopt;
}

std::optional<Error> LayerAttempt::checkBlocks() {
  bool hasBlocks = std::ranges::any_of(parts, [](const FoundPart &part) {
    return std::ranges::count(part.row->shape, Count::RowBlocks) != 0;
  });
  bool isKnown = config.block == std::vector<int64_t>{128, 128} ||
                 (family.anyBlock && config.block.size() == 2);
  if (hasBlocks && !isKnown)
    return refuseLayer(
        "blocks of this size have no contract", "weight_block_size",
        family.anyBlock ? "rows and columns" : "[128, 128]",
        config.block.empty() ? "nothing" : shapeText(config.block),
        config.block.empty() ? "there is no configuration beside the file"
                             : "the layer was quantized in other blocks",
        config.block.empty()
            ? "put the checkpoint's config.json beside its files"
            : "quantize again in blocks of 128 x 128");
  return std::nullopt;
}
