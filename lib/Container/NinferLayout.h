//===- NinferLayout.h - the storage layouts of NInfer -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONTAINER_NINFERLAYOUT_H
#define GRIT_LIB_CONTAINER_NINFERLAYOUT_H

#include "grit/Container/Ninfer.h"
#include <optional>

namespace grit::ninfer {

enum class LayoutKind : uint8_t {
  Contiguous,
  RowSplit,
  BlockScale,
  RowScale,
  RowInterleaved,
  Blocks,
};

std::optional<LayoutKind> findLayout(std::string_view name);

/// Bytes of one group in the planes of a row-split payload.
struct SplitGroup {
  int64_t elements = 0, base = 0, high = 0;
};
/// Of a contract whose codes have up to eight bits, those above the fourth
/// apart where they are neither four nor a divisor of eight.
SplitGroup splitGroupOf(const FormatDescription &description);

Error recordError(std::string message, std::string field, std::string declared,
                  std::string found, std::string cause, std::string fix);

} // namespace grit::ninfer

#endif // GRIT_LIB_CONTAINER_NINFERLAYOUT_H
