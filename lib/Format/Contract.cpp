//===- Contract.cpp - the registry of contracts -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Contract.h"
#include "ForeignFormats.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <charconv>

using namespace grit;

struct Contract::Impl {
  std::string name;
  bool registered = false;
  std::string canonical;
  uint64_t id = 0;
  std::optional<Grade> grade;
  FormatDescription description;
  Placements placements;
  std::string summary;
};

const std::string &Contract::name() const { return impl->name; }
bool Contract::isRegistered() const { return impl->registered; }
const std::string &Contract::canonical() const { return impl->canonical; }
uint64_t Contract::id() const { return impl->id; }
const Grade *Contract::grade() const {
  return impl->grade ? &*impl->grade : nullptr;
}
const FormatDescription &Contract::description() const {
  return impl->description;
}
const Placements &Contract::canonicalPlacements() const {
  return impl->placements;
}
const std::string &Contract::summary() const { return impl->summary; }

namespace {
struct RegisteredGrade {
  std::string_view name, text, summary;
};
} // namespace

static constexpr RegisteredGrade kGrades[] = {
    {"mxfp4", "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)",
     "OCP MXFP4: 32 FP4 elements under a power of two, its exponent rounded "
     "down"},
    {"mxfp4_rne", "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2rnemaxabs)",
     "MXFP4 whose shared exponent is rounded to nearest at encode"},
    {"nvf4", "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,esr=ratiomaxabs)",
     "NVFP4: 16 FP4 elements under an FP8 scale under a binary32 scale per "
     "tensor"},
    {"nvf4_rtz",
     "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,er=rtz,esr=ratiomaxabs)",
     "NVFP4 whose codes are rounded toward zero at encode"},
    {"q4ks",
     "grit1(e=u4,k0=32,s0=u6,k1=8,s1=binary16,zp=u6,zps=l1,esr=affineminmax)",
     "the numbers of ggml's Q4_K in separate planes: 8 groups of 32 with "
     "six-bit scales and minima"},
    {"i8s24", "grit1(e=s8,k0=32,s0=binary16,sp=2:4:u2:asclsb,esr=ratiomaxabs)",
     "2:4 sparse signed bytes, 32 logical elements per binary16 scale"},
};

static tl::unexpected<Error> unknown(std::string_view text, std::string message,
                                     std::string declared, std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), "contract",
                   std::move(declared), quoteText(text), {}, std::move(fix));
}

/// Where an array of a grade lies by default.
static Placements gradePlacements(const Grade &grade) {
  Placements result{placements::RowMajor, placements::RowMajor, {}};
  if (grade.isSparse())
    result.meta = placements::LinearMeta;
  else if (grade.hasZeroPoint())
    result.meta = placements::RowMajor;
  return result;
}

static Expected<Contract> makeGrade(const Grade &grade) {
  Expected<FormatDescription> description = describe(grade);
  if (!description)
    return tl::make_unexpected(description.error());
  auto impl = std::make_shared<Contract::Impl>();
  impl->canonical = grade.canonical();
  impl->id = fnv1a64(impl->canonical);
  impl->grade = grade;
  impl->description = std::move(*description);
  impl->placements = gradePlacements(grade);
  impl->name = impl->canonical;
  impl->summary = "an unregistered grade of GRIT v1";
  for (const RegisteredGrade &known : kGrades)
    if (known.text == impl->canonical) {
      impl->name = known.name;
      impl->summary = known.summary;
      impl->registered = true;
    }
  return Contract(std::move(impl));
}

static Contract makeForeign(const ForeignFormat &format, int64_t parameter) {
  auto impl = std::make_shared<Contract::Impl>();
  impl->name = format.name;
  if (parameter != format.byDefault)
    impl->name += "(" + std::string(format.parameter) + "=" +
                  std::to_string(parameter) + ")";
  impl->registered = true;
  impl->description = format.describe(parameter);
  impl->canonical = canonicalText(impl->description);
  impl->id = fnv1a64(impl->canonical);
  impl->placements = format.placements;
  impl->summary = format.summary;
  return Contract(std::move(impl));
}

/// Every registered contract; members of families follow, without their
/// default, which has its place under the family's name.
static const std::vector<Contract> &registry() {
  static const std::vector<Contract> all = [] {
    std::vector<Contract> contracts;
    for (const RegisteredGrade &known : kGrades) {
      // The table's strings are grades; a test reads all of them.
      Expected<Grade> grade = Grade::parse(known.text);
      if (grade)
        if (Expected<Contract> contract = makeGrade(*grade))
          contracts.push_back(std::move(*contract));
    }
    for (const ForeignFormat &format : foreignFormats())
      contracts.push_back(makeForeign(format, format.byDefault));
    for (const ForeignFormat &format : foreignFormats())
      if (!format.parameter.empty())
        for (int64_t value = format.least; value <= format.most; value *= 2)
          if (value != format.byDefault)
            contracts.push_back(makeForeign(format, value));
    return contracts;
  }();
  return all;
}

