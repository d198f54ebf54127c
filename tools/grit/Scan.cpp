//===- Scan.cpp - grit scan -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "OutputFile.h"
#include "grit/Scan/LayerArray.h"
#include "grit/Scan/Writers.h"
#include <filesystem>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::vector<std::string> paths;
  Registrations registrations;
  std::string policy = "graded", failOn = "warning", html;
  std::string documentation = std::string(scan::kFindingsUrn);
  bool deep = false, json = false, sarif = false, list = false,
       families = false;
};
} // namespace

/// A page replaces a page, and nothing else: what is scanned may be anything,
/// and a name may be a link to it.
static std::optional<Error> checkPage(const std::string &path) {
  std::error_code none;
  std::filesystem::path found = std::filesystem::canonical(path, none);
  if (none || found.extension() == ".html" || found.extension() == ".htm")
    return std::nullopt;
  return replacesInputError(path);
}

static scan::Severity severityOf(const std::string &name) {
  for (auto severity :
       {scan::Severity::Violation, scan::Severity::Disagreement})
    if (name == scan::severityName(severity))
      return severity;
  return scan::Severity::Warning;
}

static int run(const Options &options) {
  if (options.list || options.families) {
    std::string text =
        options.list ? scan::documentation() : scan::layerDocumentation();
    std::fputs(text.c_str(), stdout);
    return finishOutput(kOk) == kOk ? kOk : kScanOutputFailed;
  }
  if (!registerAll(options.registrations))
    return kUsage;
  if (std::optional<Error> error = checkPage(options.html)) {
    printError(*error);
    return kScanOutputFailed;
  }
  scan::Options how;
  how.deep = options.deep;
  how.spreads = !options.html.empty();
  std::unique_ptr<Progress> progress;
  how.onDeepStart = [&](uint64_t total) {
    progress = std::make_unique<Progress>("scan", total);
  };
  how.onDeepProgress = [&](uint64_t bytes) { progress->add(bytes); };
  scan::Report report = scan::scan(options.paths, how);
  progress.reset();
  bool simple = options.policy == "simple";
  scan::Severity mildest = severityOf(options.failOn);
  if (!options.html.empty())
    if (Expected<void> written =
            writeTextFile(options.html, scan::writeHtml(report, GRIT_VERSION));
        !written) {
      printError(written.error());
      return kScanOutputFailed;
    }
  std::string text = options.json    ? scan::writeJson(report, simple, mildest)
                     : options.sarif ? scan::writeSarif(report, GRIT_VERSION,
                                                        options.documentation)
                                     : scan::writeText(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (finishOutput(kOk) != kOk)
    return kScanOutputFailed;
  return simple ? report.simpleExitCode(mildest)
                : report.gradedExitCode(mildest);
}

Command grit::tool::addScan(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "scan", "Compares what checkpoints declare with the bytes they hold");
  CLI::Option *list =
      app->add_flag("--list-findings", options->list, "Print docs/Findings.md");
  CLI::Option *families =
      app->add_flag("--list-layers", options->families,
                    "Print the table of docs/Checkpoints.md");
  app->add_option("PATH", options->paths,
                  "Tensor files, directories, *.index.json or manifests");
  addRegistrations(*app, options->registrations);
  app->add_flag("--deep", options->deep,
                "Also read the tensors: digests, special codes, orders");
  CLI::Option *json = app->add_flag("--json", options->json, "Print JSON");
  CLI::Option *sarif =
      app->add_flag("--sarif", options->sarif, "Print SARIF 2.1.0")
          ->excludes(json);
  app->add_option("--docs-url", options->documentation,
                  "With --sarif: where docs/Findings.md is published")
      ->type_name("URL")
      ->needs(sarif);
  app->add_option("--html", options->html, "Also write a page")
      ->type_name("FILE");
  app->add_option("--exit-policy", options->policy,
                  "How findings become an exit code, see below")
      ->check(CLI::IsMember({"graded", "simple"}));
  app->add_option("--fail-on", options->failOn,
                  "The mildest findings that count in the exit code")
      ->check(CLI::IsMember({"violation", "disagreement", "warning"}));
  app->footer("Exit codes, graded: 0 nothing that counts, 1 a violation, 2 a "
              "disagreement,\n3 warnings only, 4 no input could be read. "
              "Simple: 0, 1 findings that count,\n2 no input could be read. "
              "Both: 64 wrong command line, 74 output not written.");
  app->final_callback([options, list, families] {
    if (list->count() == 0 && families->count() == 0 && options->paths.empty())
      throw CLI::RequiredError("PATH");
  });
  return {app, [options] { return run(*options); }};
}
