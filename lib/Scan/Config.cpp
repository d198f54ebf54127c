//===- Config.cpp - what a configuration declares about quantization -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config.h"
#include "JsonValue.h"
#include "grit/Container/MappedFile.h"
#include "grit/Format/Text.h"
#include <filesystem>

using namespace grit;
using namespace grit::scan;

std::optional<int64_t> QuantConfig::bitsOf(std::string_view module) const {
  auto entry = overrides.find(module);
  return entry != overrides.end() && entry->second.bits ? entry->second.bits
                                                        : bits;
}

std::optional<int64_t> QuantConfig::groupSizeOf(std::string_view module) const {
  auto entry = overrides.find(module);
  return entry != overrides.end() && entry->second.groupSize
             ? entry->second.groupSize
             : groupSize;
}

std::string QuantConfig::modeOf(std::string_view module) const {
  auto entry = overrides.find(module);
  return entry != overrides.end() && !entry->second.mode.empty()
             ? entry->second.mode
             : mode;
}

/// '*' matches any characters. Linear: the last star is the only one that ever
/// has to give way.
static bool globMatches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

const std::string *QuantConfig::ignoring(std::string_view module) const {
  for (const std::string &entry : ignore) {
    if (entry.empty() || entry.starts_with("re:"))
      continue;
    bool isParent = module.size() > entry.size() && module.starts_with(entry) &&
                    module[entry.size()] == '.';
    if (isParent || globMatches(entry, module))
      return &entry;
  }
  return nullptr;
}

namespace {
/// Reads members of one object; a member of the wrong type is a problem.
class Reader {
public:
  Reader(JsonElement object, std::vector<std::string> &problems)
      : object(object), problems(problems) {}

  std::optional<int64_t> integer(std::string_view key) {
    std::optional<JsonElement> value = member(object, key);
    int64_t number;
    if (!value)
      return std::nullopt;
    if (!value->get(number))
      return number;
    wrong(key, "an integer", *value);
    return std::nullopt;
  }
  std::optional<bool> boolean(std::string_view key) {
    std::optional<JsonElement> value = member(object, key);
    bool flag;
    if (!value)
      return std::nullopt;
    if (!value->get(flag))
      return flag;
    wrong(key, "true or false", *value);
    return std::nullopt;
  }
  std::string text(std::string_view key) {
    std::optional<JsonElement> value = member(object, key);
    if (!value)
      return {};
    if (auto string = stringOf(*value))
      return toLower(*string);
    wrong(key, "a string", *value);
    return {};
  }
  void strings(std::string_view key, std::vector<std::string> &into) {
    std::optional<JsonElement> value = member(object, key);
    JsonArray list;
    if (!value)
      return;
    if (value->get(list))
      return wrong(key, "a list of strings", *value);
    for (JsonElement item : list) {
      if (auto string = stringOf(item))
        into.emplace_back(*string);
      else
        return wrong(key, "a list of strings", *value);
    }
  }
  void sizes(std::string_view key, std::vector<int64_t> &into) {
    std::optional<JsonElement> value = member(object, key);
    JsonArray list;
    if (!value)
      return;
    if (value->get(list))
      return wrong(key, "a list of integers", *value);
    for (JsonElement item : list) {
      constexpr int64_t kLargest = int64_t(1) << 30;
      int64_t number;
      if (item.get(number) || number <= 0 || number > kLargest)
        return wrong(key, "a list of positive integers", *value);
      into.push_back(number);
    }
  }

private:
  void wrong(std::string_view key, const char *wanted, JsonElement found) {
    std::string text = simdjson::minify(found);
    problems.push_back(quoteText(key) + " is not " + wanted + ": " +
                       quoteText(text));
  }

  JsonElement object;
  std::vector<std::string> &problems;
};
} // namespace

/// Keeps what all parts of a model agree on.
template <typename T>
static void agree(std::optional<T> &value, const std::optional<T> &other,
                  bool first) {
  if (first)
    value = other;
  else if (value != other)
    value.reset();
}

/// config_groups of compressed-tensors.
static void readGroups(JsonElement groups, QuantConfig &config,
                       std::vector<std::string> &problems) {
  JsonObject object;
  if (groups.get(object)) {
    problems.push_back("'config_groups' is not an object");
    return;
  }
  bool first = true;
  for (auto field : object) {
    std::optional<JsonElement> weights = member(field.value, "weights");
    if (!weights)
      continue;
    Reader reader(*weights, problems);
    agree(config.bits, reader.integer("num_bits"), first);
    agree(config.groupSize, reader.integer("group_size"), first);
    agree(config.symmetric, reader.boolean("symmetric"), first);
    std::string order;
    std::optional<JsonElement> actorder = member(*weights, "actorder");
    if (actorder && !actorder->is_bool())
      order = reader.text("actorder");
    agree(config.reordered,
          std::optional(order == "group" || order == "dynamic"), first);
    std::string strategy = reader.text("strategy");
    config.strategy = first || config.strategy == strategy ? strategy : "";
    if (first)
      reader.sizes("block_structure", config.block);
    first = false;
  }
}

