//===- GradeParser.cpp - grade strings in any spelling -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradeTables.h"
#include "grit/Format/Grade.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bitset>
#include <iterator>

using namespace grit;

static constexpr std::string_view kKeys[] = {
    "e",  "k0",  "s0",  "k1", "s1", "zp", "zpc", "zps", "sp", "ct", "po", "er",
    "es", "esr", "esn", "dr", "ds", "dt", "ao",  "ap",  "ab", "ai", "an"};
static constexpr size_t kNumKeys = std::size(kKeys);

/// The place of a key in the canonical order.
static constexpr size_t keyIndex(std::string_view key) {
  return static_cast<size_t>(std::find(kKeys, kKeys + kNumKeys, key) - kKeys);
}

static tl::unexpected<Error> refuse(std::string message, std::string field,
                                    std::string declared, std::string found,
                                    std::string fix, std::string cause = {}) {
  return makeError(Status::GradeUnknown, std::move(message), std::move(field),
                   std::move(declared), std::move(found), std::move(cause),
                   std::move(fix));
}

namespace {

/// Reads the items of a grade string, in any order, into a Grade.
class Parser {
public:
  Expected<Grade> parse(std::string_view text);

private:
  using Result = Expected<void>;

  Result parseItem(std::string_view item);
  Result parseValue(std::string_view key, std::string_view value);
  Result parseFormat(std::string_view key, std::string_view value,
                     FormatWord &out);
  Result parseInteger(std::string_view key, std::string_view value,
                      uint64_t &out);
  Result parseSparsity(std::string_view value);
  Result parseScaleRule(std::string_view value);
  Result parseOrder(std::string_view value);
  /// The canonical token of an enumerated value.
  Expected<std::string_view> token(std::string_view key, const Domain &domain,
                                   std::string_view value);
  Result parseRounding(std::string_view key, std::string_view value,
                       Rounding &out);
  Result parseSaturation(std::string_view key, std::string_view value,
                         Saturation &out);
  Result checkStructure() const;
  bool has(std::string_view key) const { return seen[keyIndex(key)]; }

  Grade grade;
  std::bitset<kNumKeys> seen;
};

} // namespace

/// Lower case without white space. Only printable ASCII is a grade string.
static Expected<std::string> normalize(std::string_view text) {
  constexpr size_t kMaxLength = 1 << 16;
  if (text.size() > kMaxLength)
    return refuse("the grade string is too long", "grade",
                  "at most " + std::to_string(kMaxLength) + " bytes",
                  std::to_string(text.size()) + " bytes",
                  "give one grade string");
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ' || (c >= '\t' && c <= '\r'))
      continue;
    if (c < 0x20 || c > 0x7E)
      return refuse("the grade string has a byte that is not printable ASCII",
                    "grade", "printable ASCII",
                    "byte " + hexWord(static_cast<unsigned char>(c), 2) +
                        " at offset " + std::to_string(i),
                    "type the string again: a look-alike character or a "
                    "no-break space was pasted");
    result.push_back(c);
  }
  return toLower(result);
}

Expected<Grade> Parser::parse(std::string_view text) {
  Expected<std::string> normal = normalize(text);
  if (!normal)
    return tl::unexpected(normal.error());
  std::string_view body = *normal;
  if (body.starts_with("gritdec1("))
    return refuse("a decode projection is not a grade", "grade",
                  "grit1(key=value,...)", quoteText(text),
                  "use the grade's own string, which also says how to encode");
  if (!body.starts_with("grit1("))
    return refuse("a grade string starts with 'grit1('", "grade",
                  "grit1(key=value,...)", quoteText(text),
                  "write grit1(e=...,k0=...,s0=...,esr=...)");
  if (!body.ends_with(")"))
    return refuse("a grade string ends with ')'", "grade",
                  "grit1(key=value,...)", quoteText(text),
                  "close the parenthesis, and leave nothing after it");
  body.remove_prefix(6);
  body.remove_suffix(1);
  while (!body.empty()) {
    size_t comma = body.find(',');
    if (Result result = parseItem(body.substr(0, comma)); !result)
      return tl::unexpected(result.error());
    if (comma == std::string_view::npos)
      break;
    body.remove_prefix(comma + 1);
    if (body.empty()) // the string ends with a comma
      return tl::unexpected(parseItem(body).error());
  }
  if (Result result = checkStructure(); !result)
    return tl::unexpected(result.error());
  return std::move(grade);
}

