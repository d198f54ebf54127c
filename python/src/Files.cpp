//===- Files.cpp - safetensors and GGUF files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "grit/Container/Gguf.h"
#include "grit/Container/Safetensors.h"
#include "grit/Container/TensorFile.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

using namespace grit;
using namespace grit::python;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::unique_ptr<TensorFile> openFile(const nb::bytes &path, int level) {
  std::string name(path.c_str(), path.size());
  auto file = [&] {
    nb::gil_scoped_release release;
    OpenOptions options;
    options.level = level;
    return openTensorFile(name, options);
  }();
  return unwrap(std::move(file));
}

/// (key, type, value) of each entry that the file says about itself.
static nb::list metadata(const TensorFile &file) {
  nb::list all;
  for (const MetadataEntry &entry : file.metadata())
    all.append(nb::make_tuple(toStr(entry.key), toStr(entry.type),
                              toStr(entry.value)));
  return all;
}

/// A view of bytes in the mapped file. It keeps the file open.
static BytesView viewOf(nb::handle file, ByteSpan bytes) {
  return BytesView(bytes.data(), {bytes.size()}, file);
}

static const TensorInfo &tensorAt(nb::handle file, size_t index) {
  const auto &tensors = nb::cast<const TensorFile &>(file).tensors();
  if (index >= tensors.size())
    throw nb::index_error();
  return tensors[index];
}

static nb::list names(const TensorFile &file) {
  nb::list all;
  for (const TensorInfo &info : file.tensors())
    all.append(toStr(info.name));
  return all;
}

static nb::tuple planesOf(nb::handle file, size_t index) {
  const TensorInfo &info = tensorAt(file, index);
  nb::list planes;
  if (info.array)
    for (ByteSpan plane : info.planes())
      planes.append(viewOf(file, plane));
  return nb::tuple(planes);
}

static void bindReader(nb::module_ &m) {
  nb::class_<TensorInfo>(m, "TensorInfo", "What a file says about a tensor.")
      .def_prop_ro("name", [](const TensorInfo &t) { return toStr(t.name); })
      .def_prop_ro(
          "dtype", [](const TensorInfo &t) { return toStr(t.dtype); },
          "The type in the file's own words: 'F32', 'U8', 'Q4_K'.")
      .def_prop_ro(
          "element",
          [](const TensorInfo &t) -> std::optional<std::string> {
            if (!t.element)
              return std::nullopt;
            return std::string(t.element->token);
          },
          "The type of plain numbers; None for anything else.")
      .def_prop_ro(
          "shape",
          [](const TensorInfo &t) { return nb::tuple(nb::cast(t.shape)); },
          "Row-major; of a quantized array, that of what it decodes to.")
      .def_prop_ro("nbytes", [](const TensorInfo &t) { return t.bytes.size(); })
      .def_ro("spec", &TensorInfo::array)
      .def_prop_ro(
          "contract",
          [](const TensorInfo &t) -> std::optional<Contract> {
            if (!t.array)
              return std::nullopt;
            return t.array->contract;
          },
          "The contract of a quantized array, else None.")
      .def_prop_ro(
          "digest",
          [](const TensorInfo &t) -> std::optional<nb::bytes> {
            if (!t.digest)
              return std::nullopt;
            return toBytes(*t.digest);
          },
          "What the planes must hash to, where the file says so.")
      .def("__repr__", [](const TensorInfo &t) {
        nb::str format("TensorInfo({!r}, {}, shape={})");
        return format.attr("format")(toStr(t.name), toStr(t.dtype),
                                     nb::tuple(nb::cast(t.shape)));
      });
  nb::class_<TensorFile>(m, "TensorFile", "An open, mapped file.")
      .def_prop_ro("format",
                   [](const TensorFile &f) { return toStr(f.format()); })
      .def_prop_ro("nbytes", &TensorFile::fileBytes)
      .def("metadata", metadata)
      .def("names", names)
      .def(
          "info",
          [](nb::handle_t<TensorFile> self, size_t index) {
            return &tensorAt(self, index);
          },
          nb::rv_policy::reference_internal)
      .def("bytes",
           [](nb::handle_t<TensorFile> self, size_t index) {
             return viewOf(self, tensorAt(self, index).bytes);
           })
      .def("planes", [](nb::handle_t<TensorFile> self, size_t index) {
        return planesOf(self, index);
      });
  m.def("open_file", openFile, nb::arg("path"), nb::arg("level"));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// A tensor to write: name, element token or nothing, shape, spec or nothing,
/// and its bytes in one or more pieces.
using Entry =
    std::tuple<std::string, std::optional<std::string>, std::vector<int64_t>,
               std::optional<ArraySpec>, std::vector<PlaneArg>>;
/// A key of a GGUF file: name, type, stored bytes.
using Pair = std::tuple<std::string, uint32_t, nb::bytes>;
} // namespace

