//===- Check.cpp - the checks of grit.h -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Check.h"
#include "Views.h"
#include "grit/Format/Text.h"
#include <cstdio>
#include <cstring>

using namespace grit;
using namespace grit::capi;

static int64_t flagOf(Warning::Kind kind) {
  switch (kind) {
  case Warning::Kind::GroupAxisNotInnermost:
    return GRIT_WARN_GROUP_AXIS;
  case Warning::Kind::Minus1WithoutEffect:
    return GRIT_WARN_MINUS1;
  case Warning::Kind::ScalesWithoutSpread:
    return GRIT_WARN_SCALES_WITHOUT_SPREAD;
  case Warning::Kind::CodesFarFromLimit:
    return GRIT_WARN_CODES_FAR_FROM_LIMIT;
  }
  return 0;
}

/// Success, with the warnings in the detail.
static grit_status_t succeedWith(const std::vector<Warning> &warnings,
                                 grit_detail_t *detail) {
  succeed(detail);
  if (!detail || warnings.empty())
    return GRIT_OK;
  std::string text;
  for (const Warning &warning : warnings) {
    text += (text.empty() ? "warning: " : "\nwarning: ") + warning.message;
    detail->actual |= flagOf(warning.kind);
  }
  copyText(detail->message, sizeof(detail->message), text);
  copyText(detail->field, sizeof(detail->field), warnings.front().field);
  return GRIT_OK;
}

static grit_status_t checkGrade(const grit_view_t &view, int level,
                                std::optional<std::array<uint8_t, 16>> digest,
                                grit_detail_t *detail) {
  CheckInput input;
  input.descriptor = {reinterpret_cast<const uint8_t *>(&view.d),
                      sizeof(view.d)};
  input.shape = extents(view.rank, view.shape);
  input.planeBytes = view.plane_bytes;
  const uint8_t *planes[GRIT_MAXPLANES];
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    planes[i] = static_cast<const uint8_t *>(view.plane[i]);
  input.planes = planes;
  input.digest = digest;
  std::vector<Warning> warnings;
  std::optional<Error> error =
      check(input, level, detail ? &warnings : nullptr);
  // Without extents the shape step fails first; say that the rank is why.
  if (error && error->status == Status::SizeMismatch && rankError(view.rank))
    error = rankError(view.rank);
  if (error)
    return fail(*error, detail);
  return succeedWith(warnings, detail);
}

static grit_status_t checkForeign(const grit_array_view_t &view, int level,
                                  grit_detail_t *detail) {
  Expected<ArraySpec> spec = specOf(view);
  if (!spec)
    return fail(spec.error(), detail);
  PlanesOf planes = planesOf(*spec, view);
  for (size_t i = planes.bytes.size(); i < GRIT_MAXPLANES; ++i)
    if (view.u.foreign.plane_bytes[i] != 0)
      return fail(
          Error{Status::SizeMismatch,
                "the format " + spec->contract.displayName() +
                    " has no plane " + std::to_string(i),
                "plane_bytes[" + std::to_string(i) + "]", "0 bytes",
                std::to_string(view.u.foreign.plane_bytes[i]) + " bytes",
                "the planes are those of another format", "set the size to 0",
                static_cast<int>(i)},
          detail);
  std::vector<const uint8_t *> data(planes.data.begin(), planes.data.end());
  if (std::optional<Error> error = check(*spec, planes.bytes, level, data))
    return fail(*error, detail);
  return succeed(detail);
}

static grit_status_t failNullView(grit_detail_t *detail) {
  return fail(badArgument("view", "an address", "null"), detail);
}

grit_status_t grit_check(const grit_view_t *view, int level,
                         grit_detail_t *detail) {
  if (!view)
    return failNullView(detail);
  return guarded(
      detail, [&] { return checkGrade(*view, level, std::nullopt, detail); });
}

