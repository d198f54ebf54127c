//===- Grades.cpp - registration of contracts, relations of grades, from C ===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/GradeOrder.h"
#include "grit/Format/Supersedes.h"
#include <algorithm>
#include <cstring>

using namespace grit;
using namespace grit::capi;

/// The grade that an argument names.
static Expected<Grade> gradeOf(const char *argument, const char *text) {
  if (!text)
    return tl::unexpected(badArgument(argument, "a grade", "null"));
  Expected<Contract> contract = Contract::parse(text);
  if (!contract)
    return tl::unexpected(contract.error());
  if (!contract->isGrade())
    return tl::unexpected(badArgument(
        argument, "a grade", "the foreign format " + contract->displayName()));
  return *contract->grade();
}

/// Runs `body` on two grades.
template <typename Body>
static grit_status_t onGrades(const char *firstName, const char *first,
                              const char *secondName, const char *second,
                              grit_detail_t *detail, Body &&body) {
  return guarded(detail, [&] {
    Expected<Grade> a = gradeOf(firstName, first);
    if (!a)
      return fail(a.error(), detail);
    Expected<Grade> b = gradeOf(secondName, second);
    if (!b)
      return fail(b.error(), detail);
    return body(*a, *b);
  });
}

static grit_status_t giveText(const std::string &text, char *to,
                              size_t capacity, grit_detail_t *detail) {
  if (!to)
    return fail(badArgument("text", "an address", "null"), detail);
  if (text.size() >= capacity)
    return fail(Error{Status::SizeMismatch,
                      "the text does not fit",
                      "capacity",
                      std::to_string(text.size() + 1),
                      std::to_string(capacity),
                      {},
                      "give more room",
                      -1},
                detail);
  std::memcpy(to, text.c_str(), text.size() + 1);
  return succeed(detail);
}

/// Runs `make`, which registers a contract, and gives its id.
template <typename Make>
static grit_status_t registerContract(uint64_t *id, grit_detail_t *detail,
                                      Make &&make) {
  return guarded(detail, [&] {
    Expected<Contract> contract = make();
    if (!contract)
      return fail(contract.error(), detail);
    if (id)
      *id = contract->id();
    return succeed(detail);
  });
}

grit_status_t grit_register_grade(const char *name, const char *grade,
                                  uint64_t *id, grit_detail_t *detail) {
  if (!name || !grade)
    return fail(badArgument(name ? "grade" : "name", "an address", "null"),
                detail);
  return registerContract(id, detail,
                          [&] { return registerGrade(name, grade); });
}

grit_status_t grit_register_format(const char *text, uint64_t *id,
                                   grit_detail_t *detail) {
  if (!text)
    return fail(badArgument("text", "an address", "null"), detail);
  return registerContract(id, detail, [&] { return registerFormat(text); });
}

const char *grit_registered(size_t index, const char **name) {
  const Registration *found = registration(index);
  if (name)
    *name = found && !found->name.empty() ? found->name.c_str() : nullptr;
  return found ? found->text.c_str() : nullptr;
}

grit_status_t grit_relate(const char *first, const char *second,
                          grit_relation_t *relation, grit_detail_t *detail) {
  if (!relation)
    return fail(badArgument("relation", "an address", "null"), detail);
  return onGrades("first", first, "second", second, detail,
                  [&](const Grade &a, const Grade &b) {
                    // The enumerations have the same numbers.
                    *relation = static_cast<grit_relation_t>(relate(a, b));
                    return succeed(detail);
                  });
}

grit_status_t grit_serves(const char *kernel, const char *request,
                          grit_detail_t *detail) {
  return onGrades("kernel", kernel, "request", request, detail,
                  [&](const Grade &a, const Grade &b) {
                    Expected<void> served = serves(a, b);
                    return served ? succeed(detail)
                                  : fail(served.error(), detail);
                  });
}

grit_status_t grit_relax(const char *grade, const char *key, const char *value,
                         char *text, size_t capacity, grit_detail_t *detail) {
  if (!key || !value)
    return fail(badArgument(key ? "value" : "key", "an address", "null"),
                detail);
  return guarded(detail, [&] {
    Expected<Grade> parsed = gradeOf("grade", grade);
    if (!parsed)
      return fail(parsed.error(), detail);
    Expected<Grade> relaxed = relax(*parsed, key, value);
    if (!relaxed)
      return fail(relaxed.error(), detail);
    return giveText(relaxed->canonical(), text, capacity, detail);
  });
}

grit_status_t grit_join(const char *first, const char *second, char *text,
                        size_t capacity, grit_detail_t *detail) {
  return onGrades("first", first, "second", second, detail,
                  [&](const Grade &a, const Grade &b) {
                    auto joined =
                        join(Accumulation::of(a), Accumulation::of(b));
                    if (!joined)
                      return fail(joined.error(), detail);
                    return giveText(joined->str(), text, capacity, detail);
                  });
}

grit_status_t grit_equivalent(const char *first, const char *second,
                              int32_t scope, int32_t *answer,
                              grit_detail_t *detail) {
  if (!answer)
    return fail(badArgument("answer", "an address", "null"), detail);
  if (scope != GRIT_SCOPE_DECODE && scope != GRIT_SCOPE_FULL)
    return fail(badArgument("scope", "GRIT_SCOPE_DECODE or GRIT_SCOPE_FULL",
                            std::to_string(scope)),
                detail);
  return onGrades("first", first, "second", second, detail,
                  [&](const Grade &a, const Grade &b) {
                    *answer = equivalent(a, b,
                                         scope == GRIT_SCOPE_FULL
                                             ? EdgeScope::Full
                                             : EdgeScope::Decode);
                    return succeed(detail);
                  });
}

grit_status_t grit_digest(const grit_view_t *view, uint8_t result[16],
                          grit_detail_t *detail) {
  if (!view || !result)
    return fail(badArgument(view ? "digest" : "view", "an address", "null"),
                detail);
  std::array<std::span<const uint8_t>, GRIT_MAXPLANES> planes;
  for (int i = 0; i < GRIT_MAXPLANES; ++i) {
    int64_t bytes = view->plane_bytes[i];
    if (bytes < 0 || (bytes != 0 && !view->plane[i]))
      return fail(Error{Status::DigestMismatch,
                        "a plane cannot be read",
                        "plane[" + std::to_string(i) + "]",
                        "an address for the bytes it has, 0 or more",
                        std::to_string(bytes) + " bytes",
                        {},
                        "complete the view",
                        i},
                  detail);
    planes[i] = {static_cast<const uint8_t *>(view->plane[i]),
                 static_cast<size_t>(bytes)};
  }
  std::array<uint8_t, 16> found = digest(planes);
  std::copy(found.begin(), found.end(), result);
  return succeed(detail);
}
