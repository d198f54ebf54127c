//===- TensorWriter.cpp - writing tensors piece by piece -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/TensorWriter.h"
#include "grit/Container/TensorFile.h"
#include <algorithm>

using namespace grit;

void TensorWriter::hashPiece(Slot &slot, std::span<const uint8_t> bytes) {
  for (; slot.plane < slot.planes.size(); ++slot.plane) {
    uint64_t size = static_cast<uint64_t>(slot.planes[slot.plane]);
    if (!slot.lengthHashed)
      slot.hash.updateLE(size, 8);
    slot.lengthHashed = true;
    uint64_t count = std::min<uint64_t>(bytes.size(), size - slot.planeBytes);
    slot.hash.update(bytes.first(count));
    bytes = bytes.subspan(count);
    slot.planeBytes += count;
    if (slot.planeBytes < size)
      return;
    slot.planeBytes = 0;
    slot.lengthHashed = false;
  }
}

Expected<void> TensorWriter::write(size_t tensor,
                                   std::span<const uint8_t> bytes) {
  Slot &slot = slots[tensor];
  if (bytes.size() > slot.size - slot.written)
    return tl::unexpected(
        inTensor({Status::SizeMismatch,
                  "more bytes than the tensor holds",
                  "size",
                  std::to_string(slot.size) + " bytes",
                  "at least " + std::to_string(slot.written + bytes.size()),
                  {},
                  {}},
                 slot.name));
  Expected<void> stored = file.writeAt(slot.offset + slot.written, bytes);
  if (!stored)
    return stored;
  slot.written += bytes.size();
  if (!slot.planes.empty())
    hashPiece(slot, bytes);
  return {};
}

Expected<void> TensorWriter::finish() {
  for (Slot &slot : slots) {
    if (slot.written != slot.size)
      return tl::unexpected(inTensor({Status::SizeMismatch,
                                      "the tensor was not written completely",
                                      "size",
                                      std::to_string(slot.size) + " bytes",
                                      std::to_string(slot.written),
                                      {},
                                      {}},
                                     slot.name));
    hashPiece(slot, {});
  }
  Expected<void> stored = writeHeader();
  if (!stored)
    return stored;
  return file.commit(fileSize);
}
