//===- Explain.cpp - what tells two contracts apart -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Scan/Explain.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;
using namespace grit::scan;

namespace {
class Comparison {
public:
  void text(const char *field, const std::string &a, const std::string &b) {
    if (a != b)
      differences.push_back({field, a, b});
  }
  void number(const char *field, uint64_t a, uint64_t b) {
    text(field, std::to_string(a), std::to_string(b));
  }
  void word(const char *field, FormatWord a, FormatWord b) {
    text(field, wordText(a), wordText(b));
  }
  std::vector<FieldDifference> differences;

private:
  static std::string wordText(FormatWord word) {
    if (word.isAbsent())
      return "absent";
    std::string hex = hexWord(word.raw(), 4);
    return word.token().empty() ? hex
                                : hex + " (" + std::string(word.token()) + ")";
  }
};
} // namespace

static std::string flagsText(uint8_t flags) {
  constexpr const char *kNames[] = {"HAS_ZP",     "ZP_MINUS1",   "SPARSE",
                                    "MSB_FIRST",  "INTERLEAVED", "ZP_L1SCALED",
                                    "reserved 6", "reserved 7"};
  std::string set;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (flags >> i & 1)
      set += (set.empty() ? "" : "|") + std::string(kNames[i]);
  return hexWord(flags, 2) + " (" + (set.empty() ? "none" : set) + ")";
}

static std::string noteText(uint32_t note) {
  return hexWord(note, 8) +
         (note & Descriptor::kNoteAssumed
              ? " (ASSUMED, producer " + std::to_string(note >> 8 & 0xFF) + ")"
              : "");
}

static std::string gradeText(uint64_t id) {
  std::optional<Contract> contract = Contract::lookupId(id);
  return hexWord(id, 16) +
         (contract ? " (" + contract->displayName() + ")" : " (unregistered)");
}

/// `written` when both are the descriptors of arrays: the frame that a grade
/// demands says nothing about an axis or a note.
static void compareDescriptors(const Descriptor &a, const Descriptor &b,
                               bool written, Comparison &out) {
  out.text("magic", hexWord(a.magic, 8), hexWord(b.magic, 8));
  out.number("hdr_bytes", a.headerBytes, b.headerBytes);
  out.number("version", a.version, b.version);
  out.number("n_levels", a.levels, b.levels);
  out.text("flags", flagsText(a.flags), flagsText(b.flags));
  out.word("elem", a.elem, b.elem);
  out.word("scale0", a.scale0, b.scale0);
  out.word("scale1", a.scale1, b.scale1);
  out.word("zp_fmt", a.zp, b.zp);
  if (written)
    out.text("group_axis", std::to_string(a.groupAxis),
             std::to_string(b.groupAxis));
  out.number("k0", a.k0, b.k0);
  out.number("k1", a.k1, b.k1);
  out.number("sp_n", a.spN, b.spN);
  out.number("sp_m", a.spM, b.spM);
  out.number("sp_meta_fmt", a.spMetaFormat, b.spMetaFormat);
  out.number("sp_order", a.spOrder, b.spOrder);
  out.number("container", a.container, b.container);
  out.number("frame_rsvd", a.frameReserved, b.frameReserved);
  if (written)
    out.text("note", noteText(a.note), noteText(b.note));
  out.text("placement_data", a.placements.data.str(), b.placements.data.str());
  out.text("placement_scale", a.placements.scale.str(),
           b.placements.scale.str());
  out.text("placement_meta", a.placements.meta.str(), b.placements.meta.str());
  out.text("grade_id", gradeText(a.gradeId), gradeText(b.gradeId));
}

/// The 64 bytes of a side: its own, or those of its grade.
static std::optional<Descriptor> descriptorOf(const Subject &subject) {
  if (subject.descriptor)
    return Descriptor::read(*subject.descriptor);
  if (!subject.contract || !subject.contract->isGrade())
    return std::nullopt;
  Expected<Descriptor> frame =
      Descriptor::fromGrade(*subject.contract->grade());
  if (!frame)
    return std::nullopt;
  frame->placements = subject.contract->canonicalPlacements();
  frame->gradeId = subject.contract->id();
  return *frame;
}

/// What decides numbers: what is legal does not.
static std::string projectionOf(const Contract &contract) {
  if (contract.grade())
    return contract.grade()->decodeProjection();
  FormatDescription description = contract.description();
  description.illegalCodes.clear();
  for (auto *factors : {&description.scales, &description.offset.factors})
    for (Factor &factor : *factors)
      factor.demands = {};
  return canonicalText(description);
}

static void compareContracts(const Subject &a, const Subject &b,
                             Comparison &out) {
  const Contract &left = *a.contract, &right = *b.contract;
  out.text("contract", left.displayName(), right.displayName());
  out.text("canonical", left.canonical(), right.canonical());
  out.text("decode projection", projectionOf(left), projectionOf(right));
}

