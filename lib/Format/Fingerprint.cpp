//===- Fingerprint.cpp - FNV-1a and Crockford base32 -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"

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

std::array<uint8_t, 16>
grit::digest(std::span<const std::span<const uint8_t>> planes) {
  Fnv128 hash;
  for (size_t i = 0; i < planes.size() || i < 4; ++i) {
    std::span<const uint8_t> plane;
    if (i < planes.size())
      plane = planes[i];
    hash.updateLE(plane.size(), 8);
    hash.update(plane);
  }
  return hash.finish();
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
