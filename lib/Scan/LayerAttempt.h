//===- LayerAttempt.h - a module, tried as one family -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_LAYERATTEMPT_H
#define GRIT_LIB_SCAN_LAYERATTEMPT_H

#include "LayerArrays.h"

namespace grit::scan {

/// One module, tried as one family. Members are filled from step to step;
/// `steps` counts those that went well, for the choice among refusals.
class LayerAttempt {
public:
  LayerAttempt(const FamilyRow &family, const Module &module,
               const Checkpoint &checkpoint)
      : family(family), module(module), checkpoint(checkpoint),
        config(checkpoint.config),
        // What parseConfig calls a declaration without quant_method.
        method(config.method == "unnamed" ? "" : config.method) {}

  std::optional<Error> run();
  LayerArray take(std::optional<Error> refusal);
  unsigned numSteps() const { return steps; }

private:
  std::optional<Error> checkMethod();
  std::optional<Error> checkSymmetry();
  std::optional<Error> collect();
  std::optional<Error> checkPart(const PartRow &row);
  std::optional<Error> checkBlocks();
  std::optional<Error> readSizes();
  std::optional<Error> checkDeclared();
  std::optional<Error> chooseContract();
  std::optional<Error> place();
  std::optional<Error> addPlanes(const ArraySpec &spec);
  std::optional<Error> checkRest();

  Error widthError() const;
  std::string fullName(std::string_view suffix) const;
  std::string outputName() const;

  const FamilyRow &family;
  const Module &module;
  const Checkpoint &checkpoint;
  const QuantConfig &config;
  const std::string method;
  std::vector<FoundPart> parts;
  LayerSizes sizes;
  std::optional<float> stated;
  std::optional<Contract> contract;
  LayerArray layer;
  unsigned steps = 0;
};

/// True when all marks of the family are there. The codes must have one of its
/// types.
bool bears(const FamilyRow &family, const Module &module);

/// The methods of the families that the module could be.
std::string methodsOf(const Module &module);

/// Why a layer is no array.
Error refuseLayer(std::string message, std::string field, std::string declared,
                  std::string found, std::string cause, std::string fix);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_LAYERATTEMPT_H
