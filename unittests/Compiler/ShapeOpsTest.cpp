//===- ShapeOpsTest.cpp - compiled slices, transposes, concatenations -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every byte that a compiled operation writes against the bytes that the format
// library makes by its own way: element by element.
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "TestModule.h"
#include "grit/Compiler/Compiler.h"
#include "grit/Format/Fields.h"
#include "grit/Format/Laws.h"
#include "grit/Format/Rearrange.h"
#include <algorithm>
#include <gmock/gmock.h>

using namespace grit;
using namespace grit::test;
using testing::HasSubstr;
using Shape = std::vector<int64_t>;

using OneArray = grit_status_t (*)(const grit_array_view_t *,
                                   grit_array_view_t *);
using TwoArrays = grit_status_t (*)(const grit_array_view_t *,
                                    const grit_array_view_t *,
                                    grit_array_view_t *);
using SliceAt = grit_status_t (*)(const grit_array_view_t *, int64_t, int64_t,
                                  int64_t, grit_array_view_t *);

static std::string listOf(const Shape &numbers) {
  std::string text = "[";
  for (int64_t number : numbers)
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

static ArraySpec specOf(const Array &array) {
  return {array.contract, array.shape, static_cast<int>(array.shape.size()) - 1,
          array.contract.canonicalPlacements()};
}

/// The memory of a plane of the description.
static const std::vector<uint8_t> &planeOf(const Array &array, unsigned plane) {
  return array.memory[planeSlot(array.contract.description(), plane)];
}

static std::vector<ByteSpan> spansOf(const Array &array) {
  std::vector<ByteSpan> spans;
  for (unsigned i = 0; i < array.contract.description().planes.size(); ++i)
    spans.push_back(planeOf(array, i));
  return spans;
}

namespace {
/// One function `@f` of one module.
class ShapeOps : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    // The library that compiled code calls knows grades that it was told.
    if (contract.isGrade() && !contract.isRegistered()) {
      grit_detail_t detail;
      ASSERT_EQ(grit_register_grade(
                    ("shape." + std::to_string(contract.id())).c_str(),
                    contract.canonical().c_str(), nullptr, &detail),
                GRIT_OK)
          << detail.message;
    }
  }

  Contract contract = *Contract::parse(GetParam());
  std::mt19937 random{11};
  std::unique_ptr<CompiledModule> module;
  std::string errors;

  template <typename Function> Function compile(const std::string &source) {
    errors.clear();
    module = CompiledModule::compile(source, "shape.mlir", {}, errors);
    if (!module)
      return nullptr;
    return reinterpret_cast<Function>(module->lookup("f", errors));
  }
  /// `func.func @f(%a: FROM) -> TO` with one operation.
  std::string unary(const std::string &op, const Shape &from, const Shape &to) {
    std::string a = arrayType(contract, from), b = arrayType(contract, to);
    return "func.func @f(%a: " + a + ") -> " + b + " {\n  %r = grit." + op +
           " : " + a + " -> " + b + "\n  return %r : " + b + "\n}\n";
  }
  Array filled(const Shape &shape) {
    Array array(contract, shape);
    array.quantize(random);
    return array;
  }
  void expectPlanes(const Array &found, const Expected<PlaneBytes> &expected) {
    ASSERT_TRUE(expected) << expected.error().message;
    for (unsigned i = 0; i < expected->size(); ++i)
      EXPECT_EQ(planeOf(found, i), (*expected)[i]) << "plane " << i;
  }
};
} // namespace

TEST_P(ShapeOps, SlicesBytesForBytes) {
  Array array = filled({6, 4, 768});
  struct Box {
    Shape offsets, sizes;
  };
  for (const Box &box :
       {Box{{1, 0, 0}, {4, 4, 768}}, Box{{0, 1, 0}, {6, 2, 768}},
        Box{{0, 0, 256}, {6, 4, 512}}, Box{{2, 1, 256}, {3, 3, 256}},
        Box{{6, 0, 0}, {0, 4, 768}}}) {
    std::string what = "slice %a " + listOf(box.offsets) + listOf(box.sizes);
    auto f = compile<OneArray>(unary(what, array.shape, box.sizes));
    ASSERT_NE(f, nullptr) << what << errors;
    Array part(contract, box.sizes);
    ASSERT_EQ(f(&array.view, &part.view), GRIT_OK) << what;
    expectPlanes(part, slicePlanes(specOf(array), spansOf(array), box.offsets,
                                   box.sizes));
  }
}

