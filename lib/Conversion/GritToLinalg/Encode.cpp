//===- Encode.cpp - encode to linalg -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"

void grit::populateGritEncodeToLinalgPatterns(mlir::RewritePatternSet &) {}
