//===- Layout.cpp - checks that readers share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layout.h"
#include "grit/Format/Check.h"
#include <algorithm>
#include <simdjson.h>

using namespace grit;

Error grit::withUsualCause(Error error) {
  if (error.cause.empty())
    error.cause = "a writer that does not follow the format, or a damaged file";
  if (error.fix.empty())
    error.fix = "fetch the file again, or write it with a current writer";
  return error;
}

std::optional<Error> grit::reportProblem(const OpenOptions &options,
                                         Error error) {
  error = withUsualCause(std::move(error));
  if (!options.problems)
    return error;
  options.problems->push_back(std::move(error));
  return std::nullopt;
}

static uint64_t alignUp(uint64_t value, uint64_t alignment) {
  uint64_t rest = value % alignment;
  uint64_t padding = rest ? alignment - rest : 0;
  return value > UINT64_MAX - padding ? UINT64_MAX : value + padding;
}

std::optional<Error> grit::checkLayout(std::vector<Extent> extents,
                                       uint64_t dataBytes,
                                       const OpenOptions &options,
                                       uint64_t alignment, bool complete) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  uint64_t end = 0; // of what precedes, without padding
  const Extent *last = nullptr;
  for (const Extent &extent : extents) {
    Error error;
    error.status = Status::SizeMismatch;
    error.field = "offset";
    error.found = "it begins at byte " + std::to_string(extent.begin);
    if (extent.begin < end) {
      error.code = ErrorCode::Overlap;
      error.message = "the tensor overlaps " + quoteText(last->name);
      error.declared = "begins at or after byte " + std::to_string(end);
    } else if (complete && extent.begin > alignUp(end, alignment)) {
      error.code = ErrorCode::Gap;
      error.message = std::to_string(extent.begin - end) +
                      " unused bytes before the tensor";
      error.declared =
          "begins at byte " + std::to_string(alignUp(end, alignment));
    }
    if (!error.message.empty()) {
      error.cause = "the header was changed without moving the data";
      error.fix = "write the file again with a current writer";
      if (auto first = reportProblem(options, inTensor(error, extent.name)))
        return first;
    }
    if (extent.end >= end) {
      end = extent.end;
      last = &extent;
    }
  }
  // A tensor beyond the end was named before.
  if (!complete || dataBytes <= alignUp(end, alignment))
    return std::nullopt;
  return reportProblem(
      options,
      withCode(
          ErrorCode::TrailingBytes,
          makeError(
              Status::SizeMismatch,
              std::to_string(dataBytes - end) + " bytes after the last tensor",
              "file size",
              std::to_string(end) + " bytes of data, to the end of " +
                  (last ? "tensor " + quoteText(last->name) : "the header"),
              std::to_string(dataBytes) + " bytes",
              "something was appended to a complete file",
              "cut the last " + std::to_string(dataBytes - end) + " bytes off"))
          .value());
}

std::optional<Error> grit::checkTensorName(std::string_view name) {
  auto refuse = [](const char *message, std::string found) {
    return makeError(Status::GradeUnknown, message, "name",
                     "1 to 65536 bytes of UTF-8 without NUL", std::move(found))
        .value();
  };
  if (name.empty())
    return refuse("the name is empty", "nothing");
  if (name.size() > kMaxNameBytes)
    return refuse("the name is too long",
                  std::to_string(name.size()) + " bytes");
  if (name.find('\0') != std::string_view::npos)
    return refuse("the name holds a NUL byte", quoteText(name));
  if (!simdjson::validate_utf8(name.data(), name.size()))
    return refuse("the name is not UTF-8",
                  std::to_string(name.size()) + " bytes");
  return std::nullopt;
}

std::optional<Error> grit::checkArrayBytes(const ArraySpec &spec,
                                           uint64_t bytes) {
  Expected<PlaneSizes> sizes = spec.planeSizes();
  if (!sizes)
    return sizes.error();
  if (std::optional<Error> error = check(spec, *sizes, /*level=*/1))
    return error;
  // One plane: the equations have more to say than its sum.
  if (sizes->size() == 1 && bytes <= static_cast<uint64_t>(INT64_MAX))
    return spec.checkPlaneSizes({static_cast<int64_t>(bytes)});
  uint64_t total = 0;
  std::string sum;
  for (int64_t size : *sizes) {
    if (__builtin_add_overflow(total, static_cast<uint64_t>(size), &total))
      total = UINT64_MAX;
    sum += (sum.empty() ? "" : " + ") + std::to_string(size);
  }
  if (total == bytes)
    return std::nullopt;
  return makeError(
             Status::SizeMismatch, "the planes do not fill the tensor", "size",
             sum + " = " + std::to_string(total) + " bytes for " +
                 spec.contract.displayName() + " " + shapeText(spec.shape),
             std::to_string(bytes) + " bytes",
             "another group size, another shape, or a missing plane",
             "correct the shape or the contract")
      .value();
}
