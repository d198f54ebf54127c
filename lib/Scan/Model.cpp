//===- Model.cpp - files, checkpoints and layers during a scan -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <array>
#include <cctype>

using namespace grit;
using namespace grit::scan;

void Collector::add(Id id, const std::string &path, std::string_view where,
                    std::string message, std::string declared,
                    std::string found, std::string cause, std::string fix) {
  // A hostile file may hold millions of faults.
  constexpr size_t kMostFindings = 20'000, kMostPlaces = 16;
  std::string key = idText(id);
  for (std::string_view part :
       {std::string_view(path), std::string_view(message),
        std::string_view(declared), std::string_view(found),
        std::string_view(cause)}) {
    key += '\n';
    key += part;
  }
  auto entry = known.find(key);
  if (entry == known.end()) {
    if (report.findings.size() == kMostFindings) {
      ++report.suppressed;
      return;
    }
    entry = known.emplace(std::move(key), report.findings.size()).first;
    report.findings.push_back({id,
                               path,
                               {},
                               0,
                               std::move(message),
                               std::move(declared),
                               std::move(found),
                               std::move(cause),
                               std::move(fix)});
  }
  Finding &finding = report.findings[entry->second];
  if (where.empty())
    return;
  ++finding.count;
  if (finding.where.size() < kMostPlaces)
    finding.where.emplace_back(where);
}

const TensorInfo *Checkpoint::find(std::string_view name) const {
  auto entry = tensors.find(name);
  return entry == tensors.end() ? nullptr : entry->second.info;
}

bool Checkpoint::mayHave(std::string_view name) const {
  std::string quoted = quoteText(name);
  return !complete || std::ranges::any_of(files, [&](const LoadedFile *file) {
    return file->troubled.contains(quoted);
  });
}

bool Checkpoint::isWhole() const {
  return complete && std::ranges::all_of(files, [](const LoadedFile *file) {
           return file->troubled.empty();
         });
}

std::pair<std::string_view, std::string_view>
grit::scan::splitName(std::string_view name) {
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return {{}, name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string grit::scan::roleOf(std::string_view module) {
  constexpr std::array<std::string_view, 5> kMarkers = {"layers", "blk", "h",
                                                        "block", "layer"};
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= module.size();) {
    size_t end = std::min(module.find('.', begin), module.size());
    parts.push_back(module.substr(begin, end - begin));
    begin = end + 1;
  }
  auto isNumber = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
  };
  size_t first = 0;
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    if (isNumber(parts[i + 1]) &&
        std::ranges::find(kMarkers, parts[i]) != kMarkers.end()) {
      first = i + 2;
      break;
    }
  std::string role;
  for (size_t i = first; i < parts.size(); ++i)
    if (!isNumber(parts[i]))
      role += (role.empty() ? "" : ".") + std::string(parts[i]);
  return role;
}
