//===- GradeOrder.cpp - refinement, join and relax ------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/GradeOrder.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <array>
#include <optional>

using namespace grit;

//===----------------------------------------------------------------------===//
// The five keys
//===----------------------------------------------------------------------===//

namespace {

struct KeyValue {
  std::string_view key;
  std::string value, byDefault;
};

} // namespace

static std::array<KeyValue, 5> keysOf(const Accumulation &a) {
  return {{{"ao", a.ao, "unspec"},
           {"ap", a.ap.str(), "binary32"},
           {"ab", a.ab.str(), "binary32"},
           {"ai", a.ai.str(), "binary32"},
           {"an", a.an, "any"}}};
}

Grade Accumulation::in(Grade grade) const {
  grade.ao = ao;
  grade.ap = ap;
  grade.ab = ab;
  grade.ai = ai;
  grade.an = an;
  return grade;
}

std::string Accumulation::str() const {
  std::string text;
  for (const KeyValue &entry : keysOf(*this))
    if (entry.value != entry.byDefault)
      text += (text.empty() ? "" : ",") + std::string(entry.key) + "=" +
              entry.value;
  return text;
}

//===----------------------------------------------------------------------===//
// The order of a key
//===----------------------------------------------------------------------===//

/// seq, pairwiseK (any K), tree, unspec: from strict to free.
static int rankOfOrder(std::string_view ao) {
  if (ao == "seq")
    return 0;
  if (ao == "tree")
    return 2;
  return ao == "unspec" ? 3 : 1;
}

static bool valueRefines(std::string_view key, std::string_view k,
                         std::string_view r) {
  if (k == r)
    return true;
  if (key == "an")
    return r == "any";
  return key == "ao" && rankOfOrder(k) < rankOfOrder(r);
}

