//===- NinferPayload.cpp - payloads of NInfer, to arrays and back ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NinferLayout.h"
#include "grit/Format/Check.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cstring>

using namespace grit;
using namespace grit::ninfer;

//===----------------------------------------------------------------------===//
// Pieces that alternate
//===----------------------------------------------------------------------===//

/// Copies `count` pieces of `bytes`, from every `fromStep`th byte to every
/// `toStep`th.
static void copyPieces(const uint8_t *from, int64_t fromStep, uint8_t *to,
                       int64_t toStep, int64_t bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStep, from + i * fromStep,
                static_cast<size_t>(bytes));
}

namespace {

/// One plane of an array, and where its bytes are in the payload: pieces of
/// `bytes`, of which the plane has one every `planeStep`, and the payload one
/// every `payloadStep`.
struct Piece {
  unsigned plane;
  int64_t planeOffset, planeStep;
  int64_t payloadOffset, payloadStep;
  int64_t bytes, count;
};

/// How the payload of a record and the planes of its array map onto another.
struct PieceMap {
  Geometry geometry;
  ArraySpec spec;
  PlaneSizes sizes;
  std::vector<Piece> pieces;
};

} // namespace

static const Section *findSection(const Geometry &geometry,
                                  std::string_view name) {
  auto found = std::ranges::find(geometry.sections, name, &Section::name);
  return found == geometry.sections.end() ? nullptr : &*found;
}

/// A section that is a plane as it is.
static Piece wholePlane(unsigned plane, const Section &section) {
  return {plane,         0, section.bytes, section.offset, section.bytes,
          section.bytes, 1};
}

/// The low bits of the codes of a group, then the high ones.
static void addSplitCodes(PieceMap &map) {
  const SplitGroup group = splitGroupOf(map.spec.contract.description());
  const Section &base = *findSection(map.geometry, "base");
  const int64_t step = group.base + group.high, count = base.bytes / group.base;
  map.pieces.push_back(
      {0, 0, step, base.offset, group.base, group.base, count});
  if (const Section *high = findSection(map.geometry, "high"))
    map.pieces.push_back(
        {0, group.base, step, high->offset, group.high, group.high, count});
}

/// The codes of a row, then its scale.
static void addRows(PieceMap &map, const Record &record) {
  const int64_t rows = record.shape[0], columns = record.shape[1];
  map.pieces.push_back({0, 0, columns, 0, columns + 2, columns, rows});
  map.pieces.push_back({1, 0, 2, columns, columns + 2, 2, rows});
}

static Expected<PieceMap> piecesOf(const Record &record) {
  Expected<Geometry> geometry = geometryOf(record);
  if (!geometry)
    return tl::unexpected(geometry.error());
  Expected<ArraySpec> spec = arrayOf(record);
  if (!spec)
    return tl::unexpected(spec.error());
  Expected<PlaneSizes> sizes = spec->planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  PieceMap map{std::move(*geometry), std::move(*spec), std::move(*sizes), {}};
  switch (*findLayout(record.layout)) {
  case LayoutKind::RowSplit:
    addSplitCodes(map);
    map.pieces.push_back(wholePlane(1, *findSection(map.geometry, "scales")));
    break;
  case LayoutKind::RowInterleaved:
    addRows(map, record);
    break;
  case LayoutKind::Contiguous:
  case LayoutKind::BlockScale:
  case LayoutKind::RowScale:
  case LayoutKind::Blocks:
    for (unsigned i = 0; i < map.geometry.sections.size(); ++i)
      map.pieces.push_back(wholePlane(i, map.geometry.sections[i]));
    break;
  }
  return map;
}

//===----------------------------------------------------------------------===//
// To planes and back
//===----------------------------------------------------------------------===//

static std::optional<Error>
checkLength(const Record &record, const Geometry &geometry, ByteSpan payload) {
  if (static_cast<int64_t>(payload.size()) == geometry.bytes)
    return std::nullopt;
  std::string parts;
  for (const Section &section : geometry.sections)
    parts += (parts.empty() ? "" : ", ") + std::string(section.name) + " " +
             std::to_string(section.bytes) + " at " +
             std::to_string(section.offset);
  return recordError(
      "the payload does not have the bytes of its record", "payload",
      std::to_string(geometry.bytes) + " bytes (" + parts + ")",
      std::to_string(payload.size()) + " bytes",
      "the bytes are cut short, or belong to another record",
      "check the shape " + shapeText(record.shape) + " and " + record.layout);
}