static void compareArrays(const ArraySpec &a, const ArraySpec &b,
                          Comparison &out) {
  out.text("shape", shapeText(a.shape), shapeText(b.shape));
  out.number("axis", static_cast<uint64_t>(a.axis),
             static_cast<uint64_t>(b.axis));
  out.text("gid", toBase32(a.gid()), toBase32(b.gid()));
}

namespace {
struct Facts {
  bool contracts = false;  ///< both sides have one
  bool sameDecode = false; ///< the decode projections agree
  bool sameGrade = false;
  bool areFormats = false; ///< neither is a grade
  bool placements = false; ///< they differ
  bool shape = false;
  bool axis = false;        ///< they differ
  bool axisDecides = false; ///< ... and groups follow the axis
  bool note = false;
};
} // namespace

/// Groups of a grade are runs of the row-major index, whatever the group axis
/// is. A foreign format may count along the axis.
static bool groupsFollowAxis(const Contract &contract) {
  auto follows = [](const Factor &factor) {
    return factor.order == ElementOrder::AxisFastest;
  };
  const FormatDescription &description = contract.description();
  return std::ranges::any_of(description.scales, follows) ||
         std::ranges::any_of(description.offset.factors, follows);
}

static std::string meaningOf(const Facts &facts, bool &sameBytes) {
  if (!facts.contracts)
    return "the fields are compared; without a known contract on both sides "
           "nothing is said about the numbers";
  if (!facts.sameDecode)
    return "the bytes mean different numbers: convert one into the other "
           "(dequantize and quantize), do not relabel it";
  if (facts.shape)
    return "the contracts agree and the shapes do not: these are different "
           "arrays";
  if (facts.axisDecides)
    return "the same codes with groups along another axis: scales belong to "
           "other elements, so the numbers differ";
  if (facts.placements)
    return "the same numbers in another order of bytes: a relayout turns one "
           "into the other";
  sameBytes = true;
  if (!facts.sameGrade && facts.areFormats)
    return "the same bytes decode to the same numbers; the contracts differ "
           "in what they call illegal";
  if (!facts.sameGrade)
    return "the same bytes decode to the same numbers; the grades differ only "
           "in how they were encoded or are accumulated";
  if (facts.axis)
    return "the bytes decode to the same numbers: groups are runs of the "
           "row-major index, whatever group axis is recorded; only the "
           "identities (gids) differ";
  return facts.note
             ? "the bytes mean the same; only the note, which nothing relies "
               "on, differs"
             : "the bytes mean the same";
}

static Explanation explainGids(const Subject &a, const Subject &b) {
  Explanation result;
  if (!a.gid || !b.gid) {
    result.meaning = "a gid can be compared only with a gid or with an array "
                     "whose shape is known";
    return result;
  }
  result.sameBytes = *a.gid == *b.gid;
  if (!result.sameBytes)
    result.fields.push_back({"gid", toBase32(*a.gid), toBase32(*b.gid)});
  result.meaning = result.sameBytes
                       ? "the same contract, placements and shape"
                       : "contract, placements or shape differ; a gid does "
                         "not tell which";
  return result;
}

Explanation grit::scan::explain(const Subject &a, const Subject &b) {
  auto isGid = [](const Subject &s) { return !s.contract && !s.descriptor; };
  if (isGid(a) || isGid(b))
    return explainGids(a, b);
  Comparison out;
  Facts facts;
  std::optional<Descriptor> left = descriptorOf(a), right = descriptorOf(b);
  if (left && right) {
    bool written = a.descriptor && b.descriptor;
    compareDescriptors(*left, *right, written, out);
    facts.placements = !(left->placements == right->placements);
    facts.axis = written && left->groupAxis != right->groupAxis;
    facts.note = written && left->note != right->note;
  } else if (a.array && b.array) {
    facts.placements = !(a.array->placements == b.array->placements);
    facts.axis = a.array->axis != b.array->axis;
  }
  if (a.contract && b.contract) {
    compareContracts(a, b, out);
    facts.contracts = true;
    facts.sameGrade = *a.contract == *b.contract;
    facts.areFormats = !a.contract->isGrade() && !b.contract->isGrade();
    facts.sameDecode = projectionOf(*a.contract) == projectionOf(*b.contract);
    facts.axisDecides = facts.axis && groupsFollowAxis(*a.contract);
  }
  if (a.array && b.array) {
    compareArrays(*a.array, *b.array, out);
    facts.shape = a.array->shape != b.array->shape;
  }
  Explanation result;
  result.meaning = meaningOf(facts, result.sameBytes);
  result.fields = std::move(out.differences);
  return result;
}
