//===- Constants.cpp - constants of a module, each once -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constants.h"

using namespace grit;
using namespace mlir;

LLVM::GlobalOp Constants::create(Type type, Attribute value) {
  b.setInsertionPointToStart(module.getBody());
  auto global =
      LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, "grit_constant", value);
  symbols.insert(global);
  return global;
}

StringRef Constants::unique(Type type, Attribute value) {
  StringRef &name = known[value];
  if (name.empty())
    name = create(type, value).getSymName();
  return name;
}

StringRef Constants::structure(ArrayRef<Member> members) {
  SmallVector<Type> types;
  for (const Member &member : members)
    types.push_back(member.isAddress ? pointer : member.number.getType());
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  LLVM::GlobalOp global = create(type, {});
  b.createBlock(&global.getInitializerRegion());
  Value value = LLVM::UndefOp::create(b, type);
  for (auto [index, member] : llvm::enumerate(members)) {
    Value field;
    if (!member.isAddress)
      field =
          LLVM::ConstantOp::create(b, member.number.getType(), member.number);
    else if (member.symbol.empty())
      field = LLVM::ZeroOp::create(b, pointer);
    else
      field = LLVM::AddressOfOp::create(b, pointer, member.symbol);
    value = LLVM::InsertValueOp::create(b, value, field,
                                        static_cast<int64_t>(index));
  }
  LLVM::ReturnOp::create(b, value);
  return global.getSymName();
}