Parser::Result Parser::parseItem(std::string_view item) {
  if (item.empty())
    return refuse("an item of the grade string is empty", "grade", "key=value",
                  "two commas together, or one at an end", "remove the comma");
  size_t equals = item.find('=');
  if (equals == std::string_view::npos)
    return refuse("an item has no '='", "grade", "key=value", quoteText(item),
                  "give the key a value, or leave it out");
  std::string_view key = item.substr(0, equals);
  std::string_view value = item.substr(equals + 1);
  size_t index = keyIndex(key);
  if (index == kNumKeys) {
    std::string keys;
    for (std::string_view known : kKeys)
      keys += (keys.empty() ? "" : ", ") + std::string(known);
    std::string hint = didYouMean(key, kKeys);
    return refuse("unknown key " + quoteText(key), "grade", "one of " + keys,
                  quoteText(item),
                  hint.empty() ? "remove it: placements and names are not part "
                                 "of a grade"
                               : hint);
  }
  if (seen[index])
    return refuse("key '" + std::string(key) + "' is given twice",
                  std::string(key), "each key once", quoteText(item),
                  "keep one of the two, also where they agree");
  seen.set(index);
  return parseValue(key, value);
}

Parser::Result Parser::parseValue(std::string_view key,
                                  std::string_view value) {
  struct FormatKey {
    std::string_view key;
    FormatWord Grade::*field;
  };
  static constexpr FormatKey formatKeys[] = {
      {"e", &Grade::e},   {"s0", &Grade::s0}, {"s1", &Grade::s1},
      {"zp", &Grade::zp}, {"dt", &Grade::dt}, {"ap", &Grade::ap},
      {"ab", &Grade::ab}, {"ai", &Grade::ai}};
  for (const FormatKey &entry : formatKeys)
    if (entry.key == key)
      return parseFormat(key, value, grade.*entry.field);
  if (key == "k0")
    return parseInteger(key, value, grade.k0);
  if (key == "k1")
    return parseInteger(key, value, grade.k1.emplace());
  if (key == "sp")
    return parseSparsity(value);
  if (key == "er" || key == "dr")
    return parseRounding(key, value, key == "er" ? grade.er : grade.dr);
  if (key == "es" || key == "ds")
    return parseSaturation(key, value, key == "es" ? grade.es : grade.ds);
  if (key == "esr")
    return parseScaleRule(value);
  if (key == "ao")
    return parseOrder(value);
  if (key == "esn" || key == "an")
    return token(key, domains::Subnormal, value)
        .map([&](std::string_view name) {
          (key == "esn" ? grade.esn : grade.an) = name;
        });

  struct FlagKey {
    std::string_view key;
    const Domain &domain;
    std::string_view setBy;
    bool Grade::*field;
  };
  static const FlagKey flagKeys[] = {
      {"zpc", domains::ZeroPointCode, "minus1", &Grade::zpMinusOne},
      {"zps", domains::ZeroPointScale, "l1", &Grade::zpLevel1},
      {"ct", domains::Container, "pad8", &Grade::pad8},
      {"po", domains::PackingOrder, "msb", &Grade::msbFirst}};
  const FlagKey *flag =
      std::find_if(std::begin(flagKeys), std::end(flagKeys),
                   [&](const FlagKey &entry) { return entry.key == key; });
  return token(key, flag->domain, value).map([&](std::string_view name) {
    grade.*flag->field = name == flag->setBy;
  });
}

