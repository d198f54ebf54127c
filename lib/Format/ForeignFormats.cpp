//===- ForeignFormats.cpp - the table of formats that are no grades -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data only: bit addresses, levels and groups, checked one by one against the
// equations of their owners by unittests/Format. Bits are counted from the
// least significant bit of a block's first byte.
//
//===----------------------------------------------------------------------===//

#include "ForeignFormats.h"
#include <bit>

using namespace grit;

/// ggml's MXFP4 scale byte: 2^(e - 127) for every e, 255 included.
static constexpr FormatWord kExponentByte{0x4007};

/// The one plane of an array of structs.
static PlaneInfo blocks(int64_t elements, int64_t bits) {
  return {"blocks", elements, bits, 0};
}

static Level levels(FormatWord word, int64_t plus = 0) {
  return {Number{word, 0, 1, plus}};
}
static Level levels(std::vector<float> table) {
  return {Number{{}, 0, 1, 0, std::move(table)}};
}

/// Codes of four bits in blocks of 32: the first 16 elements are the low
/// nibbles of 16 bytes that start at bit `base`, the last 16 the high nibbles.
static BitField splitNibbles(int64_t base, int64_t blockBits) {
  return {0, {{base, 4, 0, {{32, 0, blockBits}, {16, 2, 4}, {1, 16, 8}}}}};
}

/// A number per block.
static Factor perBlock(std::string name, Number number, int64_t base,
                       int64_t group, int64_t blockBits) {
  return {std::move(name),
          number,
          {0, {{base, number.word.width(), 0, {{1, 0, blockBits}}}}},
          group,
          ElementOrder::RowMajor};
}

/// One scale before 32 codes: Q4_0, Q8_0, MXFP4, IQ4_NL.
static FormatDescription block32(Number scale, BitField codes, Level level,
                                 EncodeRule rule) {
  int64_t scaleBits = scale.word.width();
  int64_t blockBits = scaleBits + 32 * int64_t(codes.width());
  FormatDescription desc;
  desc.planes = {blocks(32, blockBits)};
  desc.codes = std::move(codes);
  desc.level = std::move(level);
  desc.scales = {perBlock("d", scale, 0, 32, blockBits)};
  desc.encoding.rule = rule;
  desc.axisMultiple = 32;
  return desc;
}

static FormatDescription ggufQ4_0(int64_t) {
  return block32({words::Binary16, 0}, splitNibbles(16, 144),
                 levels(words::U4, -8), EncodeRule::GgmlSignedMax);
}

static FormatDescription ggufQ8_0(int64_t) {
  BitField codes{0, {{16, 8, 0, {{32, 0, 272}, {1, 32, 8}}}}};
  return block32({words::Binary16, 0}, std::move(codes), levels(words::S8),
                 EncodeRule::GgmlAbsMax);
}

static FormatDescription ggufMxfp4(int64_t) {
  // Twice the values of E2M1, under half the scale. Code 8 is +0.
  return block32(
      {kExponentByte, -1}, splitNibbles(8, 136),
      levels({0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}),
      EncodeRule::GgmlExp2);
}

static FormatDescription ggufIq4Nl(int64_t) {
  return block32({words::Binary16, 0}, splitNibbles(16, 144),
                 levels({-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25,
                         38, 53, 69, 89, 113}),
                 EncodeRule::GgmlTableSearch);
}

