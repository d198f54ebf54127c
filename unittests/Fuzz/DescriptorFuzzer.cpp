//===- DescriptorFuzzer.cpp - any bytes as a descriptor and its array -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the descriptor (64 bytes, or what there is), one byte with the
// rank (bits 3..0), the extents and the four sizes (eight
// bytes each), then the bytes of the planes.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Check.h"
#include "grit/Format/Codec.h"
#include <cstdlib>
#include <cstring>

using namespace grit;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

namespace {

class Input {
public:
  Input(const uint8_t *data, size_t size) : rest(data, size) {}

  std::span<const uint8_t> take(size_t count) {
    std::span<const uint8_t> front = rest.first(std::min(count, rest.size()));
    rest = rest.subspan(front.size());
    return front;
  }
  int64_t integer() {
    std::span<const uint8_t> bytes = take(8);
    int64_t value = 0;
    if (!bytes.empty())
      std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

private:
  std::span<const uint8_t> rest;
};

} // namespace

/// A level-2 check that passed: the planes decode.
static void decodePlanes(const CheckInput &input) {
  Expected<ArraySpec> spec = specFromDescriptor(input.descriptor, input.shape);
  require(spec.has_value());
  int64_t count = spec->numElements();
  if (count > 1 << 16)
    return;
  std::vector<ByteSpan> planes;
  const FormatDescription &description = spec->contract.description();
  for (unsigned i = 0; i < description.planes.size(); ++i) {
    unsigned slot = planeSlot(description, i);
    planes.emplace_back(input.planes[slot],
                        static_cast<size_t>(input.planeBytes[slot]));
  }
  std::vector<float> values(static_cast<size_t>(count));
  // Placements that have no map are refused; whatever is not must be readable.
  (void)decode(*spec, planes, values);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input in(data, size);
  CheckInput input;
  input.descriptor = in.take(64);
  std::span<const uint8_t> header = in.take(1);
  std::vector<int64_t> shape(header.empty() ? 0 : header[0] & 15);
  for (int64_t &extent : shape)
    extent = in.integer();
  int64_t planeBytes[4];
  for (int64_t &bytes : planeBytes)
    bytes = in.integer();
  const uint8_t *planes[4] = {};
  for (int i = 0; i < 4; ++i) {
    if (planeBytes[i] <= 0)
      continue;
    std::span<const uint8_t> plane =
        in.take(static_cast<size_t>(planeBytes[i]));
    if (static_cast<int64_t>(plane.size()) == planeBytes[i])
      planes[i] = plane.data();
  }
  input.shape = shape;
  input.planeBytes = planeBytes;
  input.planes = planes;

  std::optional<Error> level1 = check(input, 1);
  std::optional<Error> level2 = check(input, 2);
  if (level1) {
    require(level1->status != Status::Ok &&
            level1->status != Status::DigestMismatch);
    require(level2 && level2->status == level1->status);
    require(!level1->str().empty());
  } else if (level2) {
    require(level2->status == Status::DigestMismatch);
  } else {
    decodePlanes(input);
  }
  if (input.descriptor.size() == 64) {
    DescriptorBytes again =
        Descriptor::read(input.descriptor.first<64>()).write();
    require(std::memcmp(again.data(), data, 64) == 0);
  }
  return 0;
}
