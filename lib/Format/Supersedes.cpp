//===- Supersedes.cpp - which grades share their bytes --------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Supersedes.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;

std::span<const SupersedesEdge> grit::supersedesEdges() {
  static const SupersedesEdge edges[] = {
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2rnemaxabs)",
       "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)", EdgeScope::Decode,
       "they differ only in how encode rounds the shared exponent"},
      {"grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,er=rtz,esr=ratiomaxabs)",
       "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,esr=ratiomaxabs)",
       EdgeScope::Decode,
       "they differ only in how encode rounds block scales and elements"},
  };
  return edges;
}

static tl::unexpected<Error> refuse(const SupersedesEdge &edge,
                                    std::string message, std::string field,
                                    std::string declared, std::string found,
                                    std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), std::move(field),
                   std::move(declared), std::move(found),
                   "the edge would say of " + edge.from + " and " + edge.to +
                       " what is not shown",
                   std::move(fix));
}

static bool isBlank(std::string_view text) {
  return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

/// The planes of a case; the status stands for them where encode refuses.
static Expected<std::vector<std::vector<uint8_t>>>
encodeCase(const Contract &contract, const EncodeCase &given) {
  Expected<ArraySpec> spec = ArraySpec::get(contract, given.shape);
  if (!spec)
    return tl::unexpected(spec.error());
  return encode(*spec, given.values);
}

static bool sameOutcome(const Contract &a, const Contract &b,
                        const EncodeCase &given) {
  auto one = encodeCase(a, given), other = encodeCase(b, given);
  if (one && other)
    return *one == *other;
  return !one && !other && one.error().status == other.error().status &&
         one.error().field == other.error().field;
}

static Expected<void> verifyFull(const SupersedesEdge &edge, const Grade &from,
                                 const Grade &to,
                                 std::span<const EncodeCase> suite) {
  if (suite.empty())
    return refuse(edge, "full scope is shown by encoding, not by saying so",
                  "scope", "arrays to encode under both grades", "none",
                  "give the suite, or claim the scope decode");
  Expected<Contract> a = Contract::fromGrade(from);
  Expected<Contract> b = Contract::fromGrade(to);
  if (!a || !b)
    return tl::unexpected(a ? b.error() : a.error());
  for (size_t i = 0; i < suite.size(); ++i)
    if (!sameOutcome(*a, *b, suite[i]))
      return refuse(edge, "the two grades encode an array differently", "scope",
                    "equal planes for all arrays of the suite",
                    "array " + std::to_string(i) + " of shape " +
                        shapeText(suite[i].shape) + " differs",
                    "claim the scope decode");
  return {};
}

Expected<void> grit::verifyEdge(const SupersedesEdge &edge,
                                std::span<const EncodeCase> suite) {
  if (isBlank(edge.reason))
    return refuse(edge, "an edge needs a reason", "reason", "a sentence",
                  quoteText(edge.reason),
                  "say why the grades may be exchanged");
  Expected<Grade> from = Grade::parse(edge.from), to = Grade::parse(edge.to);
  if (!from || !to)
    return tl::unexpected(from ? to.error() : from.error());
  std::string one = from->decodeProjection(), other = to->decodeProjection();
  if (one != other)
    return refuse(edge, "the two grades decode the same bytes differently",
                  "decode projection", one, other,
                  "convert the array: decode it and encode it again");
  if (edge.scope == EdgeScope::Full)
    return verifyFull(edge, *from, *to, suite);
  return {};
}

bool grit::equivalent(const Grade &a, const Grade &b, EdgeScope scope,
                      std::span<const SupersedesEdge> more) {
  std::vector<const SupersedesEdge *> edges;
  for (auto list : {supersedesEdges(), more})
    for (const SupersedesEdge &edge : list)
      if (edge.scope == scope || edge.scope == EdgeScope::Full)
        edges.push_back(&edge);
  std::string target = b.canonical();
  std::vector<std::string> reached = {a.canonical()};
  auto reach = [&](const std::string &text) {
    if (std::ranges::find(reached, text) == reached.end())
      reached.push_back(text);
  };
  for (size_t i = 0; i < reached.size(); ++i)
    for (const SupersedesEdge *edge : edges) {
      std::string here = reached[i];
      if (edge->from == here)
        reach(edge->to);
      if (edge->to == here)
        reach(edge->from);
    }
  return std::ranges::find(reached, target) != reached.end();
}
