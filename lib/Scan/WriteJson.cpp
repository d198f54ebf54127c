//===- WriteJson.cpp - reports as JSON -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Json.h"
#include "grit/Scan/Writers.h"

using namespace grit;
using namespace grit::scan;

static void writeFinding(JsonWriter &json, const Finding &finding) {
  const Rule &known = rule(finding.id);
  json.beginObject()
      .field("id", idText(finding.id))
      .field("name", known.name)
      .field("family", familyName(finding.id))
      .field("severity", severityName(known.severity))
      .field("certainty", certaintyName(known.certainty))
      .field("path", finding.path)
      .field("message", finding.message);
  json.key("where").beginArray();
  for (const std::string &where : finding.where)
    json.value(where);
  json.endArray().field("count", finding.count);
  if (!finding.declared.empty())
    json.field("declared", finding.declared);
  if (!finding.found.empty())
    json.field("found", finding.found);
  json.field("cause", finding.cause.empty() ? known.cause : finding.cause);
  json.field("fix", finding.fix.empty() ? known.fix : finding.fix);
  json.field("help", docAnchor(finding.id));
  json.endObject();
}

static void writeTensor(JsonWriter &json, const TensorReport &tensor,
                        const Report &report) {
  json.beginObject()
      .field("path", report.files[tensor.file].path)
      .field("name", tensor.name)
      .field("dtype", tensor.dtype)
      .field("shape", std::span<const int64_t>(tensor.shape))
      .field("bytes", tensor.bytes)
      .field("basis", tensor.basis);
  const std::pair<const char *, const std::string *> texts[] = {
      {"family", &tensor.family},
      {"role", &tensor.role},
      {"contract", &tensor.contract},
      {"canonical", &tensor.canonical},
      {"array_contract", &tensor.arrayContract},
      {"gid", &tensor.gid}};
  for (auto [name, text] : texts)
    if (!text->empty())
      json.field(name, *text);
  if (!tensor.logicalShape.empty())
    json.field("logical_shape", std::span<const int64_t>(tensor.logicalShape));
  if (!tensor.planes.empty()) {
    json.key("planes").beginArray();
    for (const PlaneReport &plane : tensor.planes)
      json.beginObject()
          .field("name", plane.name)
          .field("bytes", plane.bytes)
          .endObject();
    json.endArray();
  }
  json.endObject();
}

static void writeLayers(JsonWriter &json, const LayerKind &kind) {
  json.beginObject().field("family", kind.family).field("count", kind.count);
  json.key("layers").beginArray();
  for (const std::string &layer : kind.layers)
    json.value(layer);
  json.endArray();
  if (!kind.refusal) {
    json.field("contract", kind.contract).field("canonical", kind.canonical);
    json.key("placements")
        .beginObject()
        .field("data", kind.placements.data.str())
        .field("scale", kind.placements.scale.str())
        .field("meta", kind.placements.meta.str())
        .endObject();
  } else {
    json.key("refused").beginObject();
    for (auto [name, text] : {std::pair("message", &kind.refusal->message),
                              std::pair("field", &kind.refusal->field),
                              std::pair("declared", &kind.refusal->declared),
                              std::pair("found", &kind.refusal->found),
                              std::pair("cause", &kind.refusal->cause),
                              std::pair("fix", &kind.refusal->fix)})
      json.field(name, *text);
    json.endObject();
  }
  json.endObject();
}

std::string grit::scan::writeJson(const Report &report, bool simple,
                                  Severity mildest) {
  int graded = report.gradedExitCode(mildest);
  int plain = report.simpleExitCode(mildest);
  JsonWriter json(2);
  json.beginObject().field("version", kJsonVersion);
  json.field("exit_policy", simple ? "simple" : "graded");
  json.field("fail_on", severityName(mildest));
  json.field("exit_code", simple ? plain : graded);
  json.field("exit_code_graded", graded);
  json.field("exit_code_simple", plain);
  json.key("counts").beginObject();
  for (Severity severity : {Severity::Unreadable, Severity::Violation,
                            Severity::Disagreement, Severity::Warning})
    json.field(severityName(severity), report.count(severity));
  json.field("suppressed", report.suppressed).endObject();
  json.key("files").beginArray();
  for (const FileReport &file : report.files)
    json.beginObject()
        .field("path", file.path)
        .field("parsed", !file.format.empty())
        .field("format", file.format)
        .field("bytes", file.bytes)
        .endObject();
  json.endArray().key("findings").beginArray();
  for (const Finding &finding : report.findings)
    writeFinding(json, finding);
  json.endArray().key("tensors").beginArray();
  for (const TensorReport &tensor : report.tensors)
    writeTensor(json, tensor, report);
  json.endArray().key("layers").beginArray();
  for (const LayerKind &kind : report.layers)
    writeLayers(json, kind);
  json.endArray().endObject();
  return json.str() + "\n";
}
