//===- ExtentClasses.cpp - which extents of a function are equal -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtentClasses.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace grit;
using namespace grit::ir;
using namespace mlir;

std::optional<ArrayRef<int64_t>> grit::extentsOf(Type type) {
  if (auto array = dyn_cast<ir::ArrayType>(type))
    return array.getShape();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return std::nullopt;
}

ExtentClasses::ExtentClasses(func::FuncOp function, Module &module)
    : module(module) {
  function.getBody().walk([&](Operation *op) { readOp(op); });
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned ExtentClasses::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

void ExtentClasses::setConstant(unsigned root, int64_t constant) {
  if (ShapedType::isDynamic(constant))
    return;
  if (!ShapedType::isDynamic(constants[root]) && constants[root] != constant)
    contradictory = {constants[root], constant};
  constants[root] = constant;
}

unsigned ExtentClasses::classOf(Value value, int64_t dim) {
  auto [it, isNew] = nodes.try_emplace({value, dim}, parents.size());
  if (!isNew)
    return find(it->second);
  unsigned node = parents.size();
  parents.push_back(node);
  constants.push_back(ShapedType::kDynamic);
  IntegerAttr constant;
  if (dim >= 0)
    setConstant(node, (*extentsOf(value.getType()))[dim]);
  else if (matchPattern(value, m_Constant(&constant)))
    setConstant(node, constant.getInt());
  return node;
}

void ExtentClasses::unify(Value a, int64_t aDim, Value b, int64_t bDim) {
  unsigned one = classOf(a, aDim), other = classOf(b, bDim);
  if (one == other)
    return;
  parents[other] = one;
  setConstant(one, constants[other]);
}

void ExtentClasses::unifyAll(Value a, Value b) {
  auto one = extentsOf(a.getType()), other = extentsOf(b.getType());
  if (!one || !other || one->size() != other->size())
    return;
  for (size_t dim = 0; dim < one->size(); ++dim)
    unify(a, dim, b, dim);
}

//===----------------------------------------------------------------------===//
// What operations require
//===----------------------------------------------------------------------===//

/// `sizes` are the dynamic extents of `shaped`, in order.
void ExtentClasses::readSizes(Value shaped, ValueRange sizes) {
  unsigned next = 0;
  for (auto [dim, extent] : llvm::enumerate(*extentsOf(shaped.getType())))
    if (ShapedType::isDynamic(extent))
      unify(shaped, dim, sizes[next++], -1);
}

/// A dimension of `narrow` is the product of a group of dimensions of `wide`;
/// it is one of them when the others are 1.
void ExtentClasses::readReshape(Value wide, Value narrow,
                                ArrayRef<ReassociationIndices> groups) {
  ArrayRef<int64_t> extents = *extentsOf(wide.getType());
  for (auto [dim, group] : llvm::enumerate(groups)) {
    auto matters = [&](int64_t inner) { return extents[inner] != 1; };
    if (llvm::count_if(group, matters) == 1)
      unify(wide, *llvm::find_if(group, matters), narrow, dim);
  }
}

void ExtentClasses::readSlice(tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  int64_t dim = 0;
  for (auto [index, size] : llvm::enumerate(slice.getMixedSizes())) {
    if (dropped[index])
      continue;
    if (auto value = dyn_cast<Value>(size))
      unify(slice.getResult(), dim, value, -1);
    ++dim;
  }
}

/// What a loop carries has one shape, from the first iteration to the last.
void ExtentClasses::readLoop(LoopLikeOpInterface loop) {
  auto results = loop.getLoopResults();
  for (auto [init, argument] :
       llvm::zip(loop.getInits(), loop.getRegionIterArgs()))
    unifyAll(init, argument);
  if (results)
    for (auto [init, result] : llvm::zip(loop.getInits(), *results))
      unifyAll(init, result);
}

/// Operands that a loop of the operation runs over together.
void ExtentClasses::readLinalg(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  DenseMap<unsigned, Extent> loops;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!extentsOf(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(result);
      if (!loop)
        continue;
      auto [it, isNew] = loops.try_emplace(
          loop.getPosition(), Extent(operand.get(), static_cast<int64_t>(dim)));
      if (!isNew)
        unify(it->second.first, it->second.second, operand.get(), dim);
    }
  }
}