/// Groups may go over the ends of rows of which one is taken.
TEST_P(ShapeOps, SlicesAndTransposesSingles) {
  if (!ArraySpec::get(contract, {2, 3, 128}))
    return; // a row of 128 holds no whole group
  Array array = filled({2, 3, 128});
  for (auto [offsets, sizes] : {std::pair(Shape{1, 1, 0}, Shape{1, 2, 128}),
                                std::pair(Shape{0, 2, 0}, Shape{1, 1, 128}),
                                std::pair(Shape{0, 0, 0}, Shape{1, 2, 128})}) {
    auto legal = sliceOf(specOf(array), offsets, sizes);
    auto f = compile<OneArray>(unary(
        "slice %a " + listOf(offsets) + listOf(sizes), array.shape, sizes));
    ASSERT_EQ(f != nullptr, legal.has_value()) << listOf(offsets) << errors;
    if (!legal)
      continue;
    Array part(contract, sizes);
    ASSERT_EQ(f(&array.view, &part.view), GRIT_OK);
    expectPlanes(part,
                 slicePlanes(specOf(array), spansOf(array), offsets, sizes));
  }
  for (Shape shape : {Shape{1, 2, 128}, Shape{2, 1, 128}, Shape{0, 2, 128}}) {
    Array source(contract, shape);
    source.quantize(random);
    Shape moved{shape[1], shape[0], 128};
    auto f = compile<OneArray>(
        unary("transpose %a " + listOf({1, 0, 2}), shape, moved));
    ASSERT_NE(f, nullptr) << errors;
    Array result(contract, moved);
    ASSERT_EQ(f(&source.view, &result.view), GRIT_OK);
    expectPlanes(result, transposePlanes(specOf(source), spansOf(source),
                                         Shape{1, 0, 2}));
  }
}

TEST_P(ShapeOps, SlicesWhereTheProgramSays) {
  std::string a = arrayType(contract, {-1, -1, 768}),
              b = arrayType(contract, {-1, 2, -1});
  auto f = compile<SliceAt>(
      "func.func @f(%a: " + a +
      ", %row: index, %rows: index, %columns: index) -> " + b +
      " {\n  %r = grit.slice %a [%row, 1, 256] [%rows, 2, %columns] : " + a +
      " -> " + b + "\n  return %r : " + b + "\n}\n");
  ASSERT_NE(f, nullptr) << errors;
  Array array = filled({6, 4, 768});
  for (auto [row, rows, columns] :
       {std::tuple(0, 6, 512), std::tuple(5, 1, 256), std::tuple(2, 3, 256)}) {
    Array part(contract, {rows, 2, columns});
    ASSERT_EQ(f(&array.view, row, rows, columns, &part.view), GRIT_OK);
    expectPlanes(part, slicePlanes(specOf(array), spansOf(array),
                                   Shape{row, 1, 256}, part.shape));
  }
}

TEST_P(ShapeOps, DynamicSlicesStayInside) {
  std::string a = arrayType(contract, {-1, 256}),
              b = arrayType(contract, {-1, 256});
  auto f = compile<SliceAt>(
      "func.func @f(%a: " + a + ", %row: index, %rows: index, %c: index) -> " +
      b + " {\n  %r = grit.slice %a [%row, 0] [%rows, 256] : " + a + " -> " +
      b + "\n  return %r : " + b + "\n}\n");
  ASSERT_NE(f, nullptr) << errors;
  struct Failure {
    std::string message, location;
    grit_status_t status = GRIT_OK;
  } failure;
  grit_set_failure_handler(
      [](grit_status_t status, const grit_detail_t *detail,
         const char *location, void *user) {
        *static_cast<Failure *>(user) = {detail->message, location, status};
      },
      &failure);
  Array array = filled({6, 256}), part(contract, {4, 256});
  EXPECT_EQ(f(&array.view, 2, 4, 0, &part.view), GRIT_OK);
  EXPECT_EQ(f(&array.view, 3, 4, 0, &part.view), GRIT_SIZE_MISMATCH);
  // The handler hears the status, the words and the operation's own line.
  EXPECT_EQ(failure.status, GRIT_SIZE_MISMATCH);
  EXPECT_THAT(failure.message,
              HasSubstr("grit.slice: offset and size 0 reach beyond"));
  EXPECT_THAT(failure.location, HasSubstr("shape.mlir:2"));
  EXPECT_EQ(f(&array.view, -1, 4, 0, &part.view), GRIT_SIZE_MISMATCH);
  EXPECT_EQ(f(&array.view, 7, 4, 0, &part.view), GRIT_SIZE_MISMATCH);
  grit_set_failure_handler(nullptr, nullptr);
}

