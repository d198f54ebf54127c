//===- Instrument.cpp - device code, made runnable on the host -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "Models.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"

using namespace grit::emulator;
using namespace llvm;

static constexpr unsigned kSharedSpace = 3;

std::string grit::emulator::entryName(StringRef kernel) {
  return ("entry." + kernel).str();
}
std::string grit::emulator::modelName(StringRef intrinsic) {
  return ("model." + intrinsic).str();
}

static Error refuse(const Twine &message) {
  return createStringError("emulator: " + message);
}

static std::string printed(const Type &type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The function that uses `value` first, for messages.
static std::string userOf(const Value &value) {
  for (const User *user : value.users())
    if (auto *instruction = dyn_cast<Instruction>(user))
      return instruction->getFunction()->getName().str();
  return "nothing";
}

static Error replaceIntrinsic(Function &function) {
  StringRef name = function.getName();
  std::span<const Model> table = models();
  auto model = find_if(
      table, [&](const Model &m) { return name == StringRef(m.intrinsic); });
  if (model == table.end())
    return refuse("no model of '" + name + "', which " + userOf(function) +
                  " uses");
  std::string type = printed(*function.getFunctionType());
  if (type != model->type)
    return refuse("the model of '" + name + "' has type '" +
                  StringRef(model->type) + "', the call '" + type + "'");
  FunctionCallee callee = function.getParent()->getOrInsertFunction(
      modelName(name), function.getFunctionType());
  function.replaceAllUsesWith(callee.getCallee());
  function.eraseFromParent();
  return Error::success();
}

static Error replaceCalls(Module &module) {
  for (Function &function : make_early_inc_range(module)) {
    if (!function.isDeclaration() || function.use_empty())
      continue;
    StringRef name = function.getName();
    if (name.starts_with("llvm.nvvm.")) {
      if (Error error = replaceIntrinsic(function))
        return error;
    } else if (!function.isIntrinsic() && !name.starts_with("model.")) {
      return refuse("no model of function '" + name + "', which " +
                    userOf(function) + " calls");
    }
  }
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction)) {
        if (call->isInlineAsm())
          return refuse(
              "no model of inline assembly '" +
              cast<InlineAsm>(call->getCalledOperand())->getAsmString() +
              "' in " + function.getName());
        call->setCallingConv(CallingConv::C);
      }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What a thread has to itself needs no check, nor do constants.
static bool isPrivate(const Value *pointer) {
  const Value *object = getUnderlyingObject(pointer);
  if (auto *global = dyn_cast<GlobalVariable>(object))
    return global->isConstant();
  return isa<AllocaInst>(object);
}

static void checkAccesses(Module &module) {
  const DataLayout &layout = module.getDataLayout();
  LLVMContext &context = module.getContext();
  Type *i64 = Type::getInt64Ty(context), *i1 = Type::getInt1Ty(context);
  FunctionCallee check = module.getOrInsertFunction(
      kCheckAccess,
      FunctionType::get(Type::getVoidTy(context),
                        {PointerType::get(context, 0), i64, i64, i1}, false));
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      Value *pointer = getLoadStorePointerOperand(&instruction);
      if (!pointer || isPrivate(pointer))
        continue;
      IRBuilder<> b(&instruction);
      uint64_t bytes = layout.getTypeStoreSize(getLoadStoreType(&instruction));
      uint64_t alignment = getLoadStoreAlignment(&instruction).value();
      if (pointer->getType()->getPointerAddressSpace() != 0)
        pointer = b.CreateAddrSpaceCast(pointer, b.getPtrTy());
      b.CreateCall(check, {pointer, b.getInt64(bytes), b.getInt64(alignment),
                           b.getInt1(isa<StoreInst>(instruction))});
    }
}

/// Masked accesses, gathers, copies: intrinsics of LLVM's own that reach
/// memory.
static bool isUncheckedIntrinsic(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->mayReadOrWriteMemory() &&
         !call->getCalledFunction()->getName().starts_with("llvm.nvvm.") &&
         !call->isAssumeLikeIntrinsic();
}

/// Other ways to memory would go unchecked.
static Error refuseOtherAccesses(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction) ||
          isUncheckedIntrinsic(instruction))
        return refuse("no model of '" + Twine(instruction.getOpcodeName()) +
                      "' on memory in " + function.getName());
  return Error::success();
}

static std::vector<SharedVariable> exposeShared(Module &module) {
  std::vector<SharedVariable> result;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != kSharedSpace)
      continue;
    Type *type = global.getValueType();
    // A definition of its own; the device poisons it before every block.
    global.setInitializer(Constant::getNullValue(type));
    global.setLinkage(GlobalValue::ExternalLinkage);
    result.push_back({global.getName().str(),
                      module.getDataLayout().getTypeAllocSize(type)});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// void entry.k(ptr arguments): k(*arguments[0], *arguments[1], ...)
static void addEntry(Function &kernel) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage,
                                     entryName(kernel.getName()), module);
  IRBuilder<> b(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  for (Argument &argument : kernel.args()) {
    Value *slot = b.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0),
                                               argument.getArgNo());
    arguments.push_back(
        b.CreateLoad(argument.getType(), b.CreateLoad(pointer, slot)));
  }
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

static std::vector<std::string> exposeKernels(Module &module) {
  std::vector<Function *> kernels;
  for (Function &function : module) {
    if (function.getCallingConv() == CallingConv::PTX_Kernel)
      kernels.push_back(&function);
    function.setCallingConv(CallingConv::C);
  }
  std::vector<std::string> names;
  for (Function *kernel : kernels) {
    names.push_back(kernel->getName().str());
    addEntry(*kernel);
  }
  return names;
}

Expected<DeviceProgram> grit::emulator::instrument(Module &module,
                                                   const DataLayout &hostLayout,
                                                   const Triple &hostTriple) {
  module.setDataLayout(hostLayout);
  module.setTargetTriple(hostTriple);
  DeviceProgram program;
  if (Error error = refuseOtherAccesses(module))
    return error;
  if (Error error = replaceCalls(module))
    return error;
  program.shared = exposeShared(module);
  checkAccesses(module);
  program.kernels = exposeKernels(module);
  std::string broken;
  raw_string_ostream stream(broken);
  if (verifyModule(module, &stream))
    return refuse("the instrumented module is broken: " + broken);
  return program;
}
