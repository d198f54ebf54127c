//===- Fingerprint.cpp - FNV-1a and Crockford base32 -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <optional>

using namespace grit;
using uint128 = unsigned __int128;

uint64_t grit::fnv1a64(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : bytes)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

/// The prime is 2^88 + 0x13b: a shift and two 64-bit multiplications.
static uint128 step(uint128 state, uint8_t byte) {
  state ^= byte;
  return (state << 88) + state * 0x13b;
}

void Fnv128::update(std::span<const uint8_t> bytes) {
  uint128 local = state;
  for (uint8_t byte : bytes)
    local = step(local, byte);
  state = local;
}

void Fnv128::update(std::string_view text) {
  for (char c : text)
    state = step(state, static_cast<uint8_t>(c));
}

void Fnv128::updateLE(uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    state = step(state, i < 8 ? static_cast<uint8_t>(value >> (8 * i)) : 0);
}

std::array<uint8_t, 16> Fnv128::finish() const {
  std::array<uint8_t, 16> result;
  for (unsigned i = 0; i < 16; ++i)
    result[i] = static_cast<uint8_t>(state >> (8 * (15 - i)));
  return result;
}

//===----------------------------------------------------------------------===//
// Digests
//===----------------------------------------------------------------------===//

namespace {

/// The pieces that the digest of an array hashes: for each plane its length,
/// then its bytes; four planes at least.
class Pieces {
public:
  explicit Pieces(std::span<const std::span<const uint8_t>> planes)
      : planes(planes) {}

  /// The next piece that is not empty; valid until the next call. False at the
  /// end.
  bool next(std::span<const uint8_t> &piece) {
    while (plane < std::max<size_t>(planes.size(), 4)) {
      std::span<const uint8_t> bytes;
      if (plane < planes.size())
        bytes = planes[plane];
      if (!inContent) {
        for (unsigned i = 0; i < 8; ++i)
          length[i] = static_cast<uint8_t>(uint64_t(bytes.size()) >> (8 * i));
        piece = length;
        inContent = true;
        return true;
      }
      inContent = false;
      ++plane;
      piece = bytes;
      if (!bytes.empty())
        return true;
    }
    return false;
  }

private:
  std::span<const std::span<const uint8_t>> planes;
  size_t plane = 0;
  bool inContent = false;
  std::array<uint8_t, 8> length{};
};

} // namespace

std::array<uint8_t, 16>
grit::digest(std::span<const std::span<const uint8_t>> planes) {
  Fnv128 hash;
  Pieces pieces(planes);
  std::span<const uint8_t> piece;
  while (pieces.next(piece))
    hash.update(piece);
  return hash.finish();
}

namespace grit {

/// Up to four chains that move on together. `Feed` has a member
/// `bool next(size_t lane, Fnv128 &hash, std::span<const uint8_t> &rest)`,
/// which is called when a lane has no bytes left: it takes the hash away and
/// gives the lane another one, or leaves it and gives it more; false when
/// nothing is left.
template <typename Feed> class FnvLanes {
public:
  explicit FnvLanes(Feed &feed) : feed(feed) {}

  void run() {
    while (fill()) {
      size_t count = SIZE_MAX;
      for (const Lane &lane : lanes)
        count = std::min(count, lane.rest.size());
      advanceAll(count);
    }
    // Fewer chains than lanes are left.
    for (size_t i = 0; i < lanes.size(); ++i)
      while (refill(i)) {
        lanes[i].hash.update(lanes[i].rest);
        lanes[i].rest = {};
      }
  }

private:
  struct Lane {
    Fnv128 hash;
    std::span<const uint8_t> rest;
    bool done = false;
  };

  bool refill(size_t i) {
    Lane &lane = lanes[i];
    while (lane.rest.empty() && !lane.done)
      lane.done = !feed.next(i, lane.hash, lane.rest);
    return !lane.done;
  }

  bool fill() {
    bool allBusy = true;
    for (size_t i = 0; i < lanes.size(); ++i)
      allBusy &= refill(i);
    return allBusy;
  }

  void advanceAll(size_t count) {
    uint128 a = lanes[0].hash.state, b = lanes[1].hash.state;
    uint128 c = lanes[2].hash.state, d = lanes[3].hash.state;
    const uint8_t *p = lanes[0].rest.data(), *q = lanes[1].rest.data();
    const uint8_t *r = lanes[2].rest.data(), *s = lanes[3].rest.data();
    for (size_t i = 0; i < count; ++i) {
      a = step(a, p[i]);
      b = step(b, q[i]);
      c = step(c, r[i]);
      d = step(d, s[i]);
    }
    const uint128 states[] = {a, b, c, d};
    for (size_t i = 0; i < 4; ++i) {
      lanes[i].hash.state = states[i];
      lanes[i].rest = lanes[i].rest.subspan(count);
    }
  }

  Feed &feed;
  std::array<Lane, 4> lanes;
};

} // namespace grit

