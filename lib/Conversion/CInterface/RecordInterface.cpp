//===- RecordInterface.cpp - read C signatures off functions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Destinations.h"
#include "ExtentClasses.h"
#include "grit/Conversion/CInterface.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Host.h"

namespace grit {
#define GEN_PASS_DEF_RECORDINTERFACE
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace grit;
using namespace grit::ir;
using namespace mlir;

using Kind = CInterfaceOperand::Kind;
using Access = CInterfaceOperand::Access;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static void describeArray(ir::ArrayType type, CInterfaceOperand &operand) {
  Contract contract = type.getContract().getContract();
  const FormatDescription &description = contract.description();
  operand.kind = Kind::Array;
  operand.element = contract.name();
  operand.contractId = contract.id();
  operand.isGrade = contract.isGrade();
  operand.axis = type.getAxis();
  operand.placements = {type.getDataPlacement(), type.getScalePlacement(),
                        type.getMetaPlacement()};
  for (auto [plane, planeType] : llvm::enumerate(type.getPlaneTypes())) {
    operand.slots.push_back(planeSlot(description, plane));
    operand.planeBytes.push_back(planeType.getDimSize(0));
  }
}

/// The parameter for a value of this type; nothing for a type without one.
static std::optional<CInterfaceOperand> describe(Type type) {
  CInterfaceOperand operand;
  if (auto extents = extentsOf(type)) {
    operand.shape.assign(extents->begin(), extents->end());
    for (auto [dim, extent] : llvm::enumerate(*extents))
      if (ShapedType::isDynamic(extent))
        operand.dynamicDims.push_back(dim);
    if (extents->size() > static_cast<size_t>(kMaxRank))
      return std::nullopt;
  }
  if (auto array = dyn_cast<ir::ArrayType>(type)) {
    describeArray(array, operand);
    return operand;
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    operand.kind = Kind::Tensor;
    operand.element = typeText(tensor.getElementType());
    return cDtype(operand.element) && !tensor.getEncoding()
               ? std::optional(operand)
               : std::nullopt;
  }
  operand.kind = Kind::Scalar;
  operand.element = typeText(type);
  bool isNumber = type.isIndex() || type.isInteger(32) || type.isInteger(64) ||
                  type.isF32() || type.isF64();
  return isNumber ? std::optional(operand) : std::nullopt;
}

/// Gives every parameter a name of its own: the one that an attribute holds, or
/// `prefix` and a number.
static std::string chooseName(Attribute given, StringRef prefix, unsigned index,
                              llvm::StringSet<> &taken) {
  auto text = dyn_cast_or_null<StringAttr>(given);
  std::string name = text && !text.empty() ? text.getValue().str()
                                           : (prefix + Twine(index)).str();
  std::string unique = name;
  for (unsigned i = 1; !taken.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites one function so that every result lies in an argument, and records
/// its signature.
class Recorder {
public:
  Recorder(func::FuncOp function, ExtentClasses::Module &module)
      : function(function), classes(function, module), b(function) {}

  LogicalResult record();

private:
  LogicalResult addArguments();
  LogicalResult addResults();
  LogicalResult addShared();
  BlockArgument chooseDestination(unsigned result);
  void placeResult(unsigned result, BlockArgument destination);
  LogicalResult refuse(const Twine &what, Type type);

  func::FuncOp function;
  ExtentClasses classes; ///< of the function as it was
  OpBuilder b;
  CInterface interface;
  /// For each parameter the value whose extents it has.
  SmallVector<Value> values;
  llvm::StringSet<> names;
  SmallVector<func::ReturnOp> returns;
  SmallVector<SmallVector<Value>> results; ///< by return, then by result
};
} // namespace

LogicalResult Recorder::refuse(const Twine &what, Type type) {
  InFlightDiagnostic error = function.emitError()
                             << what << " of public function '"
                             << function.getName() << "' has type " << type
                             << ", which C cannot pass";
  error.attachNote() << "an array, a ranked tensor of f32, f64, f16, bf16, i8, "
                        "i16, i32 or i64, or (as an argument) an index, i32, "
                        "i64, f32 or f64 can be passed";
  error.attachNote() << "make the function private if nothing outside the "
                        "module calls it";
  return error;
}

LogicalResult Recorder::addArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto operand = describe(argument.getType());
    if (!operand)
      return refuse("argument " + Twine(index), argument.getType());
    Attribute given = function.removeArgAttr(index, CInterface::kNameAttribute);
    operand->name = chooseName(given, "arg", index, names);
    interface.operands.push_back(*operand);
    values.push_back(argument);
  }
  return success();
}

