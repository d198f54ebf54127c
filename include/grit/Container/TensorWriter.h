//===- TensorWriter.h - writing tensors piece by piece -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_TENSORWRITER_H
#define GRIT_CONTAINER_TENSORWRITER_H

#include "grit/Container/AtomicFile.h"
#include "grit/Format/ByteOrder.h"
#include "grit/Format/Fingerprint.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace grit {

/// The part that writers of tensor files share: each tensor has a place and a
/// size, takes its bytes in order, and the file appears when all are complete.
class TensorWriter {
public:
  virtual ~TensorWriter() = default;

  /// Appends to tensor `tensor` (the index of its entry).
  Expected<void> write(size_t tensor, std::span<const uint8_t> bytes);
  /// Checks that every tensor is complete, writes the header, and puts the file
  /// in place.
  Expected<void> finish();

protected:
  struct Slot {
    std::string name;
    uint64_t offset = 0, size = 0, written = 0;
    /// The words whose bytes the file has turned round; null: none.
    const ByteOrder *order = nullptr;
    std::vector<uint8_t> partUnit; ///< bytes of it that came so far
    /// The planes to hash, by size; empty: no digest.
    std::vector<int64_t> planes;
    size_t plane = 0;        ///< the plane being written
    uint64_t planeBytes = 0; ///< bytes of it so far
    bool lengthHashed = false;
    Fnv128 hash;
  };

  explicit TensorWriter(AtomicFile file) : file(std::move(file)) {}
  virtual Expected<void> writeHeader() = 0;

  AtomicFile file;
  std::vector<Slot> slots; ///< by entry
  uint64_t fileSize = 0;

private:
  static void hashPiece(Slot &slot, std::span<const uint8_t> bytes);
  Expected<void> writeSwapped(Slot &slot, std::span<const uint8_t> bytes);
};

} // namespace grit

#endif // GRIT_CONTAINER_TENSORWRITER_H
