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

/// Writes whole units, and keeps the bytes of a last one that is not.
Expected<void> TensorWriter::writeSwapped(Slot &slot,
                                          std::span<const uint8_t> bytes) {
  const size_t unit = static_cast<size_t>(slot.order->unitBytes());
  const size_t most = unit * std::max<size_t>((size_t(1) << 20) / unit, 1);
  uint64_t at = slot.offset + slot.written - slot.partUnit.size();
  std::vector<uint8_t> &buffer = slot.partUnit;
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), most - buffer.size());
    buffer.insert(buffer.end(), bytes.begin(),
                  bytes.begin() + static_cast<ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    const std::span<uint8_t> whole(buffer.data(), buffer.size() / unit * unit);
    slot.order->swap(whole);
    if (auto stored = file.writeAt(at, whole); !stored)
      return stored;
    at += whole.size();
    buffer.erase(buffer.begin(),
                 buffer.begin() + static_cast<ptrdiff_t>(whole.size()));
  }
  return {};
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
  bool isPlain = !slot.order || slot.order->words().empty();
  Expected<void> stored = isPlain
                              ? file.writeAt(slot.offset + slot.written, bytes)
                              : writeSwapped(slot, bytes);
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
