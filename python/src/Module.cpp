//===- Module.cpp - the extension module grit_mlir._core -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include <cstring>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

using namespace grit;
using namespace grit::python;

void grit::python::raise(const Error &error) {
  nb::dict detail;
  detail["message"] = toStr(error.message);
  detail["field"] = toStr(error.field);
  detail["declared"] = toStr(error.declared);
  detail["found"] = toStr(error.found);
  detail["cause"] = toStr(error.cause);
  detail["fix"] = toStr(error.fix);
  detail["plane"] =
      error.plane < 0 ? nb::object(nb::none()) : nb::cast(error.plane);
  nb::object make = nb::module_::import_("grit_mlir._errors").attr("make");
  nb::object exception =
      make(static_cast<int>(error.status), toStr(error.str()), detail);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw nb::python_error();
}

nb::str grit::python::toStr(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::bytes grit::python::toBytes(std::span<const uint8_t> bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

std::optional<std::array<uint8_t, 16>>
grit::python::toDigest(const std::optional<nb::bytes> &bytes) {
  if (!bytes)
    return std::nullopt;
  std::array<uint8_t, 16> digest;
  if (bytes->size() != digest.size())
    raise({Status::DigestMismatch,
           "a digest has 16 bytes",
           "digest",
           "16 bytes",
           std::to_string(bytes->size()) + " bytes",
           {},
           {}});
  std::memcpy(digest.data(), bytes->data(), digest.size());
  return digest;
}

std::vector<ByteSpan>
grit::python::toSpans(const std::vector<PlaneArg> &planes) {
  std::vector<ByteSpan> spans;
  for (const PlaneArg &plane : planes)
    spans.emplace_back(plane.data(), plane.size());
  return spans;
}

BytesOut grit::python::toArray(std::vector<uint8_t> bytes) {
  auto *owned = new std::vector<uint8_t>(std::move(bytes));
  nb::capsule owner(owned, [](void *p) noexcept {
    delete static_cast<std::vector<uint8_t> *>(p);
  });
  return BytesOut(owned->data(), {owned->size()}, owner);
}

NB_MODULE(_core, m) {
  m.doc() = "Contracts, checks, exact decoding and encoding, and containers.";
  m.attr("__version__") = GRIT_VERSION;
  bindContracts(m);
  bindSpecs(m);
  bindFiles(m);
  bindCheckpoints(m);
  bindNinfer(m);
}
