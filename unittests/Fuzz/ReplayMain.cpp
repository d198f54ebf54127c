//===- ReplayMain.cpp - runs a fuzz target once on every file of a corpus -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for libFuzzer's main() in builds without it, so that every compiler
// and sanitizer sees the inputs that once were findings.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  size_t numInputs = 0;
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(argv[i], error)) {
      if (!entry.is_regular_file())
        continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()),
                             bytes.size());
      ++numInputs;
    }
  }
  std::printf("%zu inputs\n", numInputs);
  if (numInputs == 0) {
    std::fprintf(stderr, "error: no input found in the given directories\n");
    return 1;
  }
  return 0;
}
