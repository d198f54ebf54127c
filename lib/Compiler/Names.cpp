//===- Names.cpp - names of operands, as the source has them -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeGen.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace grit;
using namespace mlir;

/// "weight" when "%weight" begins at this place of the source; empty for a
/// number ("%0"), which names nothing.
static StringRef nameAt(ArrayRef<StringRef> lines, FileLineColLoc place) {
  if (place.getLine() == 0 || place.getLine() > lines.size() ||
      place.getColumn() == 0)
    return {};
  StringRef text = lines[place.getLine() - 1].drop_front(std::min<size_t>(
      place.getColumn() - 1, lines[place.getLine() - 1].size()));
  if (!text.consume_front("%"))
    return {};
  StringRef name = text.take_while([](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
  });
  return name.empty() || llvm::isDigit(name.front()) ? StringRef() : name;
}

void grit::nameArguments(ModuleOp module, StringRef source,
                         StringRef sourceName) {
  SmallVector<StringRef> lines;
  source.split(lines, '\n');
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments()) {
      auto place = dyn_cast<FileLineColLoc>(argument.getLoc());
      unsigned index = argument.getArgNumber();
      if (!place || place.getFilename() != sourceName ||
          function.getArgAttr(index, CInterface::kNameAttribute))
        continue;
      if (StringRef name = nameAt(lines, place); !name.empty())
        function.setArgAttr(index, CInterface::kNameAttribute,
                            StringAttr::get(module.getContext(), name));
    }
  }
}
