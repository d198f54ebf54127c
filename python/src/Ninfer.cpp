//===- Ninfer.cpp - the tensors of NInfer and Hurray's descriptor -*- C++ -*-=//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Ninfer.h"
#include "Bindings.h"
#include "grit/Container/HurrayNf4.h"
#include "grit/Format/FormatText.h"
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace grit;
using namespace grit::python;

using FloatsIn =
    nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatsOut = nb::ndarray<nb::numpy, float, nb::ndim<1>>;

EncodeOptions
grit::python::toEncodeOptions(const std::optional<FloatsIn> &importance,
                              const std::optional<std::string> &rule,
                              bool negativeScales) {
  EncodeOptions options;
  if (importance)
    options.importance = {importance->data(), importance->size()};
  if (rule)
    options.rule = unwrap(parseEncodeRule(*rule));
  options.negativeScales = negativeScales;
  return options;
}

static ByteSpan toSpan(const PlaneArg &bytes) {
  return {bytes.data(), bytes.size()};
}

static FloatsOut toFloats(std::vector<float> values) {
  auto *owned = new std::vector<float>(std::move(values));
  nb::capsule owner(owned, [](void *p) noexcept {
    delete static_cast<std::vector<float> *>(p);
  });
  return FloatsOut(owned->data(), {owned->size()}, owner);
}

//===----------------------------------------------------------------------===//
// NInfer
//===----------------------------------------------------------------------===//

static ninfer::Record makeRecord(const std::string &format,
                                 const std::optional<std::string> &layout,
                                 std::vector<int64_t> shape, int64_t divisors) {
  const ninfer::Format *known = ninfer::findFormat(format);
  ninfer::Record record{
      format, layout ? *layout : std::string(known ? known->layout : ""),
      std::move(shape), divisors};
  unwrap(ninfer::geometryOf(record));
  return record;
}

static std::vector<nb::tuple> sections(const ninfer::Record &record) {
  std::vector<nb::tuple> result;
  for (const ninfer::Section &section :
       unwrap(ninfer::geometryOf(record)).sections)
    result.push_back(nb::make_tuple(std::string(section.name), section.offset,
                                    section.bytes));
  return result;
}

static std::vector<BytesOut> readPlanes(const ninfer::Record &record,
                                        const PlaneArg &payload) {
  std::vector<BytesOut> arrays;
  for (std::vector<uint8_t> &plane :
       unwrap(ninfer::readPayload(record, toSpan(payload))))
    arrays.push_back(toArray(std::move(plane)));
  return arrays;
}

static BytesOut encodeValues(const ninfer::Record &record,
                             const FloatsIn &values,
                             const std::optional<FloatsIn> &importance,
                             const std::optional<std::string> &rule,
                             bool negativeScales) {
  EncodeOptions options = toEncodeOptions(importance, rule, negativeScales);
  auto payload = [&] {
    nb::gil_scoped_release release;
    return ninfer::encodePayload(record, {values.data(), values.size()},
                                 options);
  }();
  return toArray(unwrap(std::move(payload)));
}

static nb::tuple stack(const std::vector<ninfer::Record> &records,
                       const std::vector<PlaneArg> &payloads) {
  std::vector<ninfer::Tensor> parts;
  for (size_t i = 0; i < records.size() && i < payloads.size(); ++i)
    parts.push_back(
        {records[i],
         {payloads[i].data(), payloads[i].data() + payloads[i].size()}});
  ninfer::Tensor result = unwrap(ninfer::stackMatrices(parts));
  return nb::make_tuple(result.record, toArray(std::move(result.payload)));
}

