//===- Declared.cpp - what files and indexes declare -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "grit/Container/Gguf.h"
#include "grit/Format/Check.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <filesystem>

using namespace grit;
using namespace grit::scan;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Descriptors and arrays
//===----------------------------------------------------------------------===//

/// A GGUF file may record a descriptor beside the tensor's type.
static void checkGgufDescriptor(const TensorRef &tensor,
                                const DescriptorBytes &bytes,
                                Collector &collector) {
  const TensorInfo &info = *tensor.info;
  Expected<ArraySpec> spec = specFromDescriptor(bytes, info.shape);
  std::optional<Error> error;
  Id id = Id::ContractRefused;
  if (!spec) {
    error = spec.error();
    if (error->status == Status::SizeMismatch)
      id = Id::ContractSize;
    else if (error->code == ErrorCode::UnknownGradeId)
      id = Id::UnregisteredGrade;
  } else if (Expected<PlaneSizes> sizes = spec->planeSizes()) {
    uint64_t total = 0;
    for (int64_t size : *sizes)
      total += static_cast<uint64_t>(size);
    if (total == info.bytes.size())
      return;
    id = Id::ContractSize;
    error = Error{Status::SizeMismatch,
                  "the planes of the descriptor do not fill the tensor",
                  "grit.desc",
                  std::to_string(total) + " bytes",
                  std::to_string(info.bytes.size()) + " bytes of " + info.dtype,
                  "the bytes are blocks of ggml, which hold the planes in "
                  "another form",
                  "remove the descriptor"};
  }
  if (error)
    collector.add(id, tensor.file->path, info.name, error->message,
                  error->declared, error->found, error->cause, error->fix);
}

static void checkPlacements(const TensorRef &tensor, Collector &collector) {
  const ArraySpec &spec = *tensor.info->array;
  auto isOpen = [](Placement placement) {
    return placement.isUnspecified() || placement.isOpaque();
  };
  const Placements &canonical = spec.contract.canonicalPlacements();
  std::string open;
  auto add = [&](const char *name, Placement placement, Placement usual) {
    if (isOpen(placement) && !usual.isUnspecified())
      open += (open.empty() ? "" : ", ") + std::string(name) + " " +
              placement.str();
  };
  add("data", spec.placements.data, canonical.data);
  add("scale", spec.placements.scale, canonical.scale);
  add("meta", spec.placements.meta, canonical.meta);
  if (!open.empty())
    collector.add(Id::PlacementUnspecified, tensor.file->path,
                  tensor.info->name,
                  "the contract " + spec.contract.displayName() +
                      " does not say where its values lie",
                  "a placement", open);
}

static void checkAxis(const TensorRef &tensor, Collector &collector) {
  const ArraySpec &spec = *tensor.info->array;
  for (size_t i = static_cast<size_t>(spec.axis) + 1; i < spec.shape.size();
       ++i)
    if (spec.shape[i] > 1) {
      collector.add(Id::OuterGroupAxis, tensor.file->path, tensor.info->name,
                    "groups of " + spec.contract.displayName() +
                        " run along axis " + std::to_string(spec.axis) +
                        " of " + shapeText(spec.shape),
                    "the last axis", "axis " + std::to_string(spec.axis));
      return;
    }
}

static void checkNote(const LoadedFile &file, const std::string &name,
                      const DescriptorBytes &bytes, Collector &collector) {
  const Descriptor descriptor = Descriptor::read(bytes);
  if (descriptor.magic != Descriptor::kMagic ||
      !(descriptor.note & Descriptor::kNoteAssumed))
    return;
  collector.add(Id::Assumed, file.path, name,
                "layouts were assumed by producer " +
                    std::to_string(descriptor.note >> 8 & 0xFF),
                "a layout that was verified",
                "note " + hexWord(descriptor.note, 8));
}

//===----------------------------------------------------------------------===//
// GGUF
//===----------------------------------------------------------------------===//

/// The type that each value of general.file_type is named after. Recipes mix:
/// those whose names end in S, M or L give some matrices another type, and any
/// of them may treat embeddings and the output apart.
static std::string_view fileTypeName(uint64_t value) {
  constexpr std::pair<uint64_t, std::string_view> kTypes[] = {
      {0, "F32"},      {1, "F16"},      {2, "Q4_0"},    {3, "Q4_1"},
      {4, "Q4_1"},     {7, "Q8_0"},     {8, "Q5_0"},    {9, "Q5_1"},
      {10, "Q2_K"},    {11, "Q3_K"},    {12, "Q3_K"},   {13, "Q3_K"},
      {14, "Q4_K"},    {15, "Q4_K"},    {16, "Q5_K"},   {17, "Q5_K"},
      {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"}, {21, "Q2_K"},
      {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"}, {26, "IQ3_S"},
      {27, "IQ3_S"},   {28, "IQ2_S"},   {30, "IQ4_XS"}, {31, "IQ1_M"},
      {32, "BF16"},    {36, "TQ1_0"},   {37, "TQ2_0"},  {38, "MXFP4"}};
  for (auto [number, name] : kTypes)
    if (number == value)
      return name;
  return {};
}

static std::optional<uint64_t> fileTypeOf(const LoadedFile &file) {
  if (auto *gguf = dynamic_cast<const GgufReader *>(file.file.get()))
    for (const GgufKeyValue &pair : gguf->keyValues())
      if (pair.key == "general.file_type")
        return pair.asUnsigned();
  return std::nullopt;
}

/// What most matrices are is a matter of the recipe. That no matrix at all has
/// the type that the recipe is named after contradicts the key.
static void checkFileType(const Checkpoint &checkpoint, const LoadedFile &file,
                          Collector &collector) {
  std::optional<uint64_t> value = fileTypeOf(file);
  std::string_view declared = value ? fileTypeName(*value) : "";
  if (declared.empty() || !checkpoint.isWhole())
    return;
  std::map<std::string, uint64_t> matrices;
  for (const auto &[name, tensor] : checkpoint.tensors)
    if (std::ranges::count_if(tensor.info->shape,
                              [](int64_t extent) { return extent > 1; }) > 1)
      ++matrices[tensor.info->dtype];
  if (matrices.empty() || matrices.contains(std::string(declared)))
    return;
  std::string found;
  for (const auto &[dtype, count] : matrices)
    found +=
        (found.empty() ? "" : ", ") + std::to_string(count) + " of " + dtype;
  collector.add(Id::FileType, file.path, "",
                "no matrix has the type that general.file_type names",
                std::to_string(*value) + " (" + std::string(declared) + ")",
                found);
}

void grit::scan::checkDeclared(Checkpoint &checkpoint, Collector &collector) {
  for (LoadedFile *file : checkpoint.files) {
    checkFileType(checkpoint, *file, collector);
    bool isGguf = file->file->format() == "gguf";
    for (const auto &[name, bytes] : file->descriptors) {
      checkNote(*file, name, bytes, collector);
      const TensorInfo *info = file->file->find(name);
      if (isGguf && info)
        checkGgufDescriptor({file, info, 0}, bytes, collector);
      else if (isGguf && !file->troubled.contains(quoteText(name)))
        collector.add(Id::OrphanRecord, file->path, name,
                      "grit.desc describes a tensor that is not there",
                      "a tensor of the file", "nothing");
    }
  }
  for (const auto &[name, tensor] : checkpoint.tensors) {
    const TensorInfo &info = *tensor.info;
    if (info.dtype.ends_with("FNUZ"))
      collector.add(Id::Fnuz, tensor.file->path, name,
                    "numbers of " + info.dtype, "a type of GRIT v1",
                    info.dtype);
    // The types of GGUF say all that there is.
    if (tensor.file->file->format() == "gguf")
      continue;
    if (!info.array)
      continue;
    checkPlacements(tensor, collector);
    checkAxis(tensor, collector);
  }
}

//===----------------------------------------------------------------------===//
// Indexes and manifests
//===----------------------------------------------------------------------===//

namespace {
/// The loaded files that the lines of a manifest name.
class ManifestFiles {
public:
  explicit ManifestFiles(const Manifest &manifest)
      : directory(fs::path(manifest.path).parent_path()) {}

  void add(LoadedFile *file) { loaded.emplace(realPath(file->path), file); }
  /// Null when it was not loaded, which was reported.
  LoadedFile *find(const std::string &name) {
    auto [entry, isNew] = named.emplace(name, nullptr);
    if (isNew)
      if (auto file = loaded.find(realPath(directory / name));
          file != loaded.end())
        entry->second = file->second;
    return entry->second;
  }

private:
  static std::string realPath(const fs::path &path) {
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    return error ? path.string() : real.string();
  }

  fs::path directory;
  std::map<std::string, LoadedFile *> loaded, named;
};
} // namespace

void grit::scan::checkIndex(const Checkpoint &checkpoint,
                            Collector &collector) {
  const Manifest *index = checkpoint.index;
  if (!index)
    return;
  ManifestFiles files(*index);
  for (LoadedFile *file : checkpoint.files)
    files.add(file);
  std::set<std::string_view> listed;
  for (const ManifestEntry &entry : index->entries) {
    listed.insert(entry.tensor);
    LoadedFile *file = files.find(entry.file);
    if (!file || file->file->find(entry.tensor) ||
        file->troubled.contains(quoteText(entry.tensor)))
      continue;
    collector.add(Id::MissingTensor, index->path, entry.tensor,
                  "tensors of the index are not in their file", entry.file,
                  "no such tensor");
  }
  uint64_t total = 0;
  for (const auto &[name, tensor] : checkpoint.tensors) {
    total += tensor.info->bytes.size();
    if (!listed.contains(name))
      collector.add(Id::UnlistedTensor, index->path, name,
                    "tensors of the files are not in the index");
  }
  if (checkpoint.isWhole() && index->totalSize && *index->totalSize != total)
    collector.add(Id::TotalSize, index->path, "",
                  "metadata.total_size is not the size of the tensors",
                  std::to_string(*index->totalSize) + " bytes",
                  std::to_string(total) + " bytes");
}

static void checkManifestEntry(const Manifest &manifest,
                               const ManifestEntry &entry,
                               const LoadedFile &file, Collector &collector) {
  if (file.troubled.contains(quoteText(entry.tensor)))
    return;
  const TensorInfo *info = file.file->find(entry.tensor);
  if (!info) {
    collector.add(Id::MissingTensor, manifest.path, entry.tensor,
                  "tensors of the manifest are not in their file", entry.file,
                  "no such tensor");
    return;
  }
  std::string recorded;
  if (info->array)
    if (auto bytes = info->array->descriptor())
      recorded = toHex(*bytes);
  if (auto own = file.descriptors.find(entry.tensor);
      own != file.descriptors.end())
    recorded = toHex(own->second);
  if (toLower(entry.contract) != recorded)
    collector.add(Id::ManifestContract, manifest.path, entry.tensor,
                  "the manifest states another descriptor than the file",
                  entry.contract,
                  recorded.empty() ? "no descriptor" : recorded);
}

void grit::scan::checkManifest(const Manifest &manifest,
                               const std::vector<Checkpoint> &checkpoints,
                               Collector &collector) {
  if (manifest.isIndex)
    return;
  ManifestFiles files(manifest);
  for (const Checkpoint &checkpoint : checkpoints)
    for (LoadedFile *file : checkpoint.files)
      files.add(file);
  for (const ManifestEntry &entry : manifest.entries)
    if (const LoadedFile *file = files.find(entry.file))
      checkManifestEntry(manifest, entry, *file, collector);
}
