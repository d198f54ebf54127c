//===- Finding.h - what a scan can find -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_SCAN_FINDING_H
#define GRIT_SCAN_FINDING_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit::scan {

/// How bad a finding is. The order is that of the exit codes.
enum class Severity : uint8_t {
  Unreadable,   ///< an input could not be parsed at all
  Violation,    ///< bytes contradict what the file itself says
  Disagreement, ///< two statements about the same bytes differ
  Warning,      ///< nothing is wrong for sure
};
std::string_view severityName(Severity severity);

/// How much the bytes prove.
enum class Certainty : uint8_t {
  Proven,         ///< follows from the bytes and the declarations
  Inferred,       ///< names, types and shapes suggest it
  Ambiguous,      ///< two readings fit, and they decode differently
  NotExpressible, ///< understood, but GRIT v1 has no spelling for it
};
std::string_view certaintyName(Certainty certainty);

/// Every finding. The number is part of its id (GRIT-S002) and never reused.
enum class Id : uint16_t {
  // Files.
  Unreadable = 1,
  Truncated = 2,
  TrailingBytes = 3,
  Overlap = 4,
  Gap = 5,
  DuplicateName = 6,
  ShapeBytes = 7,
  MalformedEntry = 8,
  UnknownType = 9,
  RetiredType = 10,
  // Declared contracts.
  ContractSize = 11,
  ContractRefused = 12,
  UnregisteredGrade = 13,
  Assumed = 14,
  DigestMismatch = 15,
  MetadataOrder = 16,
  OrphanRecord = 17,
  PlacementUnspecified = 18,
  OuterGroupAxis = 19,
  FileType = 20,
  // Indexes, manifests, configurations.
  MissingShard = 21,
  MissingTensor = 22,
  UnlistedTensor = 23,
  RepeatedTensor = 24,
  ShardSet = 25,
  TotalSize = 26,
  ManifestPath = 27,
  ManifestContract = 28,
  ConfigUnreadable = 29,
  // Declared against implied.
  PackedBits = 30,
  GroupSize = 31,
  ScaleShape = 32,
  Strategy = 33,
  ZeroPointAbsent = 34,
  ZeroPointUndeclared = 35,
  ReorderAbsent = 36,
  IgnoredModule = 37,
  Method = 38,
  NothingQuantized = 39,
  // Missing planes.
  Undeclared = 40,
  MissingScale = 41,
  OrphanWeight = 42,
  MissingSecondScale = 43,
  MissingInputScale = 44,
  Partial = 45,
  ScaleSpelling = 46,
  // Conventions.
  ReciprocalScale = 50,
  ZeroPointConvention = 51,
  ZeroPointOffByOne = 52,
  ByteScale = 53,
  Fnuz = 54,
  ActOrder = 55,
  DenseZeroPoints = 56,
  ReciprocalName = 57,
  // Siblings and roles.
  SiblingScale = 60,
  SiblingContract = 61,
  RoleDrift = 62,
  ArtifactDrift = 63,
  // Across files.
  ContractDiffers = 70,
  NibbleSwap = 71,
  PackingOrder = 72,
  RowInterleave = 73,
  ReciprocalTwin = 74,
  // Codes (with --deep).
  ScaleNaN = 80,
  ElementNaN = 81,
  ZeroScale = 82,
  ExtremeScale = 83,
  ZeroPointRange = 84,
  UnusedCodes = 85,
  IllegalWord = 88,
  // What no header proves.
  SwizzleAmbiguous = 90,
  OrderUnproven = 91,
  FusedRows = 92,
  NotExpressible = 93,
  FormatInferred = 94,
};

/// What is known of a finding before any file is read.
struct Rule {
  Id id;
  Severity severity;
  Certainty certainty;
  bool deep;                ///< reported by --deep only
  std::string_view name;    ///< "truncated": a word for filters
  std::string_view title;   ///< one sentence, lower case, no full stop
  std::string_view cause;   ///< sentences
  std::string_view example; ///< sentences
  std::string_view fix;     ///< sentences
};

/// All rules by rising number.
std::span<const Rule> rules();
const Rule &rule(Id id);
/// "GRIT-S002".
std::string idText(Id id);
/// The part of the documentation, "docs/Findings.md#grit-s002".
std::string docAnchor(Id id);
/// The family that the number belongs to: "files", "codes", ...
std::string_view familyName(Id id);
/// docs/Findings.md.
std::string documentation();

/// One finding in the scanned files.
struct Finding {
  Id id;
  std::string path;
  /// Up to 16 of the tensors, modules or roles that it is about; `count` of
  /// them in all. Empty for a finding about the file.
  std::vector<std::string> where;
  uint64_t count = 0;
  std::string message;
  std::string declared, found;
  std::string cause, fix; ///< where they say more than the rule
};

} // namespace grit::scan

#endif // GRIT_SCAN_FINDING_H
