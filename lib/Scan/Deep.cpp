//===- Deep.cpp - reading planes, tensors in parallel -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>
#include <tuple>

using namespace grit;
using namespace grit::scan;

namespace {
/// One piece of work: a declared array, or a layer.
struct Task {
  const Model *model = nullptr;
  const TensorRef *array = nullptr;
  const Layer *layer = nullptr;
  size_t report = 0; ///< into Report::tensors
  ProbeResults results;
  std::vector<ScaleSpread> spreads;

  bool hasDigest() const { return array && array->info->digest; }
  uint64_t bytes() const {
    uint64_t total = 0;
    if (array)
      return array->info->bytes.size();
    for (const TensorInfo *info :
         {layer->codes, layer->scale, layer->zero, layer->second, layer->index})
      total += info ? info->bytes.size() : 0;
    return total;
  }
};
} // namespace

/// What level 2 of a check found.
static Id findingOf(ErrorCode code) {
  switch (code) {
  case ErrorCode::IndicesUnordered:
    return Id::MetadataOrder;
  case ErrorCode::IllegalCode:
  case ErrorCode::IllegalFactor:
  case ErrorCode::CodeUnderZeroScale:
    return Id::IllegalWord;
  default:
    return Id::DigestMismatch;
  }
}

/// `sound` when the planes have been hashed already and are those of the
/// digest.
static void readArray(Task &task, bool sound) {
  const TensorInfo &info = *task.array->info;
  TensorInfo unhashed;
  if (sound) {
    unhashed = info;
    unhashed.digest.reset();
  }
  if (std::optional<Error> error = grit::checkPlanes(sound ? unhashed : info)) {
    task.results.push_back({findingOf(error->code), error->message,
                            error->declared, error->found});
  }
  probeArray(info, task.results);
}

/// The tensor-level scale, when it is one binary32 number.
static std::optional<float> secondScale(const Layer &layer) {
  float value;
  if (!layer.second || layer.second->dtype != "F32" ||
      layer.second->bytes.size() != sizeof(value))
    return std::nullopt;
  std::memcpy(&value, layer.second->bytes.data(), sizeof(value));
  return value;
}

static std::string numberText(float value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
  return text;
}

static void readSecond(Task &task) {
  std::optional<float> value = secondScale(*task.layer);
  if (!value)
    return;
  if (!std::isfinite(*value) || *value == 0.0F) {
    task.results.push_back({*value == 0.0F ? Id::ZeroScale : Id::ScaleNaN,
                            "the tensor scale is " + numberText(*value),
                            "a finite scale", numberText(*value)});
    return;
  }
  bool multiplies = task.layer->secondKind == SecondScale::Multiplier;
  bool isLarge = std::fabs(*value) > 1.0F;
  if (isLarge == multiplies)
    task.results.push_back(
        {Id::ReciprocalName,
         "inferred: the tensor scale is the reciprocal of what its name says",
         multiplies ? "weight_scale_2 far below 1"
                    : "weight_global_scale far above 1",
         isLarge ? "above 1" : "below 1"});
}

static void readLayer(Task &task) {
  const Layer &layer = *task.layer;
  const QuantConfig &config = task.model->checkpoint->config;
  if (layer.scale && layer.family != "hqq")
    if (auto plane = scalePlaneOf(*layer.scale))
      probeScales(*plane, task.results);
  readSecond(task);
  if (layer.family == "nvfp4" || layer.family == "mxfp4")
    probeCodes(layer.codes->bytes, words::E2M1, task.results);
  else if (layer.codes->dtype == "F8_E4M3")
    probeCodes(layer.codes->bytes, words::E4M3, task.results);
  if (layer.zero && layer.zero->dtype == "I8")
    probeZeroPoints(layer.zero->bytes, layer.bits, task.results);
  bool isVersion2 = config.checkpointFormat == "gptq_v2";
  if (layer.family == "gptq" && layer.zero && config.symmetric == true &&
      (isVersion2 || config.checkpointFormat == "gptq"))
    probeGptqZeros(layer.zero->bytes, layer.bits, isVersion2, task.results);
  if (layer.index && layer.index->dtype == "I32")
    probeOrder(layer.index->bytes, layer.group, task.results);
}

/// The planes in the order of the digest, for each array.
static std::vector<ByteSpan> digestPlanes(const ArraySpec &spec,
                                          const std::vector<ByteSpan> &planes) {
  std::vector<ByteSpan> ordered(4);
  for (unsigned i = 0; i < planes.size(); ++i)
    ordered[planeSlot(spec.contract.description(), i)] = planes[i];
  return ordered;
}

namespace {
/// Tasks that one thread does together: arrays whose digests are computed side
/// by side, or one other task.
using Batch = std::span<Task *const>;
} // namespace

static void readSpreads(Task &task) {
  if (task.array)
    task.spreads = spreadsOf(*task.array->info);
  else if (task.layer->scale)
    if (auto plane = scalePlaneOf(*task.layer->scale))
      task.spreads = {spreadOf(*plane, task.layer->scale->name)};
}

static void runBatch(Batch batch, bool spreads,
                     const std::function<void(uint64_t)> &done) {
  std::vector<std::vector<ByteSpan>> planes;
  std::vector<Task *> hashed;
  for (Task *task : batch)
    if (task->hasDigest()) {
      const TensorInfo &info = *task->array->info;
      planes.push_back(digestPlanes(*info.array, info.planes()));
      hashed.push_back(task);
    }
  std::vector<std::span<const ByteSpan>> arrays(planes.begin(), planes.end());
  auto found = digests(arrays);
  for (size_t i = 0; i < hashed.size(); ++i)
    readArray(*hashed[i], found[i] == *hashed[i]->array->info->digest);
  for (Task *task : batch) {
    if (task->layer)
      readLayer(*task);
    else if (!task->hasDigest())
      readArray(*task, /*sound=*/false);
    if (spreads)
      readSpreads(*task);
    done(task->bytes());
  }
}

/// The largest first. Arrays with digests come in groups of about one size: the
/// chains of four of them are computed in the time of one, and fewer where
/// threads would be left idle.
static std::vector<Batch> makeBatches(std::vector<Task *> &order,
                                      size_t threads) {
  constexpr size_t kMostChains = 4;
  std::ranges::sort(order, [](const Task *a, const Task *b) {
    return std::tuple(a->hasDigest(), a->bytes(), b->report) >
           std::tuple(b->hasDigest(), b->bytes(), a->report);
  });
  size_t hashed =
      static_cast<size_t>(std::ranges::count_if(order, &Task::hasDigest));
  size_t chains =
      std::clamp<size_t>((hashed + threads - 1) / threads, 1, kMostChains);
  std::vector<Batch> batches;
  std::span<Task *const> rest = order;
  while (!rest.empty()) {
    size_t count = 1;
    if (hashed > 0) {
      count = std::min(chains, hashed);
      hashed -= count;
    }
    batches.push_back(rest.first(count));
    rest = rest.subspan(count);
  }
  return batches;
}

/// Runs the tasks on threads; each writes only into itself.
static void runAll(std::vector<Task> &tasks, const Options &options) {
  if (tasks.empty())
    return;
  size_t count =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  count = std::min(std::max<size_t>(count, 1), tasks.size());
  std::vector<Task *> order;
  for (Task &task : tasks)
    order.push_back(&task);
  const std::vector<Batch> batches = makeBatches(order, count);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  auto done = [&](uint64_t bytes) {
    if (!options.onDeepProgress)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    options.onDeepProgress(bytes);
  };
  auto work = [&] {
    for (size_t i = next++; i < batches.size(); i = next++)
      runBatch(batches[i], options.spreads, done);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

static void compareSiblings(const Model &model, Collector &collector) {
  std::map<std::string, std::pair<const Layer *, float>> first;
  for (const Layer &layer : model.layers) {
    std::string group = siblingGroup(layer.name);
    std::optional<float> value = secondScale(layer);
    if (group.empty() || !value)
      continue;
    auto [entry, isNew] = first.emplace(group, std::pair(&layer, *value));
    if (!isNew && entry->second.second != *value)
      collector.add(Id::SiblingScale, model.checkpoint->path, layer.name,
                    "the tensor scale differs from that of " +
                        entry->second.first->name,
                    numberText(entry->second.second), numberText(*value));
  }
}

void grit::scan::readPlanes(const std::vector<Model> &models,
                            const Options &options, Report &report,
                            Collector &collector) {
  std::vector<Task> tasks;
  uint64_t total = 0;
  for (const Model &model : models) {
    for (const auto &[name, tensor] : model.checkpoint->tensors)
      if (tensor.info->array)
        tasks.push_back({&model, &tensor, nullptr, tensor.report, {}, {}});
    for (const Layer &layer : model.layers) {
      const auto &tensors = model.checkpoint->tensors;
      size_t index = tensors.find(layer.codes->name)->second.report;
      tasks.push_back({&model, nullptr, &layer, index, {}, {}});
    }
  }
  for (const Task &task : tasks)
    total += task.bytes();
  if (options.onDeepStart)
    options.onDeepStart(total);
  runAll(tasks, options);
  for (Task &task : tasks) {
    report.tensors[task.report].scales = std::move(task.spreads);
    const TensorInfo &info =
        task.array ? *task.array->info : *task.layer->codes;
    auto entry = task.model->checkpoint->tensors.find(info.name);
    const std::string &path = entry->second.file->path;
    for (const Probed &probed : task.results)
      collector.add(probed.id, path, task.array ? info.name : task.layer->name,
                    probed.message, probed.declared, probed.found);
  }
  for (const Model &model : models)
    compareSiblings(model, collector);
}
