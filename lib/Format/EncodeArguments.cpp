//===- EncodeArguments.cpp - what encode is given -------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"
#include "grit/Format/Text.h"
#include <cmath>

using namespace grit;

std::optional<Error> grit::checkImportance(const ArraySpec &spec,
                                           const Rule &rule,
                                           const EncodeOptions &options) {
  std::span<const float> importance = options.importance;
  if (importance.empty() && rule.needsImportance())
    return makeError(Status::GradeUnknown,
                     "the encoder of this contract needs importance",
                     "importance", "one weight per element of the last axis",
                     "none",
                     spec.contract.displayName() +
                         " spends its few bits where weights say",
                     "give the importance of the columns, measured on data")
        .value();
  if (importance.empty())
    return std::nullopt;
  const bool searches = options.search != EncodeOptions::Search::None;
  if (!rule.usesImportance() && !searches)
    return makeError(Status::GradeUnknown,
                     "the encoder of this contract takes no importance",
                     "importance", "none",
                     std::to_string(importance.size()) + " weights",
                     "grit has no weighted encoder for " +
                         spec.contract.displayName(),
                     "leave the argument out, or search for the least error")
        .value();
  const size_t rank = spec.shape.size();
  const int64_t last = rank ? spec.shape[rank - 1] : 0;
  int64_t matrices = 1;
  for (size_t i = 0; i + 2 < rank; ++i)
    matrices *= spec.shape[i];
  const int64_t count = static_cast<int64_t>(importance.size());
  if (count != last && count != last * matrices)
    return makeError(Status::SizeMismatch,
                     "importance needs one weight per element of the last axis",
                     "importance",
                     std::to_string(last) + " weights" +
                         (matrices > 1
                              ? ", or " + std::to_string(last * matrices)
                              : ""),
                     std::to_string(importance.size()) + " weights",
                     "the weights belong to another tensor",
                     "give the weights of the columns")
        .value();
  for (size_t i = 0; i < importance.size(); ++i)
    if (!(importance[i] >= 0) || !std::isfinite(importance[i]))
      return makeError(Status::GradeUnknown, "an importance is out of range",
                       "importance[" + std::to_string(i) + "]",
                       "a finite number, 0 or more", numberText(importance[i]),
                       "damaged statistics", "clean the weights")
          .value();
  return std::nullopt;
}

std::optional<Error> grit::checkEncodeArguments(const ArraySpec &spec,
                                                std::span<const float> values) {
  if (auto error = spec.verify())
    return error;
  if (!(spec.placements == spec.contract.canonicalPlacements()))
    return makeError(Status::PlacementUnknown,
                     "encode writes planes in their canonical placements only",
                     "placements", "the canonical ones of the contract",
                     "others", "another placement was asked for",
                     "encode without placements, then relayout")
        .value();
  if (const Grade *grade = spec.contract.grade(); grade && grade->esn == "ftz")
    return makeError(Status::GradeUnknown,
                     "encode does not flush subnormals to zero", "esn",
                     "preserve or any", "ftz", {},
                     "use a grade with esn=preserve")
        .value();
  if (static_cast<int64_t>(values.size()) != spec.numElements())
    return makeError(Status::SizeMismatch,
                     "the number of values is not that of the shape", "values",
                     std::to_string(spec.numElements()) + " values",
                     std::to_string(values.size()) + " values",
                     "the values belong to another tensor",
                     "give one value per element, row-major")
        .value();
  return std::nullopt;
}

ImportanceUse grit::importanceUse(const Contract &contract) {
  Expected<RulePtr> rule = makeRule(contract);
  if (!rule || !(*rule)->usesImportance())
    return ImportanceUse::None;
  return (*rule)->needsImportance() ? ImportanceUse::Needed
                                    : ImportanceUse::Optional;
}
