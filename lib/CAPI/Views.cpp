//===- Views.cpp - between the structures of grit.h and lib/Format -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "grit/Format/Check.h"
#include <cstdlib>
#include <cstring>

using namespace grit;
using namespace grit::capi;

void capi::copyText(char *to, size_t capacity, const std::string &text) {
  size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
  if (length < text.size())
    std::memcpy(to + capacity - 4, "...", 3);
}

/// The number that a part of a message is about: it begins with it
/// ("8 bytes (...)"), or holds it as a 0x word ("e2m1 (0x2043)").
static int64_t numberIn(const std::string &text) {
  const char *start = text.c_str();
  char *end = nullptr;
  int64_t value = std::strtoll(start, &end, 10);
  if (end != start && *end != 'x')
    return value;
  size_t word = text.find("0x");
  if (word == std::string::npos)
    return 0;
  return static_cast<int64_t>(std::strtoull(start + word, nullptr, 16));
}

grit_status_t capi::fail(const Error &error, grit_detail_t *detail) {
  return fail(error, numberIn(error.declared), numberIn(error.found), detail);
}

grit_status_t capi::fail(const Error &error, int64_t expected, int64_t actual,
                         grit_detail_t *detail) {
  auto status = static_cast<grit_status_t>(error.status);
  if (!detail)
    return status;
  copyText(detail->message, sizeof(detail->message), error.str());
  copyText(detail->field, sizeof(detail->field), error.field);
  detail->expected = expected;
  detail->actual = actual;
  detail->plane = error.plane;
  detail->status = status;
  return status;
}

grit_status_t capi::succeed(grit_detail_t *detail) {
  if (!detail)
    return GRIT_OK;
  detail->message[0] = 0;
  detail->field[0] = 0;
  detail->expected = detail->actual = 0;
  detail->plane = -1;
  detail->status = GRIT_OK;
  return GRIT_OK;
}

Error capi::badArgument(std::string name, std::string declared,
                        std::string found) {
  return {Status::GradeUnknown, "argument '" + name + "' cannot be used",
          std::move(name),      std::move(declared),
          std::move(found),     {},
          "correct the call",   -1};
}

std::span<const int64_t> capi::extents(int32_t rank, const int64_t *shape) {
  if (rankError(rank))
    return {};
  return {shape, static_cast<size_t>(rank)};
}

std::optional<Error> capi::rankError(int32_t rank) {
  if (rank >= 0 && rank <= kMaxRank)
    return std::nullopt;
  return Error{Status::SizeMismatch,
               "the rank is not one that an array can have",
               "rank",
               "0 to " + std::to_string(kMaxRank),
               std::to_string(rank),
               rank < 0 ? "the view was never filled" : "",
               "merge axes, or fill the view",
               -1};
}

Expected<ArraySpec> capi::specOf(const grit_view_t &view) {
  std::span<const uint8_t> descriptor(
      reinterpret_cast<const uint8_t *>(&view.d), sizeof(view.d));
  Expected<ArraySpec> spec =
      specFromDescriptor(descriptor, extents(view.rank, view.shape));
  // Without extents the shape step fails first; say that the rank is why.
  if (!spec && spec.error().status == Status::SizeMismatch)
    if (std::optional<Error> error = rankError(view.rank))
      return tl::unexpected(std::move(*error));
  return spec;
}

static Expected<ArraySpec> foreignSpec(const grit_foreign_view_t &view) {
  std::optional<Contract> contract = Contract::lookupId(view.id);
  if (!contract || contract->isGrade()) {
    std::string found = std::to_string(view.id);
    if (contract)
      found += ", the grade " + contract->displayName();
    return makeError(Status::GradeUnknown, "the id names no foreign format",
                     "id", "the id of a registered format", found,
                     contract ? "a grade has a view of its own"
                              : "the format is not registered here, or the id "
                                "is damaged",
                     contract ? "use the tag GRIT_ARRAY_GRADE"
                              : "take the id from grit_contract_id");
  }
  std::span<const int64_t> shape = extents(view.rank, view.shape);
  ArraySpec spec{std::move(*contract),
                 {shape.begin(), shape.end()},
                 view.axis,
                 {Placement(view.placement[0]), Placement(view.placement[1]),
                  Placement(view.placement[2])}};
  std::optional<Error> error = spec.verify();
  if (error && error->status == Status::SizeMismatch)
    if (std::optional<Error> wrongRank = rankError(view.rank))
      error = wrongRank;
  if (error)
    return tl::unexpected(std::move(*error));
  return spec;
}

Expected<ArraySpec> capi::specOf(const grit_array_view_t &view) {
  if (view.tag == GRIT_ARRAY_GRADE)
    return specOf(view.u.grade);
  if (view.tag == GRIT_ARRAY_FOREIGN)
    return foreignSpec(view.u.foreign);
  return tl::unexpected(
      badArgument("view.tag", "GRIT_ARRAY_GRADE (0) or GRIT_ARRAY_FOREIGN (1)",
                  std::to_string(view.tag)));
}

PlanesOf capi::planesOf(const ArraySpec &spec, const grit_array_view_t &view) {
  bool isGrade = view.tag == GRIT_ARRAY_GRADE;
  void *const *planes = isGrade ? view.u.grade.plane : view.u.foreign.plane;
  const int64_t *bytes =
      isGrade ? view.u.grade.plane_bytes : view.u.foreign.plane_bytes;
  const FormatDescription &description = spec.contract.description();
  PlanesOf result;
  for (unsigned i = 0; i < description.planes.size(); ++i) {
    unsigned slot = planeSlot(description, i);
    result.bytes.push_back(bytes[slot]);
    result.data.push_back(static_cast<uint8_t *>(planes[slot]));
  }
  return result;
}