/// The argument that this result is written into on every path, unless another
/// result already is.
BlockArgument Recorder::chooseDestination(unsigned result) {
  BlockArgument destination;
  for (ArrayRef<Value> returned : results) {
    Destination found = destinationOf(returned[result], function.front());
    if (!found.argument || !found.isWritten ||
        (destination && found.argument != destination))
      return {};
    destination = found.argument;
  }
  if (!destination ||
      destination.getType() != function.getResultTypes()[result])
    return {};
  Access &access = interface.operands[destination.getArgNumber()].access;
  if (access != Access::In)
    return {};
  access = Access::InOut;
  return destination;
}

/// Notes, for every value that a result is returned as, the argument whose
/// memory it goes to. The values stay results until they are buffers: only then
/// is it known whether they are there already.
void Recorder::placeResult(unsigned result, BlockArgument destination) {
  unsigned first = returns[0]->getNumOperands(), count = 0;
  for (auto [op, returned] : llvm::zip_equal(returns, results)) {
    b.setInsertionPoint(op);
    SmallVector<Value> parts{returned[result]};
    if (isa<ir::ArrayType>(parts[0].getType())) {
      auto planes = PlanesOp::create(b, op.getLoc(), parts[0]);
      parts.assign(planes.result_begin(), planes.result_end());
    }
    count = parts.size();
    op->insertOperands(op->getNumOperands(), parts);
  }
  for (unsigned part = 0; part < count; ++part)
    function.setArgAttr(destination.getArgNumber() + part,
                        CInterface::kHoldsAttribute,
                        b.getI64IntegerAttr(first + part));
}