/// "one of rne, rna, ...": the tokens of a domain.
static std::string tokensOf(const Domain &domain) {
  std::string text;
  for (const Spelling &spelling : domain.spellings)
    if (spelling.text == spelling.token)
      text += (text.empty() ? "one of " : ", ") + std::string(spelling.token);
  return text;
}

static tl::unexpected<Error> refuseToken(std::string_view key,
                                         const Domain &domain,
                                         std::string_view value) {
  std::vector<std::string_view> candidates;
  for (const Spelling &spelling : domain.spellings)
    if (spelling.whyNot.empty())
      candidates.push_back(spelling.text);
  std::string hint = didYouMean(value, candidates);
  return refuse("unknown " + std::string(domain.name) + " " + quoteText(value),
                std::string(key), tokensOf(domain), quoteText(value),
                hint.empty() ? "use one of the tokens" : hint);
}

Expected<std::string_view> Parser::token(std::string_view key,
                                         const Domain &domain,
                                         std::string_view value) {
  std::string plain(value);
  std::erase(plain, '-');
  if (const Spelling *spelling = domain.lookup(plain))
    return spelling->token;
  return refuseToken(key, domain, value);
}

Parser::Result Parser::parseFormat(std::string_view key, std::string_view value,
                                   FormatWord &out) {
  const Spelling *spelling = domains::Format.lookup(value);
  if (!spelling)
    return refuseToken(key, domains::Format, value);
  if (!spelling->whyNot.empty())
    return refuse("format " + quoteText(value) + " is refused on purpose",
                  std::string(key), tokensOf(domains::Format), quoteText(value),
                  "use one of the tokens", std::string(spelling->whyNot));
  out = *lookupWord(spelling->token);
  return {};
}

Parser::Result Parser::parseInteger(std::string_view key,
                                    std::string_view value, uint64_t &out) {
  uint64_t number = 0;
  bool isDecimal = !value.empty();
  for (char c : value) {
    if (c < '0' || c > '9') {
      isDecimal = false;
      break;
    }
    if (__builtin_mul_overflow(number, uint64_t(10), &number) ||
        __builtin_add_overflow(number, uint64_t(c - '0'), &number))
      return refuse(std::string(key) + " exceeds 64 bits", std::string(key),
                    "at most 65535 to fit a descriptor", quoteText(value),
                    "correct the number");
  }
  if (!isDecimal)
    return refuse(std::string(key) + " is not a decimal number",
                  std::string(key), "decimal digits, without a sign",
                  quoteText(value), "write e.g. " + std::string(key) + "=32");
  out = number;
  return {};
}

Parser::Result Parser::parseSparsity(std::string_view value) {
  std::string_view parts[4];
  std::string_view rest = value;
  size_t count = 0;
  for (bool more = true; more; ++count) {
    size_t colon = rest.find(':');
    more = colon != std::string_view::npos;
    if (count < 4)
      parts[count] = rest.substr(0, colon);
    rest.remove_prefix(more ? colon + 1 : rest.size());
  }
  if (count != 4)
    return refuse("sp has " + std::to_string(count) + " parts", "sp",
                  "four: N:M:u2 or u4:asclsb or unord", quoteText(value),
                  "write e.g. sp=2:4:u2:asclsb");
  uint64_t n = 0, m = 0;
  if (Result result = parseInteger("sp", parts[0], n); !result)
    return result;
  if (Result result = parseInteger("sp", parts[1], m); !result)
    return result;
  if (n < 1 || n >= m || m > 32)
    return refuse("sp keeps " + std::to_string(n) + " of every " +
                      std::to_string(m) + " elements",
                  "sp", "1 <= N < M <= 32", quoteText(value),
                  "N is the number of survivors of every M elements");
  FormatWord meta;
  if (Result result = parseFormat("sp", parts[2], meta); !result)
    return result;
  if (meta != words::U2 && meta != words::U4)
    return refuse("indices cannot be stored as " + meta.str(), "sp", "u2 or u4",
                  quoteText(value), "use u2 where M is at most 4");
  Expected<std::string_view> order = token("sp", domains::IndexOrder, parts[3]);
  if (!order)
    return tl::unexpected(order.error());
  grade.spN = static_cast<unsigned>(n);
  grade.spM = static_cast<unsigned>(m);
  grade.spMetaBits = meta.width();
  grade.spAscending = *order == "asclsb";
  return {};
}

