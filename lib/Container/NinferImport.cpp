//===- NinferImport.cpp - words of other tools as NInfer stores them ------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NinferLayout.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace grit;
using namespace grit::ninfer;

namespace {

/// A contract whose words a format takes.
struct Source {
  std::string_view format, contract;
  bool invertsDivisor = false; ///< it multiplies by what the format divides by
};

} // namespace

static constexpr Source kSources[] = {
    {"nvfp4", "ninfer.nvfp4"},
    {"nvfp4", "ct.nvfp4"},
    {"nvfp4", "nvf4", true},
    {"fp8_e4m3fn_row_bf16", "ninfer.fp8_e4m3fn_row_bf16"},
    {"fp8_e4m3fn_row_bf16", "ct.fp8_channel_bf16"},
    {"fp8_e4m3fn_row_bf16", "ct.fp8_channel"},
    {"fp8_e4m3fn_row_bf16", "ct.fp8_tensor_bf16"},
    {"fp8_e4m3fn_row_bf16", "ct.fp8_tensor"},
    {"t2_g128_fp16", "ninfer.t2_g128_fp16"},
    {"t2_g128_fp16", "ninfer.pq2_0"},
    {"q2_g64_fp16", "ninfer.q2_g64_fp16"},
    {"q2_g64_fp16", "gguf.q2_0"},
    {"q8_g32_fp16", "ninfer.q8_g32_fp16"},
    {"q8_g32_fp16", "gguf.q8_0"}};

/// Blocks of ggml are taken as they are.
static bool isSameBlocks(const Format &format, const Contract &contract) {
  return format.contract == contract.name() &&
         findLayout(format.layout) == LayoutKind::Blocks;
}

static Expected<const Source *> findSource(const Record &target,
                                           const Contract &contract) {
  std::string known;
  for (const Source &source : kSources) {
    if (source.format != target.format)
      continue;
    if (source.contract == contract.name())
      return &source;
    known += (known.empty() ? "" : ", ") + std::string(source.contract);
  }
  return makeError(
      Status::GradeUnknown, "words of this contract are not imported",
      "source contract", known.empty() ? "none for " + target.format : known,
      contract.displayName(), "NInfer imports what it stores word for word",
      "decode the array, and encode the values");
}

Expected<std::vector<uint8_t>>
ninfer::importEncoded(const ArraySpec &source, std::span<const ByteSpan> planes,
                      const Record &target) {
  Expected<ArraySpec> spec = arrayOf(target);
  if (!spec)
    return tl::unexpected(spec.error());
  if (source.shape != target.shape)
    return tl::unexpected(
        recordError("an array is imported in its own shape", "shape",
                    shapeText(source.shape), shapeText(target.shape), {},
                    "give the record the shape of the array"));
  const Format &format = *findFormat(target.format);
  if (isSameBlocks(format, source.contract)) {
    PlaneSizes sizes;
    for (ByteSpan plane : planes)
      sizes.push_back(static_cast<int64_t>(plane.size()));
    if (auto error = source.checkPlaneSizes(sizes))
      return tl::unexpected(std::move(*error));
    return writePayload(target, planes);
  }
  Expected<const Source *> found = findSource(target, source.contract);
  if (!found)
    return tl::unexpected(found.error());
  Expected<PlaneBytes> words = transportWords(
      source, planes, *spec, {.invertWhole = (*found)->invertsDivisor});
  if (!words)
    return tl::unexpected(words.error());
  ArraySpec canonical = *spec;
  canonical.placements = spec->contract.canonicalPlacements();
  std::vector<ByteSpan> spans(words->begin(), words->end());
  Expected<PlaneBytes> placed =
      relayoutPlanes(canonical, spans, spec->placements);
  if (!placed)
    return tl::unexpected(placed.error());
  spans.assign(placed->begin(), placed->end());
  return writePayload(target, spans);
}