static FormatDescription ggufQ4K(int64_t) {
  // d, dmin, eight scales and eight minima of six bits in twelve bytes, then
  // 128 bytes of codes. Of the scales and minima of a block, numbers 0 to 3 lie
  // in the low six bits of a byte each (scales in bytes 0 to 3, minima in 4 to
  // 7); of 4 to 7, the low four bits share the last four bytes and the high two
  // bits are the top of the first eight.
  constexpr int64_t kBlock = 144 * 8, kScales = 4 * 8, kMins = 8 * 8;
  const Digit block{8, 0, kBlock}, byte{1, 4, 8};
  BitField scaleBits{0,
                     {{kScales, 4, 0, {block, {4, 2, 64}, byte}},
                      {kScales + 4, 2, 4, {block, {4, 2, 2}, byte}}}};
  BitField minBits{0,
                   {{kMins, 4, 0, {block, {4, 2, 36}, byte}},
                    {kMins + 4, 2, 4, {block, {4, 2, 2}, byte}}}};
  // Runs of 64: the first 32 are the low nibbles of 32 bytes, the rest the
  // high ones.
  BitField codes{
      0,
      {{128, 4, 0, {{256, 0, kBlock}, {64, 4, 256}, {32, 2, 4}, {1, 32, 8}}}}};

  const Number half{words::Binary16, 0}, six{words::U6, 0};
  FormatDescription desc;
  desc.planes = {blocks(256, kBlock)};
  desc.codes = std::move(codes);
  desc.level = levels(words::U4);
  desc.scales = {perBlock("d", half, 0, 256, kBlock),
                 {"sc", six, std::move(scaleBits), 32, ElementOrder::RowMajor}};
  desc.offset.kind = Offset::Kind::Minimum;
  desc.offset.factors = {
      perBlock("dmin", half, 16, 256, kBlock),
      {"m", six, std::move(minBits), 32, ElementOrder::RowMajor}};
  desc.encoding.rule = EncodeRule::GgmlAffineSearch;
  desc.axisMultiple = 256;
  return desc;
}

/// Quantiles of a normal distribution, as QLoRA published them.
static std::vector<float> nf4Levels() {
  static constexpr uint32_t values[] = {
      0xBF800000, 0xBF3239B1, 0xBF066B30, 0xBECA32A0, 0xBE91A24D, 0xBE3D353F,
      0xBDBA7871, 0x00000000, 0x3DA2FAFF, 0x3E24CAE3, 0x3E7C04DD, 0x3EAD033A,
      0x3EE1A4B8, 0x3F1007AB, 0x3F3913B3, 0x3F800000};
  std::vector<float> table;
  for (uint32_t word : values)
    table.push_back(std::bit_cast<float>(word));
  return table;
}

static FormatDescription hurrayNf4(int64_t block) {
  FormatDescription desc;
  desc.planes = {{"data", 1, 4, 0}, {"scale", block, 32, 1}};
  desc.codes = {0, {{0, 4, 0, {{1, 0, 4}}}}};
  desc.level = levels(nf4Levels());
  desc.scales = {{"s",
                  {words::Binary32, 0},
                  {1, {{0, 32, 0, {{1, 0, 32}}}}},
                  block,
                  ElementOrder::AxisFastest}};
  desc.encoding.rule = EncodeRule::TableAbsMax;
  desc.axisMultiple = block;
  return desc;
}

std::span<const ForeignFormat> grit::foreignFormats() {
  constexpr Placements kBlocks{placements::BlockAos, {}, {}};
  constexpr Placements kTwoPlanes{
      placements::RowMajor, placements::RowMajor, {}};
  static const ForeignFormat table[] = {
      {"gguf.q4_0",
       "ggml's Q4_0: blocks of 32 four-bit codes less 8 under a binary16 scale",
       kBlocks,
       {},
       0,
       0,
       0,
       ggufQ4_0},
      {"gguf.q4_k",
       "ggml's Q4_K: super-blocks of 8 x 32 four-bit codes with six-bit scales "
       "and minima under two binary16 factors",
       kBlocks,
       {},
       0,
       0,
       0,
       ggufQ4K},
      {"gguf.q8_0",
       "ggml's Q8_0: blocks of 32 signed bytes under a binary16 scale",
       kBlocks,
       {},
       0,
       0,
       0,
       ggufQ8_0},
      {"gguf.mxfp4",
       "ggml's MXFP4: blocks of 32 FP4 codes, without a negative zero, under a "
       "power of two",
       kBlocks,
       {},
       0,
       0,
       0,
       ggufMxfp4},
      {"gguf.iq4_nl",
       "ggml's IQ4_NL: blocks of 32 codes into a table of 16 integers under a "
       "binary16 scale",
       kBlocks,
       {},
       0,
       0,
       0,
       ggufIq4Nl},
      {"hurray.nf4",
       "Hurray's NF4: codes into QLoRA's 16 normal quantiles under a binary32 "
       "scale per block of the axis",
       kTwoPlanes, "block", 64, 8, int64_t(1) << 31, hurrayNf4},
  };
  return table;
}
