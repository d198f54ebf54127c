//===- Quantize.cpp - making and reading arrays from C -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "grit/Format/Codec.h"
#include <algorithm>
#include <cstring>

using namespace grit;
using namespace grit::capi;

/// The array that the arguments of a C function describe.
static Expected<ArraySpec> specOfArguments(const char *contract, int32_t rank,
                                           const int64_t *shape, int32_t axis) {
  if (!contract)
    return tl::unexpected(badArgument("contract", "a name", "null"));
  if (!shape && rank > 0)
    return tl::unexpected(badArgument("shape", "an address", "null"));
  Expected<Contract> parsed = Contract::parse(contract);
  if (!parsed)
    return tl::unexpected(parsed.error());
  if (std::optional<Error> error = rankError(rank))
    return tl::unexpected(std::move(*error));
  std::span<const int64_t> given = extents(rank, shape);
  return ArraySpec::get(*parsed, {given.begin(), given.end()}, axis);
}

/// The sizes of the planes in the order of a view.
static Expected<std::array<int64_t, GRIT_MAXPLANES>>
slotSizes(const ArraySpec &spec) {
  Expected<PlaneSizes> sizes = spec.planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  std::array<int64_t, GRIT_MAXPLANES> slots{};
  for (unsigned i = 0; i < sizes->size(); ++i)
    slots[planeSlot(spec.contract.description(), i)] = (*sizes)[i];
  return slots;
}

grit_status_t grit_contract_id(const char *contract, uint64_t *id,
                               grit_detail_t *detail) {
  if (!contract || !id)
    return fail(badArgument(contract ? "id" : "contract", "an address", "null"),
                detail);
  return guarded(detail, [&] {
    Expected<Contract> parsed = Contract::parse(contract);
    if (!parsed)
      return fail(parsed.error(), detail);
    *id = parsed->id();
    return succeed(detail);
  });
}

grit_status_t grit_plane_sizes(const char *contract, int32_t rank,
                               const int64_t *shape, int32_t axis,
                               int64_t sizes[GRIT_MAXPLANES],
                               int32_t *num_planes, grit_detail_t *detail) {
  if (!sizes)
    return fail(badArgument("sizes", "an address", "null"), detail);
  return guarded(detail, [&] {
    Expected<ArraySpec> spec = specOfArguments(contract, rank, shape, axis);
    if (!spec)
      return fail(spec.error(), detail);
    auto slots = slotSizes(*spec);
    if (!slots)
      return fail(slots.error(), detail);
    std::copy(slots->begin(), slots->end(), sizes);
    if (num_planes)
      *num_planes = spec->contract.isGrade()
                        ? GRIT_MAXPLANES
                        : static_cast<int32_t>(
                              spec->contract.description().planes.size());
    return succeed(detail);
  });
}

static Expected<void> fillView(const ArraySpec &spec, grit_array_view_t &view) {
  auto slots = slotSizes(spec);
  if (!slots)
    return tl::unexpected(slots.error());
  std::array<uint8_t, 16> gid = spec.gid();
  view = {};
  auto fillCommon = [&](auto &part) {
    part.rank = static_cast<int32_t>(spec.shape.size());
    std::copy(spec.shape.begin(), spec.shape.end(), part.shape);
    std::copy(slots->begin(), slots->end(), part.plane_bytes);
    std::copy(gid.begin(), gid.end(), part.gid);
  };
  if (!spec.contract.isGrade()) {
    view.tag = GRIT_ARRAY_FOREIGN;
    view.u.foreign = {};
    fillCommon(view.u.foreign);
    view.u.foreign.id = spec.contract.id();
    view.u.foreign.axis = spec.axis;
    view.u.foreign.placement[0] = spec.placements.data.raw();
    view.u.foreign.placement[1] = spec.placements.scale.raw();
    view.u.foreign.placement[2] = spec.placements.meta.raw();
    return {};
  }
  view.tag = GRIT_ARRAY_GRADE;
  fillCommon(view.u.grade);
  std::optional<std::array<uint8_t, 64>> descriptor = spec.descriptor();
  if (!descriptor)
    return makeError(Status::GradeUnknown,
                     "the grade does not fit a descriptor", "contract",
                     "k0 and k1 below 65536", spec.contract.canonical(), {},
                     "use smaller groups");
  std::memcpy(&view.u.grade.d, descriptor->data(), descriptor->size());
  return {};
}

grit_status_t grit_view_init(const char *contract, int32_t rank,
                             const int64_t *shape, int32_t axis,
                             grit_array_view_t *view, grit_detail_t *detail) {
  if (!view)
    return fail(badArgument("view", "an address", "null"), detail);
  return guarded(detail, [&] {
    Expected<ArraySpec> spec = specOfArguments(contract, rank, shape, axis);
    if (!spec)
      return fail(spec.error(), detail);
    grit_array_view_t filled;
    if (Expected<void> result = fillView(*spec, filled); !result)
      return fail(result.error(), detail);
    *view = filled;
    return succeed(detail);
  });
}