Parser::Result Parser::parseRounding(std::string_view key,
                                     std::string_view value, Rounding &out) {
  static constexpr std::pair<std::string_view, Rounding> values[] = {
      {"rne", Rounding::RNE},
      {"rna", Rounding::RNA},
      {"rtz", Rounding::RTZ},
      {"rtp", Rounding::RTP},
      {"rtn", Rounding::RTN}};
  return token(key, domains::Rounding, value).map([&](std::string_view name) {
    for (auto [text, rounding] : values)
      if (text == name)
        out = rounding;
  });
}

Parser::Result Parser::parseSaturation(std::string_view key,
                                       std::string_view value,
                                       Saturation &out) {
  return token(key, domains::Saturation, value).map([&](std::string_view name) {
    out = name == "satfinite" ? Saturation::SatFinite
          : name == "satmax"  ? Saturation::SatMax
                              : Saturation::OvfInf;
  });
}

Parser::Result Parser::parseScaleRule(std::string_view value) {
  std::string plain(value);
  std::erase(plain, '-');
  if (plain == "custom:")
    return refuse("a custom scale rule needs a name", "esr", "custom:NAME",
                  quoteText(value), "write e.g. esr=custom:mine");
  if (plain.starts_with("custom:")) {
    grade.esr = plain;
    return {};
  }
  return token("esr", domains::ScaleRule, value)
      .map([&](std::string_view name) { grade.esr = name; });
}

Parser::Result Parser::parseOrder(std::string_view value) {
  constexpr std::string_view kPairwise = "pairwise";
  std::string plain(value);
  std::erase(plain, '-');
  if (!plain.starts_with(kPairwise))
    return token("ao", domains::Order, value).map([&](std::string_view name) {
      grade.ao = name;
    });
  std::string_view digits = std::string_view(plain).substr(kPairwise.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('_'), digits.size()));
  bool isDecimal =
      digits.find_first_not_of("0123456789") == std::string_view::npos;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (!isDecimal || digits.empty())
    return refuse("pairwise accumulation needs a block length", "ao",
                  "pairwiseK with K >= 1", quoteText(value),
                  "write e.g. ao=pairwise8");
  grade.ao = std::string(kPairwise) + std::string(digits);
  return {};
}

Parser::Result Parser::checkStructure() const {
  for (std::string_view key : {"e", "k0", "s0", "esr"})
    if (!has(key))
      return refuse("key '" + std::string(key) + "' is missing",
                    std::string(key), "e, k0, s0 and esr in every grade",
                    "no '" + std::string(key) + "'",
                    "add " + std::string(key) + "=...");
  if (has("k1") != has("s1"))
    return refuse("k1 and s1 come together", has("k1") ? "s1" : "k1",
                  "both, or none of them", has("k1") ? "k1 alone" : "s1 alone",
                  has("k1")
                      ? "add s1=FORMAT"
                      : "add k1=GROUPS, or k1=0 for one scale per tensor");
  for (std::string_view key : {"zpc", "zps"})
    if (has(key) && !has("zp"))
      return refuse(std::string(key) + " needs a zero point", std::string(key),
                    "zp=FORMAT beside it", "no zp",
                    "add zp=FORMAT, or remove " + std::string(key));
  if (grade.zpLevel1 && !has("k1"))
    return refuse("zps=l1 needs a level-1 scale", "zps", "k1 and s1 beside it",
                  "one level", "add k1 and s1, or use zps=shared");
  return {};
}

Expected<Grade> Grade::parse(std::string_view text) {
  return Parser().parse(text);
}
