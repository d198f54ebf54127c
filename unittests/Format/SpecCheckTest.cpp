//===- SpecCheckTest.cpp - grit_check against the reference ---------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "SpecVectors.h"
#include "grit/Format/Check.h"
#include "grit/Format/Fingerprint.h"

using namespace grit;
using namespace grit::test;

namespace {

/// The arguments of a check, which points into them.
struct CheckCase {
  Bytes descriptor;
  std::vector<int64_t> shape, planeBytes;
  std::vector<Bytes> contents;
  std::vector<const uint8_t *> planes;
  int level;
  CheckInput input;

  explicit CheckCase(dom::element inputs)
      : descriptor(golden::fromHex(textOf(inputs, "desc_hex"))),
        shape(numbersOf(inputs, "shape")),
        planeBytes(numbersOf(inputs, "plane_bytes")),
        level(static_cast<int>(numberOf(inputs, "level", 1))) {
    if (SpecVector::has(inputs, "planes"))
      for (dom::element plane : inputs["planes"]) {
        std::string_view text;
        bool isNull = plane.get(text);
        contents.push_back(isNull ? Bytes() : golden::fromHex(text));
        // A plane of no bytes that is there differs from one that is not.
        contents.back().reserve(1);
        planes.push_back(isNull ? nullptr : contents.back().data());
      }
    input = {descriptor, shape, planeBytes, planes, {}};
  }
  CheckCase(const CheckCase &) = delete;
};

} // namespace

/// Registers the grades that a vector adds to the six.
static void registerGrades(dom::element inputs) {
  for (const std::string &text : textsOf(inputs, "grades")) {
    Contract added = contract(text);
    if (!added.isRegistered())
      take(registerGrade("spec-" + std::to_string(added.id()), text));
  }
}

static void expectOutcome(const SpecVector &vector, const CheckCase &c) {
  std::vector<Warning> warnings;
  std::optional<Error> error = check(c.input, c.level, &warnings);
  ASSERT_EQ(statusName(error ? error->status : Status::Ok),
            textOf(vector.expected, "status"))
      << (error ? error->str() : "");
  std::vector<std::string> names;
  for (const Warning &warning : warnings) {
    names.emplace_back(warningName(warning.kind));
    EXPECT_FALSE(warning.message.empty() || warning.field.empty() ||
                 warning.found.empty() || warning.fix.empty());
  }
  EXPECT_EQ(names, textsOf(vector.expected, "warnings"));
  if (!error)
    return;
  EXPECT_FALSE(error->message.empty() || error->fix.empty()) << error->str();
  EXPECT_EQ(error->plane, numberOf(vector.expected, "plane", -1))
      << error->str();
  if (int64_t k0 = numberOf(vector.expected, "likely_k0", 0); k0) {
    EXPECT_NE(error->cause.find("k0=" + std::to_string(k0)), std::string::npos)
        << error->str();
  }
}

// Every step and its status, the first failure alone, the warnings, and no
// warning beside a failure (C4, C26, C27).
TEST(SpecVectors, Check) {
  for (const SpecVector &vector : vectorsOf("check", 150)) {
    SCOPED_TRACE(vector.id);
    registerGrades(vector.inputs);
    CheckCase c(vector.inputs);
    if (SpecVector::has(vector.inputs, "expected_digest")) {
      Bytes digest = golden::fromHex(textOf(vector.inputs, "expected_digest"));
      if (digest.size() != 16) { // C24
        notApplicable(vector, "a digest always has 16 bytes in C++");
        continue;
      }
      c.input.digest.emplace();
      std::copy(digest.begin(), digest.end(), c.input.digest->begin());
    }
    expectOutcome(vector, c);
  }
}

// Sizes, counts and axes that do not fit, and the sizes of those that do.
TEST(SpecVectors, Sizes) {
  for (const SpecVector &vector : vectorsOf("sizes", 40)) {
    SCOPED_TRACE(vector.id);
    Contract grade = contract(textOf(vector.inputs, "grade"));
    std::vector<int64_t> shape = numbersOf(vector.inputs, "shape");
    int64_t axis = numberOf(vector.inputs, "group_axis",
                            static_cast<int64_t>(shape.size()) - 1);
    ArraySpec spec{grade, shape, static_cast<int>(axis),
                   grade.canonicalPlacements()};
    Expected<PlaneSizes> sizes = spec.planeSizes();
    std::string status = textOf(vector.expected, "status");
    ASSERT_EQ(statusName(sizes ? Status::Ok : sizes.error().status), status)
        << (sizes ? "" : sizes.error().str());
    if (!sizes)
      continue;
    std::vector<int64_t> slots(4);
    for (unsigned i = 0; i < sizes->size(); ++i)
      slots[planeSlot(grade.description(), i)] = (*sizes)[i];
    EXPECT_EQ(slots, numbersOf(vector.expected, "plane_bytes"));
  }
}

