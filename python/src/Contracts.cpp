//===- Contracts.cpp - contracts and format words -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Fingerprint.h"
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace grit;
using namespace grit::python;

static std::optional<uint64_t> gradeId(const Contract &contract) {
  if (!contract.isGrade())
    return std::nullopt;
  return contract.id();
}

static std::vector<Contract> contracts() {
  std::vector<Contract> all;
  for (const std::string &name : registeredContractNames())
    all.push_back(unwrap(Contract::parse(name)));
  return all;
}

/// Decodes codes of a format word; the word is given by token or by number.
static float decodeCode(uint16_t word, uint32_t code, int exp2) {
  FormatWord format(word);
  if (std::optional<Error> error = format.validate())
    raise(*error);
  return decodeWord(format, code, exp2);
}

static uint16_t wordOf(const std::string &token) {
  std::optional<FormatWord> word = lookupWord(token);
  if (!word)
    raise({Status::GradeUnknown,
           "no format has this token",
           "token",
           "e2m1, e4m3, e8m0, binary16, binary32, u2, u4, u6, u8, s4 or s8",
           token,
           {},
           {}});
  return word->raw();
}

void grit::python::bindContracts(nb::module_ &m) {
  nb::class_<Contract>(
      m, "Contract",
      "What quantized bytes mean: a grade of GRIT v1 or a foreign format.\n\n"
      "Made from a registered name in any case ('mxfp4', 'GRADE_MXFP4',\n"
      "'gguf.q4_k', 'hurray.nf4(block=128)'), from a grade string\n"
      "('grit1(...)') or from the text of a format ('gritfmt1(...)').")
      .def(
          "__init__",
          [](Contract *self, const std::string &name) {
            new (self) Contract(unwrap(Contract::parse(name)));
          },
          nb::arg("name"))
      .def(nb::init<const Contract &>(), nb::arg("contract"))
      .def_prop_ro("name", &Contract::name,
                   "The registered name, or the canonical text: what files "
                   "hold.")
      .def_prop_ro("display_name", &Contract::displayName,
                   "What messages call it: the name of register_grade() or "
                   "register_format() where it has one, else `name`.")
      .def_prop_ro("canonical", &Contract::canonical,
                   "'grit1(...)' for a grade, else 'gritfmt1(...)'.")
      .def_prop_ro("id", &Contract::id,
                   "FNV-1a-64 of the canonical text; the grade id of a grade.")
      .def_prop_ro("grade_id", gradeId,
                   "The grade id; None for a foreign format.")
      .def_prop_ro("is_grade", &Contract::isGrade)
      .def_prop_ro(
          "encodes",
          [](const Contract &c) {
            return c.description().encoding.rule != EncodeRule::None;
          },
          "Whether it has an encoder; every contract is decoded.")
      .def_prop_ro(
          "importance",
          [](const Contract &c) {
            switch (importanceUse(c)) {
            case ImportanceUse::None:
              return "none";
            case ImportanceUse::Optional:
              return "optional";
            case ImportanceUse::Needed:
              return "needed";
            }
            return "";
          },
          "What its encoder does with importance: 'none', 'optional' or "
          "'needed'.")
      .def_prop_ro("summary", &Contract::summary,
                   "One sentence: what the format is and where it comes from.")
      .def_prop_ro(
          "bits_per_element",
          [](const Contract &c) { return c.description().bitsPerElement(); },
          "Bits per element, planes of constant size aside.")
      .def_prop_ro(
          "axis_multiple",
          [](const Contract &c) { return c.description().axisMultiple; },
          "The extent of the group axis must be a multiple of this.")
      .def_prop_ro(
          "array_multiple",
          [](const Contract &c) { return c.description().arrayMultiple; },
          "The number of elements must be a multiple of this.")
      .def_prop_ro(
          "placements",
          [](const Contract &c) {
            const Placements &p = c.canonicalPlacements();
            return nb::make_tuple(p.data.str(), p.scale.str(), p.meta.str());
          },
          "Where an array's data, scales and aux plane lie when nothing else "
          "is said.")
      .def(
          "__eq__",
          [](const Contract &a, nb::handle b) {
            return nb::isinstance<Contract>(b) &&
                   a == nb::cast<const Contract &>(b);
          },
          nb::arg("other").none())
      .def(
          "__hash__",
          [](const Contract &c) { return static_cast<Py_hash_t>(c.id() >> 1); })
      .def("__repr__",
           [](const Contract &c) {
             return "Contract('" + c.displayName() + "')";
           })
      .def("__reduce__", [](nb::handle self) {
        const Contract &c = nb::cast<const Contract &>(self);
        return nb::make_tuple(self.type(), nb::make_tuple(c.name()));
      });
  m.def("contracts", contracts, "The registered contracts.");
  m.def(
      "register_grade",
      [](const std::string &name, const std::string &text) {
        return unwrap(registerGrade(name, text));
      },
      nb::arg("name"), nb::arg("text"),
      "Makes a grade known to this module: its id to check(), and its name "
      "to Contract().");
  m.def(
      "register_format",
      [](const std::string &text) { return unwrap(registerFormat(text)); },
      nb::arg("text"),
      "Makes the format of a text ('gritfmt1(name = ..., ...)') known to this "
      "module: its id, and its name to Contract().");
  m.def("decode_code", decodeCode, nb::arg("word"), nb::arg("code"),
        nb::arg("exp2") = 0,
        "The value of a code of a format word, times 2**exp2, rounded to "
        "binary32.");
  m.def("format_word", wordOf, nb::arg("token"),
        "The 16-bit format word of a token such as 'e2m1'.");
  m.def(
      "digest",
      [](const std::vector<PlaneArg> &planes) {
        std::vector<ByteSpan> spans = toSpans(planes);
        std::array<uint8_t, 16> result;
        {
          nb::gil_scoped_release release;
          result = digest(spans);
        }
        return toBytes(result);
      },
      nb::arg("planes").noconvert(), "FNV-1a-128 over the four planes.");
  m.def(
      "from_base32",
      [](const std::string &text) { return toBytes(unwrap(fromBase32(text))); },
      nb::arg("text"), "The 16 bytes that 26 Crockford symbols spell.");
}
