//===- Fingerprint.h - FNV-1a and Crockford base32 -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_FINGERPRINT_H
#define GRIT_FORMAT_FINGERPRINT_H

#include "grit/Format/Status.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// FNV-1a-64 (grade and format ids).
uint64_t fnv1a64(std::string_view bytes);

/// Streaming FNV-1a-128 (gids and digests).
class Fnv128 {
public:
  void update(std::span<const uint8_t> bytes);
  void update(std::string_view text);
  void updateLE(uint64_t value, unsigned bytes);
  /// Sixteen bytes, big-endian.
  std::array<uint8_t, 16> finish() const;

private:
  template <typename Feed> friend class FnvLanes;
  unsigned __int128 state =
      (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) |
      0x62b821756295c58d;
};

/// FNV-1a-128 over data, scale0, scale1, aux, each as u64le(length) then
/// content; an absent plane contributes a zero length (GRIT v1, section 6).
std::array<uint8_t, 16>
digest(std::span<const std::span<const uint8_t>> planes);

/// The digests of several arrays, given the planes of each. Every chain of
/// FNV-1a waits for its last multiplication, so four are computed at once; the
/// results are those of `digest`.
std::vector<std::array<uint8_t, 16>>
digests(std::span<const std::span<const std::span<const uint8_t>>> arrays);

/// The bytes that a hash is to take next.
struct HashUpdate {
  Fnv128 *hash;
  std::span<const uint8_t> bytes;
};

/// The same as `hash->update(bytes)` for each, four chains at a time. For
/// digests of arrays that are read in pieces, of any lengths: each hash takes
/// the length of a plane by `updateLE(length, 8)` and then its pieces (B27). No
/// two updates may name one hash.
void updateTogether(std::span<const HashUpdate> updates);

/// 26 Crockford symbols, upper case.
std::string toBase32(const std::array<uint8_t, 16> &value);
Expected<std::array<uint8_t, 16>> fromBase32(std::string_view text);

std::string toHex(std::span<const uint8_t> bytes);

} // namespace grit

#endif // GRIT_FORMAT_FINGERPRINT_H
