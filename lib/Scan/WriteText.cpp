//===- WriteText.cpp - reports for a terminal -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Text.h"
#include "grit/Scan/Writers.h"

using namespace grit;
using namespace grit::scan;

/// Text from a file, fit for a terminal.
static std::string printable(std::string_view text) {
  std::string quoted = quoteText(text);
  return quoted.substr(1, quoted.size() - 2);
}

static void addLine(std::string &text, std::string_view name,
                    std::string_view value) {
  if (!value.empty())
    text += "    " + std::string(name) + ": " + std::string(value) + "\n";
}

static std::string whereText(const Finding &finding) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < finding.where.size() && i < kShown; ++i)
    text += (i ? ", " : "") + printable(finding.where[i]);
  if (finding.count > kShown)
    text += " and " + std::to_string(finding.count - kShown) + " more";
  return text;
}

static std::string layersText(const LayerKind &kind) {
  std::string count = std::to_string(kind.count) + " layer" +
                      (kind.count == 1 ? "" : "s") + " of " + kind.family;
  if (!kind.refusal)
    return "contract " + printable(kind.contract) + ", " + count + "\n";
  const Error &error = *kind.refusal;
  std::string text = "no contract, " + count + "\n";
  addLine(text, "what", printable(error.message));
  addLine(text, "field", printable(error.field));
  addLine(text, "declared", printable(error.declared));
  addLine(text, "found", printable(error.found));
  addLine(text, "cause", printable(error.cause));
  addLine(text, "fix", printable(error.fix));
  return text;
}

std::string grit::scan::writeText(const Report &report) {
  std::string text;
  for (const Finding &finding : report.findings) {
    const Rule &known = rule(finding.id);
    text += std::string(severityName(known.severity)) + " " +
            idText(finding.id) + " " + std::string(known.name) + ": " +
            printable(finding.path) + "\n";
    addLine(text, "what", printable(finding.message));
    addLine(text, "where", whereText(finding));
    addLine(text, "declared", printable(finding.declared));
    addLine(text, "found", printable(finding.found));
    addLine(text, "certainty", certaintyName(known.certainty));
    addLine(text, "cause",
            finding.cause.empty() ? std::string(known.cause)
                                  : printable(finding.cause));
    addLine(text, "fix",
            finding.fix.empty() ? std::string(known.fix)
                                : printable(finding.fix));
  }
  for (const LayerKind &kind : report.layers)
    text += layersText(kind);
  text += std::to_string(report.numParsed()) + " of " +
          std::to_string(report.files.size()) + " files parsed, " +
          std::to_string(report.tensors.size()) + " tensors, " +
          std::to_string(report.findings.size() + report.suppressed) +
          " findings";
  for (Severity severity : {Severity::Unreadable, Severity::Violation,
                            Severity::Disagreement, Severity::Warning})
    if (uint64_t count = report.count(severity))
      text += ", " + std::to_string(count) + " " +
              std::string(severityName(severity));
  text += report.findings.empty() ? ": clean\n" : "\n";
  return text;
}