static std::optional<ElementType>
elementOf(const std::optional<std::string> &token) {
  return token ? lookupElementType(*token) : std::nullopt;
}

/// Writes the pieces of every entry and puts the file in place.
static Expected<void> writeAll(TensorWriter &writer,
                               std::span<const std::vector<ByteSpan>> pieces) {
  for (size_t i = 0; i < pieces.size(); ++i)
    for (ByteSpan piece : pieces[i])
      if (Expected<void> done = writer.write(i, piece); !done)
        return done;
  return writer.finish();
}

static std::vector<std::vector<ByteSpan>>
piecesOf(const std::vector<Entry> &entries) {
  std::vector<std::vector<ByteSpan>> pieces;
  for (const Entry &entry : entries)
    pieces.push_back(toSpans(std::get<4>(entry)));
  return pieces;
}

static void saveSafetensors(const nb::bytes &path,
                            const std::vector<Entry> &entries,
                            std::map<std::string, std::string> metadata) {
  std::string target(path.c_str(), path.size());
  std::vector<SafetensorsEntry> list;
  for (const auto &[name, token, shape, spec, bytes] : entries)
    list.push_back({name, elementOf(token), shape, spec});
  std::vector<std::vector<ByteSpan>> pieces = piecesOf(entries);
  Expected<void> result = [&]() -> Expected<void> {
    nb::gil_scoped_release release;
    auto writer =
        SafetensorsWriter::create(target, std::move(list), std::move(metadata));
    if (!writer)
      return tl::unexpected(writer.error());
    return writeAll(**writer, pieces);
  }();
  unwrap(std::move(result));
}

/// The ggml type of an entry. GGUF stores neither the group axis nor
/// placements: what it cannot say is refused.
static const GgmlType *
ggmlTypeOfEntry(const std::string &name,
                const std::optional<ElementType> &element,
                const std::optional<ArraySpec> &spec) {
  const GgmlType *type = spec      ? ggmlTypeOf(spec->contract)
                         : element ? ggmlTypeOf(*element)
                                   : nullptr;
  std::string found = spec      ? spec->contract.name()
                      : element ? std::string(element->token)
                                : "no type";
  if (!type)
    raise(inTensor({Status::GradeUnknown,
                    "GGUF has no type for this tensor",
                    "type",
                    "a type of ggml",
                    found,
                    {},
                    "save as safetensors, or quantize to a gguf.* contract"},
                   name));
  if (spec && (spec->axis + 1 != static_cast<int>(spec->shape.size()) ||
               spec->placements != spec->contract.canonicalPlacements()))
    raise(inTensor({Status::PlacementUnknown,
                    "GGUF groups along the last axis, in the format's own "
                    "placements",
                    "axis",
                    std::to_string(spec->shape.size() - 1),
                    std::to_string(spec->axis),
                    {},
                    "save as safetensors"},
                   name));
  return type;
}

static void saveGguf(const nb::bytes &path, const std::vector<Entry> &entries,
                     const std::vector<Pair> &pairs) {
  std::string target(path.c_str(), path.size());
  std::vector<GgufEntry> list;
  for (const auto &[name, token, shape, spec, bytes] : entries)
    list.push_back(
        {name, shape, ggmlTypeOfEntry(name, elementOf(token), spec)});
  std::vector<GgufKeyValue> keys;
  for (const auto &[key, type, value] : pairs)
    keys.push_back({key, static_cast<GgufValueType>(type),
                    std::string(value.c_str(), value.size())});
  std::vector<std::vector<ByteSpan>> pieces = piecesOf(entries);
  Expected<void> result = [&]() -> Expected<void> {
    nb::gil_scoped_release release;
    auto writer = GgufWriter::create(target, std::move(list), std::move(keys));
    if (!writer)
      return tl::unexpected(writer.error());
    return writeAll(**writer, pieces);
  }();
  unwrap(std::move(result));
}

void grit::python::bindFiles(nb::module_ &m) {
  bindReader(m);
  m.def("save_safetensors", saveSafetensors, nb::arg("path"),
        nb::arg("entries").noconvert(), nb::arg("metadata"));
  m.def("save_gguf", saveGguf, nb::arg("path"), nb::arg("entries").noconvert(),
        nb::arg("pairs"));
}
