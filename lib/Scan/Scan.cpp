//===- Scan.cpp - grit scan: the order of its steps -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Scan/Scan.h"
#include "LayerArrays.h"
#include "grit/Container/Gguf.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <tuple>

using namespace grit;
using namespace grit::scan;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

size_t Report::numParsed() const {
  return static_cast<size_t>(std::ranges::count_if(
      files, [](const FileReport &file) { return !file.format.empty(); }));
}

uint64_t Report::count(Severity severity) const {
  return static_cast<uint64_t>(
      std::ranges::count_if(findings, [&](const Finding &finding) {
        return rule(finding.id).severity == severity;
      }));
}

int Report::gradedExitCode(Severity mildest) const {
  if (numParsed() == 0)
    return 4;
  auto counts = [&](Severity severity) {
    return severity <= mildest && count(severity) != 0;
  };
  // An unreadable file among readable ones is a fault of the input.
  if (counts(Severity::Violation) || counts(Severity::Unreadable))
    return 1;
  if (counts(Severity::Disagreement))
    return 2;
  return counts(Severity::Warning) ? 3 : 0;
}

int Report::simpleExitCode(Severity mildest) const {
  if (numParsed() == 0)
    return 2;
  return gradedExitCode(mildest) == 0 ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

namespace {
/// "model" and 2 of 5 of "model-00002-of-00005.safetensors".
struct ShardName {
  std::string stem;
  uint64_t number = 0, total = 0;
};
} // namespace

static ShardName parseShard(const std::string &path) {
  ShardName shard;
  fs::path file(path);
  shard.stem = (file.parent_path() / file.stem()).string();
  size_t of = shard.stem.rfind("-of-");
  if (of == std::string::npos)
    return shard;
  size_t dash = shard.stem.rfind('-', of - 1);
  if (of == 0 || dash == std::string::npos)
    return shard;
  std::string number = shard.stem.substr(dash + 1, of - dash - 1);
  std::string total = shard.stem.substr(of + 4);
  auto isNumber = [](const std::string &text) {
    return !text.empty() && text.size() <= 9 &&
           std::ranges::all_of(
               text, [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (!isNumber(number) || !isNumber(total))
    return shard;
  shard.stem.resize(dash);
  shard.number = std::stoull(number);
  shard.total = std::stoull(total);
  return shard;
}

namespace {
class Scanner {
public:
  Scanner(std::span<const std::string> paths, const Options &options)
      : paths(paths), options(options), collector(report) {}

  Report run();

private:
  void group();
  void checkShards(Checkpoint &checkpoint, const std::set<uint64_t> &numbers,
                   uint64_t total);
  void readConfig(Checkpoint &checkpoint);
  void addTensors(Checkpoint &checkpoint);
  void describe(const Model &model);
  void describeLayers(const Checkpoint &checkpoint);
  void sortFindings();

  std::span<const std::string> paths;
  const Options &options;
  Report report;
  Collector collector;
  Inputs inputs;
  std::vector<std::unique_ptr<LoadedFile>> files;
  std::vector<Checkpoint> checkpoints;
};
} // namespace

void Scanner::checkShards(Checkpoint &checkpoint,
                          const std::set<uint64_t> &numbers, uint64_t total) {
  if (total == 0 || numbers.size() >= total)
    return;
  checkpoint.complete = false;
  collector.add(Id::ShardSet, checkpoint.path, "",
                "not all shards were scanned", std::to_string(total) + " files",
                std::to_string(numbers.size()) + " of them");
}

/// Which files belong together: those of one index, then those whose names
/// differ only in the number of the shard.
void Scanner::group() {
  std::map<std::string, const Manifest *> indexOf;
  for (const Manifest &manifest : inputs.manifests)
    if (manifest.isIndex)
      for (const ManifestEntry &entry : manifest.entries)
        indexOf.emplace(
            (fs::path(manifest.path).parent_path() / entry.file).string(),
            &manifest);
  struct Group {
    Checkpoint checkpoint;
    std::set<uint64_t> numbers;
    uint64_t total = 0;
  };
  std::map<std::string, Group> groups;
  for (const std::unique_ptr<LoadedFile> &file : files) {
    ShardName shard = parseShard(file->path);
    auto index = indexOf.find(file->path);
    Group &group =
        groups[index == indexOf.end() ? (shard.total ? shard.stem : file->path)
                                      : index->second->path];
    if (index != indexOf.end())
      group.checkpoint.index = index->second;
    group.checkpoint.files.push_back(file.get());
    group.numbers.insert(shard.number);
    group.total = std::max(group.total, shard.total);
  }
  for (auto &[key, group] : groups) {
    Checkpoint &checkpoint = group.checkpoint;
    checkpoint.path = checkpoint.index ? checkpoint.index->path
                                       : checkpoint.files.front()->path;
    checkShards(checkpoint, group.numbers, group.total);
    checkpoints.push_back(std::move(checkpoint));
  }
}

void Scanner::readConfig(Checkpoint &checkpoint) {
  fs::path directory = fs::path(checkpoint.files.front()->path).parent_path();
  if (checkpoint.files.front()->file->format() != "safetensors")
    return;
  std::vector<ConfigProblem> problems;
  checkpoint.config = readConfigIn(directory.string(), problems);
  for (const ConfigProblem &problem : problems)
    collector.add(Id::ConfigUnreadable, problem.path, "", problem.message);
}

/// Fills Report::tensors and Checkpoint::tensors.
void Scanner::addTensors(Checkpoint &checkpoint) {
  for (LoadedFile *file : checkpoint.files)
    for (const TensorInfo &info : file->file->tensors()) {
      TensorReport tensor;
      tensor.file = file->index;
      tensor.name = info.name;
      tensor.dtype = info.dtype;
      tensor.shape = info.shape;
      tensor.bytes = info.bytes.size();
      bool isGguf = file->file->format() == "gguf";
      if (info.array) {
        tensor.basis = "declared";
        tensor.family = isGguf ? "gguf" : "grit";
        tensor.role = roleOf(splitName(info.name).first);
        tensor.contract = info.array->contract.name();
        tensor.canonical = info.array->contract.canonical();
        tensor.gid = toBase32(info.array->gid());
        tensor.logicalShape = info.array->shape;
        const auto &planes = info.array->contract.description().planes;
        std::vector<ByteSpan> bytes = info.planes();
        for (size_t i = 0; i < bytes.size(); ++i)
          tensor.planes.push_back({planes[i].name, bytes[i].size()});
      } else if (isGguf && !info.element) {
        tensor.basis = certaintyName(Certainty::NotExpressible);
        tensor.family = "gguf";
        tensor.contract = "ggml " + info.dtype;
        tensor.role = roleOf(splitName(info.name).first);
        tensor.logicalShape = info.shape;
      }
      size_t index = report.tensors.size();
      report.tensors.push_back(std::move(tensor));
      if (!checkpoint.tensors.emplace(info.name, TensorRef{file, &info, index})
               .second)
        collector.add(Id::RepeatedTensor, checkpoint.path, info.name,
                      "several shards hold a tensor of this name", "one file",
                      "also in " + file->path);
    }
}

/// Writes what was inferred into the reports of the tensors.
void Scanner::describe(const Model &model) {
  for (const Layer &layer : model.layers) {
    const auto &tensors = model.checkpoint->tensors;
    auto entry = tensors.find(layer.codes->name);
    if (entry == tensors.end())
      continue;
    TensorReport &tensor = report.tensors[entry->second.report];
    tensor.basis = certaintyName(layer.certainty);
    tensor.family = layer.family;
    tensor.role = roleOf(layer.name);
    tensor.contract = layer.contract.empty() ? layer.label : layer.contract;
    if (!layer.contract.empty())
      if (Expected<Contract> contract = Contract::parse(layer.contract))
        tensor.canonical = contract->canonical();
    tensor.logicalShape = layer.shape;
    for (const TensorInfo *part :
         {layer.codes, layer.scale, layer.zero, layer.second, layer.index})
      if (part)
        tensor.planes.push_back({part->name, part->bytes.size()});
  }
}

/// What the layers are as arrays.
void Scanner::describeLayers(const Checkpoint &checkpoint) {
  constexpr size_t kMostNamed = 16;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> known;
  for (LayerArray &layer : arraysOf(checkpoint)) {
    LayerKind kind;
    kind.family = layer.family;
    std::string why;
    if (layer.array) {
      kind.contract = layer.array->contract.name();
      kind.canonical = layer.array->contract.canonical();
      kind.placements = layer.array->placements;
      auto codes = checkpoint.tensors.find(layer.parts.front()->name);
      if (codes != checkpoint.tensors.end()) {
        TensorReport &tensor = report.tensors[codes->second.report];
        tensor.arrayContract = kind.contract;
        tensor.canonical = kind.canonical;
        tensor.logicalShape = layer.array->shape;
      }
    } else {
      why = layer.refusal->message;
      kind.refusal = inLayer(std::move(*layer.refusal), layer);
    }
    auto [entry, isNew] = known.try_emplace({layer.family, kind.contract, why},
                                            report.layers.size());
    if (isNew)
      report.layers.push_back(std::move(kind));
    LayerKind &all = report.layers[entry->second];
    if (all.count++ < kMostNamed)
      all.layers.push_back(layer.layer);
  }
}

/// The worst first, then by id; equals stay in the order of the files.
void Scanner::sortFindings() {
  std::map<std::pair<Severity, Id>, std::vector<Finding>> sorted;
  for (Finding &finding : report.findings)
    sorted[{rule(finding.id).severity, finding.id}].push_back(
        std::move(finding));
  report.findings.clear();
  for (auto &[key, findings] : sorted)
    std::ranges::move(findings, std::back_inserter(report.findings));
}

Report Scanner::run() {
  inputs = discover(paths, collector, report);
  for (const std::string &path : inputs.files)
    if (std::unique_ptr<LoadedFile> file = loadFile(path, collector, report))
      files.push_back(std::move(file));
  group();
  std::vector<Model> models;
  for (Checkpoint &checkpoint : checkpoints) {
    readConfig(checkpoint);
    addTensors(checkpoint);
    checkDeclared(checkpoint, collector);
    checkIndex(checkpoint, collector);
    Model model{&checkpoint, findLayers(checkpoint, collector)};
    checkConfig(checkpoint, model.layers, options.deep, collector);
    checkRoles(checkpoint, model.layers, collector);
    describe(model);
    describeLayers(checkpoint);
    models.push_back(std::move(model));
  }
  for (const Manifest &manifest : inputs.manifests)
    checkManifest(manifest, checkpoints, collector);
  checkAcross(models, options, report, collector);
  if (options.deep)
    readPlanes(models, options, report, collector);
  sortFindings();
  return std::move(report);
}

Report grit::scan::scan(std::span<const std::string> paths,
                        const Options &options) {
  return Scanner(paths, options).run();
}
