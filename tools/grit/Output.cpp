//===- Output.cpp - what commands print -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"
#include "Command.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fnmatch.h>
#include <unistd.h>

using namespace grit;
using namespace grit::tool;

void grit::tool::printError(const Error &error) {
  std::fprintf(stderr, "grit: error: %s\n", error.str().c_str());
}

void grit::tool::printWarning(const Error &error) {
  std::fprintf(stderr, "grit: warning: %s\n", error.str().c_str());
}

int grit::tool::finishOutput(int code) {
  bool isLost = std::ferror(stdout) != 0;
  std::string reason = "an earlier write failed";
  if (std::fflush(stdout) != 0) {
    isLost = true;
    reason = std::strerror(errno);
  }
  if (!isLost)
    return code;
  printError(makeError(Status::SizeMismatch,
                       "standard output did not take everything", "output",
                       "a standard output that can be written", reason, {},
                       "write to another place")
                 .value());
  return kOutputFailed;
}

/// A sequence of UTF-8: its length in bytes (0 for what is none) and the code
/// point.
static std::pair<size_t, uint32_t> decodeUtf8(std::string_view text) {
  auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  uint32_t lead = byte(0);
  if (lead < 0x80)
    return {1, lead};
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return {0, 0};
  uint32_t point = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return {0, 0};
    point = point << 6 | (byte(i) & 0x3F);
  }
  // Overlong forms, surrogates, and what lies beyond the last code point.
  constexpr uint32_t kFirst[] = {0x80, 0x800, 0x10000};
  bool isSurrogate = point >= 0xD800 && point < 0xE000;
  if (point < kFirst[length - 2] || point > 0x10FFFF || isSurrogate)
    return {0, 0};
  return {length, point};
}

/// Controls, marks without width, and what turns the direction of text around.
static bool isHidden(uint32_t point) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},      {0x61C, 0x61C},
      {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F},
      {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF}};
  return std::ranges::any_of(kRanges, [&](auto range) {
    return point >= range.first && point <= range.second;
  });
}

std::string grit::tool::printable(std::string_view text) {
  constexpr size_t kLimit = 160;
  std::string result;
  for (size_t i = 0; i < text.size();) {
    auto [length, point] = decodeUtf8(text.substr(i));
    size_t count = std::max<size_t>(length, 1);
    if (i + count > kLimit)
      return result + "...";
    if (length && !isHidden(point))
      result += text.substr(i, length);
    else
      for (char c : text.substr(i, count))
        result += "\\" + hexWord(static_cast<unsigned char>(c), 2).substr(1);
    i += count;
  }
  return result;
}

/// The width on a terminal: bytes that continue a UTF-8 sequence take none.
static size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void grit::tool::printTable(const std::vector<std::vector<std::string>> &rows,
                            const std::vector<size_t> &right) {
  std::vector<size_t> widths;
  for (const auto &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns(row[i]));
  }
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - columns(row[i]), ' ');
      bool isRight = std::ranges::find(right, i) != right.end();
      line += (i ? "  " : "") + (isRight ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

std::string grit::tool::sizeText(uint64_t bytes) {
  constexpr const char *kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (value /= 1000; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return text;
}

void grit::tool::writeError(JsonWriter &json, const Error &error) {
  json.beginObject().field("status", statusName(error.status));
  const std::pair<const char *, const std::string *> parts[] = {
      {"message", &error.message},   {"field", &error.field},
      {"declared", &error.declared}, {"found", &error.found},
      {"cause", &error.cause},       {"fix", &error.fix}};
  for (auto [name, part] : parts)
    if (!part->empty())
      json.field(name, *part);
  json.endObject();
}

void grit::tool::writeArray(JsonWriter &json, const ArraySpec &spec) {
  const Contract &contract = spec.contract;
  json.field("contract", contract.name());
  json.field("canonical", contract.canonical());
  json.field("contract_id", hexWord(contract.id(), 16));
  json.field("gid", toBase32(spec.gid()));
  json.field("axis", spec.axis);
  json.key("placements").beginObject();
  json.field("data", spec.placements.data.str());
  json.field("scale", spec.placements.scale.str());
  json.field("meta", spec.placements.meta.str());
  json.endObject();
  if (auto descriptor = spec.descriptor())
    json.field("descriptor", toHex(*descriptor));
  Expected<PlaneSizes> sizes = spec.planeSizes();
  if (!sizes)
    return;
  json.key("planes").beginArray();
  for (size_t i = 0; i < sizes->size(); ++i)
    json.beginObject()
        .field("name", contract.description().planes[i].name)
        .field("bytes", (*sizes)[i])
        .endObject();
  json.endArray();
}

bool grit::tool::matches(const std::string &pattern, const std::string &name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool grit::tool::matchesAny(const std::vector<std::string> &patterns,
                            const std::string &name) {
  return std::ranges::any_of(patterns, [&](const std::string &pattern) {
    return matches(pattern, name);
  });
}

Error grit::tool::noMatchError(const char *option, const std::string &pattern,
                               const TensorFile &file) {
  std::string plain = pattern;
  std::erase_if(plain, [](char c) { return c == '*' || c == '?'; });
  return makeError(Status::SizeMismatch, "no tensor matches", option,
                   "a pattern that matches one of the " +
                       std::to_string(file.tensors().size()) +
                       " names of the file",
                   quoteText(pattern),
                   "a pattern must match the whole name; * stands for any part",
                   nearTensors(file, plain))
      .value();
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(std::string_view what, uint64_t total)
    : what(what), total(total), shown(::isatty(STDERR_FILENO)) {
  if (shown)
    draw();
}

Progress::~Progress() {
  if (shown)
    std::fputs("\r\x1b[K", stderr);
}

void Progress::add(uint64_t amount) {
  done += amount;
  constexpr auto kInterval = std::chrono::milliseconds(100);
  if (shown && std::chrono::steady_clock::now() - last >= kInterval)
    draw();
}

void Progress::draw() {
  constexpr size_t kWidth = 30;
  double share =
      total ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
  size_t filled = static_cast<size_t>(share * kWidth);
  std::string bar(kWidth, ' ');
  std::fill_n(bar.begin(), std::min(filled, kWidth), '=');
  std::fprintf(stderr, "\r%s [%s] %3.0f %%  %s", what.c_str(), bar.c_str(),
               share * 100, sizeText(done).c_str());
  last = std::chrono::steady_clock::now();
}
