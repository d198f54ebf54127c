//===- DecodeOracle.h - the twelve formats, by equations -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written format by format from what their owners publish, with nothing of
// lib/Format in it: a second opinion for every test that decodes.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_DECODEORACLE_H
#define GRIT_UNITTESTS_FORMAT_DECODEORACLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace grit::oracle {

using Planes = std::vector<std::vector<uint8_t>>;

/// Whether the equations of a contract are here.
bool knows(const std::string &name);

/// Decodes `count` elements of one of the eleven formats that run along the
/// last axis. The planes are those that the format has, in order.
std::vector<float> decode(const std::string &name, const Planes &planes,
                          int64_t count);

/// NF4 over [outer, axis, inner].
std::vector<float> decodeNf4(const Planes &planes, int64_t outer, int64_t axis,
                             int64_t inner, int64_t block);

float half(uint16_t code);
float e4m3(uint8_t code);
float e8m0(uint8_t code);

} // namespace grit::oracle

#endif // GRIT_UNITTESTS_FORMAT_DECODEORACLE_H
