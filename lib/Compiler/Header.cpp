//===- Header.cpp - declarations of compiled functions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeGen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace grit;
using namespace llvm;

using mlir::ShapedType;
using Kind = CInterfaceOperand::Kind;
using Access = CInterfaceOperand::Access;

//===----------------------------------------------------------------------===//
// Identifiers
//===----------------------------------------------------------------------===//

/// Words that neither C nor C++ lets a program declare.
static bool isReserved(StringRef name) {
  static const StringSet<> words{"alignas",     "alignof",
                                 "and",         "and_eq",
                                 "asm",         "auto",
                                 "bitand",      "bitor",
                                 "bool",        "break",
                                 "case",        "catch",
                                 "char",        "char16_t",
                                 "char32_t",    "char8_t",
                                 "class",       "co_await",
                                 "co_return",   "co_yield",
                                 "compl",       "concept",
                                 "const",       "const_cast",
                                 "consteval",   "constexpr",
                                 "constinit",   "continue",
                                 "decltype",    "default",
                                 "delete",      "do",
                                 "double",      "dynamic_cast",
                                 "else",        "enum",
                                 "explicit",    "export",
                                 "extern",      "false",
                                 "float",       "for",
                                 "friend",      "goto",
                                 "if",          "inline",
                                 "int",         "long",
                                 "main",        "mutable",
                                 "namespace",   "new",
                                 "noexcept",    "not",
                                 "not_eq",      "nullptr",
                                 "operator",    "or",
                                 "or_eq",       "private",
                                 "protected",   "public",
                                 "register",    "reinterpret_cast",
                                 "requires",    "restrict",
                                 "return",      "short",
                                 "signed",      "sizeof",
                                 "static",      "static_assert",
                                 "static_cast", "struct",
                                 "switch",      "template",
                                 "this",        "thread_local",
                                 "throw",       "true",
                                 "try",         "typedef",
                                 "typeid",      "typename",
                                 "typeof",      "typeof_unqual",
                                 "union",       "unsigned",
                                 "using",       "virtual",
                                 "void",        "volatile",
                                 "wchar_t",     "while",
                                 "xor",         "xor_eq"};
  // Types of the header, macros, and what the implementation keeps for itself.
  bool isImplementations =
      name.size() > 1 && name[0] == '_' && (name[1] == '_' || isUpper(name[1]));
  return words.contains(name) || isImplementations || name.ends_with("_t") ||
         name.starts_with("grit_") || name.starts_with("GRIT_");
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

/// A parameter's name with what C does not allow replaced; distinct from those
/// before it.
static std::string parameterName(StringRef name, StringSet<> &taken) {
  std::string text;
  for (char c : name)
    text += isAlnum(c) || c == '_' ? c : '_';
  if (text.empty() || isDigit(text[0]) || isReserved(text))
    text = "p_" + text;
  std::string unique = text;
  for (unsigned i = 1; !taken.insert(unique).second; ++i)
    unique = text + "_" + std::to_string(i);
  return unique;
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

static StringRef scalarName(StringRef element) {
  if (element == "f32")
    return "float";
  if (element == "f64")
    return "double";
  return element == "i32" ? "int32_t" : "int64_t";
}

static std::string shapeText(const CInterfaceOperand &operand) {
  std::string text = "[";
  for (auto [dim, extent] : enumerate(operand.shape))
    text += (dim ? ", " : "") +
            (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return text + "]";
}

/// What a comment says of an operand. A text of a contract may hold anything
/// but the end of a comment.
static std::string describe(const CInterfaceOperand &operand) {
  std::string text;
  switch (operand.access) {
  case Access::In:
    text = "reads ";
    break;
  case Access::InOut:
    text = "reads and overwrites ";
    break;
  case Access::Out:
    text = "writes ";
    break;
  }
  if (operand.kind == Kind::Scalar)
    return "a number, " + operand.element;
  text += operand.element + " " + shapeText(operand);
  if (operand.kind == Kind::Array)
    text += ", group axis " + std::to_string(operand.axis);
  return text;
}

static std::string declare(const CInterfaceOperand &operand, StringRef name) {
  if (operand.kind == Kind::Scalar)
    return (scalarName(operand.element) + " " + name).str();
  // An array's view is never written; its planes are.
  bool isConst = operand.kind == Kind::Array || !operand.isWritten();
  return ((isConst ? "const " : "") +
          StringRef(operand.kind == Kind::Array ? "grit_array_view_t"
                                                : "grit_tensor_view_t") +
          " *" + name)
      .str();
}

/// No line of a comment may end it, or go on in the next line.
static std::string inComment(StringRef text) {
  std::string safe;
  for (char c : text) {
    if (c == '/' && StringRef(safe).ends_with("*"))
      safe += ' ';
    safe += c == '\\' || !isPrint(c) ? '.' : c;
  }
  return safe;
}

static void emitFunction(const CompiledFunction &function,
                         raw_ostream &stream) {
  const CInterface &interface = function.interface;
  StringSet<> taken;
  std::string parameters, comments;
  std::vector<std::string> names;
  for (const CInterfaceOperand &operand : interface.operands) {
    names.push_back(parameterName(operand.name, taken));
    parameters += (names.size() > 1 ? ",\n    " : "\n    ") +
                  declare(operand, names.back());
    comments += "\n    " + names.back() + ": " + inComment(describe(operand));
  }
  auto extent = [&](int64_t operand, int64_t dim) {
    return dim < 0 ? names[operand]
                   : "extent " + std::to_string(dim) + " of " + names[operand];
  };
  for (const SharedExtent &shared : interface.shared)
    comments += "\n    " + extent(shared.second, shared.secondDim) +
                " equals " + extent(shared.first, shared.firstDim);
  stream << "\n/** "
         << (interface.location.empty() ? "A compiled function."
                                        : inComment(interface.location) + ".")
         << comments << " */\nGRIT_NODISCARD grit_status_t " << function.name
         << "(" << (parameters.empty() ? "void" : parameters) << ");\n";
}

bool grit::emitHeader(ArrayRef<CompiledFunction> functions,
                      StringRef sourceName, raw_ostream &stream,
                      std::string &errors) {
  for (const CompiledFunction &function : functions)
    if (!isIdentifier(function.name) || isReserved(function.name)) {
      errors = function.interface.location +
               ": error: C cannot declare a "
               "function '" +
               function.name +
               "'\n  fix: rename it, or make it "
               "private if nothing outside the module calls it\n";
      return false;
    }
  std::string guard = "GRIT_COMPILED_";
  for (char c : sys::path::filename(sourceName))
    guard += isAlnum(c) ? toUpper(c) : '_';
  guard += "_H";
  stream
      << "/* Written by grit from "
      << inComment(sys::path::filename(sourceName))
      << ".\n\n   Every function checks its operands before it reads a plane "
         "or a tensor. What\n   it refuses goes to the failure handler, and "
         "the status is returned. */\n\n#ifndef "
      << guard << "\n#define " << guard
      << "\n\n#include \"grit-c/grit.h\"\n\n#ifdef __cplusplus\nextern "
         "\"C\" {\n#endif\n";
  for (const CompiledFunction &function : functions)
    emitFunction(function, stream);
  stream << "\n#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif /* "
         << guard << " */\n";
  return true;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void emitOperand(const CInterfaceOperand &operand, json::OStream &json) {
  static constexpr StringRef kinds[] = {"array", "tensor", "scalar"};
  static constexpr StringRef accesses[] = {"in", "inout", "out"};
  json.object([&] {
    json.attribute("name", json::fixUTF8(operand.name));
    json.attribute("kind", kinds[static_cast<int>(operand.kind)]);
    json.attribute("access", accesses[static_cast<int>(operand.access)]);
    json.attribute(operand.kind == Kind::Array ? "contract" : "type",
                   json::fixUTF8(operand.element));
    if (operand.kind == Kind::Scalar)
      return;
    json.attributeArray("shape", [&] {
      for (int64_t extent : operand.shape)
        json.value(ShapedType::isDynamic(extent) ? -1 : extent);
    });
    if (operand.kind != Kind::Array)
      return;
    json.attribute("axis", operand.axis);
    json.attributeArray("placements", [&] {
      for (uint64_t word : operand.placements)
        json.value("0x" + utohexstr(word, /*LowerCase=*/true, /*Width=*/16));
    });
  });
}

void grit::emitSignatures(ArrayRef<CompiledFunction> functions,
                          raw_ostream &stream) {
  json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    json.attributeArray("functions", [&] {
      for (const CompiledFunction &function : functions)
        json.object([&] {
          json.attribute("name", json::fixUTF8(function.name));
          json.attribute("location",
                         json::fixUTF8(function.interface.location));
          json.attributeArray("operands", [&] {
            for (const CInterfaceOperand &operand : function.interface.operands)
              emitOperand(operand, json);
          });
          json.attributeArray("shared", [&] {
            for (const SharedExtent &shared : function.interface.shared)
              json.array([&] {
                for (int64_t value : {shared.first, shared.firstDim,
                                      shared.second, shared.secondDim})
                  json.value(value);
              });
          });
        });
    });
  });
  stream << "\n";
}
