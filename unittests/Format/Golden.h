//===- Golden.h - spec/conformance/grit-golden.json for tests -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_GOLDEN_H
#define GRIT_UNITTESTS_FORMAT_GOLDEN_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grit::golden {

using Bytes = std::vector<uint8_t>;
/// data, scale0, scale1, aux.
using Planes = std::array<Bytes, 4>;
/// binary32 bit patterns.
using Bits = std::vector<uint32_t>;

struct Grade {
  std::string name; ///< "GRADE_MXFP4", ...
  std::string canonical;
  uint64_t id = 0;
  std::string decodeProjection;
  Bytes descriptor;
};

/// An entry of `vectors`, `decode_only` (no inputs) or `resolution`.
struct Vector {
  std::string name, grade;
  std::vector<int64_t> shape;
  Bytes descriptor;
  Bits inputs;
  std::array<int64_t, 4> planeBytes{};
  Planes planes;
  Bytes gid;
  std::string gidBase32;
  Bytes digest;
  Bits decoded;
  /// What encode must give where the package's own encoder is not normative.
  bool encodeNormative = true;
  Planes rtzPlanes;
  Bits rtzDecoded;
  Bytes rtzDigest;
  /// The status of a level-2 check, for `decode_only`.
  std::string level2 = "Ok";

  /// The planes that encode must write, and their decoded values.
  const Planes &encodedPlanes() const {
    return encodeNormative ? planes : rtzPlanes;
  }
  const Bits &encodedValues() const {
    return encodeNormative ? decoded : rtzDecoded;
  }
};

struct Check {
  std::string name;
  Bytes descriptor;
  std::vector<int64_t> shape;
  std::vector<int64_t> planeBytes;
  int level = 1;
  std::optional<Planes> planes;
  std::optional<Bytes> digest;
  std::string status;
  int code = 0, step = 0;
};

struct GradeString {
  std::string text;
  std::optional<std::string> canonical; ///< absent: must be rejected
  uint64_t id = 0;
  std::string why;
};

struct FmtDecode {
  std::string name;
  uint16_t word = 0;
  std::vector<uint32_t> codes;
  Bits values;
};

struct FmtEncode {
  uint16_t word = 0;
  std::string saturation;
  /// Input bits and the code; no code: must be rejected.
  std::vector<std::pair<uint32_t, std::optional<uint32_t>>> cases;
};

struct Base32 {
  std::string text;
  std::optional<Bytes> value; ///< absent: must be rejected
};

struct Supersedes {
  std::string name;
  Bytes payload, descriptorA, descriptorB;
  Bits decoded;
  bool equalProjections = false;
};

struct File {
  std::vector<Grade> grades;
  std::vector<Vector> vectors, decodeOnly, resolution;
  std::vector<Check> checks;
  std::vector<GradeString> gradeStrings;
  std::vector<FmtDecode> fmtDecode;
  std::vector<FmtEncode> fmtEncode;
  std::vector<Base32> base32;
  std::vector<Supersedes> supersedes;
};

/// The whole file, read once. Ends the process with a message when the file is
/// missing or not of the expected form: no test may pass without its data.
const File &file();

/// The bytes of a hex string; ends the process on anything else.
Bytes fromHex(std::string_view hex);
/// The values of bit patterns.
std::vector<float> toFloats(std::span<const uint32_t> bits);

} // namespace grit::golden

#endif // GRIT_UNITTESTS_FORMAT_GOLDEN_H
