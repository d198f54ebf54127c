//===- Bindings.h - what the files of _core share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// _core is the thin half of the package: it hands numbers and byte buffers to
// lib/Format and lib/Container, and turns their errors into exceptions. What
// Python does better (accepting many kinds of arguments, naming dtypes) is in
// the Python files of grit_mlir.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_PYTHON_BINDINGS_H
#define GRIT_PYTHON_BINDINGS_H

#include "grit/Format/Codec.h"
#include "grit/Format/Contract.h"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <vector>

namespace grit::python {

namespace nb = nanobind;

/// One plane on its way in: bytes that are only read.
using PlaneArg =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// Bytes on their way out.
using BytesOut = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>;
using BytesView = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;

/// Throws `error` as the exception of its status (grit_mlir._errors).
[[noreturn]] void raise(const Error &error);

/// The value, or the exception.
template <typename T> T unwrap(Expected<T> result) {
  if (!result)
    raise(result.error());
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

/// Text that may hold bytes from a file. Bytes that are not UTF-8 become lone
/// surrogates, as in Python's own file names.
nb::str toStr(std::string_view text);

nb::bytes toBytes(std::span<const uint8_t> bytes);
/// The 16 bytes of a digest; another length is a DigestMismatch.
std::optional<std::array<uint8_t, 16>>
toDigest(const std::optional<nb::bytes> &bytes);

/// The planes as spans, in their order.
std::vector<ByteSpan> toSpans(const std::vector<PlaneArg> &planes);

/// A NumPy array that takes over `bytes`.
BytesOut toArray(std::vector<uint8_t> bytes);

// Each file adds its part.
void bindContracts(nb::module_ &m);
void bindSpecs(nb::module_ &m);
void bindFiles(nb::module_ &m);
void bindCheckpoints(nb::module_ &m);
void bindNinfer(nb::module_ &m);

/// How a quantize departs from its contract.
EncodeOptions toEncodeOptions(
    const std::optional<nb::ndarray<const float, nb::ndim<1>, nb::c_contig,
                                    nb::device::cpu>> &importance,
    const std::optional<std::string> &rule, bool negativeScales);

} // namespace grit::python

#endif // GRIT_PYTHON_BINDINGS_H
