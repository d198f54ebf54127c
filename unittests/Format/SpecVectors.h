//===- SpecVectors.h - the vectors of spec/conformance -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spec/conformance/vectors.json, which spec/reference.py derives from the text
// of the specification. Everything here ends the process on a file that is not
// of the expected form: no test may pass without its data.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_SPECVECTORS_H
#define GRIT_UNITTESTS_FORMAT_SPECVECTORS_H

#include "FormatTestUtils.h"
#include <simdjson.h>

namespace grit::test {

namespace dom = simdjson::dom;

struct SpecVector {
  std::string id;
  dom::element inputs, expected;

  bool refused() const { return has(expected, "refused"); }
  static bool has(dom::element object, const char *key) {
    dom::element value;
    return !object[key].get(value);
  }
};

/// The vectors of one kind; fails the test when there are fewer than `least`.
/// Their ids are appended to the file $GRIT_VECTOR_LOG, where that is set, so
/// that spec/conformance/run.py can count them.
std::vector<SpecVector> vectorsOf(std::string_view kind, size_t least);
/// Notes there that a test cannot ask the library this, and why.
void notApplicable(const SpecVector &vector, std::string_view reason);

std::string textOf(dom::element object, const char *key);
int64_t numberOf(dom::element object, const char *key, int64_t byDefault);
std::vector<int64_t> numbersOf(dom::element object, const char *key);
std::vector<std::string> textsOf(dom::element object, const char *key);
/// Binary32 bit patterns of eight hex digits each.
std::vector<float> floatsOf(std::string_view hex);
uint64_t wordOf(std::string_view hex);

/// The array that a vector's grade, shape, group_axis and placements describe,
/// or why there is none.
Expected<ArraySpec> specOf(dom::element inputs, int axisByDefault = -1);
/// The planes of a vector in the order of the contract, and then those with
/// bytes that the contract does not have.
std::vector<Bytes> planesOf(const ArraySpec &spec, dom::element inputs);
/// Planes of the contract as the four of a descriptor.
std::array<Bytes, 4> slotsOf(const ArraySpec &spec,
                             const std::vector<Bytes> &planes);

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_SPECVECTORS_H
