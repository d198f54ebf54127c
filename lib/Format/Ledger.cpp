//===- Ledger.cpp - the record of assumptions -----------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ledger.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>

using namespace grit;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// The length of the UTF-8 sequence at the start of `text`, or 0.
static size_t utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  size_t length = lead < 0x80                   ? 1
                  : lead >= 0xC2 && lead < 0xE0 ? 2
                  : lead >= 0xE0 && lead < 0xF0 ? 3
                  : lead >= 0xF0 && lead < 0xF5 ? 4
                                                : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  // Overlong forms, surrogates, and what lies beyond the last code point.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90))
    return 0;
  return length;
}

static std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    size_t length = utf8Length(text);
    auto c = static_cast<uint8_t>(text[0]);
    if (length == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + text[0];
    else if (c < 0x20)
      out += "\\u00" + hexWord(c, 2).substr(2);
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

std::string AssumptionRecord::json() const {
  auto gid = [](const std::optional<std::array<uint8_t, 16>> &value) {
    return value ? quoted(toHex(*value)) : std::string("null");
  };
  auto word = [](Placement placement) {
    return quoted(hexWord(placement.raw(), 16));
  };
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.6f", timestamp);
  return "{\"gid_after\":" + gid(gidAfter) +
         ",\"gid_before\":" + gid(gidBefore) +
         ",\"placement_from\":" + word(from) +
         ",\"placement_from_name\":" + quoted(from.specName()) +
         ",\"placement_to\":" + word(to) +
         ",\"placement_to_name\":" + quoted(to.specName()) +
         ",\"plane_role\":" + quoted(roleName(role)) +
         ",\"reason\":" + quoted(reason) +
         ",\"source_location\":" + quoted(sourceLocation) +
         ",\"timestamp\":" + seconds + "}";
}

//===----------------------------------------------------------------------===//
// The ledger
//===----------------------------------------------------------------------===//

namespace {

struct Ledger {
  std::mutex mutex;
  std::vector<AssumptionRecord> records;
  audit::Sink sink;
};

} // namespace

static std::atomic<uint64_t> numCrossings{0};

static Ledger &ledger() {
  // Never destroyed: threads may still assume while the process ends.
  static Ledger &instance = *new Ledger();
  return instance;
}

uint64_t audit::crossings() {
  return numCrossings.load(std::memory_order_relaxed);
}

void audit::countCrossing() {
  numCrossings.fetch_add(1, std::memory_order_relaxed);
}

static double rateOf(size_t records) {
  if (records == 0)
    return 0;
  uint64_t count = audit::crossings();
  return static_cast<double>(records) /
         static_cast<double>(count == 0 ? 1 : count);
}

double audit::rate() {
  Ledger &instance = ledger();
  std::lock_guard lock(instance.mutex);
  return rateOf(instance.records.size());
}

std::vector<AssumptionRecord> audit::records() {
  Ledger &instance = ledger();
  std::lock_guard lock(instance.mutex);
  return instance.records;
}

size_t audit::numRecords() {
  Ledger &instance = ledger();
  std::lock_guard lock(instance.mutex);
  return instance.records.size();
}

void audit::setSink(Sink sink) {
  Ledger &instance = ledger();
  std::lock_guard lock(instance.mutex);
  instance.sink = std::move(sink);
}

Expected<void> audit::openLedger(const std::string &path) {
  auto file = std::make_shared<std::ofstream>(path, std::ios::app);
  if (!*file)
    return makeError(Status::GradeUnknown, "the ledger cannot be written",
                     "path", "a file that can be appended to", quoteText(path),
                     "the folder does not exist, or may not be written",
                     "give another path");
  setSink([file](const AssumptionRecord &, std::string_view line) {
    *file << line << '\n' << std::flush;
  });
  return {};
}

/// The ceiling that the environment sets, or nothing. A text that is no number
/// of 0 or more is a ceiling that nothing stays below.
static std::optional<double> ceiling() {
  const char *text = std::getenv("GRIT_AUDIT_MAX_RATE");
  if (!text)
    return std::nullopt;
  std::string_view all = text;
  double value = 0;
  auto [end, code] =
      std::from_chars(all.data(), all.data() + all.size(), value);
  if (code != std::errc() || end != all.data() + all.size() ||
      !std::isfinite(value) || value < 0)
    return -1;
  return value;
}

Expected<void> audit::append(AssumptionRecord record) {
  Ledger &instance = ledger();
  std::lock_guard lock(instance.mutex);
  if (std::optional<double> most = ceiling()) {
    double after = rateOf(instance.records.size() + 1);
    if (!(after <= *most))
      return makeError(
          Status::PlacementUnknown, "one assumption too many",
          "GRIT_AUDIT_MAX_RATE",
          *most < 0 ? "a number of 0 or more" : std::to_string(*most),
          *most < 0 ? quoteText(std::getenv("GRIT_AUDIT_MAX_RATE"))
                    : std::to_string(after) + " (assumptions by checks)",
          "the process may assume placements only this often",
          "establish the placement: relayout, or verify_placement");
  }
  instance.records.push_back(std::move(record));
  if (instance.sink)
    instance.sink(instance.records.back(), instance.records.back().json());
  return {};
}
