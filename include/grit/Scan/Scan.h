//===- Scan.h - grit scan: contracts against the bytes of files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_SCAN_SCAN_H
#define GRIT_SCAN_SCAN_H

#include "grit/Format/Placement.h"
#include "grit/Format/Status.h"
#include "grit/Scan/Finding.h"
#include <array>
#include <functional>
#include <optional>

namespace grit::scan {

struct Options {
  /// Also read the planes: digests, orders, special codes, relations.
  bool deep = false;
  /// With `deep`: also fill TensorReport::scales.
  bool spreads = false;
  /// Threads for `deep`; 0 takes those of the machine.
  unsigned threads = 0;
  /// Told before planes are read how many bytes there are, then of each part.
  std::function<void(uint64_t total)> onDeepStart;
  std::function<void(uint64_t bytes)> onDeepProgress;
};

/// Between which powers of two the scales of one level lie; a sample of them,
/// where there are many.
struct ScaleSpread {
  std::string name; ///< "scale0", "d", "weight_scale"
  int first = 0;    ///< counts[i]: magnitudes from 2^(first + i) to the next
  std::vector<uint64_t> counts;
  uint64_t zeros = 0, nonFinite = 0, samples = 0;
};

/// One of the buffers that hold a tensor.
struct PlaneReport {
  std::string name; ///< of the plane, or of the tensor that holds it
  uint64_t bytes = 0;
};

/// What is known of one tensor, and from where.
struct TensorReport {
  size_t file = 0; ///< index into Report::files
  std::string name, dtype;
  std::vector<int64_t> shape; ///< as the file has it, row-major
  uint64_t bytes = 0;
  /// "declared", "inferred", "ambiguous", "not expressible" or "plain".
  std::string_view basis = "plain";
  std::string family;    ///< "grit", "gguf", "gptq", "nvfp4", ... or empty
  std::string role;      ///< "mlp.down_proj"
  std::string contract;  ///< a name, or words for what is not expressible
  std::string canonical; ///< canonical text of a declared or inferred contract
  std::string gid;       ///< of a declared contract
  std::vector<int64_t> logicalShape; ///< of what it decodes to, where known
  std::string arrayContract;       ///< of the layer that these are the codes of
  std::vector<PlaneReport> planes; ///< where a contract was found or inferred
  std::vector<ScaleSpread> scales; ///< where asked for
};

/// Layers of checkpoints that are under one contract, or have none for one
/// reason.
struct LayerKind {
  std::string family;              ///< "gptq", "nvfp4", ...
  std::string contract;            ///< a name; empty where there is none
  std::string canonical;           ///< its canonical text
  Placements placements;           ///< of the arrays
  std::optional<Error> refusal;    ///< of the first layer
  std::vector<std::string> layers; ///< up to 16 of them, by name
  uint64_t count = 0;
};

struct FileReport {
  std::string path, format; ///< format is empty when unreadable
  uint64_t bytes = 0;
};

struct Report {
  std::vector<FileReport> files;
  std::vector<TensorReport> tensors;
  std::vector<LayerKind> layers;
  std::vector<Finding> findings;
  uint64_t suppressed = 0; ///< findings beyond the limit

  size_t numParsed() const;
  uint64_t count(Severity severity) const;
  /// 0 clean, 1 violation, 2 disagreement, 3 warnings only, 4 nothing parsed.
  /// Findings milder than `mildest` do not count.
  int gradedExitCode(Severity mildest = Severity::Warning) const;
  /// 0 clean, 1 findings, 2 nothing parsed.
  int simpleExitCode(Severity mildest = Severity::Warning) const;
};

/// Scans files, directories, indexes and manifests. Never throws for what a
/// file holds.
Report scan(std::span<const std::string> paths, const Options &options = {});

} // namespace grit::scan

#endif // GRIT_SCAN_SCAN_H
