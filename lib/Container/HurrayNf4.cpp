//===- HurrayNf4.cpp - the NF4 descriptor of Hurray -----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/HurrayNf4.h"
#include "grit/Format/Text.h"
#include <bit>
#include <cmath>

using namespace grit;
using namespace grit::hurray;

static constexpr std::string_view kNames[] = {
    "QuantizationDescriptorTooShort",
    "InvalidQuantizationSchemeTag",
    "ReservedQuantizationSchemeTag",
    "PrivateQuantizationSchemeTag",
    "UnknownQuantizationSchemeTag",
    "UnsupportedSchemeVersion",
    "ReservedQuantizationFlagsBits",
    "InvalidBlockSize",
    "InvalidQuantization",
    "QuantizationAxisOutOfBounds",
    "QuantizationShapeMismatch",
    "QuantizationBufferIndexOutOfRange",
    "QuantizationBufferAliasesData",
    "DeviceTagMismatch",
    "InvalidStorageTypeForScheme",
    "OtherQuantizationScheme",
    "ScaleBufferSizeMismatch",
    "InvalidScale"};

std::string_view hurray::faultName(Fault fault) {
  return kNames[static_cast<unsigned>(fault)];
}

static std::string str(uint64_t value) { return std::to_string(value); }

static DescriptorError makeFault(Fault fault, std::string message,
                                 std::string field, std::string declared,
                                 std::string found, std::string cause,
                                 std::string fix) {
  const bool isSize = fault == Fault::QuantizationShapeMismatch ||
                      fault == Fault::QuantizationAxisOutOfBounds ||
                      fault == Fault::ScaleBufferSizeMismatch;
  return {fault,
          {isSize ? Status::SizeMismatch : Status::GradeUnknown,
           std::string(faultName(fault)) + ": " + std::move(message),
           std::move(field), std::move(declared), std::move(found),
           std::move(cause), std::move(fix), -1}};
}

//===----------------------------------------------------------------------===//
// The 16 bytes
//===----------------------------------------------------------------------===//

static uint32_t read32(std::span<const uint8_t> bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;)
    value = value << 8 | bytes[at + i];
  return value;
}

