//===- Views.h - between grit.h and lib/Format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CAPI_VIEWS_H
#define GRIT_LIB_CAPI_VIEWS_H

#include "grit-c/grit.h"
#include "grit/Format/Contract.h"
#include <exception>
#include <optional>
#include <span>

namespace grit::capi {

/// Writes an error into `detail`, which may be null, and gives its status.
grit_status_t fail(const Error &error, grit_detail_t *detail);
/// The same with the two numbers that were compared.
grit_status_t fail(const Error &error, int64_t expected, int64_t actual,
                   grit_detail_t *detail);
/// Empties `detail` and gives GRIT_OK.
grit_status_t succeed(grit_detail_t *detail);

/// Copies text that fits `capacity` with its end, else its beginning and "...".
void copyText(char *to, size_t capacity, const std::string &text);

/// An error about an argument of a C function.
Error badArgument(std::string name, std::string declared, std::string found);

/// The extents of a view whose rank may be anything. A rank that no array can
/// have gives none: `rankError` says what to report then.
std::span<const int64_t> extents(int32_t rank, const int64_t *shape);
std::optional<Error> rankError(int32_t rank);

/// What the view declares, checked (steps 1 to 4.5 of grit_check).
Expected<ArraySpec> specOf(const grit_array_view_t &view);
Expected<ArraySpec> specOf(const grit_view_t &view);
/// The planes' sizes and addresses, in the order of the description.
struct PlanesOf {
  std::vector<int64_t> bytes;
  std::vector<uint8_t *> data;
};
PlanesOf planesOf(const ArraySpec &spec, const grit_array_view_t &view);

/// Runs `body`; what it throws (an allocation that fails) becomes a status, as
/// no exception may cross a C function.
template <typename Body>
grit_status_t guarded(grit_detail_t *detail, Body &&body) {
  try {
    return body();
  } catch (const std::exception &exception) {
    return fail(Error{Status::SizeMismatch,
                      "the library ran out of resources",
                      "memory",
                      {},
                      exception.what(),
                      {},
                      "free memory, or work on a smaller array",
                      -1},
                detail);
  }
}

} // namespace grit::capi

#endif // GRIT_LIB_CAPI_VIEWS_H
