//===- Import.cpp - grit import -------------------------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of tensors as an MLIR module: a private function for each tensor,
// which returns a constant, and a resource for each plane. It is text, so no
// MLIR is needed to write it, and it is written as it is read, in bounded
// memory.
//
//===----------------------------------------------------------------------===//

#include "CheckpointItems.h"
#include "Command.h"
#include "Output.h"
#include "OutputFile.h"
#include "grit/Container/AtomicFile.h"
#include "grit/Container/Json.h"
#include "grit/Format/Layout.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cstdio>
#include <map>

using namespace grit;
using namespace grit::tool;
using scan::CheckpointFiles;

namespace {
struct Options {
  std::string file, output;
  std::vector<std::string> patterns;
  Registrations registrations;
  scan::CheckpointOptions checkpoint;
  bool json = false, keepRefused = false;
};

/// Text on its way to a file, some of it at a time.
class TextFile {
public:
  explicit TextFile(AtomicFile file) : file(std::move(file)) {}
  Expected<void> add(std::string_view text) {
    buffer += text;
    return buffer.size() < kBuffered ? Expected<void>() : flush();
  }
  /// `done` gets each part that was read.
  template <typename Function>
  Expected<void> addHex(ByteSpan bytes, Function done);
  Expected<void> commit() {
    if (auto flushed = flush(); !flushed)
      return flushed;
    return file.commit(written);
  }
  uint64_t size() const { return written + buffer.size(); }

private:
  static constexpr size_t kBuffered = size_t(1) << 20;
  Expected<void> flush() {
    auto data = reinterpret_cast<const uint8_t *>(buffer.data());
    auto done = file.writeAt(written, {data, buffer.size()});
    written += buffer.size();
    buffer.clear();
    return done;
  }

  AtomicFile file;
  std::string buffer;
  uint64_t written = 0;
};

/// A blob of the module.
struct Resource {
  std::string key;
  ByteSpan bytes;
  /// Set where the bytes are made from them when they are written.
  const scan::LayerArray *layer = nullptr;
  size_t plane = 0;
};
} // namespace

template <typename Function>
Expected<void> TextFile::addHex(ByteSpan bytes, Function done) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  while (!bytes.empty()) {
    ByteSpan part = bytes.first(std::min(bytes.size(), kBuffered / 2));
    bytes = bytes.subspan(part.size());
    std::string text(2 * part.size(), '0');
    for (size_t i = 0; i < part.size(); ++i) {
      text[2 * i] = kDigits[part[i] >> 4];
      text[2 * i + 1] = kDigits[part[i] & 15];
    }
    if (auto added = add(text); !added)
      return added;
    done(part);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Words of MLIR
//===----------------------------------------------------------------------===//

/// A string literal: other bytes than plain ASCII as `\XX`.
static std::string literal(std::string_view text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    char escape[4];
    std::snprintf(escape, sizeof escape, "\\%02X", c);
    if (c < 0x20 || c > 0x7E || c == '"' || c == '\\')
      result += escape;
    else
      result += static_cast<char>(c);
  }
  return result + "\"";
}

/// The type of numbers; null where MLIR's constants have none of whole bytes.
static const char *elementType(const ElementType &type) {
  static const std::map<std::string_view, const char *> kTypes = {
      {"F64", "f64"},
      {"F32", "f32"},
      {"F16", "f16"},
      {"BF16", "bf16"},
      {"F8_E4M3", "f8E4M3FN"},
      {"F8_E5M2", "f8E5M2"},
      {"F8_E8M0", "f8E8M0FNU"},
      {"F8_E4M3FNUZ", "f8E4M3FNUZ"},
      {"F8_E5M2FNUZ", "f8E5M2FNUZ"},
      {"I64", "i64"},
      {"I32", "i32"},
      {"I16", "i16"},
      {"I8", "i8"},
      // arith.constant takes integers without a sign.
      {"U64", "i64"},
      {"U32", "i32"},
      {"U16", "i16"},
      {"U8", "i8"}};
  auto found = kTypes.find(type.token);
  return found == kTypes.end() ? nullptr : found->second;
}

static std::string dimensions(const std::vector<int64_t> &shape) {
  std::string result;
  for (int64_t extent : shape)
    result += std::to_string(extent) + "x";
  return result;
}

