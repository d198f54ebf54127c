//===- ArrayTypeTest.cpp - the array type and the format library -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has no text form of its own: the answers of the C++ interface, for every
// registered contract.
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <limits>
#include <numeric>

using namespace grit;
using namespace grit::ir;
using mlir::ShapedType;

namespace {
class ArrayTypeTest : public testing::TestWithParam<std::string> {
protected:
  ArrayTypeTest() { context.loadDialect<GritDialect>(); }

  ContractAttrInterface attr() {
    return getContractAttr(&context, *Contract::parse(GetParam()));
  }
  /// The least extent of the last axis that holds whole groups.
  int64_t extent() {
    const FormatDescription description =
        Contract::parse(GetParam())->description();
    return std::lcm(description.axisMultiple, description.arrayMultiple);
  }

  bool isType(llvm::ArrayRef<int64_t> shape, const Placements &placements) {
    mlir::ScopedDiagnosticHandler quiet(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    auto emitError = [&] {
      return mlir::emitError(mlir::UnknownLoc::get(&context));
    };
    return mlir::succeeded(ArrayType::verify(
        emitError, shape, attr(), /*axis=*/shape.size() - 1,
        placements.data.raw(), placements.scale.raw(), placements.meta.raw(),
        /*assumed=*/0));
  }

  mlir::MLIRContext context;
};
} // namespace

static std::string text(mlir::Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

TEST_P(ArrayTypeTest, AttributeIsTheContract) {
  EXPECT_EQ(attr().getContract(), *Contract::parse(GetParam()));
  // Equal contracts are one attribute, whatever their spelling.
  std::string canonical = attr().getContract().canonical();
  EXPECT_EQ(getContractAttr(&context, *Contract::parse(canonical)), attr());
}

TEST_P(ArrayTypeTest, PlaneTypesFollowTheSizeEquations) {
  for (int64_t rows : {0, 1, 3, 128}) {
    ArrayType type = ArrayType::get({rows, 2 * extent()}, attr());
    auto sizes = type.getSpec().planeSizes();
    ASSERT_TRUE(sizes.has_value()) << sizes.error().str();
    auto planes = type.getPlaneTypes();
    ASSERT_EQ(planes.size(), sizes->size());
    for (size_t i = 0; i < planes.size(); ++i)
      EXPECT_EQ(planes[i].getDimSize(0), (*sizes)[i]) << "plane " << i;
  }
}

TEST_P(ArrayTypeTest, PlanesOfADynamicShapeHaveUnknownSizes) {
  ArrayType type = ArrayType::get({ShapedType::kDynamic, extent()}, attr());
  EXPECT_FALSE(type.hasStaticShape());
  EXPECT_EQ(type.getNumDynamicDims(), 1u);
  const FormatDescription description = attr().getContract().description();
  auto planes = type.getPlaneTypes();
  ASSERT_EQ(planes.size(), description.planes.size());
  for (size_t i = 0; i < planes.size(); ++i) {
    const PlaneInfo &info = description.planes[i];
    // Save for what the whole array has once.
    EXPECT_EQ(planes[i].getDimSize(0),
              info.elements ? ShapedType::kDynamic : (info.bits + 7) / 8);
  }
}

TEST_P(ArrayTypeTest, PrintedTypesParseBack) {
  ArrayType canonical =
      ArrayType::get({ShapedType::kDynamic, 4, extent()}, attr());
  EXPECT_TRUE(canonical.hasCanonicalPlacements());
  // Defaults are not printed.
  std::string contract;
  llvm::raw_string_ostream(contract) << attr();
  EXPECT_EQ(text(canonical), "!grit.array<?x4x" + std::to_string(extent()) +
                                 "x" + contract + ">");
  for (const RegisteredPlacement &entry : registeredPlacements()) {
    Placements placements = canonical.getPlacements();
    placements.data = entry.placement;
    ArrayType type = canonical.withPlacements(placements);
    EXPECT_EQ(type.hasCanonicalPlacements(), type == canonical);
    EXPECT_EQ(mlir::parseType(text(type), &context), type) << text(type);
  }
}

TEST_P(ArrayTypeTest, TooLargeShapesAreRefusedAndNotComputed) {
  int64_t huge = std::numeric_limits<int64_t>::max() / extent() * extent();
  EXPECT_FALSE(
      isType({huge, extent() * 4}, attr().getContract().canonicalPlacements()));
}

INSTANTIATE_TEST_SUITE_P(Contracts, ArrayTypeTest, testing::ValuesIn([] {
                           std::vector<std::string> names =
                               registeredContractNames();
                           names.push_back("hurray.nf4(block=128)");
                           names.push_back(
                               "grit1(e=s8,k0=32,s0=binary16,esr=ratiomaxabs)");
                           return names;
                         }()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name;
                           for (char c : info.param)
                             name += llvm::isAlnum(c) ? c : '_';
                           return name;
                         });
