//===- Status.cpp - outcomes of a check and errors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Status.h"

using namespace grit;

std::string_view grit::statusName(Status status) {
  switch (status) {
  case Status::Ok:
    return "Ok";
  case Status::SizeMismatch:
    return "SizeMismatch";
  case Status::GradeUnknown:
    return "GradeUnknown";
  case Status::PlacementUnknown:
    return "PlacementUnknown";
  case Status::DigestMismatch:
    return "DigestMismatch";
  }
  return "status out of range";
}

std::string Error::str() const {
  std::string text = message;
  auto part = [&](const char *label, const std::string &value) {
    if (!value.empty())
      text += std::string("\n  ") + label + ": " + value;
  };
  part("field", field);
  part("declared", declared);
  part("found", found);
  part("cause", cause);
  part("fix", fix);
  return text;
}

tl::unexpected<Error> grit::makeError(Status status, std::string message,
                                      std::string field, std::string declared,
                                      std::string found, std::string cause,
                                      std::string fix, int plane) {
  return tl::unexpected<Error>(
      Error{status, std::move(message), std::move(field), std::move(declared),
            std::move(found), std::move(cause), std::move(fix), plane});
}

tl::unexpected<Error> grit::withCode(ErrorCode code,
                                     tl::unexpected<Error> error) {
  error.value().code = code;
  return error;
}
