//===- CheckFrame.cpp - steps 1 to 3 of grit_check -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckSteps.h"
#include "Registry.h"
#include "grit/Format/Documentation.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::check_steps;

//===----------------------------------------------------------------------===//
// Step 1: the frame
//===----------------------------------------------------------------------===//

static std::string number(uint64_t value) { return std::to_string(value); }

/// "e2m1 (0x2043)", "absent (0x0000)", or the word alone.
static std::string wordText(FormatWord word) {
  std::string name = word.isAbsent() ? "absent" : std::string(word.token());
  std::string hex = hexWord(word.raw(), 4);
  return name.empty() ? hex : name + " (" + hex + ")";
}

/// "0x21 (HAS_ZP|ZP_L1SCALED)".
static std::string flagsText(uint8_t flags) {
  static constexpr const char *names[] = {
      "HAS_ZP",      "ZP_MINUS1",   "SPARSE",     "MSB_FIRST",
      "INTERLEAVED", "ZP_L1SCALED", "reserved 6", "reserved 7"};
  std::string set;
  for (unsigned i = 0; i < 8; ++i)
    if (flags >> i & 1)
      set += (set.empty() ? "" : "|") + std::string(names[i]);
  return hexWord(flags, 2) + " (" + (set.empty() ? "none" : set) + ")";
}

static Error frameError(std::string message, std::string field,
                        std::string declared, std::string found,
                        std::string cause = {}) {
  if (cause.empty())
    cause = "the bytes are damaged, or are not a descriptor of version 1";
  return {Status::GradeUnknown,
          std::move(message),
          std::move(field),
          std::move(declared),
          std::move(found),
          std::move(cause),
          "write the descriptor from the contract again",
          -1};
}

/// Steps 1.1 to 1.7.
static std::optional<Error> checkHeader(const Descriptor &d) {
  if (d.magic != Descriptor::kMagic)
    return frameError("the descriptor does not start with 'GRT1'", "magic",
                      hexWord(Descriptor::kMagic, 8), hexWord(d.magic, 8),
                      d.magic == 0 ? "the descriptor was never written"
                                   : "the bytes are not a descriptor");
  if (d.headerBytes != 64)
    return frameError("the length of the descriptor is not 64", "hdr_bytes",
                      "64", number(d.headerBytes));
  if (d.version != 1)
    return frameError("the version of the descriptor is not known", "version",
                      "1", number(d.version),
                      "the array was written by a later version, or the bytes "
                      "are damaged");
  if (d.levels != 1 && d.levels != 2)
    return frameError("an array has one or two levels of scales", "n_levels",
                      "1 or 2", number(d.levels));
  if (d.flags & Descriptor::Reserved)
    return frameError("reserved flags are set", "flags", "bits 6 and 7 zero",
                      flagsText(d.flags));
  if (d.frameReserved != 0)
    return frameError("a reserved byte is set", "frame_rsvd", "0",
                      number(d.frameReserved));
  if (d.container > 1)
    return frameError("the container is not known", "container",
                      "0 (dense) or 1 (pad8)", number(d.container));
  return std::nullopt;
}

