//===- GritMetadata.cpp - __grit__ of safetensors files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GritMetadata.h"
#include "JsonReader.h"
#include "grit/Container/TensorFile.h"
#include "grit/Format/Check.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fingerprint.h"
#include <limits>

using namespace grit;
using simdjson::dom::element;
using simdjson::dom::object;

static constexpr const char *kField = "__metadata__.__grit__";

static tl::unexpected<Error> refuse(std::string message, std::string declared,
                                    std::string found, std::string fix = {}) {
  return withCode(ErrorCode::MalformedRecord,
                  makeError(Status::GradeUnknown, std::move(message), kField,
                            std::move(declared), std::move(found), {},
                            std::move(fix)));
}

//===----------------------------------------------------------------------===//
// Single fields
//===----------------------------------------------------------------------===//

static Expected<std::string> readString(element value, std::string_view key) {
  std::string_view text;
  if (value.get(text))
    return refuse("\"" + std::string(key) + "\" is not a string", "a string",
                  jsonText(value));
  return std::string(text);
}

static Expected<std::vector<uint8_t>> readDescriptor(std::string_view hex) {
  auto nibble = [](char c) {
    if (c >= '0' && c <= '9')
      return c - '0';
    if (c >= 'a' && c <= 'f')
      return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    int high = nibble(hex[i]), low = nibble(hex[i + 1]);
    if (high < 0 || low < 0)
      break;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  if (hex.size() != 128 || bytes.size() != 64)
    return refuse(
        "a descriptor is not 64 bytes in hexadecimal", "128 hexadecimal digits",
        std::to_string(hex.size()) + " characters: " + quoteText(hex));
  return bytes;
}

static Expected<std::vector<int64_t>> readShape(element value) {
  simdjson::dom::array list;
  if (value.get(list))
    return refuse("\"shape\" is not a list", "a list of extents",
                  jsonText(value));
  std::vector<int64_t> shape;
  for (element item : list) {
    int64_t extent;
    if (item.get(extent) || extent < 0 || shape.size() == kMaxRank)
      return refuse("\"shape\" is not a shape",
                    "at most 8 integers of 0 or more", jsonText(value));
    shape.push_back(extent);
  }
  return shape;
}

static Expected<void> readPlacements(element value, ArrayRecord &record) {
  object fields;
  if (value.get(fields))
    return refuse("\"placements\" is not an object",
                  "{\"data\": ..., \"scale\": ..., \"meta\": ...}",
                  jsonText(value));
  for (auto field : fields) {
    std::optional<std::string> *target = field.key == "data"    ? &record.data
                                         : field.key == "scale" ? &record.scale
                                         : field.key == "meta"  ? &record.meta
                                                                : nullptr;
    if (!target || *target)
      return refuse(target ? "a placement appears twice"
                           : "unknown key in \"placements\"",
                    "data, scale and meta, once each", std::string(field.key));
    Expected<std::string> name = readString(field.value, field.key);
    if (!name)
      return tl::unexpected(name.error());
    *target = *name;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static Expected<void> readField(std::string_view key, element value,
                                ArrayRecord &record) {
  if (key == "placements")
    return readPlacements(value, record);
  if (key == "axis") {
    int64_t axis;
    if (value.get(axis) || axis < -kMaxRank || axis >= kMaxRank)
      return refuse("\"axis\" is not an axis", "an integer from -8 to 7",
                    jsonText(value));
    record.axis = static_cast<int>(axis);
    return {};
  }
  if (key == "shape") {
    Expected<std::vector<int64_t>> shape = readShape(value);
    if (!shape)
      return tl::unexpected(shape.error());
    record.shape = std::move(*shape);
    return {};
  }
  // An ignored key could change the meaning ("axes" for "axis").
  if (key != "contract" && key != "desc" && key != "digest")
    return refuse("unknown key",
                  "contract, shape, axis, placements, desc, digest",
                  quoteText(key), "remove the key, or use a newer grit");
  Expected<std::string> text = readString(value, key);
  if (!text)
    return tl::unexpected(text.error());
  if (key == "contract") {
    record.contract = std::move(*text);
  } else if (key == "desc") {
    Expected<std::vector<uint8_t>> bytes = readDescriptor(*text);
    if (!bytes)
      return tl::unexpected(bytes.error());
    record.descriptor = std::move(*bytes);
  } else {
    Expected<std::array<uint8_t, 16>> digest = fromBase32(*text);
    if (!digest)
      return tl::unexpected(digest.error());
    record.digest = *digest;
  }
  return {};
}

static std::string keyList(const std::vector<std::string_view> &keys) {
  std::string text;
  for (std::string_view key : keys)
    text += (text.empty() ? "" : ", ") + std::string(key);
  return text.empty() ? "no key" : "only " + text;
}

static Expected<ArrayRecord> readRecord(element value) {
  object fields;
  if (value.get(fields))
    return refuse("an array's record is not an object", "an object",
                  jsonText(value));
  ArrayRecord record;
  std::vector<std::string_view> seen;
  for (auto field : fields) {
    if (std::find(seen.begin(), seen.end(), field.key) != seen.end())
      return refuse("a key appears twice", "each key once",
                    quoteText(field.key));
    seen.push_back(field.key);
    Expected<void> read = readField(field.key, field.value, record);
    if (!read)
      return tl::unexpected(read.error());
  }
  for (std::string_view key : {"contract", "shape"})
    if (std::find(seen.begin(), seen.end(), key) == seen.end())
      return refuse("\"" + std::string(key) + "\" is missing",
                    "contract and shape", keyList(seen));
  if (record.contract.empty())
    return refuse("\"contract\" is empty", "a name or a canonical text",
                  "\"\"");
  return record;
}

static Expected<ArrayRecord> readFlat(element value) {
  Expected<std::string> text = readString(value, "descriptor");
  if (!text)
    return tl::unexpected(text.error());
  Expected<std::vector<uint8_t>> bytes = readDescriptor(*text);
  if (!bytes)
    return tl::unexpected(bytes.error());
  ArrayRecord record;
  record.descriptor = std::move(*bytes);
  return record;
}

Expected<std::map<std::string, ArrayRecord>>
grit::parseGritMetadata(std::string_view json) {
  Expected<JsonDocument> document = JsonDocument::parse(json, kField);
  if (!document)
    return tl::unexpected(document.error());
  object root = document->root();
  object tensors;
  bool flat = root.at_key("tensors").get(tensors) != simdjson::SUCCESS;
  if (!flat) {
    element version;
    int64_t number = 0;
    if (root.at_key("version").get(version))
      return refuse("the version is missing", "\"version\": 1", "none",
                    "write the file again");
    if (version.get(number) || number != 1)
      return refuse("unknown version", "\"version\": 1", jsonText(version),
                    "use a newer grit");
    for (auto field : root)
      if (field.key != "version" && field.key != "tensors")
        return refuse("unknown key", "version and tensors",
                      quoteText(field.key),
                      "remove the key, or use a newer grit");
  }
  std::map<std::string, ArrayRecord> records;
  for (auto field : flat ? root : tensors) {
    std::string name(field.key);
    Expected<ArrayRecord> record =
        flat ? readFlat(field.value) : readRecord(field.value);
    if (!record)
      return tl::unexpected(inTensor(record.error(), name));
    if (!records.emplace(name, std::move(*record)).second)
      return tl::unexpected(inTensor(
          refuse("two records of one tensor", "one", "two").value(), name));
  }
  return records;
}

//===----------------------------------------------------------------------===//
// From a record to an array and back
//===----------------------------------------------------------------------===//

static Expected<Placements> namedPlacements(const ArrayRecord &record,
                                            Placements placements) {
  std::pair<const std::optional<std::string> *, Placement *> parts[] = {
      {&record.data, &placements.data},
      {&record.scale, &placements.scale},
      {&record.meta, &placements.meta}};
  for (auto [name, placement] : parts) {
    if (!*name)
      continue;
    Expected<Placement> parsed = Placement::parse(**name);
    if (!parsed)
      return tl::unexpected(parsed.error());
    *placement = *parsed;
  }
  return placements;
}

static std::string placementsText(const Placements &placements) {
  return placements.data.str() + ", " + placements.scale.str() + ", " +
         placements.meta.str();
}

static std::string hexOf(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  for (int i = 0; i < 8; ++i)
    bytes[i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  return toHex(bytes);
}

/// A record may carry the descriptor beside its fields; both must agree. The
/// fields name the contract in full, so that a grade that is registered nowhere
/// is known here all the same.
static std::optional<Error> compare(const ArraySpec &spec,
                                    std::span<const uint8_t> bytes) {
  auto refuse = [](std::string field, std::string declared, std::string found) {
    return makeError(Status::GradeUnknown,
                     "the descriptor says something else than the record",
                     std::move(field), std::move(declared), std::move(found),
                     "one of them was changed by hand",
                     "remove \"desc\", or correct the record")
        .value();
  };
  std::optional<std::array<uint8_t, 64>> expectedBytes = spec.descriptor();
  if (!expectedBytes)
    return refuse("desc", "none: " + spec.contract.name() + " is no grade",
                  toHex(bytes));
  if (bytes.size() != expectedBytes->size())
    return refuse("desc", "64 bytes", std::to_string(bytes.size()) + " bytes");
  Descriptor expected = Descriptor::read(*expectedBytes);
  Descriptor found = Descriptor::read(bytes.first<64>());
  if (found.gradeId != expected.gradeId) {
    Expected<ArraySpec> other = specFromDescriptor(bytes, spec.shape);
    return refuse("contract", spec.contract.name(),
                  other ? other->contract.name()
                        : "grade id 0x" + hexOf(found.gradeId));
  }
  if (found.groupAxis != expected.groupAxis)
    return refuse("axis", std::to_string(expected.groupAxis),
                  std::to_string(found.groupAxis));
  if (!(found.placements == expected.placements))
    return refuse("placements", placementsText(expected.placements),
                  placementsText(found.placements));
  found.note =
      expected.note; // says how the bytes came about, not what they are
  if (!(found == expected))
    return refuse("desc", toHex(*expectedBytes), toHex(bytes));
  return std::nullopt;
}

Expected<ArraySpec>
ArrayRecord::resolve(std::span<const int64_t> tensorShape) const {
  if (isFlat())
    return specFromDescriptor(descriptor, tensorShape);
  Expected<Contract> parsed = Contract::parse(contract);
  if (!parsed)
    return tl::unexpected(parsed.error());
  Expected<Placements> where =
      namedPlacements(*this, parsed->canonicalPlacements());
  if (!where)
    return tl::unexpected(where.error());
  Expected<ArraySpec> spec = ArraySpec::get(*parsed, shape, axis, *where);
  if (!spec || descriptor.empty())
    return spec;
  if (std::optional<Error> error = compare(*spec, descriptor))
    return tl::unexpected(*error);
  return spec;
}

void grit::writeArrayRecord(JsonWriter &json, const ArraySpec &spec,
                            const std::array<uint8_t, 16> &digest) {
  const Contract &contract = spec.contract;
  json.beginObject();
  json.field("contract",
             contract.isRegistered() ? contract.name() : contract.canonical());
  json.field("shape", std::span<const int64_t>(spec.shape));
  json.field("axis", spec.axis);
  json.key("placements").beginObject();
  json.field("data", spec.placements.data.str());
  json.field("scale", spec.placements.scale.str());
  json.field("meta", spec.placements.meta.str());
  json.endObject();
  if (std::optional<std::array<uint8_t, 64>> bytes = spec.descriptor())
    json.field("desc", toHex(*bytes));
  json.field("digest", toBase32(digest));
  json.endObject();
}

std::vector<int64_t> grit::digestSizes(const ArraySpec &spec,
                                       const PlaneSizes &sizes) {
  std::vector<int64_t> ordered(4, 0);
  for (unsigned i = 0; i < sizes.size(); ++i)
    ordered[planeSlot(spec.contract.description(), i)] = sizes[i];
  return ordered;
}
