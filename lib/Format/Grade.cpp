//===- Grade.cpp - the canonical form of a grade -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Grade.h"
#include "grit/Format/Fingerprint.h"

using namespace grit;

static std::string_view tokenOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::RNE:
    return "rne";
  case Rounding::RNA:
    return "rna";
  case Rounding::RTZ:
    return "rtz";
  case Rounding::RTP:
    return "rtp";
  case Rounding::RTN:
    return "rtn";
  }
  return "rne";
}

static std::string_view tokenOf(Saturation saturation) {
  switch (saturation) {
  case Saturation::SatFinite:
    return "satfinite";
  case Saturation::SatMax:
    return "satmax";
  case Saturation::OvfInf:
    return "ovfinf";
  }
  return "satfinite";
}

namespace {

/// Writes `prefix(key=value,...)`; values equal to their default are left out
/// unless `allDefaults` is set.
class FieldWriter {
public:
  FieldWriter(std::string_view prefix, bool allDefaults)
      : text(std::string(prefix) + "("), allDefaults(allDefaults) {}

  void add(std::string_view key, std::string_view value) {
    if (!isFirst)
      text += ',';
    isFirst = false;
    text.append(key).append("=").append(value);
  }
  void add(std::string_view key, std::string_view value,
           std::string_view byDefault) {
    if (allDefaults || value != byDefault)
      add(key, value);
  }
  std::string finish() { return std::move(text) + ")"; }

private:
  std::string text;
  bool allDefaults;
  bool isFirst = true;
};

} // namespace

/// Keys 1 to 11: what the bytes are.
static void writeRepresentation(FieldWriter &out, const Grade &grade) {
  out.add("e", grade.e.str());
  out.add("k0", std::to_string(grade.k0));
  out.add("s0", grade.s0.str());
  if (grade.hasLevel1()) {
    out.add("k1", std::to_string(*grade.k1));
    out.add("s1", grade.s1.str());
  }
  if (grade.hasZeroPoint()) {
    out.add("zp", grade.zp.str());
    out.add("zpc", grade.zpMinusOne ? "minus1" : "asis", "asis");
    out.add("zps", grade.zpLevel1 ? "l1" : "shared", "shared");
  }
  if (grade.isSparse())
    out.add("sp", std::to_string(grade.spN) + ":" + std::to_string(grade.spM) +
                      ":u" + std::to_string(grade.spMetaBits) + ":" +
                      (grade.spAscending ? "asclsb" : "unord"));
  out.add("ct", grade.pad8 ? "pad8" : "dense", "dense");
  out.add("po", grade.msbFirst ? "msb" : "lsb", "lsb");
}

/// Keys 16 to 18.
static void writeDecodeKeys(FieldWriter &out, const Grade &grade) {
  out.add("dr", tokenOf(grade.dr), "rne");
  out.add("ds", tokenOf(grade.ds), "satfinite");
  out.add("dt", grade.dt.str(), "binary32");
}

std::string Grade::canonical() const {
  FieldWriter out("grit1", /*allDefaults=*/false);
  writeRepresentation(out, *this);
  out.add("er", tokenOf(er), "rne");
  out.add("es", tokenOf(es), "satfinite");
  out.add("esr", esr);
  out.add("esn", esn, "preserve");
  writeDecodeKeys(out, *this);
  out.add("ao", ao, "unspec");
  out.add("ap", ap.str(), "binary32");
  out.add("ab", ab.str(), "binary32");
  out.add("ai", ai.str(), "binary32");
  out.add("an", an, "any");
  return out.finish();
}

std::string Grade::decodeProjection() const {
  FieldWriter out("gritdec1", /*allDefaults=*/true);
  writeRepresentation(out, *this);
  writeDecodeKeys(out, *this);
  return out.finish();
}

uint64_t Grade::id() const { return fnv1a64(canonical()); }