grit_status_t grit_check_digest(const grit_view_t *view, int level,
                                const uint8_t digest[16],
                                grit_detail_t *detail) {
  if (!view)
    return failNullView(detail);
  if (!digest)
    return grit_check(view, level, detail);
  return guarded(detail, [&] {
    std::array<uint8_t, 16> expected;
    std::memcpy(expected.data(), digest, expected.size());
    return checkGrade(*view, level, expected, detail);
  });
}

grit_status_t grit_check_array(const grit_array_view_t *view, int level,
                               grit_detail_t *detail) {
  if (!view)
    return failNullView(detail);
  return guarded(detail, [&] {
    if (view->tag == GRIT_ARRAY_GRADE)
      return checkGrade(view->u.grade, level, std::nullopt, detail);
    return checkForeign(*view, level, detail);
  });
}

//===----------------------------------------------------------------------===//
// What a function demands
//===----------------------------------------------------------------------===//

namespace {

/// The parts of a view that a function's demands are about, without copies.
struct Operand {
  explicit Operand(const grit_array_view_t &view) {
    if (view.tag == GRIT_ARRAY_GRADE) {
      const grit_view_t &grade = view.u.grade;
      id = grade.d.grade_id;
      rank = grade.rank;
      axis = grade.d.group_axis;
      shape = grade.shape;
      placement[0] = grade.d.placement_data;
      placement[1] = grade.d.placement_scale;
      placement[2] = grade.d.placement_meta;
      return;
    }
    const grit_foreign_view_t &foreign = view.u.foreign;
    id = foreign.id;
    rank = foreign.rank;
    axis = foreign.axis;
    shape = foreign.shape;
    std::copy(foreign.placement, foreign.placement + 3, placement);
  }

  uint64_t id = 0;
  int32_t rank = 0, axis = 0;
  const int64_t *shape = nullptr;
  uint64_t placement[3] = {};
};

} // namespace

static std::string operandName(const grit_expect_t &expect) {
  return expect.name ? "operand " + quoteText(expect.name) : "an operand";
}

static std::string contractText(uint64_t id) {
  std::optional<Contract> contract = Contract::lookupId(id);
  std::string hex = hexWord(id, 16);
  return contract ? contract->displayName() + " (" + hex + ")" : hex;
}

/// Whether bytes of one contract are, for a reader, bytes of the other.
static bool decodeAlike(uint64_t a, uint64_t b) {
  if (a == b)
    return true;
  std::optional<Contract> one = Contract::lookupId(a);
  std::optional<Contract> other = Contract::lookupId(b);
  return one && other && one->isGrade() && other->isGrade() &&
         one->grade()->decodeProjection() == other->grade()->decodeProjection();
}

static grit_status_t failContract(const Operand &operand,
                                  const grit_expect_t &expect,
                                  grit_detail_t *detail) {
  Error error{Status::GradeUnknown,
              operandName(expect) + " has the wrong contract",
              "contract",
              contractText(expect.contract_id),
              contractText(operand.id),
              "the function was compiled for another contract",
              "quantize the operand to the required contract, or compile the "
              "function for the one it has",
              -1};
  return fail(error, static_cast<int64_t>(expect.contract_id),
              static_cast<int64_t>(operand.id), detail);
}

static grit_status_t failPlacement(const Operand &operand,
                                   const grit_expect_t &expect, int index,
                                   grit_detail_t *detail) {
  static constexpr const char *fields[] = {"placement_data", "placement_scale",
                                           "placement_meta"};
  auto text = [](uint64_t word) {
    return Placement(word).specName() + " (" + hexWord(word, 16) + ")";
  };
  uint64_t required = expect.placement[index], found = operand.placement[index];
  std::string relayout =
      Placement(found).isOpaque() || Placement(found).isUnspecified()
          ? "establish where the bytes lie: this placement cannot be changed "
            "to another"
          : "relayout the operand to " + Placement(required).specName();
  Error error{Status::PlacementUnknown,
              operandName(expect) + " lies in another placement than the "
                                    "function reads",
              fields[index],
              text(required),
              text(found),
              "the operand was prepared for another function",
              relayout + "\n  or: compile the function for " +
                  Placement(found).specName(),
              -1};
  return fail(error, static_cast<int64_t>(required),
              static_cast<int64_t>(found), detail);
}

