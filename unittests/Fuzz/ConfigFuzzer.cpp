//===- ConfigFuzzer.cpp - any bytes as config.json -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is a configuration, and after a NUL the name of a module.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Scan/Config.h"
#include <cstdint>
#include <cstdlib>

using namespace grit::scan;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

/// Whether the pattern matches, by its definition: '*' stands for any text. A
/// table, where the library has one pass.
static bool matches(std::string_view pattern, std::string_view text) {
  std::vector<bool> reached(text.size() + 1);
  reached[0] = true;
  for (char c : pattern) {
    std::vector<bool> next(text.size() + 1);
    bool any = false;
    for (size_t t = 0; t <= text.size(); ++t) {
      any = any || reached[t];
      next[t] = c == '*' ? any : t > 0 && reached[t - 1] && text[t - 1] == c;
    }
    reached = std::move(next);
  }
  return reached[text.size()];
}

static bool covers(std::string_view entry, std::string_view module) {
  if (entry.empty() || entry.starts_with("re:"))
    return false;
  std::string parent = std::string(entry) + ".";
  return module.starts_with(parent) || matches(entry, module);
}

static void checkIgnored(const QuantConfig &config, std::string_view module) {
  const std::string *expected = nullptr;
  for (const std::string &entry : config.ignore)
    if (!expected && covers(entry, module))
      expected = &entry;
  require(config.ignoring(module) == expected);
}

/// Without a method nothing is declared, and blocks have sizes.
static void checkFields(const QuantConfig &config) {
  require(config.isDeclared() ||
          (!config.bits && !config.groupSize && !config.symmetric &&
           !config.reordered && config.checkpointFormat.empty() &&
           config.strategy.empty() && config.block.empty() &&
           config.ignore.empty() && config.overrides.empty()));
  for (int64_t size : config.block)
    require(size > 0 && size <= int64_t(1) << 30);
  for (const auto &[module, entry] : config.overrides) {
    require(config.bitsOf(module) == (entry.bits ? entry.bits : config.bits));
    require(config.groupSizeOf(module) ==
            (entry.groupSize ? entry.groupSize : config.groupSize));
  }
}

static bool agree(const QuantConfig &a, const QuantConfig &b) {
  return a.method == b.method && a.bits == b.bits &&
         a.groupSize == b.groupSize && a.symmetric == b.symmetric &&
         a.reordered == b.reordered && a.strategy == b.strategy &&
         a.checkpointFormat == b.checkpointFormat && a.block == b.block &&
         a.ignore == b.ignore && a.overrides.size() == b.overrides.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view all(reinterpret_cast<const char *>(data), size);
  size_t split = std::min(all.find('\0'), all.size());
  std::string_view text = all.substr(0, split);
  std::string_view module = all.substr(std::min(split + 1, all.size()));
  std::vector<std::string> problems;
  QuantConfig config = parseConfig(text, "config.json", problems);
  require(config.path == "config.json");
  for (const std::string &problem : problems)
    require(!problem.empty());
  checkFields(config);
  checkIgnored(config, module.substr(0, 256));
  // White space before an object is none of its content.
  std::vector<std::string> same;
  require(agree(config, parseConfig(" \n" + std::string(text), "", same)));
  require(same.size() == problems.size());
  return 0;
}