std::optional<Error> check_steps::checkFrame(const Descriptor &d) {
  if (std::optional<Error> error = checkHeader(d))
    return error;
  if (d.levels == 1 && (d.k1 != 0 || !d.scale1.isAbsent()))
    return frameError("one level of scales, yet fields of the second are set",
                      d.k1 ? "k1" : "scale1", "0 where n_levels is 1",
                      d.k1 ? number(d.k1) : wordText(d.scale1));
  bool hasZp = d.flags & Descriptor::HasZp;
  if (hasZp && d.flags & Descriptor::Sparse)
    return frameError("an array is sparse or has zero points, not both",
                      "flags", "SPARSE or HAS_ZP", flagsText(d.flags));
  if (d.flags & Descriptor::ZpL1Scaled) {
    if (!hasZp)
      return frameError("ZP_L1SCALED needs zero points", "flags", "HAS_ZP too",
                        flagsText(d.flags));
    if (d.levels != 2)
      return frameError("ZP_L1SCALED needs two levels", "n_levels", "2",
                        number(d.levels));
  }
  if (d.elem.overridesBias())
    return frameError("version 1 has no bias override", "elem", "bias_ovr 0",
                      wordText(d.elem));
  const std::pair<const char *, FormatWord> words[] = {{"elem", d.elem},
                                                       {"scale0", d.scale0},
                                                       {"scale1", d.scale1},
                                                       {"zp_fmt", d.zp}};
  for (auto [name, word] : words)
    if (word.nanEncoding() == 3)
      return frameError("the NaN encoding 3 is reserved", name,
                        "nan_enc 0, 1 or 2", wordText(word));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Step 2: the grade
//===----------------------------------------------------------------------===//

namespace {

/// Collects "k0 64 instead of 32" for every field that differs.
struct Differences {
  unsigned count = 0;
  std::string fields, declared, found;

  void add(const char *field, const std::string &required,
           const std::string &actual) {
    const char *separator = count++ ? ", " : "";
    fields += separator + std::string(field);
    declared += separator + std::string(field) + " " + required;
    found += separator + std::string(field) + " " + actual;
  }
};

} // namespace

static bool sameFrame(const Descriptor &a, const Descriptor &b) {
  return a.levels == b.levels && a.flags == b.flags && a.elem == b.elem &&
         a.scale0 == b.scale0 && a.scale1 == b.scale1 && a.zp == b.zp &&
         a.k0 == b.k0 && a.k1 == b.k1 && a.spN == b.spN && a.spM == b.spM &&
         a.spMetaFormat == b.spMetaFormat && a.spOrder == b.spOrder &&
         a.container == b.container;
}

static Differences differences(const Descriptor &required,
                               const Descriptor &actual) {
  Differences result;
  auto integer = [&](const char *field, uint64_t a, uint64_t b) {
    if (a != b)
      result.add(field, number(a), number(b));
  };
  auto word = [&](const char *field, FormatWord a, FormatWord b) {
    if (a != b)
      result.add(field, wordText(a), wordText(b));
  };
  integer("n_levels", required.levels, actual.levels);
  if (required.flags != actual.flags)
    result.add("flags", flagsText(required.flags), flagsText(actual.flags));
  word("elem", required.elem, actual.elem);
  word("scale0", required.scale0, actual.scale0);
  word("scale1", required.scale1, actual.scale1);
  word("zp_fmt", required.zp, actual.zp);
  integer("k0", required.k0, actual.k0);
  integer("k1", required.k1, actual.k1);
  integer("sp_n", required.spN, actual.spN);
  integer("sp_m", required.spM, actual.spM);
  integer("sp_meta_fmt", required.spMetaFormat, actual.spMetaFormat);
  integer("sp_order", required.spOrder, actual.spOrder);
  integer("container", required.container, actual.container);
  return result;
}

static std::string nameAndId(const Contract &contract) {
  return contract.displayName() + " (" + hexWord(contract.id(), 16) + ")";
}

/// The grades that are known, those of users last.
static std::vector<Contract> knownGrades() {
  std::vector<Contract> grades;
  for (const Contract &contract : registry::contracts())
    if (contract.isGrade())
      grades.push_back(contract);
  for (const Contract &contract : userContracts())
    if (contract.isGrade())
      grades.push_back(contract);
  return grades;
}

/// The known grade whose frame this is.
static std::optional<Contract> gradeOfFrame(const Descriptor &d) {
  for (const Contract &contract : knownGrades())
    if (sameFrame(frameOf(*contract.grade()), d))
      return contract;
  return std::nullopt;
}

static Error unknownGrade(const Descriptor &d) {
  std::string known;
  for (const Contract &contract : knownGrades())
    known += (known.empty() ? "" : ", ") + nameAndId(contract);
  std::string cause = "a grade that is not registered here, or a damaged id";
  if (std::optional<Contract> match = gradeOfFrame(d))
    cause = "the frame is that of " + nameAndId(*match) +
            ": the id is damaged, or hashes a string that is not canonical";
  return {Status::GradeUnknown,
          "grade id " + hexWord(d.gradeId, 16) + " is not known",
          "grade_id",
          known,
          hexWord(d.gradeId, 16),
          cause,
          "register the grade, or convert the array to a known one",
          -1,
          ErrorCode::UnknownGradeId};
}

static Error contradictsGrade(const Descriptor &d, const Contract &contract) {
  Differences result = differences(frameOf(*contract.grade()), d);
  std::string cause = "the frame or the grade id was changed after the "
                      "descriptor was written";
  if (std::optional<Contract> match = gradeOfFrame(d))
    cause = "the frame is that of " + nameAndId(*match);
  else if (result.fields == "k0")
    cause = "the array has groups of " + number(d.k0) + " elements, and " +
            contract.displayName() + " has groups of " +
            number(contract.grade()->k0);
  return {Status::GradeUnknown,
          "the descriptor contradicts its grade " + nameAndId(contract),
          result.fields,
          result.declared,
          result.found,
          cause,
          "name the grade that the bytes are made for, or quantize again",
          -1};
}

Expected<const Contract *> check_steps::checkGrade(const Descriptor &d) {
  const Contract *contract = registry::findId(d.gradeId);
  if (!contract || !contract->isGrade())
    return tl::unexpected(unknownGrade(d));
  if (!sameFrame(frameOf(*contract->grade()), d))
    return tl::unexpected(contradictsGrade(d, *contract));
  return contract;
}

//===----------------------------------------------------------------------===//
// Step 3: the placements
//===----------------------------------------------------------------------===//

std::optional<Error> check_steps::checkPlacements(const Descriptor &d) {
  const std::pair<const char *, Placement> words[] = {
      {"placement_data", d.placements.data},
      {"placement_scale", d.placements.scale},
      {"placement_meta", d.placements.meta}};
  auto refuse = [](std::string message, const char *field, std::string declared,
                   Placement found, std::string cause, std::string fix) {
    return Error{Status::PlacementUnknown,
                 std::move(message),
                 field,
                 std::move(declared),
                 found.specName() + " (" + hexWord(found.raw(), 16) + ")",
                 std::move(cause),
                 std::move(fix),
                 -1};
  };
  for (auto [field, word] : words)
    if (!word.isAcceptable())
      return refuse(std::string(field) + " is not a placement", field,
                    "UNSPECIFIED (0), a registered word (class 1), a layout "
                    "hash (class 8) or opaque (class 15)",
                    word, "a word of a later version, or damaged bytes",
                    "name the placement, e.g. ROW_MAJOR "
                    "(0x1000000000000001)");
  bool hasAux = d.flags & (Descriptor::HasZp | Descriptor::Sparse);
  if (hasAux && d.placements.meta.isUnspecified())
    return refuse("the aux plane has no placement", "placement_meta",
                  d.flags & Descriptor::Sparse
                      ? "e.g. LINEAR_META (0x1000000000000011)"
                      : "e.g. ROW_MAJOR (0x1000000000000001)",
                  d.placements.meta, "the word was never written",
                  "write the placement of the aux plane");
  if (!hasAux && !d.placements.meta.isUnspecified())
    return refuse(
        "a placement of an aux plane that does not exist", "placement_meta",
        "UNSPECIFIED (0x0000000000000000)", d.placements.meta,
        "the word was copied from an array with an aux plane", "write 0");
  return std::nullopt;
}
