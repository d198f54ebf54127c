//===- AssertToLLVM.cpp - assertions that are seen when they fail -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/CInterface.h"
#include "grit/Conversion/Passes.h"
#include "grit/Format/Status.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace grit {
#define GEN_PASS_DEF_ASSERTTOLLVM
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using grit::CInterface;
using grit::Status;

/// The file descriptor of standard error.
static constexpr int32_t kStandardError = 2;

/// The status that a message begins with ("SizeMismatch: ..."), or the nearest.
static int32_t statusOf(StringRef message) {
  for (Status status : {Status::SizeMismatch, Status::GradeUnknown,
                        Status::PlacementUnknown, Status::DigestMismatch})
    if (message.starts_with(grit::statusName(status)))
      return static_cast<int32_t>(status);
  return static_cast<int32_t>(Status::GradeUnknown);
}

/// The function that C calls and that a failing assertion can return from: one
/// with a recorded interface, where no region is in between.
static func::FuncOp functionToLeave(cf::AssertOp op) {
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  bool isCalledByC = function && function->hasAttr(CInterface::kAttribute);
  return isCalledByC ? function : func::FuncOp();
}

/// Makes a function without results return a status.
static void returnStatus(func::FuncOp function) {
  OpBuilder b(function);
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     TypeRange(b.getI32Type())));
  function.walk([&](func::ReturnOp op) {
    b.setInsertionPoint(op);
    Value ok = LLVM::ConstantOp::create(b, op.getLoc(), b.getI32Type(),
                                        static_cast<int64_t>(Status::Ok));
    op->setOperands(ok);
  });
}

namespace {
struct AssertToLLVMPass : grit::impl::AssertToLLVMBase<AssertToLLVMPass> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation()->walk([&](cf::AssertOp op) { asserts.push_back(op); });
    if (asserts.empty())
      return;
    SymbolTable table(getOperation());
    symbols = &table;
    if (failed(declare()))
      return signalPassFailure();
    for (cf::AssertOp op : asserts) {
      func::FuncOp function = functionToLeave(op);
      if (function && function.getNumResults() == 0)
        returnStatus(function);
      lower(op, function);
    }
  }

private:
  LogicalResult declare();
  void lower(cf::AssertOp op, func::FuncOp function);

  SymbolTable *symbols = nullptr;
  LLVM::LLVMFuncOp write, abort;
};
} // namespace

LogicalResult AssertToLLVMPass::declare() {
  OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  auto writes = LLVM::lookupOrCreateFn(b, getOperation(), "write",
                                       {i32, pointer, i64}, i64);
  auto aborts = LLVM::lookupOrCreateFn(b, getOperation(), "abort", {},
                                       LLVM::LLVMVoidType::get(&getContext()));
  if (failed(writes) || failed(aborts))
    return failure();
  write = *writes;
  abort = *aborts;
  return success();
}

void AssertToLLVMPass::lower(cf::AssertOp op, func::FuncOp function) {
  Location loc = op.getLoc();
  std::string text = ("grit: " + op.getMsg() + "\n").str();
  OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
  auto global = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "assert_message",
      b.getStringAttr(text));
  symbols->insert(global);

  Block *before = op->getBlock();
  Block *after = before->splitBlock(op->getNextNode());
  Block *failed = b.createBlock(after);
  auto number = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, type, value);
  };
  Value address = LLVM::AddressOfOp::create(b, loc, global);
  LLVM::CallOp::create(b, loc, write,
                       ValueRange{number(b.getI32Type(), kStandardError),
                                  address,
                                  number(b.getI64Type(), text.size())});
  if (function) {
    Value status = number(b.getI32Type(), statusOf(op.getMsg()));
    func::ReturnOp::create(b, loc, status);
  } else {
    LLVM::CallOp::create(b, loc, abort, ValueRange());
    LLVM::UnreachableOp::create(b, loc);
  }
  b.setInsertionPoint(op);
  cf::CondBranchOp::create(b, loc, op.getArg(), after, failed);
  op.erase();
}
