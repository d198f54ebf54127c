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
  using AssertToLLVMBase::AssertToLLVMBase;

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
  Value text(OpBuilder &b, Location loc, StringRef content);
  void tell(OpBuilder &b, cf::AssertOp op);
  void lower(cf::AssertOp op, func::FuncOp function);

  SymbolTable *symbols = nullptr;
  /// What hears of a failure, and what ends the program.
  LLVM::LLVMFuncOp listener, abort;
};
} // namespace

LogicalResult AssertToLLVMPass::declare() {
  OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  Type nothing = LLVM::LLVMVoidType::get(&getContext());
  auto listens =
      handler ? LLVM::lookupOrCreateFn(b, getOperation(), "grit_report_message",
                                       {i32, pointer, pointer}, nothing)
              : LLVM::lookupOrCreateFn(b, getOperation(), "write",
                                       {i32, pointer, i64}, i64);
  auto aborts = LLVM::lookupOrCreateFn(b, getOperation(), "abort", {}, nothing);
  if (failed(listens) || failed(aborts))
    return failure();
  listener = *listens;
  abort = *aborts;
  return success();
}

/// The address of a constant text.
Value AssertToLLVMPass::text(OpBuilder &b, Location loc, StringRef content) {
  OpBuilder module = OpBuilder::atBlockBegin(getOperation().getBody());
  auto global = LLVM::GlobalOp::create(
      module, loc, LLVM::LLVMArrayType::get(b.getI8Type(), content.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "assert_message",
      b.getStringAttr(content));
  symbols->insert(global);
  return LLVM::AddressOfOp::create(b, loc, global);
}

/// "file:line: in function", or what is known of it.
static std::string placeOf(cf::AssertOp op) {
  std::string place;
  if (auto line = op.getLoc()->findInstanceOf<FileLineColLoc>())
    place = (line.getFilename().getValue() + ":" + Twine(line.getLine())).str();
  if (auto function = op->getParentOfType<func::FuncOp>())
    place += (place.empty() ? "in " : ": in ") + function.getName().str();
  return place;
}

void AssertToLLVMPass::tell(OpBuilder &b, cf::AssertOp op) {
  Location loc = op.getLoc();
  auto number = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, type, value);
  };
  if (!handler) {
    std::string line = ("grit: " + op.getMsg() + "\n").str();
    LLVM::CallOp::create(b, loc, listener,
                         ValueRange{number(b.getI32Type(), kStandardError),
                                    text(b, loc, line),
                                    number(b.getI64Type(), line.size())});
    return;
  }
  int32_t status = statusOf(op.getMsg());
  StringRef message = op.getMsg();
  // The status is said by its number.
  if (message.consume_front(grit::statusName(static_cast<Status>(status))))
    message.consume_front(": ");
  std::string zero(1, '\0');
  LLVM::CallOp::create(b, loc, listener,
                       ValueRange{number(b.getI32Type(), status),
                                  text(b, loc, message.str() + zero),
                                  text(b, loc, placeOf(op) + zero)});
}

void AssertToLLVMPass::lower(cf::AssertOp op, func::FuncOp function) {
  Location loc = op.getLoc();
  OpBuilder b(op);
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op->getNextNode());
  Block *failed = b.createBlock(after);
  tell(b, op);
  if (function) {
    Value status = LLVM::ConstantOp::create(
        b, loc, b.getI32Type(), static_cast<int64_t>(statusOf(op.getMsg())));
    func::ReturnOp::create(b, loc, status);
  } else {
    LLVM::CallOp::create(b, loc, abort, ValueRange());
    LLVM::UnreachableOp::create(b, loc);
  }
  b.setInsertionPoint(op);
  cf::CondBranchOp::create(b, loc, op.getArg(), after, failed);
  op.erase();
}
