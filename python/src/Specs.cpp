//===- Specs.cpp - arrays without their bytes, checks, codecs -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "grit/Format/Check.h"
#include "grit/Format/Rearrange.h"
#include "grit/Format/Recode.h"
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace grit;
using namespace grit::python;

using FloatsIn =
    nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatsOut =
    nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PlacementTexts = std::array<std::string, 3>;

//===----------------------------------------------------------------------===//
// Array specs
//===----------------------------------------------------------------------===//

static ArraySpec makeSpec(const Contract &contract, std::vector<int64_t> shape,
                          int axis,
                          const std::optional<PlacementTexts> &texts) {
  std::optional<Placements> placements;
  if (texts)
    placements = {unwrap(Placement::parse((*texts)[0])),
                  unwrap(Placement::parse((*texts)[1])),
                  unwrap(Placement::parse((*texts)[2]))};
  return unwrap(ArraySpec::get(contract, std::move(shape), axis, placements));
}

static PlacementTexts placementTexts(const ArraySpec &spec) {
  const Placements &p = spec.placements;
  return {p.data.str(), p.scale.str(), p.meta.str()};
}

/// For each described plane, its place among data, scale0, scale1 and aux.
static std::vector<unsigned> planeSlots(const ArraySpec &spec) {
  const FormatDescription &description = spec.contract.description();
  std::vector<unsigned> slots;
  for (unsigned i = 0; i < description.planes.size(); ++i)
    slots.push_back(planeSlot(description, i));
  return slots;
}

static void checkSizes(const ArraySpec &spec, const PlaneSizes &sizes) {
  if (std::optional<Error> error = spec.checkPlaneSizes(sizes))
    raise(*error);
}

//===----------------------------------------------------------------------===//
// Codecs
//===----------------------------------------------------------------------===//

/// Encodes, which writes the canonical placements, and moves the planes.
static Expected<PlaneBytes> encodePlaced(const ArraySpec &spec,
                                         std::span<const float> values,
                                         const EncodeOptions &options) {
  ArraySpec canonical = spec;
  canonical.placements = spec.contract.canonicalPlacements();
  Expected<PlaneBytes> planes = encode(canonical, values, options);
  if (!planes || spec.placements == canonical.placements)
    return planes;
  std::vector<ByteSpan> spans(planes->begin(), planes->end());
  return relayoutPlanes(canonical, spans, spec.placements);
}

static std::vector<BytesOut> toArrays(PlaneBytes planes) {
  std::vector<BytesOut> arrays;
  for (std::vector<uint8_t> &plane : planes)
    arrays.push_back(toArray(std::move(plane)));
  return arrays;
}

static std::vector<BytesOut> encodeArray(const ArraySpec &spec,
                                         const FloatsIn &values,
                                         const std::optional<FloatsIn> &weights,
                                         bool searches) {
  std::span<const float> in(values.data(), values.size());
  EncodeOptions options;
  if (weights)
    options.importance = {weights->data(), weights->size()};
  if (searches)
    options.search = EncodeOptions::Search::MeanSquare;
  auto planes = [&] {
    nb::gil_scoped_release release;
    return encodePlaced(spec, in, options);
  }();
  return toArrays(unwrap(std::move(planes)));
}

static std::vector<BytesOut> recodeArray(const ArraySpec &spec,
                                         const std::vector<PlaneArg> &planes,
                                         const ArraySpec &target) {
  std::vector<ByteSpan> spans = toSpans(planes);
  auto recoded = [&] {
    nb::gil_scoped_release release;
    return recode(spec, spans, target);
  }();
  return toArrays(unwrap(std::move(recoded)));
}

