//===- AssertToLLVM.cpp - assertions that are seen when they fail -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace grit {
#define GEN_PASS_DEF_ASSERTTOLLVM
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;

/// The file descriptor of standard error.
static constexpr int32_t kStandardError = 2;

namespace {
struct AssertToLLVMPass : grit::impl::AssertToLLVMBase<AssertToLLVMPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<cf::AssertOp> asserts;
    getOperation()->walk([&](cf::AssertOp op) { asserts.push_back(op); });
    if (asserts.empty())
      return;
    if (failed(declare()))
      return signalPassFailure();
    for (cf::AssertOp op : asserts)
      lower(op, symbols);
  }

private:
  LogicalResult declare();
  void lower(cf::AssertOp op, SymbolTable &symbols);

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

void AssertToLLVMPass::lower(cf::AssertOp op, SymbolTable &symbols) {
  Location loc = op.getLoc();
  OpBuilder b(op);
  std::string text = ("grit: " + op.getMsg() + "\n").str();
  b.setInsertionPointToStart(getOperation().getBody());
  auto global = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "assert_message",
      b.getStringAttr(text));
  symbols.insert(global);

  Block *before = op->getBlock();
  Block *after = before->splitBlock(op->getNextNode());
  Block *failed = b.createBlock(after);
  Value address = LLVM::AddressOfOp::create(b, loc, global);
  auto number = [&](Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, type, value).getResult();
  };
  LLVM::CallOp::create(b, loc, write,
                       ValueRange{number(b.getI32Type(), kStandardError),
                                  address,
                                  number(b.getI64Type(), text.size())});
  LLVM::CallOp::create(b, loc, abort, ValueRange());
  LLVM::UnreachableOp::create(b, loc);
  b.setInsertionPoint(op);
  cf::CondBranchOp::create(b, loc, op.getArg(), after, failed);
  op.erase();
}
