//===- WriteHtml.cpp - reports as one page -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Text.h"
#include "grit/Scan/Writers.h"
#include <algorithm>

using namespace grit;
using namespace grit::scan;

/// Text of any origin as character data: markup becomes entities, and bytes
/// that are no printable ASCII become \xNN.
static std::string escape(std::string_view text) {
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\'')
      result += "&#39;";
    else if (byte >= 0x20 && byte < 0x7F)
      result += c;
    else
      result += "\\" + hexWord(byte, 2).substr(1);
  }
  return result;
}

static constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8886; --bad: #b3261e; --mid: #9a6700;
  --low: #0b6bcb; }
@media (prefers-color-scheme: dark) {
  :root { --bad: #ff8a80; --mid: #ffcc66; --low: #8ab4f8; }
}
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto;
  max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
code, td.mono { font-family: ui-monospace, monospace; font-size: .9em; }
.finding { border-left: .3rem solid var(--low); padding: .2rem .8rem;
  margin: .8rem 0; }
.violation, .unreadable { border-color: var(--bad); }
.disagreement { border-color: var(--mid); }
.finding h3 { margin: .2rem 0; font-size: 1rem; }
.finding dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: .1rem .6rem;
  margin: .3rem 0; }
.finding dt { opacity: .75; } .finding dd { margin: 0; overflow-wrap: anywhere; }
.controls { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.controls[hidden] { display: none; }
input, select { font: inherit; padding: .2rem .4rem; }
)css";

/// Filters only hide: without scripts everything is shown.
static constexpr std::string_view kScript = R"js(
(function () {
  var controls = document.getElementById("controls");
  var search = document.getElementById("search");
  var severity = document.getElementById("severity");
  var basis = document.getElementById("basis");
  var shown = document.getElementById("shown");
  controls.hidden = false;
  function apply() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    function matches(element) {
      var text = element.textContent.toLowerCase();
      return words.every(function (word) { return text.indexOf(word) >= 0; });
    }
    var count = 0;
    document.querySelectorAll(".finding").forEach(function (element) {
      var fits = !severity.value || element.dataset.severity === severity.value;
      element.hidden = !(fits && matches(element));
      if (!element.hidden) { count += 1; }
    });
    document.querySelectorAll("tr.tensor").forEach(function (row) {
      var fits = !basis.value || row.dataset.basis === basis.value;
      row.hidden = !(fits && matches(row));
    });
    shown.textContent = count + " findings shown";
  }
  [search, severity, basis].forEach(function (control) {
    control.addEventListener("input", apply);
  });
  apply();
})();
)js";

static void addRow(std::string &html, std::string_view name,
                   std::string_view value) {
  if (!value.empty())
    html +=
        "<dt>" + std::string(name) + "</dt><dd>" + escape(value) + "</dd>\n";
}

static void addFinding(std::string &html, const Finding &finding) {
  const Rule &known = rule(finding.id);
  std::string severity(severityName(known.severity));
  html += "<section class=\"finding " + severity + "\" data-severity=\"" +
          severity + "\">\n<h3>" + idText(finding.id) + " " +
          escape(known.title) + "</h3>\n<dl>\n";
  addRow(html, "severity", severity);
  addRow(html, "certainty", certaintyName(known.certainty));
  addRow(html, "file", finding.path);
  std::string where;
  for (const std::string &place : finding.where)
    where += (where.empty() ? "" : ", ") + place;
  if (finding.count > finding.where.size())
    where += " and " + std::to_string(finding.count - finding.where.size()) +
             " more";
  addRow(html, "where", where);
  addRow(html, "what", finding.message);
  addRow(html, "declared", finding.declared);
  addRow(html, "found", finding.found);
  addRow(html, "cause", finding.cause.empty() ? known.cause : finding.cause);
  addRow(html, "fix", finding.fix.empty() ? known.fix : finding.fix);
  html += "</dl>\n</section>\n";
}

static void addTensors(std::string &html, const Report &report) {
  html += "<h2>Tensors</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
          "<th>tensor</th><th>type</th><th>shape</th><th>bytes</th>"
          "<th>basis</th><th>contract</th><th>decodes to</th></tr></thead>\n"
          "<tbody>\n";
  for (const TensorReport &tensor : report.tensors) {
    html += "<tr class=\"tensor\" data-basis=\"" + std::string(tensor.basis) +
            "\"><td class=\"mono\" title=\"" +
            escape(report.files[tensor.file].path) + "\">" +
            escape(tensor.name) + "</td><td>" + escape(tensor.dtype) +
            "</td><td>" + shapeText(tensor.shape) + "</td><td>" +
            std::to_string(tensor.bytes) + "</td><td>" +
            std::string(tensor.basis) + "</td><td title=\"" +
            escape(tensor.canonical) + "\">" + escape(tensor.contract) +
            "</td><td>" +
            (tensor.logicalShape.empty() ? std::string()
                                         : shapeText(tensor.logicalShape)) +
            "</td></tr>\n";
  }
  html += "</tbody>\n</table></div>\n";
}

static void addSelect(std::string &html, const char *id, const char *label,
                      std::initializer_list<std::string_view> values) {
  html += "<label>" + std::string(label) + " <select id=\"" + id +
          "\"><option value=\"\">all</option>";
  for (std::string_view value : values)
    html += "<option>" + std::string(value) + "</option>";
  html += "</select></label>\n";
}

std::string grit::scan::writeHtml(const Report &report,
                                  std::string_view toolVersion) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>grit scan</title>\n<style>" +
      std::string(kStyle) + "</style>\n</head>\n<body>\n<h1>grit scan</h1>\n";
  html += "<p>" + std::to_string(report.numParsed()) + " of " +
          std::to_string(report.files.size()) + " files parsed, " +
          std::to_string(report.tensors.size()) + " tensors, " +
          std::to_string(report.findings.size() + report.suppressed) +
          " findings; grit " + escape(toolVersion) + ".</p>\n";
  html += "<div class=\"controls\" id=\"controls\" hidden>\n<label>Search "
          "<input id=\"search\" type=\"search\"></label>\n";
  addSelect(html, "severity", "Severity",
            {"unreadable", "violation", "disagreement", "warning"});
  addSelect(html, "basis", "Basis",
            {"declared", "inferred", "ambiguous", "not expressible", "plain"});
  html += "<span id=\"shown\" role=\"status\"></span>\n</div>\n";
  html += "<h2>Findings</h2>\n";
  if (report.findings.empty())
    html += "<p>Nothing was found.</p>\n";
  for (const Finding &finding : report.findings)
    addFinding(html, finding);
  html += "<h2>Files</h2>\n<ul>\n";
  for (const FileReport &file : report.files)
    html += "<li><code>" + escape(file.path) + "</code> " +
            (file.format.empty() ? "unreadable" : escape(file.format)) + ", " +
            std::to_string(file.bytes) + " bytes</li>\n";
  html += "</ul>\n";
  addTensors(html, report);
  html += "<script>" + std::string(kScript) + "</script>\n</body>\n</html>\n";
  return html;
}
