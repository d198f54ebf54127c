//===- HtmlPictures.h - pictures for the page of a report -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_HTMLPICTURES_H
#define GRIT_LIB_SCAN_HTMLPICTURES_H

#include "grit/Format/Contract.h"
#include "grit/Scan/Scan.h"

namespace grit::scan {

/// Text of any origin as character data: markup becomes entities, and bytes
/// that are no printable ASCII become \xNN.
std::string escapeHtml(std::string_view text);

/// Which bits of the first bytes of each plane belong to which number, as one
/// SVG element per plane.
std::string byteMaps(const Contract &contract);

/// The shares of the planes of a tensor, as one SVG element; "" without planes.
std::string planeBar(const TensorReport &tensor);

/// How many scales lie between one power of two and the next, as an SVG
/// element.
std::string spreadPicture(const ScaleSpread &spread);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_HTMLPICTURES_H
