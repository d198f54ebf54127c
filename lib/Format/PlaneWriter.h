//===- PlaneWriter.h - codes into the bits of fresh planes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_PLANEWRITER_H
#define GRIT_LIB_FORMAT_PLANEWRITER_H

#include "grit/Format/Description.h"
#include <cstdint>
#include <span>

namespace grit {

/// Stores codes[i] as value number i of `field`, for all i. The bits of the
/// field must be zero; those of other fields are kept. The same bytes as
/// writeField gives, without its divisions and on several threads.
void writeCodes(const BitField &field, std::span<const uint8_t> codes,
                std::span<uint8_t> plane);
void writeCodes(const BitField &field, std::span<const uint32_t> codes,
                std::span<uint8_t> plane);

} // namespace grit

#endif // GRIT_LIB_FORMAT_PLANEWRITER_H
