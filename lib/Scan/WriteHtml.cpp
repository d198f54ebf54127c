//===- WriteHtml.cpp - reports as one page -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HtmlPictures.h"
#include "grit/Format/Text.h"
#include "grit/Scan/Writers.h"
#include <algorithm>
#include <map>
#include <set>

using namespace grit;
using namespace grit::scan;

/// What a page holds at most of each kind, so that a browser can show it.
static constexpr size_t kMostFindings = 2'000, kMostTensors = 10'000,
                        kMostPictures = 200, kMostContracts = 40,
                        kMostFiles = 2'000;

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
code { overflow-wrap: anywhere; }
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
svg { width: 100%; height: auto; display: block; margin: .2rem 0 .6rem; }
svg text { font: 8px ui-monospace, monospace; fill: currentColor; }
rect { stroke: #8884; stroke-width: .5; }
.code { fill: #5b9bd5; } .scale { fill: #e6a23c; } .offset { fill: #7cb342; }
.position { fill: #b085c9; } .none { fill: #8882; }
.legend span { padding: .1rem .5rem; margin-right: .4rem; color: #000; }
.legend .code { background: #5b9bd5; } .legend .scale { background: #e6a23c; }
.legend .offset { background: #7cb342; }
.legend .position { background: #b085c9; }
.picture { border-top: 1px solid var(--line); padding: .4rem 0; }
.picture h3 { margin: .2rem 0; font-size: 1rem; overflow-wrap: anywhere; }
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
    document.querySelectorAll("tr.tensor, .picture").forEach(function (row) {
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
    html += "<dt>" + std::string(name) + "</dt><dd>" + escapeHtml(value) +
            "</dd>\n";
}

static void addFinding(std::string &html, const Finding &finding) {
  const Rule &known = rule(finding.id);
  std::string severity(severityName(known.severity));
  html += "<section class=\"finding " + severity + "\" data-severity=\"" +
          severity + "\">\n<h3>" + idText(finding.id) + " " +
          escapeHtml(known.title) + "</h3>\n<dl>\n";
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

static std::string more(size_t total, size_t shown, std::string_view what) {
  if (total <= shown)
    return {};
  return "<p>" + std::to_string(total - shown) + " more " + std::string(what) +
         " are not shown; <code>grit scan --json</code> has all.</p>\n";
}

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

namespace {
/// The contracts that tensors are under, by canonical text, with the number of
/// their tensors and a mark in the page.
struct ContractEntry {
  std::string mark;
  size_t tensors = 0;
};
using ContractTable = std::map<std::string, ContractEntry, std::less<>>;
} // namespace

static ContractTable contractsOf(const Report &report) {
  ContractTable table;
  for (const TensorReport &tensor : report.tensors)
    if (!tensor.canonical.empty())
      ++table[tensor.canonical].tensors;
  size_t number = 0;
  for (auto &[canonical, entry] : table)
    if (number++ < kMostContracts)
      entry.mark = "contract-" + std::to_string(number);
  return table;
}

static void addContracts(std::string &html, const ContractTable &table) {
  if (table.empty())
    return;
  html += "<h2>Contracts</h2>\n<p>Which bits belong to which number, the most "
          "significant bit of each byte at the left, in the layout that a "
          "contract has when no other is recorded. Numbers count from the "
          "start of the plane.</p>\n<p class=\"legend\"><span "
          "class=\"code\">element</span><span class=\"scale\">scale</span>"
          "<span class=\"offset\">zero point or minimum</span><span "
          "class=\"position\">position of a survivor</span></p>\n";
  for (const auto &[canonical, entry] : table) {
    Expected<Contract> contract = Contract::parse(canonical);
    if (entry.mark.empty() || !contract)
      continue;
    char bits[32];
    std::snprintf(bits, sizeof(bits), "%.4g",
                  contract->description().bitsPerElement());
    html += "<section class=\"contract\" id=\"" + entry.mark + "\">\n<h3>" +
            escapeHtml(contract->isRegistered() ? contract->name()
                                                : "an unregistered grade") +
            "</h3>\n<p>" + escapeHtml(contract->summary()) + "; " + bits +
            " bits per element; " + std::to_string(entry.tensors) +
            " tensors.</p>\n<p><code>" + escapeHtml(canonical) +
            "</code></p>\n" + byteMaps(*contract) + "</section>\n";
  }
  html += more(table.size(), kMostContracts, "contracts");
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static std::string contractCell(const TensorReport &tensor,
                                const ContractTable &table) {
  std::string name = escapeHtml(
      tensor.arrayContract.empty() ? tensor.contract : tensor.arrayContract);
  auto entry = table.find(tensor.canonical);
  if (entry == table.end() || entry->second.mark.empty())
    return name;
  return "<a href=\"#" + entry->second.mark + "\">" + name + "</a>";
}

static void addTensors(std::string &html, const Report &report,
                       const ContractTable &table) {
  html += "<h2>Tensors</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
          "<th>tensor</th><th>type</th><th>shape</th><th>bytes</th>"
          "<th>basis</th><th>contract</th><th>decodes to</th></tr></thead>\n"
          "<tbody>\n";
  size_t count = std::min(report.tensors.size(), kMostTensors);
  for (size_t i = 0; i < count; ++i) {
    const TensorReport &tensor = report.tensors[i];
    html += "<tr class=\"tensor\" data-basis=\"" + std::string(tensor.basis) +
            "\"><td class=\"mono\" title=\"" +
            escapeHtml(report.files[tensor.file].path) + "\">" +
            escapeHtml(tensor.name) + "</td><td>" + escapeHtml(tensor.dtype) +
            "</td><td>" + shapeText(tensor.shape) + "</td><td>" +
            std::to_string(tensor.bytes) + "</td><td>" +
            std::string(tensor.basis) + "</td><td>" +
            contractCell(tensor, table) + "</td><td>" +
            (tensor.logicalShape.empty() ? std::string()
                                         : shapeText(tensor.logicalShape)) +
            "</td></tr>\n";
  }
  html += "</tbody>\n</table></div>\n";
  html += more(report.tensors.size(), kMostTensors, "tensors");
}

/// Tensors with planes; those that findings are about come first.
static std::vector<const TensorReport *> picturedTensors(const Report &report) {
  std::set<std::string_view> named;
  for (const Finding &finding : report.findings)
    named.insert(finding.where.begin(), finding.where.end());
  std::vector<const TensorReport *> tensors;
  for (const TensorReport &tensor : report.tensors)
    if (!tensor.planes.empty())
      tensors.push_back(&tensor);
  auto isNamed = [&](const TensorReport *tensor) {
    // Findings name a tensor, or the module that it is a part of.
    std::string_view name = tensor->name;
    return named.contains(name) ||
           named.contains(name.substr(0, name.rfind('.')));
  };
  std::vector<const TensorReport *> ordered, others;
  for (const TensorReport *tensor : tensors)
    (isNamed(tensor) ? ordered : others).push_back(tensor);
  ordered.insert(ordered.end(), others.begin(), others.end());
  return ordered;
}

static void addSpread(std::string &html, const ScaleSpread &spread) {
  html += "<p>Scale <code>" + escapeHtml(spread.name) + "</code>, " +
          std::to_string(spread.samples) + " looked at";
  if (spread.zeros)
    html += ", " + std::to_string(spread.zeros) + " zero";
  if (spread.nonFinite)
    html += ", " + std::to_string(spread.nonFinite) + " NaN or infinite";
  html += ":</p>\n" + spreadPicture(spread);
}

static void addPictures(std::string &html, const Report &report,
                        const ContractTable &table) {
  std::vector<const TensorReport *> tensors = picturedTensors(report);
  if (tensors.empty())
    return;
  html += "<h2>Pictures of tensors</h2>\n<p>The share of each plane, and "
          "between which powers of two the scales lie (with --deep).</p>\n";
  size_t count = std::min(tensors.size(), kMostPictures);
  for (const TensorReport *tensor : std::span(tensors).first(count)) {
    html += "<section class=\"picture\" data-basis=\"" +
            std::string(tensor->basis) + "\">\n<h3>" +
            escapeHtml(tensor->name) + "</h3>\n<p>" +
            contractCell(*tensor, table) + "; ";
    for (size_t i = 0; i < tensor->planes.size(); ++i)
      html += (i ? ", " : "") + escapeHtml(tensor->planes[i].name) + " " +
              std::to_string(tensor->planes[i].bytes) + " bytes";
    html += "</p>\n" + planeBar(*tensor);
    for (const ScaleSpread &spread : tensor->scales)
      addSpread(html, spread);
    html += "</section>\n";
  }
  html += more(tensors.size(), kMostPictures, "tensors with planes");
}

static void addSelect(std::string &html, const char *id, const char *label,
                      std::initializer_list<std::string_view> values) {
  html += "<label>" + std::string(label) + " <select id=\"" + id +
          "\"><option value=\"\">all</option>";
  for (std::string_view value : values)
    html += "<option>" + std::string(value) + "</option>";
  html += "</select></label>\n";
}

static void addSummary(std::string &html, const Report &report,
                       std::string_view toolVersion) {
  html += "<p>" + std::to_string(report.numParsed()) + " of " +
          std::to_string(report.files.size()) + " files parsed, " +
          std::to_string(report.tensors.size()) + " tensors, " +
          std::to_string(report.findings.size() + report.suppressed) +
          " findings";
  for (Severity severity : {Severity::Unreadable, Severity::Violation,
                            Severity::Disagreement, Severity::Warning})
    if (uint64_t count = report.count(severity))
      html += ", " + std::to_string(count) + " " +
              std::string(severityName(severity));
  html += "; grit " + escapeHtml(toolVersion) + ".</p>\n";
  html += "<div class=\"controls\" id=\"controls\" hidden>\n<label>Search "
          "<input id=\"search\" type=\"search\"></label>\n";
  addSelect(html, "severity", "Severity",
            {"unreadable", "violation", "disagreement", "warning"});
  addSelect(html, "basis", "Basis",
            {"declared", "inferred", "ambiguous", "not expressible", "plain"});
  html += "<span id=\"shown\" role=\"status\"></span>\n</div>\n";
}

static void addFiles(std::string &html, const Report &report) {
  html += "<h2>Files</h2>\n<ul>\n";
  size_t count = std::min(report.files.size(), kMostFiles);
  for (const FileReport &file : std::span(report.files).first(count))
    html += "<li><code>" + escapeHtml(file.path) + "</code> " +
            (file.format.empty() ? "unreadable" : escapeHtml(file.format)) +
            ", " + std::to_string(file.bytes) + " bytes</li>\n";
  html += "</ul>\n" + more(report.files.size(), kMostFiles, "files");
}

static void addLayers(std::string &html, const Report &report) {
  if (report.layers.empty())
    return;
  html += "<h2>Layers</h2>\n<p>What layers of several tensors are as "
          "arrays.</p>\n<ul>\n";
  size_t count = std::min(report.layers.size(), kMostFiles);
  for (const LayerKind &kind : std::span(report.layers).first(count)) {
    html += "<li>" + std::to_string(kind.count) + " of " +
            escapeHtml(kind.family) + ": ";
    if (kind.refusal)
      html += "no contract; " + escapeHtml(kind.refusal->message) + " (" +
              escapeHtml(kind.refusal->field) + ": " +
              escapeHtml(kind.refusal->found) + ")";
    else
      html += "contract <code>" + escapeHtml(kind.contract) + "</code>";
    html += "</li>\n";
  }
  html += "</ul>\n" + more(report.layers.size(), kMostFiles, "kinds");
}

std::string grit::scan::writeHtml(const Report &report,
                                  std::string_view toolVersion) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>grit scan</title>\n<style>" +
      std::string(kStyle) + "</style>\n</head>\n<body>\n<h1>grit scan</h1>\n";
  addSummary(html, report, toolVersion);
  html += "<h2>Findings</h2>\n";
  if (report.findings.empty())
    html += "<p>Nothing was found.</p>\n";
  size_t count = std::min(report.findings.size(), kMostFindings);
  for (const Finding &finding : std::span(report.findings).first(count))
    addFinding(html, finding);
  html += more(report.findings.size(), kMostFindings, "findings");
  addFiles(html, report);
  addLayers(html, report);
  const ContractTable table = contractsOf(report);
  addContracts(html, table);
  addPictures(html, report, table);
  addTensors(html, report, table);
  html += "<script>" + std::string(kScript) + "</script>\n</body>\n</html>\n";
  return html;
}
