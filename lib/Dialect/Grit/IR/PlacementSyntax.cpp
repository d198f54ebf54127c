//===- PlacementSyntax.cpp - how placements are written -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementSyntax.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Format/Layout.h"
#include "llvm/ADT/StringExtras.h"

using namespace grit::ir;
using namespace mlir;

/// The rest of `layout("...")`.
static ParseResult parseLayout(AsmParser &parser, SMLoc loc,
                               grit::Placement &placement) {
  std::string text;
  if (parser.parseLParen() || parser.parseString(&text) || parser.parseRParen())
    return failure();
  auto layout = grit::Layout::parse(text);
  if (!layout) {
    describeError(parser.emitError(loc), layout.error());
    return failure();
  }
  auto word = grit::LayoutTable::global().add(*layout);
  if (!word) {
    describeError(parser.emitError(loc), word.error());
    return failure();
  }
  placement = *word;
  return success();
}

ParseResult grit::ir::parsePlacement(AsmParser &parser,
                                     grit::Placement &placement) {
  SMLoc loc = parser.getCurrentLocation();
  uint64_t bits = 0;
  OptionalParseResult integer = parser.parseOptionalInteger(bits);
  if (integer.has_value()) {
    placement = grit::Placement(bits);
    return *integer;
  }
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (name == "layout")
    return parseLayout(parser, loc, placement);
  auto parsed = grit::Placement::parse(name.str());
  if (!parsed) {
    describeError(parser.emitError(loc), parsed.error());
    return failure();
  }
  placement = *parsed;
  return success();
}

void grit::ir::printPlacement(AsmPrinter &printer, grit::Placement placement) {
  const grit::Layout *layout = placement.isExpression()
                                   ? grit::LayoutTable::global().find(placement)
                                   : nullptr;
  if (layout)
    printer << "layout(\"" << layout->str() << "\")";
  else
    printer << placement.str();
}

static constexpr grit::PlaneRole kRoles[] = {
    grit::PlaneRole::Data, grit::PlaneRole::Scale, grit::PlaneRole::Meta};

ParseResult grit::ir::parseRoles(AsmParser &parser,
                                 grit::Assumptions &assumed) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    auto role = grit::parseRole(name.str());
    if (!role) {
      describeError(parser.emitError(loc), role.error());
      return failure();
    }
    assumed.add(*role);
    return success();
  });
}

void grit::ir::printRoles(AsmPrinter &printer, grit::Assumptions assumed) {
  SmallVector<StringRef> names;
  for (grit::PlaneRole role : kRoles)
    if (assumed.contains(role))
      names.push_back(grit::roleName(role));
  printer << "[" << llvm::join(names, ", ") << "]";
}
