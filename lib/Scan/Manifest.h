//===- Manifest.h - indexes of shards and manifests of contracts -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_MANIFEST_H
#define GRIT_LIB_SCAN_MANIFEST_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grit::scan {

/// The largest index or manifest that is read.
inline constexpr uint64_t kMaxManifestBytes = uint64_t(100) << 20;

/// A line of an index or manifest.
struct ManifestEntry {
  std::string tensor, file; ///< the file relative to the manifest
  std::string contract;     ///< 128 hexadecimal digits, or empty
};

/// `*.index.json` ({"weight_map": {tensor: file}}), or a manifest of contracts
/// ([{"path": ..., "tensor": ..., "desc": ...}]).
struct Manifest {
  std::string path;
  bool isIndex = false;
  std::vector<ManifestEntry> entries;
  std::optional<uint64_t> totalSize;
};

/// Nothing when the text is neither, with the reason in `error`.
std::optional<Manifest> parseManifest(std::string_view text,
                                      const std::string &path,
                                      std::string &error);

/// True for a relative path that stays below its directory.
bool staysInside(std::string_view file);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_MANIFEST_H
