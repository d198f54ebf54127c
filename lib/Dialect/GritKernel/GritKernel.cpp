//===- GritKernel.cpp - the grit_kernel dialect -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/IR/Builders.h"

using namespace grit::kernel;
using namespace mlir;

#include "grit/Dialect/GritKernel/GritKernelDialect.cpp.inc"

#define GET_OP_CLASSES
#include "grit/Dialect/GritKernel/GritKernelOps.cpp.inc"

void GritKernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "grit/Dialect/GritKernel/GritKernelOps.cpp.inc"
      >();
}

static int64_t lanes(Value value) {
  return cast<VectorType>(value.getType()).getNumElements();
}

LogicalResult UnpackOp::verify() {
  int64_t bits = 8 * lanes(getBytes());
  if (static_cast<int64_t>(getOffsets().size()) != lanes(getCodes()))
    return emitOpError() << "needs one offset per lane, " << lanes(getCodes())
                         << ", but got " << getOffsets().size();
  for (int32_t offset : getOffsets())
    if (offset < 0 || offset + static_cast<int64_t>(getWidth()) > bits)
      return emitOpError() << "offset " << offset << " with width "
                           << getWidth() << " reaches beyond the " << bits
                           << " bits given";
  return success();
}

LogicalResult LookupOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getTable().getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isF32())
    return emitOpError() << "table must be of type tensor<Nxf32>, but got "
                         << getTable().getType();
  if (!llvm::isPowerOf2_64(type.getDimSize(0)))
    return emitOpError() << "table size must be a power of two, but got "
                         << type.getDimSize(0);
  if (lanes(getCodes()) != lanes(getLevels()))
    return emitOpError() << "needs as many levels as codes, "
                         << lanes(getCodes()) << ", but got "
                         << lanes(getLevels());
  return success();
}

LogicalResult DotOp::verify() {
  int64_t from = lanes(getLhs()), to = lanes(getAcc());
  if (from % to != 0)
    return emitOpError() << "lanes of the operands must be a multiple of the "
                            "accumulator's "
                         << to << ", but got " << from;
  Type element = cast<VectorType>(getLhs().getType()).getElementType();
  Type sum = cast<VectorType>(getAcc().getType()).getElementType();
  if (element.isInteger() != sum.isInteger())
    return emitOpError() << "cannot accumulate " << element << " products in "
                         << sum;
  if (element.isF32() && from != to)
    return emitOpError() << "binary32 lanes accumulate one to one, but got "
                         << from << " and " << to;
  return success();
}