static void write32(std::span<uint8_t> bytes, size_t at, uint32_t value) {
  for (size_t i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<uint8_t>(value >> 8 * i);
}

/// What a tag that is not NF4's says.
static DescriptorError wrongTag(uint8_t tag) {
  Fault fault = Fault::OtherQuantizationScheme;
  std::string message = "the tag is that of another scheme";
  if (tag == 0x00 || tag == 0xFF) {
    fault = Fault::InvalidQuantizationSchemeTag;
    message = "no scheme has this tag";
  } else if (tag >= 0xF0) {
    fault = Fault::PrivateQuantizationSchemeTag;
    message = "the tag is private to somebody";
  } else if (tag >= 0x60) {
    fault = Fault::ReservedQuantizationSchemeTag;
    message = "the tag is reserved";
  } else if (tag >= 0x06) {
    fault = Fault::UnknownQuantizationSchemeTag;
    message = "the tag is not assigned";
  }
  return makeFault(fault, std::move(message), "scheme_tag", "0x04 (NF4)",
                   hexWord(tag, 2),
                   "the tensor is quantized in another way, or the bytes are "
                   "damaged",
                   "read the descriptor with a reader of its scheme");
}

/// What the fields have to be, whoever writes them.
static std::optional<DescriptorError> checkFields(const Nf4Descriptor &d) {
  if (d.version > Nf4Descriptor::kVersion)
    return makeFault(Fault::UnsupportedSchemeVersion,
                     "the scheme has a later version", "scheme_version",
                     "at most 1", str(d.version),
                     "the file was written by newer software",
                     "use a reader that knows the version");
  if (d.blockSize < Nf4Descriptor::kLeastBlock ||
      !std::has_single_bit(d.blockSize))
    return makeFault(
        Fault::InvalidBlockSize, "the size of a block is not one that NF4 has",
        "block_size", "a power of two, 8 or more", str(d.blockSize),
        "the bytes are damaged", "quantize in blocks of 64 or 128");
  if (d.scaleBuffer == Nf4Descriptor::kNoBuffer)
    return makeFault(Fault::InvalidQuantization, "there is no scale buffer",
                     "scale_buffer_index", "less than 0xFFFFFFFF", "0xFFFFFFFF",
                     "NF4 has no form without scales",
                     "give the buffer of the scales");
  return std::nullopt;
}

Result<Nf4Descriptor> Nf4Descriptor::read(std::span<const uint8_t> bytes) {
  if (bytes.size() < kBytes)
    return tl::unexpected(makeFault(
        Fault::QuantizationDescriptorTooShort, "the descriptor is cut short",
        "descriptor", "16 bytes", str(bytes.size()) + " bytes",
        "the length before it is wrong, or the file is cut",
        "read the descriptor again"));
  if (bytes[0] != kTag)
    return tl::unexpected(wrongTag(bytes[0]));
  Nf4Descriptor d{read32(bytes, 4), read32(bytes, 8), read32(bytes, 12),
                  bytes[1]};
  const unsigned flags = bytes[2] | bytes[3] << 8;
  // The version comes before what a later one may mean by its flags.
  if (d.version <= kVersion && flags)
    return tl::unexpected(
        makeFault(Fault::ReservedQuantizationFlagsBits, "a flag is set",
                  "flags", "0x0000", hexWord(flags, 4), "NF4 defines no flags",
                  "write 0, or use a reader that knows the flag"));
  if (auto fault = checkFields(d))
    return tl::unexpected(std::move(*fault));
  return d;
}

Result<std::array<uint8_t, Nf4Descriptor::kBytes>>
Nf4Descriptor::write() const {
  if (auto fault = checkFields(*this))
    return tl::unexpected(std::move(*fault));
  std::array<uint8_t, kBytes> bytes{kTag, version};
  write32(bytes, 4, axis);
  write32(bytes, 8, blockSize);
  write32(bytes, 12, scaleBuffer);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Against the tensor
//===----------------------------------------------------------------------===//

static std::string extentText(uint64_t extent) {
  return extent == kDynamicExtent ? "dynamic" : str(extent);
}

std::optional<DescriptorError>
Nf4Descriptor::checkShape(std::span<const uint64_t> shape) const {
  if (axis >= shape.size())
    return makeFault(Fault::QuantizationAxisOutOfBounds,
                     "the quantized axis does not exist", "axis",
                     "less than the rank " + str(shape.size()), str(axis),
                     "the descriptor is that of another tensor",
                     "correct the axis or the shape");
  const uint64_t extent = shape[axis];
  if (extent != kDynamicExtent && (extent == 0 || extent >= blockSize))
    return std::nullopt;
  return makeFault(
      Fault::QuantizationShapeMismatch,
      "the quantized axis does not hold a block", "shape[" + str(axis) + "]",
      "0, or at least block_size=" + str(blockSize), extentText(extent),
      extent == kDynamicExtent
          ? "blocks of an axis are counted when it is written"
          : "the block is that of another axis",
      "choose a smaller block or another axis");
}

std::optional<DescriptorError>
Nf4Descriptor::checkBuffers(std::span<const Buffer> buffers,
                            uint32_t dataBuffer) const {
  for (uint32_t index : {scaleBuffer, dataBuffer})
    if (index >= buffers.size())
      return makeFault(
          Fault::QuantizationBufferIndexOutOfRange,
          "the tensor has no such buffer",
          index == scaleBuffer ? "scale_buffer_index" : "data buffer",
          "less than " + str(buffers.size()), str(index),
          "the buffer table is that of another tensor", "correct the index");
  if (scaleBuffer == dataBuffer)
    return makeFault(Fault::QuantizationBufferAliasesData,
                     "the scales are said to be in the buffer of the data",
                     "scale_buffer_index", "another than " + str(dataBuffer),
                     str(scaleBuffer), {}, "give the scales a buffer");
  const uint32_t device = buffers[dataBuffer].deviceTag;
  const uint32_t found = buffers[scaleBuffer].deviceTag;
  if (device == found)
    return std::nullopt;
  return makeFault(Fault::DeviceTagMismatch,
                   "the scales are on another device than the data",
                   "device tag of buffer " + str(scaleBuffer), str(device),
                   str(found), {}, "move the buffer");
}

std::optional<DescriptorError>
Nf4Descriptor::checkStorage(uint8_t typeTag) const {
  if (typeTag == kUint4Tag)
    return std::nullopt;
  return makeFault(Fault::InvalidStorageTypeForScheme,
                   "NF4 stores unsigned integers of four bits", "type_tag",
                   "0x49 (uint4)", hexWord(typeTag, 2),
                   "the tensor is not quantized to NF4", "correct the tag");
}

Result<uint64_t>
Nf4Descriptor::numBlocks(std::span<const uint64_t> shape) const {
  if (auto fault = checkShape(shape))
    return tl::unexpected(std::move(*fault));
  uint64_t blocks = shape[axis] / blockSize + (shape[axis] % blockSize != 0);
  bool overflowed = false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != axis)
      overflowed |= __builtin_mul_overflow(blocks, shape[i], &blocks);
  if (!overflowed && blocks <= UINT64_MAX / 4)
    return blocks;
  return tl::unexpected(
      makeFault(Fault::QuantizationShapeMismatch, "the scales exceed 64 bits",
                "shape", "less than 2^62 blocks", "more",
                "the extents are damaged", "correct the shape"));
}

std::optional<DescriptorError>
Nf4Descriptor::checkScales(std::span<const uint64_t> shape,
                           std::span<const uint8_t> scales) const {
  Result<uint64_t> blocks = numBlocks(shape);
  if (!blocks)
    return blocks.error();
  if (scales.size() != *blocks * 4)
    return makeFault(
        Fault::ScaleBufferSizeMismatch,
        "the scale buffer does not have a number per block", "scale buffer",
        str(*blocks * 4) + " bytes (" + str(*blocks) + " blocks)",
        str(scales.size()) + " bytes", "the buffer belongs to another tensor",
        "check the shape and the block size");
  for (size_t i = 0; i < *blocks; ++i) {
    const uint32_t word = read32(scales, i * 4);
    const float scale = std::bit_cast<float>(word);
    if (!std::isfinite(scale) || !(scale >= 0))
      return makeFault(Fault::InvalidScale, "a scale is not legal",
                       "scales[" + str(i) + "]", "a finite number, 0 or more",
                       hexWord(word, 8), "the bytes are damaged",
                       "quantize the tensor again");
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static Expected<Contract> contractOf(uint32_t blockSize) {
  return Contract::parse("hurray.nf4(block=" + std::to_string(blockSize) + ")");
}

Expected<ArraySpec>
Nf4Descriptor::arrayOf(std::span<const uint64_t> shape) const {
  if (auto fault = checkFields(*this))
    return tl::unexpected(std::move(fault->error));
  if (Result<uint64_t> blocks = numBlocks(shape); !blocks)
    return tl::unexpected(blocks.error().error);
  std::vector<int64_t> extents;
  for (uint64_t extent : shape) {
    if (extent > INT64_MAX)
      return makeError(Status::SizeMismatch, "an extent is not known", "shape",
                       "less than 2^63", extentText(extent), {},
                       "give the real extents");
    extents.push_back(static_cast<int64_t>(extent));
  }
  Expected<Contract> contract = contractOf(blockSize);
  if (!contract)
    return tl::unexpected(contract.error());
  return ArraySpec::get(std::move(*contract), std::move(extents),
                        static_cast<int>(axis));
}

Expected<Nf4Descriptor> Nf4Descriptor::of(const ArraySpec &spec,
                                          uint32_t scaleBuffer) {
  Nf4Descriptor d{static_cast<uint32_t>(spec.axis), 0, scaleBuffer};
  for (uint32_t block = kLeastBlock; block != 0; block <<= 1)
    if (Expected<Contract> contract = contractOf(block);
        contract && *contract == spec.contract)
      d.blockSize = block;
  if (d.blockSize == 0)
    return makeError(Status::GradeUnknown,
                     "the descriptor is that of another contract", "contract",
                     "hurray.nf4(block=N)", spec.contract.displayName(), {},
                     "convert the array to hurray.nf4");
  if (auto written = d.write(); !written)
    return tl::unexpected(written.error().error);
  return d;
}