// The check reads nothing but its arguments: level 1 succeeds with addresses
// that must not be read (C3), and a level below 1 or above 3 does what 1 or 3
// does (C2).
TEST(SpecVectors, LevelsAtTheEnds) {
  for (const SpecVector &vector : vectorsOf("check", 150)) {
    SCOPED_TRACE(vector.id);
    registerGrades(vector.inputs);
    CheckCase c(vector.inputs);
    std::vector<const uint8_t *> nowhere(4, reinterpret_cast<uint8_t *>(1));
    CheckInput blind = c.input;
    blind.planes = nowhere;
    auto statusAt = [](const CheckInput &input, int level) {
      std::vector<Warning> warnings;
      auto error = check(input, level, &warnings);
      return std::pair(error ? error->status : Status::Ok, warnings.size());
    };
    EXPECT_EQ(statusAt(blind, 1), statusAt(c.input, 1));
    EXPECT_EQ(statusAt(blind, 0), statusAt(c.input, 1));
    EXPECT_EQ(statusAt(blind, -7), statusAt(c.input, 1));
    EXPECT_EQ(statusAt(c.input, 100), statusAt(c.input, 3));
  }
}

// A higher level finds what a lower one finds, before anything else (L9).
TEST(SpecVectors, LevelsOnlyAddFindings) {
  for (const SpecVector &vector : vectorsOf("check", 150)) {
    SCOPED_TRACE(vector.id);
    registerGrades(vector.inputs);
    CheckCase c(vector.inputs);
    std::vector<Bytes> before = c.contents;
    auto textAt = [&](int level) {
      std::optional<Error> error = check(c.input, level);
      return error ? error->str() : std::string();
    };
    std::string first = textAt(1), second = textAt(2);
    if (!first.empty()) {
      EXPECT_EQ(second, first);
    }
    EXPECT_EQ(textAt(3), second); // probes never fail
    EXPECT_EQ(c.contents, before);
  }
}

// Warnings and failures of the check by descriptor are those of the check by
// contract.
TEST(SpecVectors, CheckByContractAgrees) {
  unsigned compared = 0;
  for (const SpecVector &vector : vectorsOf("check", 150)) {
    SCOPED_TRACE(vector.id);
    registerGrades(vector.inputs);
    CheckCase c(vector.inputs);
    Expected<ArraySpec> spec = specFromDescriptor(c.descriptor, c.shape);
    if (!spec || c.planeBytes.size() != 4)
      continue;
    const FormatDescription &description = spec->contract.description();
    std::vector<int64_t> sizes;
    std::vector<const uint8_t *> planes;
    std::vector<int64_t> others = c.planeBytes;
    for (unsigned i = 0; i < description.planes.size(); ++i) {
      unsigned slot = planeSlot(description, i);
      sizes.push_back(c.planeBytes[slot]);
      planes.push_back(slot < c.planes.size() ? c.planes[slot] : nullptr);
      others[slot] = 0;
    }
    if (others != std::vector<int64_t>(4))
      continue; // bytes in a plane that the contract does not have
    std::vector<Warning> byDescriptor, byContract;
    auto one = check(c.input, c.level, &byDescriptor);
    auto other = check(*spec, sizes, c.level, planes, {}, &byContract);
    EXPECT_EQ(one ? one->status : Status::Ok,
              other ? other->status : Status::Ok);
    ASSERT_EQ(byDescriptor.size(), byContract.size());
    for (size_t i = 0; i < byDescriptor.size(); ++i)
      EXPECT_EQ(byDescriptor[i].message, byContract[i].message);
    ++compared;
  }
  EXPECT_GE(compared, 50u);
}

// The largest sampled code and the common scale are named (C30).
TEST(Probes, SayWhatTheySaw) {
  Contract sparse = contract("i8s24");
  ArraySpec spec = take(ArraySpec::get(sparse, {128 * 32}));
  std::vector<Bytes> planes;
  for (int64_t size : take(spec.planeSizes()))
    planes.emplace_back(static_cast<size_t>(size));
  // Survivor 5 of group 2 of 128 is looked at, and all of group 3 is not.
  planes[0][2 * 16 + 5] = 0xC7; // -57
  std::fill_n(planes[0].begin() + 3 * 16, 16, 0x7F);
  std::fill(planes[2].begin(), planes[2].end(), 0x44);
  std::vector<int64_t> sizes;
  std::vector<const uint8_t *> addresses;
  for (const Bytes &plane : planes) {
    sizes.push_back(static_cast<int64_t>(plane.size()));
    addresses.push_back(plane.data());
  }
  std::vector<Warning> warnings;
  ASSERT_FALSE(check(spec, sizes, 3, addresses, {}, &warnings));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].kind, Warning::Kind::CodesFarFromLimit);
  EXPECT_EQ(warnings[0].found, "57");
  warnings.clear();
  ASSERT_FALSE(check(spec, sizes, 2, addresses, {}, &warnings));
  EXPECT_TRUE(warnings.empty());
}
