//===- Model.h - files, checkpoints and layers during a scan -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_MODEL_H
#define GRIT_LIB_SCAN_MODEL_H

#include "Config.h"
#include "Manifest.h"
#include "grit/Container/TensorFile.h"
#include "grit/Format/Descriptor.h"
#include "grit/Scan/Scan.h"
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace grit::scan {

/// Takes findings; those that differ only in their place become one.
class Collector {
public:
  explicit Collector(Report &report) : report(report) {}

  /// `where` is a tensor, module or role; empty for the file.
  void add(Id id, const std::string &path, std::string_view where,
           std::string message, std::string declared = {},
           std::string found = {}, std::string cause = {},
           std::string fix = {});

private:
  Report &report;
  std::unordered_map<std::string, size_t> known;
};

/// An open file.
struct LoadedFile {
  size_t index = 0; ///< into Report::files
  std::string path;
  std::unique_ptr<TensorFile> file;
  std::vector<Error> problems;
  /// Quoted names of tensors with problems; the reader leaves most of them out.
  std::set<std::string> troubled;
  /// Descriptors that the file records, by tensor.
  std::map<std::string, DescriptorBytes, std::less<>> descriptors;
  std::set<std::string, std::less<>> records; ///< tensors with a record
};

struct TensorRef {
  LoadedFile *file = nullptr;
  const TensorInfo *info = nullptr;
  size_t report = 0; ///< into Report::tensors
};

/// Files that are loaded together, and what is declared about them.
struct Checkpoint {
  std::string path; ///< of the index or the first file, for findings
  std::vector<LoadedFile *> files;
  const Manifest *index = nullptr;
  /// False when shards are known to be missing from the scan.
  bool complete = true;
  QuantConfig config;
  std::map<std::string_view, TensorRef> tensors;

  const TensorInfo *find(std::string_view name) const;
  /// True when the tensor may exist although the scan has not got it.
  bool mayHave(std::string_view name) const;
  /// True when no shard is missing and every tensor could be read: only then
  /// does a tensor that is absent say something.
  bool isWhole() const;
};

/// Two-level scales: what the name says about the tensor-level one.
enum class SecondScale { None, Multiplier, Divisor };

/// A quantized module whose format was inferred.
struct Layer {
  std::string name;     ///< of the module
  std::string family;   ///< "gptq", "awq", "nvfp4", "fp8", ...
  std::string label;    ///< "gptq, 4 bits, groups of 128"
  std::string contract; ///< a registered name, where the numbers fit one
  std::string reason;   ///< why it is not expressible
  Certainty certainty = Certainty::Inferred;
  std::vector<int64_t> shape; ///< of what it decodes to; empty: unknown
  unsigned bits = 0;
  int64_t group = 0;
  const TensorInfo *codes = nullptr, *scale = nullptr, *zero = nullptr,
                   *second = nullptr, *input = nullptr, *index = nullptr;
  SecondScale secondKind = SecondScale::None;
  bool swizzled = false; ///< the scale plane has the size of a swizzled one
};

struct Model {
  Checkpoint *checkpoint = nullptr;
  std::vector<Layer> layers;
};

/// "weight" of "a.b.weight", and "a.b".
std::pair<std::string_view, std::string_view> splitName(std::string_view name);
/// The part of a module's name that layers share: "mlp.down_proj".
std::string roleOf(std::string_view module);
/// One text for modules that engines fuse ("a.q_proj" of a.v_proj), or "".
std::string siblingGroup(std::string_view module);

//===----------------------------------------------------------------------===//
// The steps of a scan
//===----------------------------------------------------------------------===//

/// What the paths lead to.
struct Inputs {
  std::vector<std::string> files;
  std::vector<Manifest> manifests;
};
Inputs discover(std::span<const std::string> paths, Collector &collector,
                Report &report);

/// Opens a file and reports what is wrong with its structure and records.
std::unique_ptr<LoadedFile> loadFile(const std::string &path,
                                     Collector &collector, Report &report);

/// Checks of what files declare: descriptors, notes, placements, file types.
void checkDeclared(Checkpoint &checkpoint, Collector &collector);
/// Indexes and manifests against the files.
void checkIndex(const Checkpoint &checkpoint, Collector &collector);
void checkManifest(const Manifest &manifest,
                   const std::vector<Checkpoint> &checkpoints,
                   Collector &collector);
/// Finds quantized modules and reports what is wrong with them.
std::vector<Layer> findLayers(const Checkpoint &checkpoint,
                              Collector &collector);
/// The configuration against the layers.
void checkConfig(const Checkpoint &checkpoint, const std::vector<Layer> &layers,
                 bool deep, Collector &collector);
/// Missing planes among layers, siblings, roles.
void checkRoles(const Checkpoint &checkpoint, const std::vector<Layer> &layers,
                Collector &collector);
/// The same names in several checkpoints.
void checkAcross(const std::vector<Model> &models, const Options &options,
                 const Report &report, Collector &collector);
/// Everything that reads planes of one checkpoint.
void readPlanes(const std::vector<Model> &models, const Options &options,
                Report &report, Collector &collector);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_MODEL_H
