//===- Config.h - what a configuration declares about quantization -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_CONFIG_H
#define GRIT_LIB_SCAN_CONFIG_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grit::scan {

/// The largest configuration that is read.
inline constexpr uint64_t kMaxConfigBytes = uint64_t(1) << 22;

/// `quantization_config` and its relatives. Members stay empty where nothing is
/// said, or where parts of the model differ.
struct QuantConfig {
  std::string path;   ///< the file; empty when there is none
  std::string method; ///< lower case; empty: not quantized by declaration
  std::optional<int64_t> bits, groupSize;
  std::optional<bool> symmetric, reordered;
  std::string checkpointFormat; ///< "gptq", "gptq_v2", ...
  std::string statedFormat;     ///< the same, by the user
  std::string version;          ///< of the packing: "gemm", ...
  std::string mode;             ///< of the numbers: "affine", "mxfp4", ...
  std::string strategy;         ///< "group", "channel", "block", "tensor"
  std::vector<int64_t> block;   ///< rows, columns
  std::vector<std::string> ignore;
  struct Override {
    std::optional<int64_t> bits, groupSize;
    std::string mode;
  };
  std::map<std::string, Override, std::less<>> overrides; ///< by module

  bool isDeclared() const { return !method.empty(); }
  /// The declared format, or else the user's.
  const std::string &knownFormat() const {
    return checkpointFormat.empty() ? statedFormat : checkpointFormat;
  }
  std::optional<int64_t> bitsOf(std::string_view module) const;
  std::optional<int64_t> groupSizeOf(std::string_view module) const;
  std::string modeOf(std::string_view module) const;
  /// The entry of the ignore list that covers the module, or null. Regular
  /// expressions ("re:...") are not evaluated.
  const std::string *ignoring(std::string_view module) const;
};

/// Reads config.json, hf_quant_config.json, quantize_config.json or
/// quant_config.json. What cannot be used is appended to `problems`.
QuantConfig parseConfig(std::string_view text, const std::string &path,
                        std::vector<std::string> &problems);

/// A file that cannot be used as a configuration.
struct ConfigProblem {
  std::string path, message;
};
/// The first file of the directory that declares a quantization.
QuantConfig readConfigIn(const std::string &directory,
                         std::vector<ConfigProblem> &problems);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_CONFIG_H
