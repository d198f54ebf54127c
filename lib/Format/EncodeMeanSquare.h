//===- EncodeMeanSquare.h - a search that lowers the squared error -*- C++ -*-//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on what any rule has chosen, and knows nothing of the rule: it tries
// other codes of the innermost scale, and of the innermost offset, with the
// nearest codes under them, and keeps what decodes to a smaller error.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODEMEANSQUARE_H
#define GRIT_LIB_FORMAT_ENCODEMEANSQUARE_H

#include "EncodeLevels.h"
#include "EncodeRules.h"

namespace grit {

class MeanSquareSearch {
public:
  explicit MeanSquareSearch(const FormatDescription &format);

  /// Lowers the squared error of each innermost group of the unit, weighted by
  /// importance where it is given, or leaves the group as it is.
  void improve(EncodeUnit &unit) const;

  const FormatDescription &description() const { return format; }
  const NearestLevels &levels() const { return nearest; }
  /// Adds the codes of scales to try: around `value`, which the rule chose.
  void scalesAround(float value, std::vector<uint32_t> &codes) const;
  /// The codes of the innermost offset around a number.
  void offsetsAround(double value, std::vector<uint32_t> &codes) const;
  /// The code of a scale that is nearest to a number; nothing for none.
  std::optional<uint32_t> scaleNear(double value) const;

private:
  const FormatDescription &format;
  NearestLevels nearest;
  NearestCode scales;
  std::optional<NearestCode> offsets;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODEMEANSQUARE_H