Expected<PlaneBytes> ninfer::readPayload(const Record &record,
                                         ByteSpan payload) {
  Expected<PieceMap> map = piecesOf(record);
  if (!map)
    return tl::unexpected(map.error());
  if (auto error = checkLength(record, map->geometry, payload))
    return tl::unexpected(std::move(*error));
  PlaneBytes planes;
  for (int64_t size : map->sizes)
    planes.emplace_back(static_cast<size_t>(size));
  for (const Piece &piece : map->pieces)
    copyPieces(payload.data() + piece.payloadOffset, piece.payloadStep,
               planes[piece.plane].data() + piece.planeOffset, piece.planeStep,
               piece.bytes, piece.count);
  return planes;
}

Expected<std::vector<uint8_t>>
ninfer::writePayload(const Record &record, std::span<const ByteSpan> planes) {
  Expected<PieceMap> map = piecesOf(record);
  if (!map)
    return tl::unexpected(map.error());
  PlaneSizes found;
  for (ByteSpan plane : planes)
    found.push_back(static_cast<int64_t>(plane.size()));
  if (auto error = map->spec.checkPlaneSizes(found))
    return tl::unexpected(std::move(*error));
  std::vector<uint8_t> payload(static_cast<size_t>(map->geometry.bytes));
  for (const Piece &piece : map->pieces)
    copyPieces(planes[piece.plane].data() + piece.planeOffset, piece.planeStep,
               payload.data() + piece.payloadOffset, piece.payloadStep,
               piece.bytes, piece.count);
  return payload;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Error paddingError(std::string field, std::string declared,
                          std::string found) {
  return {Status::DigestMismatch,
          "padding holds what nothing writes there",
          std::move(field),
          std::move(declared),
          std::move(found),
          "the bytes are damaged, or the shape is another one",
          "write the tensor again",
          -1};
}

/// Bytes between sections are 0.
static std::optional<Error> checkGaps(const Geometry &geometry,
                                      ByteSpan payload) {
  int64_t end = 0;
  for (const Section &section : geometry.sections) {
    for (; end < section.offset; ++end)
      if (uint8_t byte = payload[static_cast<size_t>(end)])
        return paddingError("payload[" + std::to_string(end) + "]", "0x00",
                            hexWord(byte, 2));
    end = section.offset + section.bytes;
  }
  return std::nullopt;
}

/// Elements past the logical row are 0, and groups of them alone have scale
/// word 0.
static std::optional<Error> checkRowEnds(const Record &record,
                                         const ArraySpec &spec,
                                         std::span<const ByteSpan> planes) {
  const int64_t padded = spec.shape.back();
  const int64_t columns = record.shape.empty() ? padded : record.shape.back();
  const FormatDescription &format = spec.contract.description();
  if (columns == padded)
    return std::nullopt;
  const Factor &scale = format.scales[0];
  for (int64_t row = 0; row < record.shape[0]; ++row)
    for (int64_t column = columns; column < padded; ++column) {
      int64_t element = row * padded + column;
      uint32_t code = readField(format.codes, element, planes);
      if (format.level.decode(code) != 0)
        return paddingError("codes[" + std::to_string(element) + "]",
                            "the code of 0", hexWord(code, 2));
      int64_t group = element / scale.group;
      bool isPadding = column / scale.group * scale.group >= columns;
      uint32_t word = isPadding ? readField(scale.bits, group, planes) : 0;
      if (word != 0)
        return paddingError(scale.name + "[" + std::to_string(group) + "]",
                            "0x0000", hexWord(word, 4));
    }
  return std::nullopt;
}

std::optional<Error> ninfer::checkPayload(const Record &record,
                                          ByteSpan payload) {
  Expected<PlaneBytes> planes = readPayload(record, payload);
  if (!planes)
    return planes.error();
  Expected<Geometry> geometry = geometryOf(record);
  Expected<ArraySpec> spec = arrayOf(record);
  if (!geometry || !spec)
    return geometry ? spec.error() : geometry.error();
  PlaneSizes sizes;
  std::vector<const uint8_t *> addresses;
  for (const std::vector<uint8_t> &plane : *planes) {
    sizes.push_back(static_cast<int64_t>(plane.size()));
    addresses.push_back(plane.data());
  }
  if (auto error = check(*spec, sizes, 2, addresses))
    return error;
  if (auto error = checkGaps(*geometry, payload))
    return error;
  std::vector<ByteSpan> spans(planes->begin(), planes->end());
  return checkRowEnds(record, *spec, spans);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static int64_t logicalCount(const Record &record) {
  int64_t count = 1;
  for (int64_t extent : record.shape)
    count *= extent;
  return count;
}

Expected<std::vector<float>> ninfer::decodePayload(const Record &record,
                                                   ByteSpan payload) {
  Expected<PlaneBytes> planes = readPayload(record, payload);
  if (!planes)
    return tl::unexpected(planes.error());
  Expected<ArraySpec> spec = arrayOf(record);
  if (!spec)
    return tl::unexpected(spec.error());
  std::vector<ByteSpan> spans(planes->begin(), planes->end());
  std::vector<float> values(static_cast<size_t>(spec->numElements()));
  if (auto done = decode(*spec, spans, values); !done)
    return tl::unexpected(done.error());
  const int64_t padded = spec->shape.back();
  const int64_t columns = record.shape.empty() ? padded : record.shape.back();
  const int64_t rows = spec->numElements() / padded;
  for (int64_t row = 1; row < rows && columns != padded; ++row)
    std::copy_n(values.begin() + row * padded, columns,
                values.begin() + row * columns);
  values.resize(static_cast<size_t>(rows * columns));
  return values;
}

/// The options for padded rows: the weights of columns that are not there are
/// 0.
static Expected<EncodeOptions> padOptions(const Record &record, int64_t padded,
                                          const EncodeOptions &options,
                                          std::vector<float> &weights) {
  EncodeOptions result = options;
  if (options.importance.empty())
    return result;
  const int64_t columns = record.shape.empty() ? padded : record.shape.back();
  if (static_cast<int64_t>(options.importance.size()) != columns)
    return tl::unexpected(
        recordError("importance needs one weight per column", "importance",
                    std::to_string(columns) + " weights",
                    std::to_string(options.importance.size()) + " weights",
                    "the weights belong to another tensor",
                    "give the weights of the columns"));
  weights.assign(options.importance.begin(), options.importance.end());
  weights.resize(static_cast<size_t>(padded));
  result.importance = weights;
  return result;
}

Expected<std::vector<uint8_t>>
ninfer::encodePayload(const Record &record, std::span<const float> values,
                      const EncodeOptions &options) {
  Expected<ArraySpec> spec = arrayOf(record);
  if (!spec)
    return tl::unexpected(spec.error());
  if (static_cast<int64_t>(values.size()) != logicalCount(record))
    return tl::unexpected(
        recordError("the number of values is not that of the shape", "values",
                    std::to_string(logicalCount(record)) + " values",
                    std::to_string(values.size()) + " values",
                    "the values belong to another tensor",
                    "give one value per element, row-major"));
  ArraySpec canonical = *spec;
  canonical.placements = spec->contract.canonicalPlacements();
  const int64_t padded = spec->shape.back();
  const int64_t columns = record.shape.empty() ? padded : record.shape.back();
  std::vector<float> rows(static_cast<size_t>(spec->numElements()));
  for (int64_t row = 0; row < spec->numElements() / padded; ++row)
    std::copy_n(values.begin() + row * columns, columns,
                rows.begin() + row * padded);
  std::vector<float> weights;
  Expected<EncodeOptions> all = padOptions(record, padded, options, weights);
  if (!all)
    return tl::unexpected(all.error());
  Expected<PlaneBytes> planes = encode(canonical, rows, *all);
  if (!planes)
    return tl::unexpected(planes.error());
  std::vector<ByteSpan> spans(planes->begin(), planes->end());
  if (!(spec->placements == canonical.placements)) {
    planes = relayoutPlanes(canonical, spans, spec->placements);
    if (!planes)
      return tl::unexpected(planes.error());
    spans.assign(planes->begin(), planes->end());
  }
  return writePayload(record, spans);
}