LogicalResult Recorder::addResults() {
  function.walk([&](func::ReturnOp op) {
    returns.push_back(op);
    results.emplace_back(op.getOperands());
  });
  if (returns.empty())
    return function.emitError()
           << "public function '" << function.getName() << "' never returns";
  SmallVector<Type> types(function.getResultTypes());
  for (func::ReturnOp op : returns)
    op->setOperands({});
  for (auto [index, type] : llvm::enumerate(types)) {
    auto operand = describe(type);
    if (!operand || operand->kind == Kind::Scalar)
      return refuse("result " + Twine(index), type);
    if (BlockArgument destination = chooseDestination(index)) {
      placeResult(index, destination);
      continue;
    }
    operand->access = Access::Out;
    Attribute given = function.getResultAttr(index, CInterface::kNameAttribute);
    operand->name = chooseName(given, "result", index, names);
    unsigned first = function.getNumArguments();
    SmallVector<Type> parts{type};
    if (auto array = dyn_cast<ir::ArrayType>(type)) {
      auto planes = array.getPlaneTypes();
      parts.assign(planes.begin(), planes.end());
    }
    for (Type part : parts)
      if (failed(function.insertArgument(function.getNumArguments(), part, {},
                                         function.getLoc())))
        return failure();
    BlockArgument place = function.getArgument(first);
    if (parts.size() == 1 && !isa<ir::ArrayType>(type))
      for (ArrayRef<Value> returned : results)
        startFrom(place, returned[index]);
    placeResult(index, place);
    interface.operands.push_back(*operand);
    values.push_back(results[0][index]);
  }
  function.removeResAttrsAttr();
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     returns[0].getOperandTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Makes an extent that can only have one value static, and lists the others
/// that must be equal.
LogicalResult Recorder::addShared() {
  DenseMap<unsigned, std::pair<int64_t, int64_t>> first;
  auto visit = [&](int64_t index, int64_t dim) -> LogicalResult {
    CInterfaceOperand &operand = interface.operands[index];
    unsigned extentClass = classes.classOf(values[index], dim);
    int64_t constant = classes.constantOf(extentClass);
    if (!ShapedType::isDynamic(constant)) {
      if (dim < 0)
        return function.emitError()
               << "'" << operand.name << "' of public function '"
               << function.getName() << "' is an extent that can only be "
               << constant << "; write the number in its place";
      operand.shape[dim] = constant;
      return success();
    }
    auto [it, isFirst] = first.try_emplace(extentClass, index, dim);
    if (!isFirst) {
      interface.shared.push_back(
          {it->second.first, it->second.second, index, dim});
      return success();
    }
    if (operand.access != Access::Out)
      return success();
    InFlightDiagnostic error =
        function.emitError()
        << "extent " << dim << " of result '" << operand.name
        << "' of public function '" << function.getName()
        << "' is not an extent of an argument, so the caller cannot provide "
           "the memory";
    error.attachNote() << "return a static shape, or pass the destination as "
                          "an argument";
    return error;
  };
  for (auto [index, operand] : llvm::enumerate(interface.operands)) {
    if (operand.kind == Kind::Scalar && operand.element == "index" &&
        failed(visit(index, -1)))
      return failure();
    for (int64_t dim = 0, rank = operand.shape.size(); dim < rank; ++dim)
      if (failed(visit(index, dim)))
        return failure();
  }
  return success();
}

LogicalResult Recorder::record() {
  auto [one, other] = classes.contradiction();
  if (one != other)
    return function.emitError()
           << "public function '" << function.getName()
           << "' can never run: an extent would have to be both " << one
           << " and " << other;
  if (failed(addArguments()) || failed(addResults()) || failed(addShared()))
    return failure();
  if (auto place = function.getLoc()->findInstanceOf<FileLineColLoc>())
    interface.location =
        (place.getFilename().getValue() + ":" + Twine(place.getLine())).str();
  // What is not a destination keeps its bytes: bufferization must copy it
  // before anything is written in its place.
  for (auto [index, operand] : llvm::enumerate(interface.operands))
    if (operand.access == Access::In && operand.kind != Kind::Scalar)
      function.setArgAttr(
          index, bufferization::BufferizationDialect::kWritableAttrName,
          b.getBoolAttr(false));
  function->setAttr(CInterface::kAttribute, interface.toAttr(b.getContext()));
  function.setPrivate();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A function that the module itself calls stays as it is, under another name;
/// C gets a copy.
static func::FuncOp separateFromCalls(func::FuncOp function,
                                      SymbolTable &symbols) {
  if (SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return function;
  std::string name = function.getName().str();
  unsigned counter = 0;
  SmallString<32> inner = SymbolTable::generateSymbolName<32>(
      (name + "_body").c_str(),
      [&](StringRef candidate) { return symbols.lookup(candidate) != nullptr; },
      counter);
  if (failed(symbols.rename(function, inner)))
    return {};
  func::FuncOp copy = function.clone();
  copy.setName(name);
  symbols.insert(copy, Block::iterator(function));
  function.setPrivate();
  return copy;
}

/// Names that compiled code needs for itself: those of grit's library, and
/// those of the C library, which LLVM calls when it sees fit.
static LogicalResult verifyName(SymbolOpInterface op,
                                const llvm::TargetLibraryInfo &library) {
  StringRef name = op.getName();
  auto refuse = [&](const Twine &why) {
    InFlightDiagnostic error = op->emitError() << "'" << name << "' " << why;
    error.attachNote() << "choose another name";
    return error;
  };
  llvm::LibFunc known;
  if (name.starts_with("grit_"))
    return refuse("begins with grit_, as the names do that grit keeps for "
                  "itself");
  if (library.getLibFunc(name, known))
    return refuse("is a function of the C library, which compiled code may "
                  "call");
  return success();
}

static LogicalResult verifySymbols(ModuleOp module) {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  llvm::TargetLibraryInfoImpl names(triple);
  llvm::TargetLibraryInfo library(names);
  for (Operation &op : module.getOps()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (symbol && failed(verifyName(symbol, library)))
      return failure();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || !function.isExternal())
      continue;
    InFlightDiagnostic error = function.emitError()
                               << "'" << function.getName()
                               << "' is declared and not defined";
    error.attachNote() << "a compiled module calls nothing outside; define the "
                          "function, or remove the declaration";
    return error;
  }
  return success();
}

namespace {
struct RecordInterfacePass
    : grit::impl::RecordInterfaceBase<RecordInterfacePass> {
  void runOnOperation() override {
    if (failed(verifySymbols(getOperation())))
      return signalPassFailure();
    ExtentClasses::Module module(getOperation());
    for (func::FuncOp function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function->hasAttr(CInterface::kAttribute)) {
        function.emitError() << "already has a recorded interface";
        return signalPassFailure();
      }
      if (!function.isPublic() || function.isExternal())
        continue;
      function = separateFromCalls(function, module.symbols);
      if (!function || failed(Recorder(function, module).record()))
        return signalPassFailure();
    }
  }
};
} // namespace
