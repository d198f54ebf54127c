//===- GritTypes.cpp - the array type -===//
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
#include <numeric>

using namespace grit::ir;
using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "grit/Dialect/Grit/IR/GritTypes.cpp.inc"

void GritDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "grit/Dialect/Grit/IR/GritTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

ArrayType ArrayType::get(MLIRContext *context, ArrayRef<int64_t> shape,
                         ContractAttrInterface contract, int64_t axis,
                         grit::Placements placements,
                         grit::Assumptions assumed) {
  return Base::get(context, shape, contract, axis, placements.data.raw(),
                   placements.scale.raw(), placements.meta.raw(),
                   assumed.bits());
}

ArrayType ArrayType::tryGet(function_ref<InFlightDiagnostic()> emitError,
                            ArrayRef<int64_t> shape,
                            ContractAttrInterface contract, int64_t axis,
                            grit::Placements placements,
                            grit::Assumptions assumed) {
  return Base::getChecked(emitError, contract.getContext(), shape, contract,
                          axis, placements.data.raw(), placements.scale.raw(),
                          placements.meta.raw(), assumed.bits());
}

ArrayType ArrayType::get(ArrayRef<int64_t> shape,
                         ContractAttrInterface contract, int64_t axis) {
  if (axis < 0)
    axis += static_cast<int64_t>(shape.size());
  return get(contract.getContext(), shape, contract, axis,
             contract.getContract().canonicalPlacements());
}

ArrayType ArrayType::withPlacements(grit::Placements placements) const {
  return get(getContext(), getShape(), getContract(), getAxis(), placements,
             getAssumed());
}

ArrayType ArrayType::withAssumed(grit::Assumptions assumed) const {
  return get(getContext(), getShape(), getContract(), getAxis(),
             getPlacements(), assumed);
}

