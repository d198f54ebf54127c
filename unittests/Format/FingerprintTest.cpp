//===- FingerprintTest.cpp - FNV-1a and Crockford base32 -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Fingerprint.h"
#include "Golden.h"
#include <gtest/gtest.h>
#include <random>

using namespace grit;

static std::string fnv128(std::string_view text) {
  Fnv128 hash;
  hash.update(text);
  return toHex(hash.finish());
}

// (B20)
TEST(Fingerprint, PublishedHashes) {
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(fnv128(""), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(fnv128("a"), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(fnv128("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}

// (B27)
TEST(Fingerprint, StreamingAgrees) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(1000);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
  Fnv128 whole, parts;
  whole.update(bytes);
  std::span<const uint8_t> rest = bytes;
  while (!rest.empty()) {
    size_t count = std::min<size_t>(rest.size(), random() % 50);
    parts.update(rest.first(count));
    rest = rest.subspan(count);
  }
  EXPECT_EQ(whole.finish(), parts.finish());
}

// (B26)
TEST(Fingerprint, DigestsOfGoldenVectors) {
  auto expectDigest = [](const golden::Planes &planes,
                         const golden::Bytes &expected,
                         const std::string &name) {
    std::span<const uint8_t> spans[4];
    for (size_t i = 0; i < 4; ++i)
      spans[i] = planes[i];
    EXPECT_EQ(toHex(digest(spans)), toHex(expected)) << name;
  };
  const golden::File &file = golden::file();
  for (const auto *list : {&file.vectors, &file.decodeOnly, &file.resolution})
    for (const golden::Vector &v : *list) {
      expectDigest(v.planes, v.digest, v.name);
      if (!v.encodeNormative)
        expectDigest(v.rtzPlanes, v.rtzDigest, v.name);
    }
}

// (B26)
TEST(Fingerprint, AbsentPlanesCountAsLengthZero) {
  std::string empty = "28ee198ca550ba36979ea053be3dc70d";
  std::span<const uint8_t> none[4];
  EXPECT_EQ(toHex(digest(none)), empty);
  EXPECT_EQ(toHex(digest({})), empty);
}

// (B25)
TEST(Fingerprint, GoldenBase32) {
  for (const golden::Base32 &entry : golden::file().base32) {
    auto value = fromBase32(entry.text);
    ASSERT_EQ(value.has_value(), entry.value.has_value()) << entry.text;
    if (value) {
      EXPECT_EQ(toHex(*value), toHex(*entry.value)) << entry.text;
    } else {
      EXPECT_FALSE(value.error().message.empty());
    }
  }
  for (const golden::Vector &v : golden::file().vectors) {
    std::array<uint8_t, 16> gid;
    std::copy(v.gid.begin(), v.gid.end(), gid.begin());
    EXPECT_EQ(toBase32(gid), v.gidBase32);
  }
}

// (B24)
TEST(Fingerprint, Base32RoundTrip) {
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    std::array<uint8_t, 16> value;
    for (uint8_t &byte : value)
      byte = static_cast<uint8_t>(random());
    auto again = fromBase32(toBase32(value));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, value);
  }
}

// Piece by piece and all at once give the same (B27).
TEST(Digest, PieceByPiece) {
  std::vector<uint8_t> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 37 + i / 7);
  Fnv128 whole;
  whole.update(bytes);
  for (size_t step : {1, 3, 64, 999}) {
    Fnv128 hash;
    for (size_t at = 0; at < bytes.size(); at += step)
      hash.update(std::span(bytes).subspan(at, std::min(step, 1000 - at)));
    EXPECT_EQ(hash.finish(), whole.finish()) << step;
  }
}

// Four chains at once give what one after the other gives, for any number of
// arrays with planes of any length (B26).
TEST(Digest, SeveralArraysAtOnce) {
  std::mt19937 random(5);
  for (size_t count : {0, 1, 2, 3, 4, 5, 9, 40}) {
    std::vector<std::vector<std::vector<uint8_t>>> contents(count);
    std::vector<std::vector<std::span<const uint8_t>>> planes(count);
    std::vector<std::span<const std::span<const uint8_t>>> arrays;
    std::vector<std::array<uint8_t, 16>> expected;
    for (size_t i = 0; i < count; ++i) {
      contents[i].resize(random() % 6);
      for (auto &plane : contents[i]) {
        plane.resize(random() % 3 ? random() % 300 : 0);
        for (uint8_t &byte : plane)
          byte = static_cast<uint8_t>(random());
      }
      planes[i].assign(contents[i].begin(), contents[i].end());
      arrays.push_back(planes[i]);
      expected.push_back(digest(planes[i]));
    }
    EXPECT_EQ(digests(arrays), expected) << count;
  }
}

/// Arrays that are read in pieces of different lengths, several at a time, have
/// the digests of the whole (B27).
TEST(Fingerprint, PiecesOfManyArrays) {
  std::mt19937 random(7);
  for (size_t count : {0, 1, 3, 4, 5, 9}) {
    std::vector<std::vector<uint8_t>> planes(count);
    std::vector<Fnv128> hashes(count);
    std::vector<std::span<const uint8_t>> rest;
    for (size_t i = 0; i < count; ++i) {
      planes[i].resize(random() % 5000);
      for (uint8_t &byte : planes[i])
        byte = static_cast<uint8_t>(random());
      hashes[i].updateLE(planes[i].size(), 8);
      rest.emplace_back(planes[i]);
    }
    for (bool more = true; more;) {
      std::vector<HashUpdate> updates;
      more = false;
      for (size_t i = 0; i < count; ++i) {
        size_t length = std::min<size_t>(rest[i].size(), random() % 700);
        updates.push_back({&hashes[i], rest[i].first(length)});
        rest[i] = rest[i].subspan(length);
        more |= !rest[i].empty();
      }
      updateTogether(updates);
    }
    for (size_t i = 0; i < count; ++i) {
      hashes[i].updateLE(0, 8);
      hashes[i].updateLE(0, 8);
      hashes[i].updateLE(0, 8);
      std::span<const uint8_t> plane = planes[i];
      EXPECT_EQ(hashes[i].finish(), digest({&plane, 1})) << i;
    }
  }
}
