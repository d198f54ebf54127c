//===- GritAttrs.cpp - contracts, words, placements, accumulation -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementSyntax.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace grit::ir;
using namespace mlir;

#define GET_ATTRDEF_CLASSES
#include "grit/Dialect/Grit/IR/GritAttrs.cpp.inc"

void GritDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "grit/Dialect/Grit/IR/GritAttrs.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Parses a registered token or a number of at most 16 bits.
static FailureOr<grit::FormatWord> parseWord(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef token;
  if (succeeded(parser.parseOptionalKeyword(&token))) {
    if (auto word = grit::lookupWord(token.lower()))
      return *word;
    parser.emitError(loc) << "unknown format word '" << token
                          << "'; expected a registered token such as e2m1, "
                             "or a hexadecimal word";
    return failure();
  }
  uint64_t bits = 0;
  if (parser.parseInteger(bits))
    return failure();
  if (bits > UINT16_MAX) {
    parser.emitError(loc) << "a format word has 16 bits, but got " << bits;
    return failure();
  }
  return grit::FormatWord(static_cast<uint16_t>(bits));
}

static void printWord(AsmPrinter &printer, grit::FormatWord word) {
  printer << word.str();
}

Attribute WordAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<grit::FormatWord> word = parseWord(parser);
  if (failed(word) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    word->raw());
}

void WordAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printWord(printer, getWord());
  printer << ">";
}

LogicalResult WordAttr::verify(EmitError emitError, uint16_t bits) {
  if (auto error = grit::FormatWord(bits).validate()) {
    describeError(emitError(), *error);
    return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

/// The spelling under which an attribute stores a contract: equal contracts
/// must be equal attributes.
static StringRef storedSpelling(const grit::Contract &contract) {
  return contract.name();
}

/// Parses `spelling` with the format library and checks its kind.
static FailureOr<grit::Contract>
resolveContract(EmitError emitError, StringRef spelling, bool wantGrade) {
  auto contract = grit::Contract::parse(spelling.str());
  if (!contract) {
    describeError(emitError(), contract.error());
    return failure();
  }
  if (contract->isGrade() != wantGrade) {
    emitError() << "'" << spelling << "' is "
                << (wantGrade ? "a foreign format; write #grit.format<...>"
                              : "a grade; write #grit.grade<...>");
    return failure();
  }
  return *contract;
}

/// Collects `key = token, ...` up to `>` into a grade string.
static FailureOr<std::string> parseGradeFields(AsmParser &parser,
                                               StringRef firstKey) {
  std::string text = "grit1(";
  StringRef key = firstKey;
  while (true) {
    text += key.str() + "=";
    if (parser.parseEqual())
      return failure();
    // A value is a keyword or an integer, or several joined by colons.
    do {
      if (text.back() != '=')
        text += ":";
      StringRef token;
      uint64_t number = 0;
      OptionalParseResult integer = parser.parseOptionalInteger(number);
      if (integer.has_value()) {
        if (failed(*integer))
          return failure();
        text += std::to_string(number);
      } else if (succeeded(parser.parseKeyword(&token))) {
        text += token;
      } else {
        return failure();
      }
    } while (succeeded(parser.parseOptionalColon()));
    if (failed(parser.parseOptionalComma()))
      return text + ")";
    text += ",";
    if (parser.parseKeyword(&key))
      return failure();
  }
}

Attribute GradeAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  StringRef keyword;
  if (failed(parser.parseOptionalString(&text))) {
    if (parser.parseKeyword(&keyword))
      return {};
    text = keyword.str();
    // `name` or the first key of a field list.
    if (failed(parser.parseOptionalGreater())) {
      FailureOr<std::string> fields = parseGradeFields(parser, keyword);
      if (failed(fields))
        return {};
      text = *fields;
      if (failed(parser.parseOptionalGreater())) {
        parser.emitError(parser.getCurrentLocation())
            << "expected ',' or '>' in a grade; a spelling with other "
               "characters needs the string form, "
               "#grit.grade<\"grit1(...)\">";
        return {};
      }
    }
  } else if (parser.parseGreater()) {
    return {};
  }
  auto emitError = [&] { return parser.emitError(loc); };
  auto contract = resolveContract(emitError, text, /*wantGrade=*/true);
  if (failed(contract))
    return {};
  return GradeAttr::get(parser.getContext(), storedSpelling(*contract));
}

void GradeAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getContract().isRegistered())
    printer << getSpelling();
  else
    printer.printString(getSpelling());
  printer << ">";
}

LogicalResult GradeAttr::verify(EmitError emitError, StringRef spelling) {
  return resolveContract(emitError, spelling, /*wantGrade=*/true);
}

grit::Contract GradeAttr::getContract() const {
  return *grit::Contract::parse(getSpelling().str());
}

Attribute FormatAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  std::string text;
  if (failed(parser.parseOptionalString(&text))) {
    if (parser.parseKeyword(&keyword))
      return {};
    text = keyword.str();
  }
  // `, key = integer` becomes `name(key=integer)`.
  std::string arguments;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    uint64_t value = 0;
    if (parser.parseKeyword(&key) || parser.parseEqual() ||
        parser.parseInteger(value))
      return {};
    arguments += (arguments.empty() ? "" : ",") + key.str() + "=" +
                 std::to_string(value);
  }
  if (!arguments.empty())
    text += "(" + arguments + ")";
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  auto contract = resolveContract(emitError, text, /*wantGrade=*/false);
  if (failed(contract))
    return {};
  return FormatAttr::get(parser.getContext(), storedSpelling(*contract));
}

