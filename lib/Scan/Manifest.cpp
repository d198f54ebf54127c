//===- Manifest.cpp - indexes of shards and manifests of contracts -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "JsonValue.h"
#include "grit/Container/TensorFile.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::scan;

bool grit::scan::staysInside(std::string_view file) {
  if (file.empty() || file.front() == '/' ||
      file.find('\0') != std::string_view::npos)
    return false;
  while (!file.empty()) {
    size_t slash = file.find('/');
    if (file.substr(0, slash) == "..")
      return false;
    file = slash == std::string_view::npos ? "" : file.substr(slash + 1);
  }
  return true;
}

static bool readIndex(JsonElement root, JsonElement map, Manifest &manifest,
                      std::string &error) {
  JsonObject entries;
  if (map.get(entries)) {
    error = "'weight_map' is not an object";
    return false;
  }
  for (auto field : entries) {
    std::optional<std::string_view> file = stringOf(field.value);
    if (!file) {
      error = "'weight_map' names no file for " + quoteText(field.key);
      return false;
    }
    if (manifest.entries.size() == kMaxTensors) {
      error = "'weight_map' has too many entries";
      return false;
    }
    manifest.entries.push_back(
        {std::string(field.key), std::string(*file), std::string()});
  }
  if (manifest.entries.empty()) {
    error = "'weight_map' names no file";
    return false;
  }
  manifest.isIndex = true;
  uint64_t size;
  if (auto metadata = member(root, "metadata"))
    if (auto total = member(*metadata, "total_size"))
      if (!total->get(size))
        manifest.totalSize = size;
  return true;
}

static bool readContracts(JsonArray list, Manifest &manifest,
                          std::string &error) {
  for (JsonElement item : list) {
    std::string_view texts[3];
    constexpr std::string_view kKeys[] = {"path", "tensor", "desc"};
    for (size_t i = 0; i < 3; ++i) {
      std::optional<JsonElement> value = member(item, kKeys[i]);
      std::optional<std::string_view> text =
          value ? stringOf(*value) : std::nullopt;
      if (!text) {
        error = "entry " + std::to_string(manifest.entries.size()) +
                " has no text " + quoteText(kKeys[i]);
        return false;
      }
      texts[i] = *text;
    }
    if (manifest.entries.size() == kMaxTensors) {
      error = "it has too many entries";
      return false;
    }
    manifest.entries.push_back(
        {std::string(texts[1]), std::string(texts[0]), std::string(texts[2])});
  }
  return true;
}

std::optional<Manifest> grit::scan::parseManifest(std::string_view text,
                                                  const std::string &path,
                                                  std::string &error) {
  std::optional<JsonText> json = JsonText::parse(text, error);
  if (!json)
    return std::nullopt;
  Manifest manifest;
  manifest.path = path;
  JsonArray list;
  if (!json->root().get(list)) {
    if (!readContracts(list, manifest, error))
      return std::nullopt;
    return manifest;
  }
  std::optional<JsonElement> map = member(json->root(), "weight_map");
  if (!map) {
    error = "it is JSON without 'weight_map', and no list of contracts";
    return std::nullopt;
  }
  if (!readIndex(json->root(), *map, manifest, error))
    return std::nullopt;
  return manifest;
}