static grit_status_t failShape(const Operand &operand,
                               const grit_expect_t &expect,
                               const std::string &field, int64_t required,
                               int64_t found, grit_detail_t *detail) {
  std::string declared = "[";
  for (int32_t i = 0; expect.shape && i < expect.rank; ++i)
    declared += (i ? ", " : "") + (expect.shape[i] < 0
                                       ? std::string("any")
                                       : std::to_string(expect.shape[i]));
  declared += "], group axis " + std::to_string(expect.axis);
  Error error{Status::SizeMismatch,
              operandName(expect) + " has " + field + " " +
                  std::to_string(found) + ", and the function needs " +
                  std::to_string(required),
              field,
              declared,
              shapeText(extents(operand.rank, operand.shape)) +
                  ", group axis " + std::to_string(operand.axis),
              "the operands were passed in another order, or the function was "
              "compiled for another shape",
              "pass the array of this shape, or compile with dynamic extents",
              -1};
  return fail(error, required, found, detail);
}

static grit_status_t checkDemands(const Operand &operand,
                                  const grit_expect_t &expect,
                                  grit_detail_t *detail) {
  if (!decodeAlike(operand.id, expect.contract_id))
    return failContract(operand, expect, detail);
  for (int i = 0; i < 3; ++i)
    if (expect.placement[i] != 0 && expect.placement[i] != operand.placement[i])
      return failPlacement(operand, expect, i, detail);
  if (operand.rank != expect.rank)
    return failShape(operand, expect, "rank", expect.rank, operand.rank,
                     detail);
  if (operand.axis != expect.axis)
    return failShape(operand, expect, "group axis", expect.axis, operand.axis,
                     detail);
  for (int32_t i = 0; expect.shape && i < expect.rank; ++i)
    if (expect.shape[i] >= 0 && expect.shape[i] != operand.shape[i])
      return failShape(operand, expect, "extent " + std::to_string(i),
                       expect.shape[i], operand.shape[i], detail);
  return GRIT_OK;
}

/// Puts "operand 'w': " before the message of a failed check.
static void nameOperand(const grit_expect_t &expect, grit_detail_t *detail) {
  if (!detail)
    return;
  std::string text = operandName(expect) + ": " + detail->message;
  std::snprintf(detail->message, sizeof(detail->message), "%s", text.c_str());
}

/// A function will read the planes: each that has bytes needs an address.
static grit_status_t checkAddresses(const grit_array_view_t &view,
                                    const grit_expect_t &expect,
                                    grit_detail_t *detail) {
  bool isGrade = view.tag == GRIT_ARRAY_GRADE;
  void *const *planes = isGrade ? view.u.grade.plane : view.u.foreign.plane;
  const int64_t *bytes =
      isGrade ? view.u.grade.plane_bytes : view.u.foreign.plane_bytes;
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    if (bytes[i] != 0 && !planes[i])
      return fail(Error{Status::SizeMismatch,
                        operandName(expect) + " has a plane without an address",
                        "plane[" + std::to_string(i) + "]",
                        std::to_string(bytes[i]) + " bytes", "null",
                        "the view was filled by grit_view_init and not "
                        "completed",
                        "set the address of the plane", i},
                  detail);
  return GRIT_OK;
}

grit_status_t grit_check_expected(const grit_array_view_t *view,
                                  const grit_expect_t *expect, int level,
                                  grit_detail_t *detail) {
  if (!expect)
    return fail(badArgument("expect", "an address", "null"), detail);
  return guarded(detail, [&] {
    grit_status_t status = grit_check_array(view, level, detail);
    if (status != GRIT_OK) {
      nameOperand(*expect, detail);
      return status;
    }
    if (grit_status_t missing = checkAddresses(*view, *expect, detail))
      return missing;
    return checkDemands(Operand(*view), *expect, detail);
  });
}