Expected<int64_t> ninfer::divisorsOfStack(std::span<const float> divisors,
                                          std::span<const int64_t> rows) {
  auto refuse = [](std::string message, std::string field, std::string declared,
                   std::string found) {
    return tl::unexpected(recordError(std::move(message), std::move(field),
                                      std::move(declared), std::move(found), {},
                                      "store the matrices one by one"));
  };
  if (divisors.empty() || divisors.size() != rows.size())
    return refuse("each matrix of a stack has a divisor and rows", "divisors",
                  std::to_string(rows.size()) + ", 1 or more",
                  std::to_string(divisors.size()));
  for (size_t i = 0; i < divisors.size(); ++i)
    if (!std::isfinite(divisors[i]) || !(divisors[i] > 0))
      return refuse("a divisor is not legal",
                    "divisors[" + std::to_string(i) + "]",
                    "a finite number above 0",
                    hexWord(std::bit_cast<uint32_t>(divisors[i]), 8));
  auto isFirst = [&](float divisor) { return divisor == divisors.front(); };
  if (std::ranges::all_of(divisors, isFirst))
    return 1;
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i] != rows[0])
      return refuse("matrices with different divisors need equal rows",
                    "rows[" + std::to_string(i) + "]", std::to_string(rows[0]),
                    std::to_string(rows[i]));
  return static_cast<int64_t>(divisors.size());
}

/// What a part of a stack has to be.
static std::optional<Error> checkPart(const Tensor &part, const Record &first) {
  const Record &record = part.record;
  if (record.format != "nvfp4" || record.divisors != 1)
    return recordError("only matrices with one divisor are stacked", "format",
                       "nvfp4, 1 divisor",
                       record.format + ", " + std::to_string(record.divisors) +
                           " divisors",
                       {}, "store the matrices one by one");
  Expected<Geometry> geometry = geometryOf(record);
  if (!geometry)
    return geometry.error();
  if (static_cast<int64_t>(part.payload.size()) != geometry->bytes ||
      record.shape[1] != first.shape[1])
    return recordError("the matrices do not form a stack", "shape",
                       std::to_string(geometry->bytes) + " bytes and " +
                           std::to_string(first.shape[1]) + " columns",
                       std::to_string(part.payload.size()) + " bytes and " +
                           std::to_string(record.shape[1]) + " columns",
                       "a payload belongs to another matrix",
                       "stack matrices of equal rows");
  return std::nullopt;
}

/// The divisor of a payload with one.
static float divisorOf(const Tensor &part) {
  float divisor;
  std::memcpy(&divisor,
              part.payload.data() + part.payload.size() - sizeof(divisor),
              sizeof(divisor));
  return divisor;
}

Expected<Tensor> ninfer::stackMatrices(std::span<const Tensor> parts) {
  std::vector<float> divisors;
  std::vector<int64_t> rows;
  Tensor stack;
  for (const Tensor &part : parts) {
    if (auto error = checkPart(part, parts.front().record))
      return tl::unexpected(std::move(*error));
    divisors.push_back(divisorOf(part));
    rows.push_back(part.record.shape[0]);
  }
  Expected<int64_t> count = divisorsOfStack(divisors, rows);
  if (!count)
    return tl::unexpected(count.error());
  stack.record = parts.front().record;
  stack.record.divisors = *count;
  stack.record.shape[0] = std::accumulate(rows.begin(), rows.end(), int64_t(0));
  // Tiles of 128 rows follow one another in both sections.
  for (size_t section = 0; section < 3; ++section) {
    size_t taken = 0;
    for (const Tensor &part : parts) {
      if (section == 2 && taken++ == static_cast<size_t>(*count))
        break;
      Section from = geometryOf(part.record)->sections[section];
      auto begin = part.payload.begin() + from.offset;
      stack.payload.insert(stack.payload.end(), begin, begin + from.bytes);
    }
  }
  return stack;
}