static std::string placementText(Placement placement) {
  const Layout *layout = placement.isExpression()
                             ? LayoutTable::global().find(placement)
                             : nullptr;
  return layout ? "layout(" + literal(layout->str()) + ")" : placement.str();
}

static std::string arrayType(const ArraySpec &spec) {
  const Contract &contract = spec.contract;
  std::string result = "!grit.array<" + dimensions(spec.shape) +
                       (contract.isGrade() ? "#grit.grade<" : "#grit.format<") +
                       literal(contract.name()) + ">";
  if (spec.axis != static_cast<int>(spec.shape.size()) - 1)
    result += ", axis = " + std::to_string(spec.axis);
  const Placements &usual = contract.canonicalPlacements();
  auto add = [&](const char *key, Placement own, Placement canonical) {
    if (!(own == canonical))
      result += std::string(", ") + key + " = " + placementText(own);
  };
  add("data", spec.placements.data, usual.data);
  add("scale", spec.placements.scale, usual.scale);
  add("meta", spec.placements.meta, usual.meta);
  return result + ">";
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// The MLIR type of a tensor or layer; empty where MLIR has no constant of it.
static std::string typeOf(const Item &item) {
  if (const ArraySpec *spec = item.array())
    return arrayType(*spec);
  const std::optional<ElementType> &element = item.tensor->element;
  const char *type = element ? elementType(*element) : nullptr;
  return type ? "tensor<" + dimensions(item.tensor->shape) + type + ">"
              : std::string();
}

/// The function of a tensor or layer; its blobs go to `resources`.
static std::string functionText(const Item &item,
                                std::vector<Resource> &resources) {
  const std::string type = typeOf(item);
  std::string value;
  if (const ArraySpec *spec = item.array()) {
    std::vector<ByteSpan> planes =
        item.layer ? item.layer->planes : item.tensor->planes();
    Expected<PlaneSizes> sizes = spec->planeSizes();
    for (size_t i = 0; i < planes.size(); ++i) {
      bool isCopy = item.layer && item.layer->isCopy(i);
      resources.push_back(
          {item.name() + "::" + spec->contract.description().planes[i].name,
           planes[i], isCopy ? item.layer : nullptr, i});
      size_t size =
          isCopy && sizes ? static_cast<size_t>((*sizes)[i]) : planes[i].size();
      value += (i ? ", dense_resource<" : "grit.constant [dense_resource<") +
               literal(resources.back().key) + "> : tensor<" +
               std::to_string(size) + "xi8>";
    }
    value += "]";
  } else {
    resources.push_back({item.name() + "::values", item.tensor->bytes});
    value =
        "arith.constant dense_resource<" + literal(resources.back().key) + ">";
  }
  return "  func.func private @" + literal(item.name()) + "() -> " + type +
         " {\n    %0 = " + value + " : " + type + "\n    return %0 : " + type +
         "\n  }\n";
}

static Expected<void> addBytes(const CheckpointFiles &checkpoint,
                               const Resource &resource, TextFile &out) {
  auto done = [&](ByteSpan part) { release(checkpoint, part); };
  if (!resource.layer)
    return out.addHex(resource.bytes, done);
  Expected<scan::LayerPlanes> planes = readPlanes(*resource.layer);
  if (!planes)
    return tl::unexpected(inLayer(planes.error(), *resource.layer));
  return out.addHex(planes->spans[resource.plane], done);
}

/// Blobs begin at multiples of 16 bytes, which is what the first word says. The
/// reader of bytecode wants its whole buffer aligned like the strictest blob,
/// and one that was allocated, as for a small file, has no more than this.
static Expected<void> addResources(const CheckpointFiles &checkpoint,
                                   const std::vector<Resource> &resources,
                                   TextFile &out) {
  if (resources.empty())
    return {};
  if (auto added = out.add("\n{-#\n  dialect_resources: {\n    builtin: {\n");
      !added)
    return added;
  for (const Resource &resource : resources) {
    bool isLast = &resource == &resources.back();
    if (auto added =
            out.add("      " + literal(resource.key) + ": \"0x10000000");
        !added)
      return added;
    if (auto added = addBytes(checkpoint, resource, out); !added)
      return added;
    if (auto added = out.add(isLast ? "\"\n" : "\",\n"); !added)
      return added;
  }
  return out.add("    }\n  }\n#-}\n");
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static Error noConstantError(const TensorInfo &tensor) {
  return makeError(Status::GradeUnknown, "MLIR has no constant of this type",
                   "tensor '" + printable(tensor.name) + "'",
                   "whole bytes of numbers, or an array under a contract",
                   tensor.dtype, {}, "leave it out with --tensor")
      .value();
}

static Expected<uint64_t> write(const CheckpointFiles &checkpoint,
                                const std::string &path,
                                const std::vector<Item> &items) {
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return tl::unexpected(file.error());
  TextFile out(std::move(*file));
  std::vector<Resource> resources;
  Expected<void> added = out.add("module {\n");
  for (const Item &item : items)
    if (added)
      added = out.add(functionText(item, resources));
  if (added)
    added = out.add("}\n");
  if (added)
    added = addResources(checkpoint, resources, out);
  if (added)
    added = out.commit();
  if (!added)
    return tl::unexpected(added.error());
  return out.size();
}

static void report(const Options &options, const std::string &path,
                   const std::vector<Item> &items, uint64_t size) {
  if (!options.json) {
    std::printf("%s: %zu tensors, %s\n", path.c_str(), items.size(),
                sizeText(size).c_str());
    return;
  }
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("input", options.file);
  json.field("output", path).key("functions").beginArray();
  for (const Item &item : items)
    json.beginObject()
        .field("name", item.name())
        .field("type", typeOf(item))
        .endObject();
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

/// The tensors and layers that the command is asked for; a type that MLIR does
/// not have is an error where a pattern names it, and is left out otherwise.
static Expected<std::vector<Item>> select(const Plan &plan,
                                          const Options &options) {
  std::vector<Item> result;
  for (const Item &item : plan.items) {
    bool isNamed = matchesAny(options.patterns, item.name());
    if (!options.patterns.empty() && !isNamed)
      continue;
    if (!typeOf(item).empty())
      result.push_back(item);
    else if (isNamed)
      return tl::unexpected(noConstantError(*item.tensor));
    else
      std::fprintf(stderr,
                   "grit: note: left out '%s': MLIR has no constant of %s\n",
                   printable(item.name()).c_str(), item.tensor->dtype.c_str());
  }
  return result;
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  auto checkpoint =
      scan::CheckpointFiles::open(options.file, options.checkpoint);
  if (!checkpoint) {
    printError(checkpoint.error());
    return kRefused;
  }
  if (auto error = checkOutput(
          options.output,
          inputsOf(**checkpoint, options.registrations.inputs(options.file)))) {
    printError(*error);
    return kRefused;
  }
  Plan plan = planOf(**checkpoint);
  keepWanted(plan, options.patterns);
  if (!acceptRefusals(plan, options.keepRefused))
    return kRefused;
  auto items = select(plan, options);
  if (auto error = checkPatterns(options.patterns, plan, **checkpoint);
      error && items)
    items = tl::unexpected(std::move(*error));
  if (!items) {
    printError(items.error());
    return kRefused;
  }
  Expected<uint64_t> size = write(**checkpoint, options.output, *items);
  if (!size) {
    printError(size.error());
    return writerExitCode(size.error());
  }
  report(options, options.output, *items, *size);
  return finishOutput(kOk);
}

Command grit::tool::addImport(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "import", "Writes the tensors of a file, and the layers of a checkpoint, "
                "as an MLIR module");
  app->add_option("FILE", options->file,
                  "A safetensors or GGUF file, an index of several, or the "
                  "directory of a checkpoint")
      ->required();
  app->add_option("-o,--output", options->output, "The file to write")
      ->required()
      ->type_name("OUT")
      ->check(checkOutputName);
  addRepeated(*app, "--tensor", "GLOB",
              "Only tensors whose name matches this shell pattern; may be "
              "repeated",
              options->patterns);
  addRegistrations(*app, options->registrations);
  addCheckpointOptions(*app, options->checkpoint);
  app->add_flag("--keep-refused", options->keepRefused,
                "Write the tensors of layers that no contract describes");
  app->add_flag("--json", options->json, "Print what was written as JSON");
  app->footer("Every tensor becomes a private function without arguments that "
              "returns its\nconstant: call it, then 'grit-opt --inline "
              "--symbol-dce' puts it in place.");
  return {app, [options] { return run(*options); }};
}
