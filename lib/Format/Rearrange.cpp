//===- Rearrange.cpp - slices, transposes and joins of stored arrays ------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is a copy of a box of elements from one array to a box of another. The
// laws make sure that groups stay whole, so a value per group is copied once,
// for the first element of its group.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Rearrange.h"
#include "ArrayFields.h"
#include "grit/Format/Laws.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>
#include <numeric>

using namespace grit;

namespace {

/// Which elements go where: those of a box at `from`, whose axes are in the
/// order of the source, to a box at `to`, whose axis i is axis permutation[i].
struct BoxCopy {
  std::vector<int64_t> from, to, sizes;
  std::vector<size_t> permutation;

  BoxCopy(std::vector<int64_t> from, std::vector<int64_t> to,
          std::vector<int64_t> sizes)
      : from(std::move(from)), to(std::move(to)), sizes(std::move(sizes)),
        permutation(this->sizes.size()) {
    std::iota(permutation.begin(), permutation.end(), 0);
  }
};

/// Copies the values of one field after the other.
class Copier {
public:
  Copier(const BoxCopy &box, const PlacedArray &source, const ArraySpec &result,
         std::span<const std::span<uint8_t>> planes)
      : box(box), source(source), result(result), planes(planes) {}

  Expected<void> copy(const ArrayField &field);

private:
  const BoxCopy &box;
  const PlacedArray &source;
  const ArraySpec &result;
  std::span<const std::span<uint8_t>> planes;
};

} // namespace

/// The index of an element where a field counts them.
static int64_t ordinal(const std::vector<int64_t> &index, const ArraySpec &spec,
                       ElementOrder order) {
  int64_t number = 0;
  size_t fastest = order == ElementOrder::AxisFastest
                       ? static_cast<size_t>(spec.axis)
                       : index.size();
  for (size_t i = 0; i < index.size(); ++i)
    if (i != fastest)
      number = number * spec.shape[i] + index[i];
  if (fastest < index.size())
    number = number * spec.shape[fastest] + index[fastest];
  return number;
}

Expected<void> Copier::copy(const ArrayField &field) {
  Expected<PlacedField> in = PlacedField::of(source.spec, field);
  Expected<PlacedField> out = PlacedField::of(result, field);
  if (!in || !out)
    return tl::unexpected(in ? out.error() : in.error());
  auto move = [&](int64_t from, int64_t to) {
    writeField(*field.bits, out->slot(to), in->read(from, source.planes),
               planes);
  };
  if (field.unit == 0) {
    for (int64_t i = 0; i < field.perUnit; ++i)
      move(i, i);
    return {};
  }
  size_t rank = box.sizes.size();
  size_t fastest = field.order == ElementOrder::AxisFastest
                       ? static_cast<size_t>(source.spec.axis)
                       : rank - 1;
  int64_t count = std::accumulate(box.sizes.begin(), box.sizes.end(),
                                  int64_t(1), std::multiplies<>());
  std::vector<int64_t> from(rank), to(rank);
  for (int64_t first = 0; first < count; first += field.unit) {
    int64_t rest = first;
    auto place = [&](size_t axis) {
      from[axis] = box.from[axis] + rest % box.sizes[axis];
      rest /= box.sizes[axis];
    };
    place(fastest);
    for (size_t axis = rank; axis-- > 0;)
      if (axis != fastest)
        place(axis);
    for (size_t i = 0; i < rank; ++i) {
      size_t axis = box.permutation[i];
      to[i] = box.to[i] + from[axis] - box.from[axis];
    }
    int64_t a = ordinal(from, source.spec, field.order) / field.unit;
    int64_t b = ordinal(to, result, field.order) / field.unit;
    for (int64_t j = 0; j < field.perUnit; ++j)
      move(a * field.perUnit + j, b * field.perUnit + j);
  }
  return {};
}

/// Refuses indices that are repeated or too large: they keep fewer elements of
/// a run than it stores, so that the codes of later runs are not in their
/// places.
static std::optional<Error> checkIndices(const PlacedArray &array) {
  const auto &sparsity = array.spec.contract.description().sparsity;
  if (!sparsity)
    return std::nullopt;
  Expected<PlacedField> indices =
      PlacedField::of(array.spec, indicesOf(*sparsity));
  if (!indices)
    return indices.error();
  for (int64_t i = 0, kept = 0; i < indices->size(); ++i) {
    int64_t index = indices->read(i, array.planes);
    kept = (i % sparsity->n ? kept : 0) | int64_t(1) << index;
    bool whole = (i + 1) % sparsity->n == 0;
    if (index >= sparsity->m || (whole && std::popcount(uint64_t(kept)) !=
                                              static_cast<int>(sparsity->n)))
      return Error{Status::DigestMismatch,
                   "a run does not keep as many elements as it stores",
                   "aux",
                   std::to_string(sparsity->n) + " different indices below " +
                       std::to_string(sparsity->m),
                   "others in run " + std::to_string(i / sparsity->n),
                   "the plane is damaged",
                   "encode the array again",
                   -1};
  }
  return std::nullopt;
}

namespace {
/// Fresh planes of an array, and spans of them.
struct FreshPlanes {
  PlaneBytes bytes;
  std::vector<std::span<uint8_t>> spans;

