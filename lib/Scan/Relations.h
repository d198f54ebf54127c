//===- Relations.h - how the bytes of two tensors are related -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_RELATIONS_H
#define GRIT_LIB_SCAN_RELATIONS_H

#include "Model.h"

namespace grit::scan {

/// Reports what makes the bytes of two tensors of one name differ: swapped
/// nibbles, another packing order, interleaved rows, a reciprocal.
void compareBytes(const TensorRef &first, const TensorRef &second,
                  Collector &collector);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_RELATIONS_H