static void decodeArray(const ArraySpec &spec,
                        const std::vector<PlaneArg> &planes, FloatsOut out) {
  std::vector<ByteSpan> spans = toSpans(planes);
  Expected<void> result = [&] {
    nb::gil_scoped_release release;
    return decode(spec, spans, {out.data(), out.size()});
  }();
  unwrap(std::move(result));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The addresses of planes that may be absent, and their real sizes.
static std::vector<const uint8_t *>
addresses(const std::vector<std::optional<PlaneArg>> &planes,
          std::vector<int64_t> &sizes) {
  std::vector<const uint8_t *> result;
  for (const std::optional<PlaneArg> &plane : planes) {
    result.push_back(plane && plane->size() ? plane->data() : nullptr);
    sizes.push_back(plane ? static_cast<int64_t>(plane->size()) : 0);
  }
  return result;
}

/// Level 2 reads as many bytes as `planeBytes` says, so the planes must be
/// there in full.
static void compareSizes(const std::vector<int64_t> &declared,
                         const std::vector<int64_t> &real) {
  for (size_t i = 0; i < real.size() && i < declared.size(); ++i)
    if (real[i] != 0 && real[i] < declared[i])
      raise({Status::SizeMismatch,
             "a plane is shorter than plane_bytes says",
             "planes[" + std::to_string(i) + "]",
             std::to_string(declared[i]) + " bytes",
             std::to_string(real[i]) + " bytes",
             {},
             "give the sizes of the planes",
             static_cast<int>(i)});
}

static void checkDescriptor(const nb::bytes &descriptor,
                            const std::vector<int64_t> &shape,
                            const std::vector<int64_t> &planeBytes, int level,
                            const std::vector<std::optional<PlaneArg>> &planes,
                            const std::optional<nb::bytes> &digestBytes) {
  std::vector<int64_t> real;
  std::vector<const uint8_t *> pointers = addresses(planes, real);
  CheckInput input;
  input.descriptor = {reinterpret_cast<const uint8_t *>(descriptor.data()),
                      descriptor.size()};
  input.shape = shape;
  input.planeBytes = planeBytes;
  // The order of the steps is normative: sizes of planes that are there come
  // after everything that needs no plane.
  if (std::optional<Error> error = check(input, 1))
    raise(*error);
  if (level < 2)
    return;
  compareSizes(planeBytes, real);
  input.planes = pointers;
  input.digest = toDigest(digestBytes);
  std::optional<Error> error = [&] {
    nb::gil_scoped_release release;
    return check(input, level);
  }();
  if (error)
    raise(*error);
}

static void checkArray(const ArraySpec &spec,
                       const std::vector<PlaneArg> &planes, int level,
                       const std::optional<nb::bytes> &digestBytes) {
  std::vector<const uint8_t *> pointers;
  std::vector<int64_t> sizes;
  for (const PlaneArg &plane : planes) {
    pointers.push_back(plane.size() ? plane.data() : nullptr);
    sizes.push_back(static_cast<int64_t>(plane.size()));
  }
  auto digest = toDigest(digestBytes);
  std::optional<Error> error = [&] {
    nb::gil_scoped_release release;
    return check(spec, sizes, level, pointers, digest);
  }();
  if (error)
    raise(*error);
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

void grit::python::bindSpecs(nb::module_ &m) {
  nb::class_<ArraySpec>(m, "Spec",
                        "An array under a contract: everything but the bytes.")
      .def(
          "__init__",
          [](ArraySpec *self, const Contract &contract,
             std::vector<int64_t> shape, int axis,
             const std::optional<PlacementTexts> &placements) {
            new (self) ArraySpec(
                makeSpec(contract, std::move(shape), axis, placements));
          },
          nb::arg("contract"), nb::arg("shape"), nb::arg("axis") = -1,
          nb::arg("placements") = nb::none())
      .def_ro("contract", &ArraySpec::contract)
      .def_prop_ro(
          "shape",
          [](const ArraySpec &s) { return nb::tuple(nb::cast(s.shape)); })
      .def_ro("axis", &ArraySpec::axis)
      .def_prop_ro("placements",
                   [](const ArraySpec &s) {
                     return nb::tuple(nb::cast(placementTexts(s)));
                   })
      .def_prop_ro("placement_words",
                   [](const ArraySpec &s) {
                     return nb::make_tuple(s.placements.data.raw(),
                                           s.placements.scale.raw(),
                                           s.placements.meta.raw());
                   })
      .def_prop_ro("num_elements", &ArraySpec::numElements)
      .def_prop_ro("plane_slots", planeSlots)
      .def("plane_sizes",
           [](const ArraySpec &s) { return unwrap(s.planeSizes()); })
      .def("check_sizes", checkSizes, nb::arg("sizes"))
      .def("descriptor",
           [](const ArraySpec &s) -> std::optional<nb::bytes> {
             if (auto bytes = s.descriptor())
               return toBytes(*bytes);
             return std::nullopt;
           })
      .def("gid", [](const ArraySpec &s) { return toBytes(s.gid()); })
      .def("encode", encodeArray, nb::arg("values").noconvert(),
           nb::arg("importance").noconvert().none() = nb::none(),
           nb::arg("searches") = false)
      .def("decode", decodeArray, nb::arg("planes").noconvert(),
           nb::arg("out").noconvert())
      .def("recode", recodeArray, nb::arg("planes").noconvert(),
           nb::arg("target"))
      .def("check", checkArray, nb::arg("planes").noconvert(), nb::arg("level"),
           nb::arg("digest").none());
  m.def(
      "spec_from_descriptor",
      [](const nb::bytes &descriptor, const std::vector<int64_t> &shape) {
        return unwrap(specFromDescriptor(
            {reinterpret_cast<const uint8_t *>(descriptor.data()),
             descriptor.size()},
            shape));
      },
      nb::arg("descriptor"), nb::arg("shape"));
  m.def("check", checkDescriptor, nb::arg("descriptor"), nb::arg("shape"),
        nb::arg("plane_bytes"), nb::arg("level"), nb::arg("planes").noconvert(),
        nb::arg("digest").none());
}
