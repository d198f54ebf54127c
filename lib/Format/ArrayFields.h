//===- ArrayFields.h - everything that an array stores -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ARRAYFIELDS_H
#define GRIT_LIB_FORMAT_ARRAYFIELDS_H

#include "PlacedField.h"

namespace grit {

/// In an array of structs, the bytes of whole blocks: what moves when blocks
/// do, whether decode reads it or not.
std::optional<ArrayField> blockBytes(const ArraySpec &spec);

/// concatOf for somebody who has shown that factors of the whole array are the
/// same in all parts.
Expected<ArraySpec> concatOfParts(std::span<const ArraySpec> parts, int axis);

/// What is wrong with an array and the sizes of its planes.
std::optional<Error> checkArray(const ArraySpec &spec,
                                std::span<const ByteSpan> planes);

} // namespace grit

#endif // GRIT_LIB_FORMAT_ARRAYFIELDS_H
