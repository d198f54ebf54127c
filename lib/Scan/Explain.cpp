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
  if (!name.empty())
    return tl::unexpected(noArrayError(**file, name));
  return makeError(
      Status::GradeUnknown,
      arrays.empty() ? "no tensor of the file is under a contract"
                     : "the file holds more than one array",
      "file " + quoteText(path), "one array under a contract",
      std::to_string(arrays.size()) + " arrays",
      arrays.empty() ? "nothing in the file states a contract" : std::string(),
      arrays.empty() ? "grit scan says what names and shapes suggest"
                     : "name one: FILE::" + arrays.front()->name);
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

/// "0x" and up to 16 digits, whose leading zeros may be left out.
static Expected<Subject> readId(const std::string &text) {
  std::string digits = text.substr(2);
  auto bytes = digits.size() <= 16
                   ? fromHex(std::string(16 - digits.size(), '0') + digits)
                   : std::nullopt;
  if (digits.empty() || !bytes)
    return makeError(Status::GradeUnknown, "this is no contract id", "id",
                     "0x and 1 to 16 hexadecimal digits", quoteText(text),
                     "a digit is missing, or too many were copied",
                     "copy the id again; a descriptor is written without 0x");
  uint64_t id = 0;
  for (uint8_t byte : *bytes)
    id = id << 8 | byte;
  Subject subject;
  subject.text = text;
  if ((subject.contract = Contract::lookupId(id)))
    return subject;
  return makeError(Status::GradeUnknown, "no known contract has this id", "id",
                   "the id of a registered contract", hexWord(id, 16),
                   "a grade that is not registered here",
                   "grit formats lists the known ones; --grade NAME=TEXT adds "
                   "one");
}

/// What a text that is none of the forms most looks like.
static Expected<Subject> refuseSubject(const std::string &text, Error error) {
  constexpr size_t kFewDigits = 27;
  bool isPath = text.find('/') != std::string::npos;
  for (const char *ending : {".safetensors", ".gguf", ".json"})
    isPath |= text.ends_with(ending);
  if (isPath)
    return makeError(Status::GradeUnknown, "there is no such file", "file",
                     "a file, FILE::TENSOR, or another form of a contract",
                     quoteText(text),
                     "the path is misspelt, or relative to "
                     "another directory",
                     "check the path");
  bool isHex =
      text.size() >= kFewDigits &&
      text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (isHex)
    return makeError(Status::GradeUnknown, "this is no descriptor",
                     "descriptor", "128 hexadecimal digits",
                     std::to_string(text.size()) + " digits",
                     "the text was cut, or copied with something else",
                     "copy the descriptor again");
  if (error.cause.empty())
    error.cause = "a misspelt name, or a form that explain does not read";
  if (error.field == "contract")
    error.fix += "; other forms: FILE, FILE::TENSOR, 128 hexadecimal digits, "
                 "0x and a contract id, a gid of 26 symbols";
  return tl::unexpected(std::move(error));
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
  if (text.starts_with("0x") || text.starts_with("0X"))
    return readId(text);
  Subject subject;
  subject.text = text;
  if (text.size() == kGidDigits)
    if (auto gid = fromBase32(text)) {
      subject.gid = *gid;
      return subject;
    }
  Expected<Contract> contract = Contract::parse(text);
  if (!contract)
    return refuseSubject(text, contract.error());
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
