//===- Checkpoints.cpp - layers of checkpoints as arrays -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "grit/Scan/LayerArray.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

using namespace grit;
using namespace grit::python;
using scan::CheckpointFiles;
using scan::LayerArray;

static std::unique_ptr<CheckpointFiles>
openCheckpoint(const nb::bytes &path, const std::string &checkpointFormat) {
  std::string name(path.c_str(), path.size());
  auto files = [&] {
    nb::gil_scoped_release release;
    return CheckpointFiles::open(name, {checkpointFormat});
  }();
  return unwrap(std::move(files));
}

static const LayerArray &layerAt(const CheckpointFiles &files, size_t index) {
  if (index >= files.layers().size())
    throw nb::index_error();
  return files.layers()[index];
}

/// (what it decodes to, module, family, tensors, spec or None) of each layer.
static nb::list layers(const CheckpointFiles &files) {
  nb::list all;
  for (const LayerArray &layer : files.layers()) {
    nb::list parts;
    for (const TensorInfo *part : layer.parts)
      parts.append(toStr(part->name));
    all.append(nb::make_tuple(toStr(layer.tensor), toStr(layer.layer),
                              toStr(layer.family), parts, layer.array));
  }
  return all;
}

/// Throws where the layer has no array, or holds what its contract reads in
/// another way.
static void require(const CheckpointFiles &files, size_t index) {
  const LayerArray &layer = layerAt(files, index);
  std::optional<Error> error = layer.refusal;
  if (!error) {
    nb::gil_scoped_release release;
    error = checkContents(layer);
  }
  if (error)
    raise(*error);
}

/// Views of the mapped files, and of copies that live as long as their views.
static nb::tuple planesOf(nb::handle self, size_t index) {
  const LayerArray &layer =
      layerAt(nb::cast<const CheckpointFiles &>(self), index);
  Expected<scan::LayerPlanes> read = [&] {
    nb::gil_scoped_release release;
    return readPlanes(layer);
  }();
  scan::LayerPlanes found = unwrap(std::move(read));
  nb::list planes;
  for (ByteSpan plane : found.spans) {
    nb::object owner = nb::borrow(self);
    for (const auto &copy : found.owned)
      if (copy->data() == plane.data())
        owner = nb::capsule(
            new std::shared_ptr<const std::vector<uint8_t>>(copy),
            [](void *held) noexcept {
              delete static_cast<std::shared_ptr<const std::vector<uint8_t>> *>(
                  held);
            });
    planes.append(BytesView(plane.data(), {plane.size()}, owner));
  }
  return nb::tuple(planes);
}

static nb::list filesOf(nb::handle self) {
  nb::list all;
  for (const auto &file : nb::cast<const CheckpointFiles &>(self).files())
    all.append(nb::cast(file.get(), nb::rv_policy::reference_internal, self));
  return all;
}

void grit::python::bindCheckpoints(nb::module_ &m) {
  nb::class_<CheckpointFiles>(m, "CheckpointFiles",
                              "The open files of a checkpoint.")
      .def("layers", layers)
      .def("require", require)
      .def("planes", [](nb::handle_t<CheckpointFiles> self,
                        size_t index) { return planesOf(self, index); })
      .def("files",
           [](nb::handle_t<CheckpointFiles> self) { return filesOf(self); });
  m.def("open_checkpoint", openCheckpoint, nb::arg("path"),
        nb::arg("checkpoint_format"));
}
