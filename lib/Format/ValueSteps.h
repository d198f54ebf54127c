//===- ValueSteps.h - the rounded steps from codes to values -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_VALUESTEPS_H
#define GRIT_LIB_FORMAT_VALUESTEPS_H

#include "grit/Format/Description.h"

namespace grit {

/// What stands before a factor, joined with the factor.
inline float joinFactor(FactorOp op, float value, float factor) {
  switch (op) {
  case FactorOp::Multiply:
    return value * factor;
  case FactorOp::Divide:
    return value / factor;
  case FactorOp::Add:
    return value + factor;
  }
  return value;
}

/// Rounds a result into the format that the contract decodes to. A NaN stays
/// one, whether that format has a code for it or not.
float projectValue(const Projection &into, float value);

} // namespace grit

#endif // GRIT_LIB_FORMAT_VALUESTEPS_H
