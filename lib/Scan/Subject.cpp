//===- Subject.cpp - reading one side of a comparison -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/TensorFile.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include "grit/Scan/Explain.h"
#include <algorithm>
#include <filesystem>

using namespace grit;
using namespace grit::scan;

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