  explicit FreshPlanes(const PlaneSizes &sizes) {
    for (int64_t size : sizes)
      bytes.emplace_back(size);
    spans.assign(bytes.begin(), bytes.end());
  }
};
} // namespace

std::optional<ArrayField> grit::blockBytes(const ArraySpec &spec) {
  static const BitField bytes{0, {{0, 8, 0, {{1, 0, 8}}}}};
  const std::vector<PlaneInfo> &planes = spec.contract.description().planes;
  bool isBlocks =
      spec.contract.canonicalPlacements().data == placements::BlockAos &&
      planes.size() == 1 && planes[0].elements > 0 && planes[0].rows == 0 &&
      planes[0].bits % 8 == 0;
  if (!isBlocks)
    return std::nullopt;
  return ArrayField{&bytes, planes[0].elements, planes[0].bits / 8};
}

/// Blocks move whole; elsewhere the values of each field do.
static std::vector<ArrayField> movedFields(const ArraySpec &spec) {
  if (std::optional<ArrayField> block = blockBytes(spec))
    return {*block};
  return fieldsOf(spec);
}

static Expected<void> copyBox(const BoxCopy &box, const PlacedArray &source,
                              const ArraySpec &result, FreshPlanes &planes) {
  if (source.spec.numElements() != 0)
    if (auto error = checkIndices(source))
      return tl::unexpected(std::move(*error));
  bool isEmpty = std::ranges::find(box.sizes, 0) != box.sizes.end();
  Copier copier(box, source, result, planes.spans);
  for (const ArrayField &field : movedFields(source.spec)) {
    // What belongs to the whole array is there without an element as well.
    if (isEmpty && field.unit != 0)
      continue;
    if (Expected<void> done = copier.copy(field); !done)
      return done;
  }
  return {};
}

static Expected<PlaneBytes> copyToFresh(const BoxCopy &box,
                                        const PlacedArray &source,
                                        const Expected<ArraySpec> &result) {
  if (auto error = checkArray(source.spec, source.planes))
    return tl::unexpected(std::move(*error));
  if (!result)
    return tl::unexpected(result.error());
  Expected<PlaneSizes> sizes = result->planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  FreshPlanes planes(*sizes);
  if (Expected<void> done = copyBox(box, source, *result, planes); !done)
    return tl::unexpected(done.error());
  return std::move(planes.bytes);
}

Expected<PlaneBytes> grit::slicePlanes(const ArraySpec &spec,
                                       std::span<const ByteSpan> planes,
                                       std::span<const int64_t> offsets,
                                       std::span<const int64_t> sizes) {
  return copyToFresh({{offsets.begin(), offsets.end()},
                      std::vector<int64_t>(sizes.size()),
                      {sizes.begin(), sizes.end()}},
                     {spec, planes}, sliceOf(spec, offsets, sizes));
}

Expected<PlaneBytes>
grit::transposePlanes(const ArraySpec &spec, std::span<const ByteSpan> planes,
                      std::span<const int64_t> permutation) {
  std::vector<int64_t> start(spec.shape.size());
  BoxCopy box(start, start, spec.shape);
  box.permutation.assign(permutation.begin(), permutation.end());
  return copyToFresh(box, {spec, planes}, transposeOf(spec, permutation));
}

/// Refuses parts that differ in a factor of the whole array.
static Expected<void> compareWhole(std::span<const PlacedArray> parts) {
  const FormatDescription &description =
      parts.front().spec.contract.description();
  for (const ArrayField &field : fieldsOf(parts.front().spec)) {
    if (field.unit != 0)
      continue;
    for (int64_t i = 0; i < field.perUnit * int64_t(parts.size()); ++i) {
      const PlacedArray &part = parts[i / field.perUnit];
      int64_t index = i % field.perUnit;
      uint32_t one = readField(*field.bits, index, parts.front().planes);
      uint32_t other = readField(*field.bits, index, part.planes);
      if (one != other)
        return makeError(Status::SizeMismatch,
                         "the parts differ in what the whole has one of",
                         wholeFieldName(field, description), hexWord(one, 8),
                         hexWord(other, 8),
                         "the parts were quantized one by one",
                         "decode the parts and encode their concatenation");
    }
  }
  return {};
}

Expected<PlaneBytes> grit::concatPlanes(std::span<const PlacedArray> parts,
                                        int axis) {
  std::vector<ArraySpec> specs;
  for (const PlacedArray &part : parts) {
    specs.push_back(part.spec);
    if (auto error = checkArray(part.spec, part.planes))
      return tl::unexpected(std::move(*error));
  }
  Expected<ArraySpec> whole = concatOfParts(specs, axis);
  if (!whole)
    return tl::unexpected(whole.error());
  if (Expected<void> same = compareWhole(parts); !same)
    return tl::unexpected(same.error());
  Expected<PlaneSizes> sizes = whole->planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  FreshPlanes planes(*sizes);
  std::vector<int64_t> start(whole->shape.size()), to = start;
  for (const PlacedArray &part : parts) {
    BoxCopy box(start, to, part.spec.shape);
    if (Expected<void> done = copyBox(box, part, *whole, planes); !done)
      return tl::unexpected(done.error());
    to[static_cast<size_t>(axis)] += part.spec.shape[static_cast<size_t>(axis)];
  }
  return std::move(planes.bytes);
}