TEST_P(ShapeOps, TransposesBytesForBytes) {
  for (bool open : {false, true}) {
    Array array = filled({2, 3, 5, 512});
    Shape order{2, 0, 1, 3}, moved{5, 2, 3, 512};
    auto f = compile<OneArray>(unary("transpose %a " + listOf(order),
                                     open ? Shape{-1, -1, 5, 512} : array.shape,
                                     open ? Shape{5, -1, -1, 512} : moved));
    ASSERT_NE(f, nullptr) << errors;
    Array result(contract, moved);
    ASSERT_EQ(f(&array.view, &result.view), GRIT_OK);
    expectPlanes(result, transposePlanes(specOf(array), spansOf(array), order));
  }
}

TEST_P(ShapeOps, JoinsBytesForBytes) {
  struct Case {
    int dim;
    Shape one, other, whole;
  };
  for (const Case &join : {Case{0, {2, 3, 256}, {4, 3, 256}, {6, 3, 256}},
                           Case{0, {4, 3, 256}, {0, 3, 256}, {4, 3, 256}},
                           Case{1, {2, 3, 256}, {2, 1, 256}, {2, 4, 256}},
                           Case{2, {2, 3, 256}, {2, 3, 512}, {2, 3, 768}}}) {
    std::string a = arrayType(contract, join.one),
                b = arrayType(contract, join.other),
                c = arrayType(contract, join.whole);
    auto f =
        compile<TwoArrays>("func.func @f(%a: " + a + ", %b: " + b + ") -> " +
                           c + " {\n  %r = grit.concat dim " +
                           std::to_string(join.dim) + " %a, %b : " + a + ", " +
                           b + " -> " + c + "\n  return %r : " + c + "\n}\n");
    Array one = filled(join.one), other = filled(join.other);
    ArraySpec specs[] = {specOf(one), specOf(other)};
    if (!concatOf(specs, join.dim)) {
      // One scale for the whole array: no type says that they are equal.
      EXPECT_EQ(f, nullptr);
      continue;
    }
    ASSERT_NE(f, nullptr) << errors;
    Array whole(contract, join.whole);
    ASSERT_EQ(f(&one.view, &other.view, &whole.view), GRIT_OK);
    std::vector<ByteSpan> spans[] = {spansOf(one), spansOf(other)};
    PlacedArray parts[] = {{specs[0], spans[0]}, {specs[1], spans[1]}};
    expectPlanes(whole, concatPlanes(parts, join.dim));
  }
}

/// Placements stay what they are: the operation moves there and back.
TEST_P(ShapeOps, SlicesInOtherPlacements) {
  if (!packingOf(contract.description().codes))
    GTEST_SKIP() << "codes that do not follow one another have one placement";
  std::string a = arrayType(contract, {64, 512}),
              b = arrayType(contract, {32, 256});
  auto placed = [](std::string type) {
    type.pop_back();
    return type + ", data = layout(\"Tile(RowMajor,[16,16])\")>";
  };
  std::string ta = placed(a), tb = placed(b);
  auto f =
      compile<OneArray>("func.func @f(%a: " + a + ") -> " + b +
                        " {\n  %t = grit.relayout %a : " + a + " -> " + ta +
                        "\n  %s = grit.slice %t [16, 256] [32, 256] : " + ta +
                        " -> " + tb + "\n  %r = grit.relayout %s : " + tb +
                        " -> " + b + "\n  return %r : " + b + "\n}\n");
  ASSERT_NE(f, nullptr) << errors;
  Array array = filled({64, 512}), part(contract, {32, 256});
  ASSERT_EQ(f(&array.view, &part.view), GRIT_OK);
  expectPlanes(part, slicePlanes(specOf(array), spansOf(array), Shape{16, 256},
                                 part.shape));
}

INSTANTIATE_TEST_SUITE_P(
    Contracts, ShapeOps, testing::ValuesIn([] {
      std::vector<std::string> names = rowwiseEncodableNames();
      // Slices of these cut lines and blocks, which are groups of some.
      std::erase_if(names, [](const std::string &name) {
        const Contract contract = *Contract::parse(name);
        return std::ranges::any_of(contract.description().scales,
                                   [](const Factor &factor) {
                                     return factor.group == kWholeAxis ||
                                            factor.order == ElementOrder::Block;
                                   });
      });
      // Codes that cross bytes; the first code of a byte in its high bits.
      names.push_back("grit1(e=u6,k0=32,s0=e8m0,esr=ratiomaxabs)");
      names.push_back("grit1(e=u4,k0=32,s0=e8m0,po=msb,esr=ratiomaxabs)");
      return names;
    }()),
    [](const testing::TestParamInfo<std::string> &info) {
      std::string name;
      for (char c : info.param)
        name += isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });
