//===- CpuTarget.cpp - what a processor offers -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Pipelines/CpuTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace grit;

bool CpuTarget::has(const char *feature) const {
  std::string wanted = std::string("+") + feature;
  llvm::SmallVector<llvm::StringRef> list;
  llvm::StringRef(features).split(list, ',');
  return llvm::is_contained(list, llvm::StringRef(wanted));
}

int64_t CpuTarget::vectorBits() const {
  if (has("avx512f"))
    return 512;
  return has("avx") ? 256 : 128;
}

/// The host's features as a list of "+x" and "-x".
static std::string hostFeatures() {
  std::string features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.append(features.empty() ? "" : ",")
        .append(feature.second ? "+" : "-")
        .append(feature.first());
  return features;
}

/// The first feature of `features` that `subtarget` does not know, or "".
static std::string unknownFeature(const llvm::MCSubtargetInfo &subtarget,
                                  llvm::StringRef features) {
  llvm::SmallVector<llvm::StringRef> list;
  features.split(list, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef feature : list) {
    bool isSwitch = feature.consume_front("+") || feature.consume_front("-");
    bool isKnown = llvm::any_of(subtarget.getAllProcessorFeatures(),
                                [&](const llvm::SubtargetFeatureKV &known) {
                                  return feature == known.Key;
                                });
    if (!isSwitch || !isKnown)
      return feature.str();
  }
  return "";
}

CpuTarget grit::resolveCpuTarget(const std::string &triple,
                                 const std::string &cpu,
                                 const std::string &features,
                                 std::string &error) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  CpuTarget target;
  llvm::Triple parsed(triple.empty() ? llvm::sys::getDefaultTargetTriple()
                                     : triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget("", parsed, error);
  if (!backend)
    return target;
  // Asked before LLVM sees them: it would only print a warning.
  std::unique_ptr<llvm::MCSubtargetInfo> plain(
      backend->createMCSubtargetInfo(parsed, "", ""));
  std::string unknown = plain ? unknownFeature(*plain, features) : "";
  if (!unknown.empty()) {
    error = llvm::join_items("", "unknown target feature '", unknown, "' for ",
                             parsed.str(), "; write +name or -name");
    return target;
  }
  std::string name = cpu, all = features;
  if (cpu == "native") {
    name = llvm::sys::getHostCPUName().str();
    std::string host = hostFeatures();
    all = features.empty() ? host : llvm::join_items(",", host, features);
  }
  if (plain && !name.empty() && !plain->isCPUStringValid(name)) {
    error = "unknown processor '" + name + "' for " + parsed.str();
    return target;
  }
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      backend->createMCSubtargetInfo(parsed, name, all));
  if (!subtarget) {
    error = "LLVM knows no processors for " + parsed.str();
    return target;
  }
  // LLVM ends the process where it can make no code at all.
  if (parsed.getArch() == llvm::Triple::x86_64 &&
      !subtarget->checkFeatures("+64bit")) {
    error = "processor '" + name + "' has no 64-bit mode";
    return target;
  }
  if (subtarget->checkFeatures("+soft-float")) {
    error =
        "feature 'soft-float' leaves no registers for kernels to compute in";
    return target;
  }
  target.triple = parsed.str();
  target.cpu = name;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getEnabledProcessorFeatures())
    target.features.append(target.features.empty() ? "+" : ",+")
        .append(feature.Key);
  return target;
}