/// The strictest value that both refine, where there is one.
static std::optional<std::string>
joinValues(std::string_view key, const std::string &a, const std::string &b) {
  if (valueRefines(key, a, b))
    return b;
  if (valueRefines(key, b, a))
    return a;
  if (key == "ao")
    return "tree"; // of two different pairwiseK
  if (key == "an")
    return "any"; // of preserve and ftz
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The order of grades
//===----------------------------------------------------------------------===//

bool grit::refines(const Accumulation &k, const Accumulation &r) {
  auto one = keysOf(k), other = keysOf(r);
  for (size_t i = 0; i < one.size(); ++i)
    if (!valueRefines(one[i].key, one[i].value, other[i].value))
      return false;
  return true;
}

bool grit::refines(const Grade &k, const Grade &r) {
  return k.decodeProjection() == r.decodeProjection() &&
         refines(Accumulation::of(k), Accumulation::of(r));
}

std::string_view grit::relationName(Relation relation) {
  switch (relation) {
  case Relation::Same:
    return "same";
  case Relation::Refines:
    return "refines";
  case Relation::RefinedBy:
    return "refined-by";
  case Relation::Unrelated:
    return "unrelated";
  }
  return "unknown relation";
}

Relation grit::relate(const Grade &a, const Grade &b) {
  bool forward = refines(a, b), backward = refines(b, a);
  if (forward)
    return backward ? Relation::Same : Relation::Refines;
  return backward ? Relation::RefinedBy : Relation::Unrelated;
}

Expected<Accumulation> grit::join(const Accumulation &a,
                                  const Accumulation &b) {
  auto one = keysOf(a), other = keysOf(b);
  std::array<std::string, 5> joined;
  for (size_t i = 0; i < one.size(); ++i) {
    auto value = joinValues(one[i].key, one[i].value, other[i].value);
    if (!value)
      return makeError(Status::GradeUnknown,
                       "the accumulation contracts have no common one",
                       std::string(one[i].key), one[i].value, other[i].value,
                       "two formats of sums or products are not comparable",
                       "compute in one of the two grades");
    joined[i] = std::move(*value);
  }
  // Each value is one of the two, or a token: nothing has to be parsed.
  auto format = [&](size_t i, FormatWord Accumulation::*field) {
    return joined[i] == one[i].value ? a.*field : b.*field;
  };
  return Accumulation{joined[0], format(1, &Accumulation::ap),
                      format(2, &Accumulation::ab),
                      format(3, &Accumulation::ai), joined[4]};
}

//===----------------------------------------------------------------------===//
// Relax
//===----------------------------------------------------------------------===//

/// Reads `value` under `key` in any spelling, by the parser of grades.
static Expected<Accumulation> parseKey(const Grade &grade, std::string_view key,
                                       std::string_view value) {
  // An item of its own: a value that holds more items is none.
  if (value.find_first_of(",()") != std::string_view::npos)
    return makeError(Status::GradeUnknown, "the value of a key is one word",
                     std::string(key), "a token of the key", quoteText(value),
                     {}, "relax one key at a time");
  std::string text = "grit1(e=u8,k0=1,s0=u8,esr=ratiomaxabs," +
                     std::string(key) + "=" + std::string(value) + ")";
  Expected<Grade> parsed = Grade::parse(text);
  if (!parsed)
    return tl::unexpected(parsed.error());
  Accumulation result = Accumulation::of(grade);
  Accumulation given = Accumulation::of(*parsed);
  if (key == "ao")
    result.ao = given.ao;
  else if (key == "ap")
    result.ap = given.ap;
  else if (key == "ab")
    result.ab = given.ab;
  else if (key == "ai")
    result.ai = given.ai;
  else
    result.an = given.an;
  return result;
}

Expected<Grade> grit::relax(const Grade &grade, std::string_view key,
                            std::string_view value) {
  std::string name = toLower(key);
  auto keys = keysOf(Accumulation::of(grade));
  auto entry = std::ranges::find(keys, name, &KeyValue::key);
  if (entry == keys.end())
    return makeError(Status::GradeUnknown,
                     "only the accumulation contract of a grade can be relaxed",
                     "key", "ao, ap, ab, ai or an", quoteText(key),
                     "another key changes what the bytes mean, or how they are "
                     "made",
                     "quantize into the other grade");
  Expected<Accumulation> relaxed = parseKey(grade, name, value);
  if (!relaxed)
    return tl::unexpected(relaxed.error());
  if (!refines(Accumulation::of(grade), *relaxed))
    return makeError(
        Status::GradeUnknown, "relax gives a promise up; it cannot make one",
        std::string(name), "a value that " + entry->value + " refines",
        quoteText(value), {}, "ask for a kernel of the stricter grade");
  return relaxed->in(grade);
}

/// "relax(ao=tree), relax(an=any)": what a request has to give up, or "" where
/// that is not enough.
static std::string relaxations(const Accumulation &kernel,
                               const Accumulation &request) {
  auto offered = keysOf(kernel), wanted = keysOf(request);
  std::string text;
  for (size_t i = 0; i < offered.size(); ++i) {
    const KeyValue &want = wanted[i];
    if (valueRefines(want.key, offered[i].value, want.value))
      continue;
    auto common = joinValues(want.key, offered[i].value, want.value);
    if (!common)
      return "";
    text += (text.empty() ? "relax(" : ", relax(") + std::string(want.key) +
            "=" + *common + ")";
  }
  return text;
}

Expected<void> grit::serves(const Grade &kernel, const Grade &request) {
  std::string offered = kernel.decodeProjection(),
              wanted = request.decodeProjection();
  if (offered != wanted)
    return makeError(Status::GradeUnknown,
                     "the kernel reads bytes of another grade",
                     "decode projection", wanted, offered,
                     "the two decode the same bytes differently",
                     "quantize the array into the kernel's grade, or use "
                     "another kernel");
  Accumulation k = Accumulation::of(kernel), r = Accumulation::of(request);
  if (refines(k, r))
    return {};
  auto has = keysOf(k), asks = keysOf(r);
  std::string fields, declared, found;
  for (size_t i = 0; i < has.size(); ++i) {
    if (valueRefines(has[i].key, has[i].value, asks[i].value))
      continue;
    const char *separator = fields.empty() ? "" : ", ";
    std::string key(has[i].key);
    fields += separator + key;
    declared += separator + key + "=" + asks[i].value;
    found += separator + key + "=" + has[i].value;
  }
  std::string change = relaxations(k, r);
  return makeError(Status::GradeUnknown,
                   "the kernel promises less than the request asks for", fields,
                   declared, found, "the kernel sums in another way",
                   change.empty() ? "use another kernel: no relaxation of the "
                                    "request allows this one"
                                  : change + " on the request, or use another "
                                             "kernel");
}