const std::vector<std::string> &grit::registeredContractNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const RegisteredGrade &known : kGrades)
      result.emplace_back(known.name);
    for (const ForeignFormat &format : foreignFormats())
      result.emplace_back(format.name);
    return result;
  }();
  return names;
}

static std::optional<Contract> lookupName(std::string_view name) {
  for (const Contract &contract : registry())
    if (contract.name() == name)
      return contract;
  return std::nullopt;
}

std::optional<Contract> Contract::lookupId(uint64_t id) {
  for (const Contract &contract : registry())
    if (contract.id() == id)
      return contract;
  return std::nullopt;
}

/// "name(block=128)", lower case and without spaces.
static Expected<Contract> parseMember(std::string_view original,
                                      std::string_view text) {
  size_t open = text.find('(');
  std::string_view name = text.substr(0, open);
  const ForeignFormat *family = nullptr;
  for (const ForeignFormat &format : foreignFormats())
    if (format.name == name)
      family = &format;
  if (!family || family->parameter.empty()) {
    if (lookupName(name))
      return unknown(original, std::string(name) + " takes no parameter",
                     std::string(name), "write the name alone");
    return unknown(
        original, "unknown contract " + quoteText(name),
        "a registered name or grit1(...)",
        didYouMean(name, std::vector<std::string_view>{"hurray.nf4", "grit1"}));
  }
  std::string prefix = std::string(family->parameter) + "=";
  std::string declared =
      std::string(name) + "(" + prefix + "N), N a power of two from " +
      std::to_string(family->least) + " to " + std::to_string(family->most);
  std::string_view argument = text.substr(open + 1);
  if (argument.empty() || argument.back() != ')' ||
      !argument.starts_with(prefix))
    return unknown(original, "malformed parameter of " + std::string(name),
                   declared,
                   "write e.g. " + std::string(name) + "(" + prefix +
                       std::to_string(family->byDefault) + ")");
  argument.remove_suffix(1);
  argument.remove_prefix(prefix.size());
  int64_t value = 0;
  auto [end, code] = std::from_chars(argument.data(),
                                     argument.data() + argument.size(), value);
  if (code != std::errc() || end != argument.data() + argument.size() ||
      value < family->least || value > family->most ||
      (value & (value - 1)) != 0)
    return unknown(original,
                   std::string(family->parameter) + " size of " +
                       std::string(name) + " is not one that the format has",
                   declared, "choose a power of two within the limits");
  return makeForeign(*family, value);
}

static std::string knownNames() {
  std::string text;
  for (const std::string &name : registeredContractNames())
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Lower case without ASCII white space.
static std::string normalized(std::string_view text) {
  std::string result = toLower(text);
  std::erase_if(result, [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
           c == '\f';
  });
  return result;
}

Expected<Contract> Contract::parse(std::string_view text) {
  // Long enough for any description of a format, short enough for any caller.
  constexpr size_t kMaxText = 1 << 16;
  if (text.size() > kMaxText)
    return unknown(text, "a contract of this length is not read",
                   "at most 65536 characters", "check where the text is from");
  std::string name = normalized(text);
  if (name.starts_with("grit1(")) {
    Expected<Grade> grade = Grade::parse(text);
    if (!grade)
      return tl::make_unexpected(grade.error());
    return fromGrade(*grade);
  }
  if (name.starts_with("gritfmt1(")) {
    for (const Contract &contract : registry())
      if (contract.canonical() == name)
        return contract;
    return unknown(text, "no registered format has this description",
                   "the description of a registered format",
                   "use a format of: " + knownNames());
  }
  if (name.starts_with("grade_"))
    if (auto contract = lookupName(std::string_view(name).substr(6));
        contract && contract->isGrade())
      return *contract;
  if (auto contract = lookupName(name))
    return *contract;
  if (name.find('(') != std::string::npos)
    return parseMember(text, name);
  std::vector<std::string_view> names(registeredContractNames().begin(),
                                      registeredContractNames().end());
  std::string suggestion = didYouMean(name, names);
  return unknown(text, "unknown contract",
                 "a name (" + knownNames() + ") or a grade string grit1(...)",
                 suggestion.empty() ? "use one of the names, in any case"
                                    : suggestion);
}

Expected<Contract> Contract::fromGrade(const Grade &grade) {
  std::string canonical = grade.canonical();
  for (const Contract &contract : registry())
    if (contract.canonical() == canonical)
      return contract;
  return makeGrade(grade);
}
