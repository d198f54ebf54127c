//===- ShowSvg.h - bit maps as a picture -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_SHOWSVG_H
#define GRIT_TOOLS_GRIT_SHOWSVG_H

#include "grit/Format/BitMap.h"

namespace grit::tool {

/// A picture that loads nothing and follows the reader's choice of light and
/// dark. What repeats is drawn once.
std::string drawBitMaps(const std::string &name, const std::string &summary,
                        const std::vector<PlaneMap> &maps);

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_SHOWSVG_H
