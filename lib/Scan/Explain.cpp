//===- Explain.cpp - what tells two contracts apart -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Scan/Explain.h"
#include "grit/Container/TensorFile.h"
#include "grit/Format/Check.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>
#include <filesystem>

using namespace grit;
using namespace grit::scan;

//===----------------------------------------------------------------------===//
// Reading a side
//===----------------------------------------------------------------------===//

static std::optional<std::vector<uint8_t>> fromHex(std::string_view text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    for (char c : text.substr(i, 2)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      size_t digit = kDigits.find(c >= 'A' && c <= 'F' ? char(c + 32) : c);
      if (digit == std::string_view::npos)
        return std::nullopt;
      byte = byte << 4 | static_cast<unsigned>(digit);
    }
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  if (text.size() % 2 != 0)
    return std::nullopt;
  return bytes;
}

static void setArray(Subject &subject, const ArraySpec &spec) {
  subject.array = spec;
  subject.contract = spec.contract;
  subject.gid = spec.gid();
  if (!subject.descriptor)
    subject.descriptor = spec.descriptor();
}

static Expected<Subject> readTensor(const std::string &text,
                                    const std::string &path,
                                    const std::string &name) {
  std::vector<Error> problems;
  OpenOptions options;
  options.problems = &problems;
  auto file = openTensorFile(path, options);
  if (!file)
    return tl::unexpected(file.error());
  std::vector<const TensorInfo *> arrays;
  for (const TensorInfo &tensor : (*file)->tensors())
    if (tensor.array && (name.empty() || tensor.name == name))
      arrays.push_back(&tensor);
  Subject subject;
  subject.text = text;
  if (arrays.size() == 1) {
    setArray(subject, *arrays.front()->array);
    return subject;
  }
  const std::string prefix = "tensor " + quoteText(name);
  for (const Error &problem : problems)
    if (!name.empty() && problem.field.starts_with(prefix))
      return tl::unexpected(problem);
  std::string found = name.empty() ? std::to_string(arrays.size()) + " arrays"
                      : (*file)->find(name)
                          ? "a tensor of type " + (*file)->find(name)->dtype
                          : "no tensor of this name";
  return makeError(
      Status::GradeUnknown, "the file does not name one array under a contract",
      name.empty() ? path : path + "::" + name, "an array", found, {},
      arrays.size() > 1 ? "name one: FILE::" + arrays.front()->name
                        : "grit inspect lists the tensors");
}

static Expected<Subject> readDescriptor(const std::string &text,
                                        const std::vector<uint8_t> &bytes) {
  Subject subject;
  subject.text = text;
  subject.descriptor.emplace();
  std::ranges::copy(bytes, subject.descriptor->begin());
  const Descriptor fields = Descriptor::read(*subject.descriptor);
  if (fields.magic == Descriptor::kMagic)
    subject.contract = Contract::lookupId(fields.gradeId);
  return subject;
}

Expected<Subject> grit::scan::readSubject(const std::string &text) {
  constexpr size_t kGidDigits = 26;
  if (size_t colons = text.rfind("::"); colons != std::string::npos)
    return readTensor(text, text.substr(0, colons), text.substr(colons + 2));
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored))
    return readTensor(text, text, "");
  if (auto bytes = fromHex(text); bytes && bytes->size() == 64)
    return readDescriptor(text, *bytes);
  Subject subject;
  subject.text = text;
  if (text.size() == 18 && text.starts_with("0x"))
    if (auto bytes = fromHex(text.substr(2))) {
      uint64_t id = 0;
      for (uint8_t byte : *bytes)
        id = id << 8 | byte;
      if ((subject.contract = Contract::lookupId(id)))
        return subject;
      return makeError(Status::GradeUnknown, "no known contract has this id",
                       "id", "the id of a registered contract", text, {},
                       "grit formats lists them");
    }
  if (text.size() == kGidDigits)
    if (auto gid = fromBase32(text)) {
      subject.gid = *gid;
      return subject;
    }
  Expected<Contract> contract = Contract::parse(text);
  if (!contract)
    return tl::unexpected(contract.error());
  subject.contract = *contract;
  return subject;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

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
         (contract ? " (" + contract->name() + ")" : " (unregistered)");
}

static void compareDescriptors(const Descriptor &a, const Descriptor &b,
                               Comparison &out) {
  out.text("magic", hexWord(a.magic, 8), hexWord(b.magic, 8));
  out.number("hdr_bytes", a.headerBytes, b.headerBytes);
  out.number("version", a.version, b.version);
  out.number("n_levels", a.levels, b.levels);
  out.text("flags", flagsText(a.flags), flagsText(b.flags));
  out.word("elem", a.elem, b.elem);
  out.word("scale0", a.scale0, b.scale0);
  out.word("scale1", a.scale1, b.scale1);
  out.word("zp_fmt", a.zp, b.zp);
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

static std::string projectionOf(const Contract &contract) {
  return contract.grade() ? contract.grade()->decodeProjection()
                          : contract.canonical();
}

static void compareContracts(const Subject &a, const Subject &b,
                             Comparison &out) {
  const Contract &left = *a.contract, &right = *b.contract;
  out.text("contract", left.name(), right.name());
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
  bool placements = false; ///< they differ
  bool axis = false, shape = false;
  bool noteOnly = false;
};
} // namespace

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
  if (facts.axis)
    return "the same codes with groups along another axis: scales belong to "
           "other elements, so the numbers differ";
  if (facts.placements)
    return "the same numbers in another order of bytes: a relayout turns one "
           "into the other";
  sameBytes = true;
  if (!facts.sameGrade)
    return "the same bytes decode to the same numbers; the grades differ only "
           "in how they were encoded or are accumulated";
  return facts.noteOnly
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
    compareDescriptors(*left, *right, out);
    facts.placements = !(left->placements == right->placements);
    facts.axis =
        a.descriptor && b.descriptor && left->groupAxis != right->groupAxis;
    facts.noteOnly = left->note != right->note;
  } else if (a.array && b.array) {
    facts.placements = !(a.array->placements == b.array->placements);
    facts.axis = a.array->axis != b.array->axis;
  }
  if (a.contract && b.contract) {
    compareContracts(a, b, out);
    facts.contracts = true;
    facts.sameGrade = *a.contract == *b.contract;
    facts.sameDecode = projectionOf(*a.contract) == projectionOf(*b.contract);
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
