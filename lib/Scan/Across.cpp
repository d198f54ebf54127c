//===- Across.cpp - one name in several checkpoints -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relations.h"
#include "grit/Format/Text.h"
#include "grit/Scan/Explain.h"

using namespace grit;
using namespace grit::scan;

/// What a tensor is under, for comparison; empty for plain numbers.
static std::string contractOf(const TensorReport &tensor) {
  return tensor.basis == "plain" ? "" : tensor.contract;
}

static Subject subjectOf(const ArraySpec &spec) {
  Subject subject;
  subject.array = spec;
  subject.contract = spec.contract;
  subject.descriptor = spec.descriptor();
  subject.gid = spec.gid();
  return subject;
}

static void compare(const TensorRef &first, const TensorRef &second,
                    const Report &report, Collector &collector) {
  const TensorReport &a = report.tensors[first.report];
  const TensorReport &b = report.tensors[second.report];
  std::string left = contractOf(a), right = contractOf(b);
  if (left.empty() || right.empty())
    return;
  bool shapesDiffer = !a.logicalShape.empty() && !b.logicalShape.empty() &&
                      a.logicalShape != b.logicalShape;
  bool gidsDiffer = !a.gid.empty() && !b.gid.empty() && a.gid != b.gid;
  if (left == right && !shapesDiffer && !gidsDiffer)
    return;
  if (left == right && !shapesDiffer) {
    left += ", gid " + a.gid;
    right += ", gid " + b.gid;
  }
  if (shapesDiffer) {
    left += " " + shapeText(a.logicalShape);
    right += " " + shapeText(b.logicalShape);
  }
  // Of two declared arrays it is known what the difference means.
  std::string cause;
  if (first.info->array && second.info->array)
    cause =
        explain(subjectOf(*first.info->array), subjectOf(*second.info->array))
            .meaning;
  collector.add(Id::ContractDiffers, second.file->path, b.name,
                "other contracts than in " + first.file->path, left, right,
                cause);
}

void grit::scan::checkAcross(const std::vector<Model> &models,
                             const Options &options, const Report &report,
                             Collector &collector) {
  std::map<std::string_view, TensorRef> first;
  for (const Model &model : models)
    for (const auto &[name, tensor] : model.checkpoint->tensors) {
      auto [entry, isNew] = first.emplace(name, tensor);
      if (isNew)
        continue;
      compare(entry->second, tensor, report, collector);
      if (options.deep)
        compareBytes(entry->second, tensor, collector);
      // Plain numbers have no contract that another could differ from.
      if (contractOf(report.tensors[entry->second.report]).empty())
        entry->second = tensor;
    }
}
