//===- FormatTextFuzzer.cpp - any text as a format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Codec.h"
#include "grit/Format/Contract.h"
#include "grit/Format/FormatText.h"
#include <cstdlib>

using namespace grit;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

/// A small array of the format decodes, whatever its bytes are.
static void decodeSmall(const Contract &contract, ByteSpan bytes) {
  const FormatDescription &format = contract.description();
  constexpr int64_t kMostElements = 1 << 12;
  if (format.axisMultiple > kMostElements ||
      format.arrayMultiple > kMostElements)
    return;
  Expected<ArraySpec> spec =
      ArraySpec::get(contract, {format.arrayMultiple, format.axisMultiple});
  if (!spec || spec->numElements() > kMostElements)
    return;
  Expected<PlaneSizes> sizes = spec->planeSizes();
  std::vector<std::vector<uint8_t>> planes;
  for (int64_t size : sizes ? *sizes : PlaneSizes()) {
    if (size > 1 << 20)
      return;
    planes.emplace_back(size);
    for (size_t i = 0; i < planes.back().size() && !bytes.empty(); ++i)
      planes.back()[i] = bytes[i % bytes.size()];
  }
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  std::vector<float> values(spec->numElements());
  require(decode(*spec, spans, values).has_value());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<NamedFormat> format = parseFormat(text);
  if (!format) {
    require(!format.error().message.empty() && !format.error().field.empty());
    return 0;
  }
  // The canonical text is a fixed point, and says the same.
  std::string canonical = canonicalText(format->description);
  Expected<NamedFormat> again = parseFormat(canonical);
  require(again && canonicalText(again->description) == canonical);
  require(again->description.level.vector == format->description.level.vector);
  if (Expected<Contract> contract = Contract::parse(canonical))
    decodeSmall(*contract, {data, size});
  return 0;
}
