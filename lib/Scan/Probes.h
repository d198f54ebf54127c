//===- Probes.h - what the planes of one layer show -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_PROBES_H
#define GRIT_LIB_SCAN_PROBES_H

#include "Model.h"
#include "grit/Format/FormatWord.h"

namespace grit::scan {

/// A finding of a probe; its place is added by the caller.
struct Probed {
  Id id;
  std::string message, declared, found;
};
using ProbeResults = std::vector<Probed>;

/// The numbers of a scale plane.
enum class ScaleType { Word, Float32, Float16, BFloat16 };
struct ScalePlane {
  ByteSpan bytes;
  ScaleType type = ScaleType::Word;
  FormatWord word; ///< of 8 bits, for ScaleType::Word
};
/// The scale plane of a plain tensor; nothing for types that hold no scales.
/// Bytes count as powers of two.
std::optional<ScalePlane> scalePlaneOf(const TensorInfo &tensor);

void probeScales(const ScalePlane &plane, ProbeResults &results);
/// Codes of 8-bit floats, or of 4-bit floats in nibbles.
void probeCodes(ByteSpan bytes, FormatWord word, ProbeResults &results);
/// Zero points in signed bytes, for codes of `bits` bits.
void probeZeroPoints(ByteSpan bytes, unsigned bits, ProbeResults &results);
/// qzeros of GPTQ against the declared convention, where codes are symmetric.
void probeGptqZeros(ByteSpan bytes, unsigned bits, bool isVersion2,
                    ProbeResults &results);
/// An index of groups, one I32 per row of K.
void probeOrder(ByteSpan bytes, int64_t group, ProbeResults &results);
ScaleSpread spreadOf(const ScalePlane &plane, std::string name);
/// Of every scale of a declared array.
std::vector<ScaleSpread> spreadsOf(const TensorInfo &tensor);
/// The planes of a declared grade.
void probeArray(const TensorInfo &tensor, ProbeResults &results);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_PROBES_H