ArrayType ArrayType::withShape(ArrayRef<int64_t> shape) const {
  return get(getContext(), shape, getContract(), getAxis(), getPlacements(),
             getAssumed());
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool ArrayType::hasStaticShape() const { return getNumDynamicDims() == 0; }

unsigned ArrayType::getNumDynamicDims() const {
  return llvm::count_if(getShape(), ShapedType::isDynamic);
}

grit::Placements ArrayType::getPlacements() const {
  return {grit::Placement(getDataPlacement()),
          grit::Placement(getScalePlacement()),
          grit::Placement(getMetaPlacement())};
}

grit::Assumptions ArrayType::getAssumed() const {
  return grit::Assumptions::fromBits(getAssumedRoles());
}

bool ArrayType::hasCanonicalPlacements() const {
  return getPlacements() == getContract().getContract().canonicalPlacements();
}

grit::ArraySpec ArrayType::getSpec(ArrayRef<int64_t> shape) const {
  return {getContract().getContract(),
          std::vector<int64_t>(shape.begin(), shape.end()),
          static_cast<int>(getAxis()), getPlacements()};
}

grit::ArraySpec ArrayType::getSpec() const { return getSpec(getShape()); }

SmallVector<RankedTensorType> ArrayType::getPlaneTypes() const {
  Type byte = IntegerType::get(getContext(), 8);
  SmallVector<RankedTensorType> types;
  grit::FormatDescription description =
      getContract().getContract().description();
  std::optional<grit::PlaneSizes> sizes;
  if (hasStaticShape())
    if (auto equations = getSpec().planeSizes())
      sizes = *equations;
  for (auto [index, plane] : llvm::enumerate(description.planes)) {
    int64_t bytes = ShapedType::kDynamic;
    if (sizes)
      bytes = (*sizes)[index];
    else if (plane.elements == 0)
      bytes = (plane.bits + 7) / 8;
    types.push_back(RankedTensorType::get({bytes}, byte));
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The static extents, with sizes that fit in place of the dynamic ones, so
/// that the format library can check what is known: whole groups in one
/// dimension, the axis where it is dynamic, and 1 in the others.
static SmallVector<int64_t> withFittingExtents(ArrayRef<int64_t> shape,
                                               int64_t axis,
                                               const grit::Contract &contract) {
  const grit::FormatDescription &description = contract.description();
  int64_t whole = std::lcm(description.axisMultiple, description.arrayMultiple);
  auto isDynamic = [](int64_t extent) { return ShapedType::isDynamic(extent); };
  int64_t chosen = isDynamic(shape[axis])
                       ? axis
                       : llvm::find_if(shape, isDynamic) - shape.begin();
  SmallVector<int64_t> fitting(shape);
  for (auto [dim, extent] : llvm::enumerate(fitting))
    if (isDynamic(extent))
      extent = static_cast<int64_t>(dim) == chosen ? whole : 1;
  return fitting;
}

/// Refuses a group axis along which a contract that counts groups in row-major
/// order would not group.
static LogicalResult
verifyGroupAxis(function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<int64_t> shape, int64_t axis,
                const grit::FormatDescription &description) {
  bool countsRowMajor =
      llvm::all_of(description.scales, [](const grit::Factor &factor) {
        return factor.group == 0 ||
               factor.order == grit::ElementOrder::RowMajor;
      });
  if (!countsRowMajor)
    return success();
  for (auto [index, extent] : llvm::enumerate(shape.drop_front(axis + 1))) {
    if (extent == 0 || extent == 1)
      continue;
    return emitError() << "group axis " << axis << " has a later extent "
                       << (ShapedType::isDynamic(extent) ? "that may be above 1"
                                                         : "above 1")
                       << " (dimension " << axis + 1 + index
                       << "): this contract counts groups along the row-major "
                          "index, so its groups would not run along the axis; "
                          "move the axis to the end or use a contract that "
                          "groups along it";
  }
  return success();
}

/// Only planes that the contract has can lie in an assumed placement.
static LogicalResult verifyAssumed(function_ref<InFlightDiagnostic()> emitError,
                                   uint8_t assumedRoles,
                                   const grit::FormatDescription &description) {
  uint8_t present = 0;
  for (const grit::PlaneInfo &plane : description.planes)
    present |= 1u << plane.placement;
  if (uint8_t extra = assumedRoles & ~present)
    return emitError() << "assumes the placement of planes that the contract "
                          "does not have (roles "
                       << unsigned(extra) << ")";
  return success();
}

/// Why all extents of an array of this contract must be known; nothing where a
/// type can leave some open.
static std::optional<grit::Error> whyStatic(const grit::Contract &contract) {
  for (const grit::PlaneInfo &plane : contract.description().planes)
    if (plane.dependsOnShape())
      return grit::makeError(grit::Status::SizeMismatch,
                             "all extents must be static", "shape",
                             "known extents", "a dynamic one",
                             "plane " + plane.name + " of " + contract.name() +
                                 " has a value for each line, block or "
                                 "position of the shape",
                             "give the extents")
          .value();
  return std::nullopt;
}

LogicalResult ArrayType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape,
                                ContractAttrInterface contract, int64_t axis,
                                uint64_t dataPlacement, uint64_t scalePlacement,
                                uint64_t metaPlacement, uint8_t assumedRoles) {
  if (!contract)
    return emitError() << "expected a contract, such as #grit.grade<mxfp4>";
  int64_t rank = shape.size();
  if (rank == 0)
    return emitError() << "an array must have at least one dimension";
  if (axis < 0 || axis >= rank)
    return emitError() << "group axis " << axis << " is out of range for rank "
                       << rank;
  grit::Contract value = contract.getContract();
  if (failed(verifyAssumed(emitError, assumedRoles, value.description())) ||
      failed(verifyGroupAxis(emitError, shape, axis, value.description())))
    return failure();
  grit::ArraySpec spec{value,
                       {},
                       static_cast<int>(axis),
                       {grit::Placement(dataPlacement),
                        grit::Placement(scalePlacement),
                        grit::Placement(metaPlacement)}};
  SmallVector<int64_t> extents = withFittingExtents(shape, axis, value);
  spec.shape.assign(extents.begin(), extents.end());
  if (auto error = spec.verify()) {
    describeError(emitError(), *error);
    return failure();
  }
  bool known = llvm::none_of(shape, ShapedType::isDynamic);
  if (!known)
    if (auto error = whyStatic(value)) {
      describeError(emitError(), *error);
      return failure();
    }
  // Sizes beyond 63 bits are no sizes (B18).
  if (auto sizes = spec.planeSizes(); known && !sizes) {
    describeError(emitError(), sizes.error());
    return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// option ::= `axis` `=` integer | (`data` | `scale` | `meta`) `=` placement
///          | `assumed` `=` roles
static ParseResult parseOptions(AsmParser &parser, int64_t &axis,
                                grit::Placements &placements,
                                grit::Assumptions &assumed) {
  SmallVector<StringRef> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, key))
      return parser.emitError(loc) << "duplicate option '" << key << "'";
    seen.push_back(key);
    ParseResult value = success();
    if (key == "axis")
      value = parser.parseInteger(axis);
    else if (key == "data")
      value = parsePlacement(parser, placements.data);
    else if (key == "scale")
      value = parsePlacement(parser, placements.scale);
    else if (key == "meta")
      value = parsePlacement(parser, placements.meta);
    else if (key == "assumed")
      value = parseRoles(parser, assumed);
    else
      return parser.emitError(loc)
             << "unknown option '" << key
             << "'; expected axis, data, scale, meta or assumed";
    if (failed(value))
      return failure();
  }
  return success();
}

Type ArrayType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Attribute attribute;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true,
                                /*withTrailingX=*/true))
    return {};
  SMLoc contractLoc = parser.getCurrentLocation();
  if (parser.parseAttribute(attribute))
    return {};
  auto contract = dyn_cast<ContractAttrInterface>(attribute);
  if (!contract) {
    parser.emitError(contractLoc)
        << "expected a contract, such as #grit.grade<mxfp4>, but got "
        << attribute;
    return {};
  }
  int64_t axis = static_cast<int64_t>(shape.size()) - 1;
  grit::Placements placements = contract.getContract().canonicalPlacements();
  grit::Assumptions assumed;
  if (parseOptions(parser, axis, placements, assumed) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, contract, axis, placements.data.raw(),
                    placements.scale.raw(), placements.meta.raw(),
                    assumed.bits());
}

void ArrayType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape()) {
    if (ShapedType::isDynamic(extent))
      printer << "?";
    else
      printer << extent;
    printer << "x";
  }
  printer.printAttribute(getContract());
  if (getAxis() != getRank() - 1)
    printer << ", axis = " << getAxis();
  grit::Placements canonical =
      getContract().getContract().canonicalPlacements();
  grit::Placements own = getPlacements();
  auto print = [&](StringRef key, grit::Placement value,
                   grit::Placement usual) {
    if (value == usual)
      return;
    printer << ", " << key << " = ";
    printPlacement(printer, value);
  };
  print("data", own.data, canonical.data);
  print("scale", own.scale, canonical.scale);
  print("meta", own.meta, canonical.meta);
  if (!getAssumed().empty()) {
    printer << ", assumed = ";
    printRoles(printer, getAssumed());
  }
  printer << ">";
}