namespace {

/// Gives lanes whole arrays, piece by piece.
class ArrayFeed {
public:
  ArrayFeed(std::span<const std::span<const std::span<const uint8_t>>> arrays,
            std::vector<std::array<uint8_t, 16>> &results)
      : arrays(arrays), results(results) {}

  bool next(size_t lane, Fnv128 &hash, std::span<const uint8_t> &rest) {
    Work &work = works[lane];
    if (work.pieces) {
      if (work.pieces->next(rest))
        return true;
      results[work.array] = hash.finish();
      work.pieces.reset();
    }
    if (nextArray == arrays.size())
      return false;
    work.array = nextArray++;
    work.pieces.emplace(arrays[work.array]);
    hash = Fnv128();
    return true;
  }

private:
  struct Work {
    std::optional<Pieces> pieces;
    size_t array = 0;
  };
  std::span<const std::span<const std::span<const uint8_t>>> arrays;
  std::vector<std::array<uint8_t, 16>> &results;
  size_t nextArray = 0;
  std::array<Work, 4> works;
};

/// Gives lanes one piece for each hash, the longest first, so that the lanes
/// end at about the same time.
class UpdateFeed {
public:
  explicit UpdateFeed(std::span<const HashUpdate> updates)
      : updates(updates.begin(), updates.end()) {
    std::ranges::sort(this->updates, std::ranges::greater(),
                      [](const HashUpdate &u) { return u.bytes.size(); });
  }

  bool next(size_t lane, Fnv128 &hash, std::span<const uint8_t> &rest) {
    if (current[lane])
      *current[lane]->hash = hash;
    current[lane] = nullptr;
    if (nextUpdate == updates.size())
      return false;
    current[lane] = &updates[nextUpdate++];
    hash = *current[lane]->hash;
    rest = current[lane]->bytes;
    return true;
  }

private:
  std::vector<HashUpdate> updates;
  size_t nextUpdate = 0;
  std::array<const HashUpdate *, 4> current{};
};

} // namespace

std::vector<std::array<uint8_t, 16>> grit::digests(
    std::span<const std::span<const std::span<const uint8_t>>> arrays) {
  std::vector<std::array<uint8_t, 16>> results(arrays.size());
  ArrayFeed feed(arrays, results);
  FnvLanes(feed).run();
  return results;
}

void grit::updateTogether(std::span<const HashUpdate> updates) {
  UpdateFeed feed(updates);
  FnvLanes(feed).run();
}

static constexpr std::string_view kAlphabet =
    "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

std::string grit::toBase32(const std::array<uint8_t, 16> &value) {
  uint128 number = 0;
  for (uint8_t byte : value)
    number = number << 8 | byte;
  std::string text(26, '0');
  for (size_t i = text.size(); i-- > 0; number >>= 5)
    text[i] = kAlphabet[static_cast<unsigned>(number & 31)];
  return text;
}

/// The value of a symbol, or -1.
static int symbolValue(char c) {
  if (c >= 'a' && c <= 'z')
    c = static_cast<char>(c - 'a' + 'A');
  if (c == 'I' || c == 'L')
    return 1;
  if (c == 'O')
    return 0;
  size_t position = kAlphabet.find(c);
  return position == std::string_view::npos ? -1 : static_cast<int>(position);
}

Expected<std::array<uint8_t, 16>> grit::fromBase32(std::string_view text) {
  auto refuse = [&](std::string why) {
    return makeError(Status::DigestMismatch, std::move(why), "base32",
                     "26 Crockford symbols, the first one 0 to 7",
                     quoteText(text), "the text was cut or mistyped",
                     "copy the whole fingerprint again");
  };
  uint128 number = 0;
  unsigned symbols = 0;
  for (char c : text) {
    if (c == '-') // people group the symbols
      continue;
    int value = symbolValue(c);
    if (value < 0)
      return refuse("the fingerprint has a symbol that base32 does not have");
    if (symbols == 0 && value > 7)
      return refuse("the fingerprint does not fit 128 bits");
    if (++symbols > 26)
      return refuse("the fingerprint is longer than 26 symbols");
    number = number << 5 | static_cast<unsigned>(value);
  }
  if (symbols != 26)
    return refuse("the fingerprint is shorter than 26 symbols");
  std::array<uint8_t, 16> result;
  for (unsigned i = 0; i < 16; ++i)
    result[i] = static_cast<uint8_t>(number >> (8 * (15 - i)));
  return result;
}

std::string grit::toHex(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    text.push_back("0123456789abcdef"[byte >> 4]);
    text.push_back("0123456789abcdef"[byte & 15]);
  }
  return text;
}
