//===- SpecArrayTest.cpp - arrays and identities against the reference ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "SpecVectors.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fingerprint.h"

using namespace grit;
using namespace grit::test;

/// The descriptor of a vector, with its note.
static DescriptorBytes descriptorOf(const ArraySpec &spec,
                                    dom::element inputs) {
  auto bytes = spec.descriptor();
  if (!bytes)
    std::abort();
  Descriptor d = Descriptor::read(*bytes);
  d.note = static_cast<uint32_t>(numberOf(inputs, "note", 0));
  return d.write();
}

static std::string digestOf(const std::array<Bytes, 4> &slots) {
  std::vector<ByteSpan> spans(slots.begin(), slots.end());
  return toHex(digest(spans));
}

/// What encode gives, or the error of whatever refused first.
static Expected<std::vector<Bytes>> tryEncode(dom::element inputs) {
  Expected<ArraySpec> spec = specOf(inputs);
  if (!spec)
    return tl::unexpected(spec.error());
  return encode(*spec, floatsOf(textOf(inputs, "values")));
}

// Encode: planes, identities and the values that they decode to; refusals name
// the key (E13) and the value (E6).
TEST(SpecVectors, Array) {
  for (const SpecVector &vector : vectorsOf("array", 180)) {
    SCOPED_TRACE(vector.id);
    Expected<std::vector<Bytes>> planes = tryEncode(vector.inputs);
    if (vector.refused()) {
      EXPECT_FALSE(planes);
      EXPECT_FALSE(planes || planes.error().field.empty());
      continue;
    }
    ASSERT_TRUE(planes) << planes.error().str();
    ArraySpec spec = take(specOf(vector.inputs));
    std::array<Bytes, 4> slots = slotsOf(spec, *planes);
    std::vector<std::string> expected = textsOf(vector.expected, "planes");
    for (size_t i = 0; i < slots.size(); ++i)
      EXPECT_EQ(toHex(slots[i]), expected[i]) << "plane " << i;
    EXPECT_EQ(toHex(descriptorOf(spec, vector.inputs)),
              textOf(vector.expected, "desc_hex"));
    EXPECT_EQ(toHex(spec.gid()), textOf(vector.expected, "gid"));
    EXPECT_EQ(digestOf(slots), textOf(vector.expected, "digest"));
    expectSameBits(decodeAll(spec, *planes),
                   floatsOf(textOf(vector.expected, "decoded")), vector.id);
  }
}

static Expected<std::vector<float>> tryDecode(dom::element inputs) {
  Expected<ArraySpec> spec = specOf(inputs);
  if (!spec)
    return tl::unexpected(spec.error());
  std::vector<Bytes> planes = planesOf(*spec, inputs);
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  std::vector<float> values(spec->numElements());
  if (Expected<void> done = decode(*spec, spans, values); !done)
    return tl::unexpected(done.error());
  return values;
}

TEST(SpecVectors, Decode) {
  for (const SpecVector &vector : vectorsOf("decode", 100)) {
    SCOPED_TRACE(vector.id);
    Expected<std::vector<float>> values = tryDecode(vector.inputs);
    if (vector.refused()) {
      std::string reason = textOf(vector.expected, "refused");
      ASSERT_FALSE(values);
      if (reason == "SizeMismatch" || reason == "PlacementUnknown") {
        EXPECT_EQ(statusName(values.error().status), reason);
      }
      continue;
    }
    ASSERT_TRUE(values) << values.error().str();
    expectSameBits(*values, floatsOf(textOf(vector.expected, "decoded")),
                   vector.id);
    ArraySpec spec = take(specOf(vector.inputs));
    EXPECT_EQ(toHex(spec.gid()), textOf(vector.expected, "gid"));
    EXPECT_EQ(digestOf(slotsOf(spec, planesOf(spec, vector.inputs))),
              textOf(vector.expected, "digest"));
  }
}

TEST(SpecVectors, Gid) {
  for (const SpecVector &vector : vectorsOf("gid", 16)) {
    SCOPED_TRACE(vector.id);
    ArraySpec spec = take(specOf(vector.inputs, /*axisByDefault=*/0));
    EXPECT_EQ(toHex(descriptorOf(spec, vector.inputs)),
              textOf(vector.expected, "desc_hex"));
    EXPECT_EQ(toHex(spec.gid()), textOf(vector.expected, "gid"));
    EXPECT_EQ(toBase32(spec.gid()), textOf(vector.expected, "gid_base32"));
  }
}

