//===- HurrayNf4.h - the NF4 descriptor of Hurray -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hurray says in 16 bytes of a tensor's descriptor along which axis and in what
// blocks a tensor is quantized to NF4, and which buffer has the scales.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_HURRAYNF4_H
#define GRIT_CONTAINER_HURRAYNF4_H

#include "grit/Format/Contract.h"
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace grit::hurray {

/// What can be wrong with a descriptor. All but the last three are errors of
/// Hurray's own reader, under its names.
enum class Fault : uint8_t {
  QuantizationDescriptorTooShort,
  InvalidQuantizationSchemeTag,
  ReservedQuantizationSchemeTag,
  PrivateQuantizationSchemeTag,
  UnknownQuantizationSchemeTag,
  UnsupportedSchemeVersion,
  ReservedQuantizationFlagsBits,
  InvalidBlockSize,
  InvalidQuantization,
  QuantizationAxisOutOfBounds,
  QuantizationShapeMismatch,
  QuantizationBufferIndexOutOfRange,
  QuantizationBufferAliasesData,
  DeviceTagMismatch,
  InvalidStorageTypeForScheme,
  // Rules of the format that Hurray's reader does not verify, and the schemes
  // that grit does not read.
  OtherQuantizationScheme,
  ScaleBufferSizeMismatch,
  InvalidScale,
};

/// "InvalidBlockSize".
std::string_view faultName(Fault fault);

/// An error, whose message begins with the name of the fault.
struct DescriptorError {
  Fault fault;
  Error error;
};
template <typename T> using Result = tl::expected<T, DescriptorError>;

/// A buffer of the tensor's buffer table, as far as descriptors speak of it.
struct Buffer {
  uint32_t deviceTag = 0;
  uint64_t bytes = 0;
};

/// An extent that is only known when the data is there.
inline constexpr uint64_t kDynamicExtent = ~uint64_t(0);
/// The type tag of uint4, the only storage type of NF4.
inline constexpr uint8_t kUint4Tag = 0x49;

struct Nf4Descriptor {
  static constexpr size_t kBytes = 16;
  static constexpr uint8_t kTag = 0x04, kVersion = 0x01;
  static constexpr uint32_t kLeastBlock = 8, kNoBuffer = 0xFFFFFFFF;

  uint32_t axis = 0;
  uint32_t blockSize = 64;
  uint32_t scaleBuffer = 1; ///< its index in the tensor's buffer table
  uint8_t version = kVersion;

  /// Reads the first 16 bytes. A later version is refused, an earlier one is
  /// not; what follows the 16 bytes is padding.
  static Result<Nf4Descriptor> read(std::span<const uint8_t> bytes);
  /// Refuses values that no descriptor has.
  Result<std::array<uint8_t, kBytes>> write() const;

  /// Whether the tensor can have this descriptor: the axis exists, and is empty
  /// or holds a block; no extent of it is dynamic.
  std::optional<DescriptorError>
  checkShape(std::span<const uint64_t> shape) const;
  /// Whether the scales are in another buffer than the data, on its device.
  std::optional<DescriptorError> checkBuffers(std::span<const Buffer> buffers,
                                              uint32_t dataBuffer) const;
  std::optional<DescriptorError> checkStorage(uint8_t typeTag) const;
  /// Whether there is one finite scale, 0 or more, for each block.
  std::optional<DescriptorError>
  checkScales(std::span<const uint64_t> shape,
              std::span<const uint8_t> scales) const;

  /// The number of scales of a shape that checkShape accepts; a short last
  /// block counts.
  Result<uint64_t> numBlocks(std::span<const uint64_t> shape) const;

  /// The array of such a tensor: its planes are the data and the scales. A
  /// shape with a short last block is refused.
  Expected<ArraySpec> arrayOf(std::span<const uint64_t> shape) const;
  /// The descriptor of an array of the contract hurray.nf4.
  static Expected<Nf4Descriptor> of(const ArraySpec &spec,
                                    uint32_t scaleBuffer);

  friend bool operator==(const Nf4Descriptor &,
                         const Nf4Descriptor &) = default;
};

} // namespace grit::hurray

#endif // GRIT_CONTAINER_HURRAYNF4_H
