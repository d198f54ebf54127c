//===- Binary16.h - binary16 without instructions for it -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_GRITKERNELTOVECTOR_BINARY16_H
#define GRIT_LIB_CONVERSION_GRITKERNELTOVECTOR_BINARY16_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace grit {

/// arith.extf and arith.truncf between binary16 and binary32, in integer
/// arithmetic: exact, and rounded to nearest even. LLVM would call a function
/// for each number.
void populateExpandBinary16Patterns(mlir::RewritePatternSet &patterns);

} // namespace grit

#endif // GRIT_LIB_CONVERSION_GRITKERNELTOVECTOR_BINARY16_H
