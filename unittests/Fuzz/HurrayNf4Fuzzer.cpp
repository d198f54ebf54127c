//===- HurrayNf4Fuzzer.cpp - any bytes as a descriptor of NF4 -------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the descriptor (16 bytes, or what there is), one byte with the rank
// (bits 2..0) and the data buffer (bits 6..4), the extents (eight bytes each),
// then the scales.
//
//===----------------------------------------------------------------------===//

#include "grit/Container/HurrayNf4.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace grit;
using namespace grit::hurray;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const uint8_t> rest(data, size);
  auto take = [&](size_t count) {
    std::span<const uint8_t> front = rest.first(std::min(count, rest.size()));
    rest = rest.subspan(front.size());
    return front;
  };
  std::span<const uint8_t> bytes = take(Nf4Descriptor::kBytes);
  Result<Nf4Descriptor> d = Nf4Descriptor::read(bytes);
  if (!d) {
    require(d.error().error.message.starts_with(faultName(d.error().fault)));
    return 0;
  }
  auto written = d->write();
  require(written && std::memcmp(written->data(), data, 16) == 0);

  std::span<const uint8_t> header = take(1);
  if (header.empty())
    return 0;
  std::vector<uint64_t> shape(header[0] & 7);
  for (uint64_t &extent : shape) {
    std::span<const uint8_t> eight = take(8);
    std::memcpy(&extent, eight.data(), eight.size());
  }
  const std::vector<Buffer> buffers(3);
  auto fault = d->checkBuffers(buffers, header[0] >> 4 & 7);
  require(fault || d->scaleBuffer < 3);
  Result<uint64_t> blocks = d->numBlocks(shape);
  require(!d->checkShape(shape) || !blocks);
  auto scales = d->checkScales(shape, rest);
  require(scales || *blocks * 4 == rest.size());
  if (Expected<ArraySpec> spec = d->arrayOf(shape)) {
    require(blocks.has_value());
    if (Expected<PlaneSizes> sizes = spec->planeSizes())
      require((*sizes)[1] == static_cast<int64_t>(*blocks * 4));
    Expected<Nf4Descriptor> again = Nf4Descriptor::of(*spec, d->scaleBuffer);
    require(again && again->blockSize == d->blockSize &&
            again->axis == d->axis);
  }
  return 0;
}