//===----------------------------------------------------------------------===//
// Quantize and dequantize
//===----------------------------------------------------------------------===//

namespace {

/// A view whose planes are there.
struct Opened {
  ArraySpec spec;
  PlanesOf planes;
};

} // namespace

/// Opens a view that was checked at level 1.
static Expected<Opened> open(const grit_array_view_t &view, const void *values,
                             int64_t count) {
  Expected<ArraySpec> spec = specOf(view);
  if (!spec)
    return tl::unexpected(spec.error());
  PlanesOf planes = planesOf(*spec, view);
  for (size_t i = 0; i < planes.data.size(); ++i)
    if (planes.bytes[i] != 0 && !planes.data[i])
      return makeError(
          Status::DigestMismatch, "a plane has bytes and no address",
          "plane[" + spec->contract.description().planes[i].name + "]",
          std::to_string(planes.bytes[i]) + " bytes", "null", {},
          "set the address of the plane",
          static_cast<int>(planeSlot(spec->contract.description(),
                                     static_cast<unsigned>(i))));
  if (count != spec->numElements())
    return makeError(Status::SizeMismatch,
                     "the number of values is not that of the array", "count",
                     std::to_string(spec->numElements()), std::to_string(count),
                     {}, "pass the product of the extents");
  if (!values && count != 0)
    return tl::unexpected(badArgument("values", "an address", "null"));
  return Opened{std::move(*spec), std::move(planes)};
}

/// The options of a caller, which may have been compiled against a later
/// version.
static Expected<EncodeOptions>
optionsOf(const grit_quantize_options_t *options) {
  EncodeOptions result;
  if (!options)
    return result;
  if (options->struct_bytes < sizeof(*options))
    return tl::unexpected(badArgument("struct_bytes",
                                      "sizeof(grit_quantize_options_t)",
                                      std::to_string(options->struct_bytes)));
  const auto *bytes = reinterpret_cast<const uint8_t *>(options);
  for (uint64_t i = sizeof(*options); i < options->struct_bytes; ++i)
    if (bytes[i] != 0)
      return tl::unexpected(badArgument("options", "what this version knows",
                                        "an option of a later one"));
  if (options->reserved != 0)
    return tl::unexpected(
        badArgument("reserved", "0", std::to_string(options->reserved)));
  if (options->importance_count < 0 ||
      (options->importance_count > 0 && !options->importance))
    return tl::unexpected(badArgument(
        "importance", "an address and a count",
        options->importance ? std::to_string(options->importance_count)
                            : "null"));
  if (options->importance)
    result.importance = {options->importance,
                         static_cast<size_t>(options->importance_count)};
  switch (options->search) {
  case GRIT_SEARCH_NONE:
    return result;
  case GRIT_SEARCH_MEAN_SQUARE:
    result.search = EncodeOptions::Search::MeanSquare;
    return result;
  }
  return tl::unexpected(badArgument("search", "a grit_search_t",
                                    std::to_string(options->search)));
}

grit_status_t grit_quantize(const float *values, int64_t count,
                            grit_array_view_t *view, grit_detail_t *detail) {
  return grit_quantize_with(values, count, nullptr, view, detail);
}

grit_status_t grit_quantize_with(const float *values, int64_t count,
                                 const grit_quantize_options_t *options,
                                 grit_array_view_t *view,
                                 grit_detail_t *detail) {
  if (grit_status_t status = grit_check_array(view, 1, detail);
      status != GRIT_OK)
    return status;
  return guarded(detail, [&] {
    Expected<Opened> opened = open(*view, values, count);
    if (!opened)
      return fail(opened.error(), detail);
    Expected<EncodeOptions> chosen = optionsOf(options);
    if (!chosen)
      return fail(chosen.error(), detail);
    auto encoded =
        encode(opened->spec, {values, static_cast<size_t>(count)}, *chosen);
    if (!encoded)
      return fail(encoded.error(), detail);
    for (size_t i = 0; i < encoded->size(); ++i)
      if (!(*encoded)[i].empty())
        std::memcpy(opened->planes.data[i], (*encoded)[i].data(),
                    (*encoded)[i].size());
    return succeed(detail);
  });
}

grit_status_t grit_dequantize(const grit_array_view_t *view, float *values,
                              int64_t count, grit_detail_t *detail) {
  if (grit_status_t status = grit_check_array(view, 1, detail);
      status != GRIT_OK)
    return status;
  return guarded(detail, [&] {
    Expected<Opened> opened = open(*view, values, count);
    if (!opened)
      return fail(opened.error(), detail);
    std::vector<ByteSpan> planes;
    for (size_t i = 0; i < opened->planes.data.size(); ++i)
      planes.emplace_back(opened->planes.data[i],
                          static_cast<size_t>(opened->planes.bytes[i]));
    if (Expected<void> result =
            decode(opened->spec, planes, {values, static_cast<size_t>(count)});
        !result)
      return fail(result.error(), detail);
    return succeed(detail);
  });
}