/// What the callee requires of its arguments, and what its results share with
/// them.
void ExtentClasses::readCall(func::CallOp call) {
  auto callee = module.symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return;
  if (module.callees.try_emplace(callee, nullptr).second) {
    auto classes = std::make_unique<ExtentClasses>(callee, module);
    module.callees[callee] = std::move(classes);
  }
  if (!module.callees[callee])
    return; // a recursive call adds nothing that is not already required
  ExtentClasses &inner = *module.callees[callee];

  // The first outer extent of each inner class; the others must equal it.
  DenseMap<unsigned, Extent> outer;
  auto link = [&](Value inside, Value outside) {
    auto extents = extentsOf(inside.getType());
    int64_t rank = extents ? extents->size() : 0;
    for (int64_t dim = inside.getType().isIndex() ? -1 : 0; dim < rank; ++dim) {
      unsigned extentClass = inner.classOf(inside, dim);
      setConstant(classOf(outside, dim), inner.constantOf(extentClass));
      auto [it, isNew] = outer.try_emplace(extentClass, Extent(outside, dim));
      if (!isNew)
        unify(it->second.first, it->second.second, outside, dim);
    }
  };
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getOperands()))
    link(argument, operand);
  if (!inner.firstReturn)
    return;
  for (auto [returned, result] :
       llvm::zip_equal(inner.firstReturn.getOperands(), call.getResults()))
    link(returned, result);
}

void ExtentClasses::readOp(Operation *op) {
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      unifyAll(dps.getTiedOpOperand(result)->get(), result);
  if (isa<linalg::LinalgOp>(op))
    return readLinalg(op);
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value operand : op->getOperands())
      unifyAll(op->getResult(0), operand);
    return;
  }
  auto unifyIfConstant = [&](std::optional<int64_t> dim, Value source,
                             Value result) {
    auto extents = extentsOf(source.getType());
    if (dim && extents && *dim >= 0 &&
        *dim < static_cast<int64_t>(extents->size()))
      unify(source, *dim, result, -1);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MatmulOp matmul) {
        Value x = matmul.getInput(), w = matmul.getWeight();
        Value y = matmul.getInit();
        int64_t last = extentsOf(x.getType())->size() - 1;
        for (int64_t dim = 0; dim < last; ++dim)
          unify(x, dim, y, dim);
        unify(x, last, w, 1);
        unify(y, last, w, 0);
      })
      .Case([&](DecodeOp decode) {
        unifyAll(decode.getArray(), decode.getInit());
      })
      .Case<AssumePlacementOp, CheckOp, EncodeOp, ReinterpretOp, RelayoutOp,
            RequantizeOp, tensor::CastOp>(
          [&](auto cast) { unifyAll(cast->getOperand(0), cast->getResult(0)); })
      .Case([&](VerifyPlacementOp verify) {
        unifyAll(verify.getArray(), verify.getReference());
        unifyAll(verify.getArray(), verify.getResult());
      })
      .Case([&](SliceOp slice) {
        readSizes(slice.getResult(), slice.getSizes());
      })
      .Case([&](TransposeOp transpose) {
        for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
          unify(transpose.getResult(), dim, transpose.getArray(), source);
      })
      .Case([&](ConcatOp concat) {
        for (Value array : concat.getArrays())
          for (int64_t dim = 0, rank = concat.getType().getRank(); dim < rank;
               ++dim)
            if (dim != static_cast<int64_t>(concat.getDim()))
              unify(array, dim, concat.getResult(), dim);
      })
      .Case([&](BundleOp bundle) {
        readSizes(bundle.getResult(), bundle.getSizes());
      })
      .Case([&](tensor::EmptyOp empty) {
        readSizes(empty.getResult(), empty.getDynamicSizes());
      })
      .Case([&](DimOp dim) {
        unifyIfConstant(dim.getDim(), dim.getArray(), dim.getResult());
      })
      .Case([&](tensor::DimOp dim) {
        unifyIfConstant(dim.getConstantIndex(), dim.getSource(),
                        dim.getResult());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        readReshape(collapse.getSrc(), collapse.getResult(),
                    collapse.getReassociationIndices());
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        readReshape(expand.getResult(), expand.getSrc(),
                    expand.getReassociationIndices());
        readSizes(expand.getResult(), expand.getOutputShape());
      })
      .Case([&](tensor::ExtractSliceOp slice) { readSlice(slice); })
      .Case([&](LoopLikeOpInterface loop) { readLoop(loop); })
      .Case([&](scf::IfOp branch) {
        for (Region &region : branch->getRegions())
          if (!region.empty())
            for (auto [value, result] :
                 llvm::zip_equal(region.front().getTerminator()->getOperands(),
                                 branch.getResults()))
              unifyAll(value, result);
      })
      .Case([&](func::ReturnOp op) {
        // A function has one shape of each result, whichever return it takes.
        if (!firstReturn)
          firstReturn = op;
        for (auto [one, other] :
             llvm::zip_equal(firstReturn.getOperands(), op.getOperands()))
          unifyAll(one, other);
      })
      .Case([&](func::CallOp call) { readCall(call); });
}
