//===- Registry.cpp - the contracts that are known by name and id ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "ForeignFormats.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fingerprint.h"

using namespace grit;

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
    {"mxfp8_e4m3", "grit1(e=e4m3,k0=32,s0=e8m0,esr=exp2floormaxabs)",
     "OCP MXFP8: 32 E4M3 elements under a power of two, its exponent rounded "
     "down"},
};

//===----------------------------------------------------------------------===//
// Making contracts
//===----------------------------------------------------------------------===//

/// Where an array of a grade lies by default.
static Placements gradePlacements(const Grade &grade) {
  Placements result{placements::RowMajor, placements::RowMajor, {}};
  if (grade.isSparse())
    result.meta = placements::LinearMeta;
  else if (grade.hasZeroPoint())
    result.meta = placements::RowMajor;
  return result;
}

Expected<Contract> grit::makeGradeContract(const Grade &grade) {
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

static std::shared_ptr<Contract::Impl> makeFormat(const NamedFormat &format) {
  auto impl = std::make_shared<Contract::Impl>();
  impl->description = format.description;
  impl->canonical = canonicalText(impl->description);
  impl->id = fnv1a64(impl->canonical);
  impl->placements = format.placements;
  impl->summary = format.summary;
  return impl;
}

Contract grit::makeFormatContract(const NamedFormat &format) {
  std::shared_ptr<Contract::Impl> impl = makeFormat(format);
  impl->name = impl->canonical;
  return Contract(std::move(impl));
}

static Contract makeForeign(const NamedFormat &format, std::string name) {
  std::shared_ptr<Contract::Impl> impl = makeFormat(format);
  impl->name = std::move(name);
  impl->registered = true;
  return Contract(std::move(impl));
}

std::vector<FamilyMember> grit::membersOf(std::string_view text,
                                          const NamedFormat &family) {
  std::vector<FamilyMember> members;
  if (family.parameters.size() != 1)
    return members;
  const FormatParameter &parameter = family.parameters.front();
  for (int power = 0; power < 63; ++power) {
    int64_t value = int64_t(1) << power;
    if (!parameter.accepts(value) || value == parameter.byDefault)
      continue;
    const ParameterValue chosen{parameter.name, value};
    // A member that cannot be stored is none.
    if (Expected<NamedFormat> member = parseFormat(text, std::span(&chosen, 1)))
      members.push_back({family.name + "(" + parameter.name + "=" +
                             std::to_string(value) + ")",
                         std::move(*member)});
  }
  return members;
}

Expected<Contract> grit::makeTextContract(std::string_view text) {
  Expected<NamedFormat> format = parseFormat(text);
  if (!format)
    return tl::unexpected(format.error());
  Contract contract = makeFormatContract(*format);
  const Contract *known = registry::findCanonical(contract.canonical());
  return known ? *known : contract;
}

//===----------------------------------------------------------------------===//
// The contracts of the library
//===----------------------------------------------------------------------===//

static std::vector<Contract> makeContracts() {
  std::vector<Contract> contracts;
  for (const RegisteredGrade &known : kGrades) {
    // The table's strings are grades; a test reads all of them.
    Expected<Grade> grade = Grade::parse(known.text);
    if (grade)
      if (Expected<Contract> contract = makeGradeContract(*grade))
        contracts.push_back(std::move(*contract));
  }
  for (const ForeignFormat &foreign : foreignFormats())
    contracts.push_back(makeForeign(foreign.format, foreign.format.name));
  for (const ForeignFormat &foreign : foreignFormats())
    for (FamilyMember &member : membersOf(foreign.text, foreign.format))
      contracts.push_back(makeForeign(member.format, std::move(member.name)));
  return contracts;
}

std::span<const Contract> registry::contracts() {
  static const std::vector<Contract> all = makeContracts();
  return all;
}

const std::vector<std::string> &grit::registeredContractNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const RegisteredGrade &known : kGrades)
      result.emplace_back(known.name);
    for (const ForeignFormat &foreign : foreignFormats())
      result.push_back(foreign.format.name);
    return result;
  }();
  return names;
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

const Contract *registry::findId(uint64_t id) {
  for (const Contract &contract : contracts())
    if (contract.id() == id)
      return &contract;
  return findUserId(id);
}

const Contract *registry::findName(std::string_view name) {
  for (const Contract &contract : contracts())
    if (contract.name() == name)
      return &contract;
  return findUserName(name);
}

const Contract *registry::findCanonical(std::string_view text) {
  for (const Contract &contract : contracts())
    if (contract.canonical() == text)
      return &contract;
  return findUserCanonical(text);
}

std::optional<FormatParameter>
registry::findParameter(std::string_view family) {
  for (const ForeignFormat &foreign : foreignFormats())
    if (foreign.format.name == family && foreign.parameter())
      return *foreign.parameter();
  return findUserParameter(family);
}