void FormatAttr::print(AsmPrinter &printer) const {
  // `name(key=1,other=2)` is written `name, key = 1, other = 2`; a text that
  // describes the format itself stays one string.
  if (!getContract().isRegistered()) {
    printer << "<";
    printer.printString(getSpelling());
    printer << ">";
    return;
  }
  auto [name, rest] = getSpelling().split('(');
  printer << "<" << name;
  SmallVector<StringRef> arguments;
  rest.rtrim(')').split(arguments, ',', -1, /*KeepEmpty=*/false);
  for (StringRef argument : arguments) {
    auto [key, value] = argument.split('=');
    printer << ", " << key << " = " << value;
  }
  printer << ">";
}

LogicalResult FormatAttr::verify(EmitError emitError, StringRef spelling) {
  return resolveContract(emitError, spelling, /*wantGrade=*/false);
}

grit::Contract FormatAttr::getContract() const {
  return *grit::Contract::parse(getSpelling().str());
}

ContractAttrInterface grit::ir::getContractAttr(MLIRContext *context,
                                                const Contract &contract) {
  if (contract.isGrade())
    return GradeAttr::get(context, storedSpelling(contract));
  return FormatAttr::get(context, storedSpelling(contract));
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  grit::Placement placement;
  if (parsePlacement(parser, placement) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    placement.raw());
}

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printPlacement(printer, getPlacement());
  printer << ">";
}

LogicalResult PlacementAttr::verify(EmitError emitError, uint64_t bits) {
  grit::Placement placement(bits);
  if (!placement.isAcceptable())
    return emitError() << "placement word " << placement.specName()
                       << " is neither registered, an expression hash, opaque "
                          "nor unspecified";
  return success();
}

//===----------------------------------------------------------------------===//
// Accumulation
//===----------------------------------------------------------------------===//

AccumAttr AccumAttr::getDefault(MLIRContext *context) {
  uint16_t f32 = grit::words::Binary32.raw();
  return get(context, "unspec", f32, f32, f32, "any");
}

AccumAttr AccumAttr::get(MLIRContext *context,
                         const grit::Accumulation &accumulation) {
  return get(context, accumulation.ao, accumulation.ap.raw(),
             accumulation.ab.raw(), accumulation.ai.raw(), accumulation.an);
}

grit::Accumulation AccumAttr::getAccumulation() const {
  return {getAo().str(), grit::FormatWord(getAp()), grit::FormatWord(getAb()),
          grit::FormatWord(getAi()), getAn().str()};
}

bool AccumAttr::isBinary32() const {
  uint16_t f32 = grit::words::Binary32.raw();
  return getAp() == f32 && getAb() == f32 && getAi() == f32;
}

Attribute AccumAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  std::string ao = "unspec", an = "any";
  uint16_t f32 = grit::words::Binary32.raw();
  uint16_t precisions[3] = {f32, f32, f32};
  constexpr StringLiteral keys[3] = {"ap", "ab", "ai"};
  SmallVector<std::string> seen;
  while (failed(parser.parseOptionalGreater())) {
    if (!seen.empty() && parser.parseComma())
      return {};
    StringRef key, value;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (llvm::is_contained(seen, key)) {
      parser.emitError(keyLoc) << "duplicate accumulation key '" << key << "'";
      return {};
    }
    seen.push_back(key.str());
    const auto *precision = llvm::find(keys, key);
    if (precision != std::end(keys)) {
      FailureOr<grit::FormatWord> word = parseWord(parser);
      if (failed(word))
        return {};
      precisions[precision - keys] = word->raw();
    } else if (key == "ao" || key == "an") {
      if (parser.parseKeyword(&value))
        return {};
      (key == "ao" ? ao : an) = value.str();
    } else {
      parser.emitError(keyLoc) << "unknown accumulation key '" << key
                               << "'; expected ao, ap, ab, ai or an";
      return {};
    }
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    StringRef(ao), precisions[0], precisions[1], precisions[2],
                    StringRef(an));
}

void AccumAttr::print(AsmPrinter &printer) const {
  AccumAttr defaults = getDefault(getContext());
  StringRef separator = "";
  auto key = [&](StringRef name) -> AsmPrinter & {
    printer << separator << name << " = ";
    separator = ", ";
    return printer;
  };
  printer << "<";
  if (getAo() != defaults.getAo())
    key("ao") << getAo();
  if (getAp() != defaults.getAp())
    key("ap") << grit::FormatWord(getAp()).str();
  if (getAb() != defaults.getAb())
    key("ab") << grit::FormatWord(getAb()).str();
  if (getAi() != defaults.getAi())
    key("ai") << grit::FormatWord(getAi()).str();
  if (getAn() != defaults.getAn())
    key("an") << getAn();
  printer << ">";
}

LogicalResult AccumAttr::verify(EmitError emitError, StringRef ao, uint16_t ap,
                                uint16_t ab, uint16_t ai, StringRef an) {
  StringRef pairs = ao;
  uint64_t count = 0;
  bool pairwise = pairs.consume_front("pairwise") &&
                  !pairs.getAsInteger(10, count) && count > 0 &&
                  !pairs.starts_with("0");
  if (ao != "seq" && ao != "tree" && ao != "unspec" && !pairwise)
    return emitError() << "unknown accumulation order '" << ao
                       << "'; expected seq, pairwiseK, tree or unspec";
  if (an != "preserve" && an != "ftz" && an != "any")
    return emitError() << "unknown subnormal mode '" << an
                       << "'; expected preserve, ftz or any";
  for (uint16_t bits : {ap, ab, ai})
    if (failed(WordAttr::verify(emitError, bits)))
      return failure();
  return success();
}
