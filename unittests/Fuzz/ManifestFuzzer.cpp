//===- ManifestFuzzer.cpp - any bytes as a configuration, a manifest, a
// checkpoint -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is a text, or a configuration and the header of a safetensors file
// with a NUL between them.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Scan/Config.h"
#include "../../lib/Scan/Manifest.h"
#include "grit/Scan/Writers.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace grit::scan;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

/// A directory for this process, gone when it ends.
static const std::filesystem::path &directory() {
  struct Directory {
    Directory() {
      std::string pattern =
          (std::filesystem::temp_directory_path() / "grit-fuzz-XXXXXX")
              .string();
      require(::mkdtemp(pattern.data()) != nullptr);
      path = pattern;
    }
    ~Directory() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
  };
  static const Directory directory;
  return directory.path;
}

static void writeFile(const char *name, std::string_view text) {
  std::ofstream file(directory() / name, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
}

static void scanCheckpoint(std::string_view config, std::string_view header) {
  std::string file;
  for (unsigned i = 0; i < 8; ++i)
    file += static_cast<char>(uint64_t(header.size()) >> (8 * i));
  file += header;
  file.append(256, '\x11');
  writeFile("config.json", config);
  writeFile("model.safetensors", file);
  Options options;
  options.deep = true;
  options.threads = 1;
  const std::string paths[] = {(directory() / "model.safetensors").string()};
  Report report = scan(paths, options);
  for (const Finding &finding : report.findings)
    require(!finding.message.empty() && finding.where.size() <= finding.count);
  require(!writeJson(report, false).empty() &&
          !writeSarif(report, "0").empty() && !writeHtml(report, "0").empty() &&
          !writeText(report).empty());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  std::string error;
  std::optional<Manifest> manifest = parseManifest(text, "fuzz", error);
  require(manifest.has_value() || !error.empty());
  std::vector<std::string> problems;
  QuantConfig config = parseConfig(text, "fuzz", problems);
  (void)config.ignoring("model.layers.0.mlp.up_proj");
  size_t split = text.find('\0');
  if (split != std::string_view::npos)
    scanCheckpoint(text.substr(0, split), text.substr(split + 1));
  return 0;
}