/// `quantization` of MLX: defaults, and objects by module.
static void readOverrides(JsonElement quantization, QuantConfig &config,
                          std::vector<std::string> &problems) {
  JsonObject object;
  if (quantization.get(object))
    return;
  for (auto field : object) {
    if (!field.value.is_object())
      continue;
    Reader reader(field.value, problems);
    QuantConfig::Override override;
    override.bits = reader.integer("bits");
    override.groupSize = reader.integer("group_size");
    override.mode = reader.text("mode");
    config.overrides.emplace(field.key, override);
  }
}

static void readFields(JsonElement object, QuantConfig &config,
                       std::vector<std::string> &problems) {
  Reader reader(object, problems);
  config.bits = reader.integer("bits");
  if (!config.bits)
    config.bits = reader.integer("w_bit");
  config.groupSize = reader.integer("group_size");
  if (!config.groupSize)
    config.groupSize = reader.integer("q_group_size");
  config.symmetric = reader.boolean("sym");
  config.reordered = reader.boolean("desc_act");
  config.checkpointFormat = reader.text("checkpoint_format");
  config.mode = reader.text("mode");
  // A text for some methods, a number for others.
  if (std::optional<JsonElement> version = member(object, "version"))
    if (auto text = stringOf(*version))
      config.version = toLower(*text);
  for (const char *key : {"ignore", "modules_to_not_convert", "ignored_layers",
                          "exclude_modules"})
    reader.strings(key, config.ignore);
  reader.sizes("weight_block_size", config.block);
  if (!config.block.empty())
    config.strategy = "block";
  if (std::optional<JsonElement> groups = member(object, "config_groups"))
    readGroups(*groups, config, problems);
}

QuantConfig grit::scan::parseConfig(std::string_view text,
                                    const std::string &path,
                                    std::vector<std::string> &problems) {
  QuantConfig config;
  config.path = path;
  std::string error;
  std::optional<JsonText> json = JsonText::parse(text, error);
  if (!json || !json->root().is_object()) {
    problems.push_back(json ? "it is not a JSON object" : error);
    return config;
  }
  JsonElement root = json->root();
  for (const char *key : {"quantization_config", "compression_config"}) {
    std::optional<JsonElement> object = member(root, key);
    if (!object)
      continue;
    if (!object->is_object()) {
      problems.push_back("'" + std::string(key) + "' is not an object");
      continue;
    }
    config.method = Reader(*object, problems).text("quant_method");
    if (config.method.empty())
      config.method = "unnamed";
    readFields(*object, config, problems);
    // MLX writes the same under two names.
    if (member(root, "quantization"))
      readOverrides(*object, config, problems);
    return config;
  }
  std::optional<JsonElement> quantization = member(root, "quantization");
  if (quantization && quantization->is_object()) {
    bool isModelOpt = member(*quantization, "quant_algo").has_value();
    config.method = isModelOpt ? "modelopt" : "mlx";
    readFields(*quantization, config, problems);
    if (!isModelOpt)
      readOverrides(*quantization, config, problems);
    return config;
  }
  // The stand-alone files of AutoGPTQ and AutoAWQ.
  if (member(root, "desc_act") && member(root, "bits"))
    config.method = "gptq";
  else if (member(root, "w_bit"))
    config.method = "awq";
  if (config.isDeclared())
    readFields(root, config, problems);
  return config;
}

QuantConfig grit::scan::readConfigIn(const std::string &directory,
                                     std::vector<ConfigProblem> &problems) {
  for (const char *name : {"config.json", "hf_quant_config.json",
                           "quantize_config.json", "quant_config.json"}) {
    std::string path = (std::filesystem::path(directory) / name).string();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      continue;
    Expected<MappedFile> file = MappedFile::open(path);
    std::vector<std::string> messages;
    QuantConfig config;
    if (!file)
      messages.push_back(file.error().message);
    else if (file->bytes().size() > kMaxConfigBytes)
      messages.push_back("it is longer than a configuration may be");
    else
      config =
          parseConfig({reinterpret_cast<const char *>(file->bytes().data()),
                       file->bytes().size()},
                      path, messages);
    for (std::string &message : messages)
      problems.push_back({path, std::move(message)});
    if (config.isDeclared())
      return config;
  }
  return {};
}