TEST(SpecVectors, Descriptor) {
  for (const SpecVector &vector : vectorsOf("descriptor", 14)) {
    SCOPED_TRACE(vector.id);
    Expected<Contract> parsed = Contract::parse(textOf(vector.inputs, "grade"));
    if (vector.refused()) {
      EXPECT_FALSE(parsed);
      continue;
    }
    ASSERT_TRUE(parsed) << parsed.error().str();
    Descriptor d = take(Descriptor::fromGrade(*parsed->grade()));
    d.placements = parsed->canonicalPlacements();
    if (SpecVector::has(vector.inputs, "placements")) {
      std::vector<std::string> words = textsOf(vector.inputs, "placements");
      d.placements = {Placement(wordOf(words.at(0))),
                      Placement(wordOf(words.at(1))),
                      Placement(wordOf(words.at(2)))};
    }
    d.groupAxis =
        static_cast<int16_t>(numberOf(vector.inputs, "group_axis", 0));
    d.note = static_cast<uint32_t>(numberOf(vector.inputs, "note", 0));
    EXPECT_EQ(toHex(d.write()), textOf(vector.expected, "desc_hex"));
  }
}

/// A number of 64 bits, which the loader may have put in quotes.
static uint64_t unsignedOf(dom::element object, const char *key) {
  std::string_view text;
  if (!object[key].get(text))
    return std::stoull(std::string(text));
  int64_t number = 0;
  return object[key].get(number) ? uint64_t(object[key])
                                 : static_cast<uint64_t>(number);
}

TEST(SpecVectors, DescriptorFields) {
  for (const SpecVector &vector : vectorsOf("descriptor_fields", 8)) {
    SCOPED_TRACE(vector.id);
    Bytes bytes = golden::fromHex(textOf(vector.inputs, "desc_hex"));
    ASSERT_EQ(bytes.size(), 64u);
    Descriptor d = Descriptor::read(std::span<const uint8_t, 64>(bytes));
    EXPECT_EQ(toHex(d.write()), toHex(bytes));
    const std::pair<const char *, uint64_t> fields[] = {
        {"magic", d.magic},
        {"hdr_bytes", d.headerBytes},
        {"version", d.version},
        {"n_levels", d.levels},
        {"flags", d.flags},
        {"elem", d.elem.raw()},
        {"scale0", d.scale0.raw()},
        {"scale1", d.scale1.raw()},
        {"zp_fmt", d.zp.raw()},
        {"group_axis", static_cast<uint64_t>(int64_t(d.groupAxis))},
        {"k0", d.k0},
        {"k1", d.k1},
        {"sp_n", d.spN},
        {"sp_m", d.spM},
        {"sp_meta_fmt", d.spMetaFormat},
        {"sp_order", d.spOrder},
        {"container", d.container},
        {"frame_rsvd", d.frameReserved},
        {"note", d.note},
        {"placement_data", d.placements.data.raw()},
        {"placement_scale", d.placements.scale.raw()},
        {"placement_meta", d.placements.meta.raw()},
        {"grade_id", d.gradeId}};
    for (auto [name, value] : fields)
      EXPECT_EQ(value, unsignedOf(vector.expected, name)) << name;
  }
}

TEST(SpecVectors, Digest) {
  for (const SpecVector &vector : vectorsOf("digest", 4)) {
    SCOPED_TRACE(vector.id);
    std::vector<Bytes> planes;
    for (const std::string &plane : textsOf(vector.inputs, "planes"))
      planes.push_back(golden::fromHex(plane));
    std::vector<ByteSpan> spans(planes.begin(), planes.end());
    EXPECT_EQ(toHex(digest(spans)), textOf(vector.expected, "digest"));
  }
}

TEST(SpecVectors, Fingerprints) {
  for (const SpecVector &vector : vectorsOf("fingerprint", 4)) {
    Bytes bytes = golden::fromHex(textOf(vector.inputs, "hex"));
    Fnv128 hash;
    hash.update(bytes);
    EXPECT_EQ(toHex(hash.finish()), textOf(vector.expected, "fnv1a128"));
    EXPECT_EQ(
        fnv1a64({reinterpret_cast<const char *>(bytes.data()), bytes.size()}),
        wordOf(textOf(vector.expected, "fnv1a64")));
  }
}

TEST(SpecVectors, Base32) {
  for (const SpecVector &vector : vectorsOf("base32", 13)) {
    SCOPED_TRACE(vector.id);
    auto value = fromBase32(textOf(vector.inputs, "text"));
    ASSERT_EQ(!value, vector.refused());
    if (value) {
      EXPECT_EQ(toHex(*value), textOf(vector.expected, "bytes"));
    }
  }
}