static void bindRecords(nb::module_ &m) {
  using ninfer::Record;
  nb::class_<Record>(m, "NinferRecord")
      .def(
          "__init__",
          [](Record *self, const std::string &format,
             std::vector<int64_t> shape,
             const std::optional<std::string> &layout, int64_t divisors) {
            new (self)
                Record(makeRecord(format, layout, std::move(shape), divisors));
          },
          nb::arg("format"), nb::arg("shape"), nb::arg("layout").none(),
          nb::arg("divisors"))
      .def_ro("format", &Record::format)
      .def_ro("layout", &Record::layout)
      .def_prop_ro("shape",
                   [](const Record &r) { return nb::tuple(nb::cast(r.shape)); })
      .def_ro("divisors", &Record::divisors)
      .def_prop_ro(
          "nbytes",
          [](const Record &r) { return unwrap(ninfer::geometryOf(r)).bytes; })
      .def_prop_ro("sections", sections)
      .def("spec", [](const Record &r) { return unwrap(ninfer::arrayOf(r)); })
      .def("read", readPlanes, nb::arg("payload").noconvert())
      .def(
          "write",
          [](const Record &r, const std::vector<PlaneArg> &planes) {
            return toArray(unwrap(ninfer::writePayload(r, toSpans(planes))));
          },
          nb::arg("planes").noconvert())
      .def(
          "check",
          [](const Record &r, const PlaneArg &payload) {
            if (auto error = ninfer::checkPayload(r, toSpan(payload)))
              raise(*error);
          },
          nb::arg("payload").noconvert())
      .def(
          "decode",
          [](const Record &r, const PlaneArg &payload) {
            return toFloats(unwrap(ninfer::decodePayload(r, toSpan(payload))));
          },
          nb::arg("payload").noconvert())
      .def("encode", encodeValues, nb::arg("values").noconvert(),
           nb::arg("importance").noconvert().none(), nb::arg("rule").none(),
           nb::arg("negative_scales"))
      .def(
          "import_encoded",
          [](const Record &r, const ArraySpec &source,
             const std::vector<PlaneArg> &planes) {
            return toArray(
                unwrap(ninfer::importEncoded(source, toSpans(planes), r)));
          },
          nb::arg("source"), nb::arg("planes").noconvert());
  m.def("ninfer_stack", stack, nb::arg("records"),
        nb::arg("payloads").noconvert());
  m.def("ninfer_formats", [] {
    std::vector<nb::tuple> result;
    for (const ninfer::Format &format : ninfer::formats())
      result.push_back(nb::make_tuple(std::string(format.name),
                                      std::string(format.contract),
                                      std::string(format.layout)));
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Hurray
//===----------------------------------------------------------------------===//

template <typename T> static T unwrapFault(hurray::Result<T> result) {
  if (!result)
    raise(result.error().error);
  return std::move(*result);
}

static void raiseFault(std::optional<hurray::DescriptorError> fault) {
  if (fault)
    raise(fault->error);
}

static void bindNf4(nb::module_ &m) {
  using hurray::Nf4Descriptor;
  using Shape = std::vector<uint64_t>;
  nb::class_<Nf4Descriptor>(
      m, "Nf4Descriptor",
      "The 16 bytes in which Hurray describes a tensor quantized to NF4.\n\n"
      "Errors are CheckErrors whose text begins with Hurray's name of the "
      "error.")
      .def(
          "__init__",
          [](Nf4Descriptor *self, uint32_t axis, uint32_t block, uint32_t scale,
             uint8_t version) {
            Nf4Descriptor d{axis, block, scale, version};
            unwrapFault(d.write());
            new (self) Nf4Descriptor(d);
          },
          nb::arg("axis"), nb::arg("block_size") = 64,
          nb::arg("scale_buffer") = 1, nb::arg("version") = 1)
      .def_static(
          "from_bytes",
          [](const nb::bytes &bytes) {
            return unwrapFault(Nf4Descriptor::read(
                {reinterpret_cast<const uint8_t *>(bytes.data()),
                 bytes.size()}));
          },
          nb::arg("bytes"), "Reads the first 16 bytes.")
      .def_static(
          "of",
          [](const ArraySpec &spec, uint32_t scaleBuffer) {
            return unwrap(Nf4Descriptor::of(spec, scaleBuffer));
          },
          nb::arg("spec"), nb::arg("scale_buffer") = 1)
      .def_ro("axis", &Nf4Descriptor::axis)
      .def_ro("block_size", &Nf4Descriptor::blockSize)
      .def_ro("scale_buffer", &Nf4Descriptor::scaleBuffer)
      .def_ro("version", &Nf4Descriptor::version)
      .def("__bytes__",
           [](const Nf4Descriptor &d) {
             return toBytes(unwrapFault(d.write()));
           })
      .def(nb::self == nb::self, nb::arg("other").none())
      .def(
          "check_shape",
          [](const Nf4Descriptor &d, const Shape &shape) {
            raiseFault(d.checkShape(shape));
          },
          nb::arg("shape"),
          "Raises where a tensor of this shape cannot have the descriptor.")
      .def(
          "check_buffers",
          [](const Nf4Descriptor &d, const std::vector<uint32_t> &devices,
             uint32_t dataBuffer) {
            std::vector<hurray::Buffer> buffers;
            for (uint32_t device : devices)
              buffers.push_back({device});
            raiseFault(d.checkBuffers(buffers, dataBuffer));
          },
          nb::arg("devices"), nb::arg("data_buffer") = 0,
          "Raises where the scales are not in a buffer of their own on the "
          "data's device; `devices` has the device tag of each buffer.")
      .def(
          "check_storage",
          [](const Nf4Descriptor &d, uint8_t tag) {
            raiseFault(d.checkStorage(tag));
          },
          nb::arg("type_tag"), "Raises where the type tag is not uint4's.")
      .def(
          "check_scales",
          [](const Nf4Descriptor &d, const Shape &shape,
             const PlaneArg &scales) {
            raiseFault(d.checkScales(shape, toSpan(scales)));
          },
          nb::arg("shape"), nb::arg("scales").noconvert(),
          "Raises where there is not one finite scale, 0 or more, per block.")
      .def(
          "num_blocks",
          [](const Nf4Descriptor &d, const Shape &shape) {
            return unwrapFault(d.numBlocks(shape));
          },
          nb::arg("shape"), "The number of scales.")
      .def(
          "spec",
          [](const Nf4Descriptor &d, const Shape &shape) {
            return unwrap(d.arrayOf(shape));
          },
          nb::arg("shape"));
}

void grit::python::bindNinfer(nb::module_ &m) {
  bindRecords(m);
  bindNf4(m);
}
