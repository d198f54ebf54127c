//===- Status.h - outcomes and errors that explain -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_STATUS_H
#define GRIT_FORMAT_STATUS_H

#include "tl/expected.hpp"
#include <cstdint>
#include <string>
#include <string_view>

namespace grit {

/// The closed set of outcomes of grit_check (GRIT v1, section 7).
enum class Status : int32_t {
  Ok = 0,
  SizeMismatch = 1,
  GradeUnknown = 2,
  PlacementUnknown = 3,
  DigestMismatch = 4,
};

/// The name of `status` as the specification spells it, e.g. "SizeMismatch".
std::string_view statusName(Status status);

/// What is wrong, for callers that treat some faults on their own. Messages are
/// for people, and their words may change.
enum class ErrorCode : uint8_t {
  Other,
  // The structure of a file.
  NotTensorFile,  ///< it is nothing that the readers know
  Truncated,      ///< the file ends inside a tensor
  TrailingBytes,  ///< bytes follow the last tensor
  Overlap,        ///< two tensors share bytes
  Gap,            ///< bytes between tensors belong to none
  DuplicateName,  ///< a tensor or a key of the metadata appears twice
  MalformedEntry, ///< an entry of the header breaks the format
  UnknownType,    ///< the type of a tensor is not known
  RetiredType,    ///< the type id of a tensor had another meaning once
  // Contracts.
  MalformedRecord,  ///< the records of contracts break their format
  OrphanRecord,     ///< a record describes a tensor that is not there
  UnknownGradeId,   ///< no grade with this id is known
  IndicesUnordered, ///< the indices of a sparse array do not rise
  // What a contract calls illegal, in the contents of an array.
  IllegalCode,       ///< a code of an element
  IllegalFactor,     ///< a scale, a divisor or an offset
  CodeUnderZeroScale ///< an element is not zero, though its scale is
};

/// Why something was refused. Every refusal names the field, what was declared
/// (required), what was found, the likeliest cause and the fix; a part that
/// does not apply stays empty.
struct Error {
  /// The outcome at a boundary. A malformed file or argument that no status
  /// covers uses the nearest one.
  Status status = Status::GradeUnknown;
  /// One sentence, lower case, without a full stop.
  std::string message;
  std::string field;    ///< e.g. "k0", "placement_scale", "tensor 'w': shape"
  std::string declared; ///< the value that the contract or header demands
  std::string found;    ///< the value that was met
  std::string cause;    ///< the likeliest cause
  std::string fix;      ///< what the user can do
  int plane = -1;       ///< index of the plane at fault, -1 when none is
  ErrorCode code = ErrorCode::Other;

  /// All parts as text: the message, then one indented line per part that is
  /// present ("  field: ...", "  declared: ...", ...).
  std::string str() const;
};

/// A value, or the reason why there is none.
template <typename T> using Expected = tl::expected<T, Error>;

/// Makes an unexpected value out of the parts of an error.
tl::unexpected<Error> makeError(Status status, std::string message,
                                std::string field = {},
                                std::string declared = {},
                                std::string found = {}, std::string cause = {},
                                std::string fix = {}, int plane = -1);

/// The same error with a code.
tl::unexpected<Error> withCode(ErrorCode code, tl::unexpected<Error> error);

} // namespace grit

#endif // GRIT_FORMAT_STATUS_H
