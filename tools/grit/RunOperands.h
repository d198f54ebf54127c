//===- RunOperands.h - the operands of a compiled function -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_RUNOPERANDS_H
#define GRIT_TOOLS_GRIT_RUNOPERANDS_H

#include "grit-c/grit.h"
#include "grit/Container/TensorFile.h"
#include <map>
#include <string>
#include <vector>

namespace grit::tool {

/// A parameter of a compiled function, as the compiler describes it.
struct Parameter {
  std::string name, kind, access;
  std::string element; ///< type of numbers, or the contract of an array
  std::vector<int64_t> shape;
  int64_t axis = 0; ///< of an array, as the next
  Placements placements;

  bool isArray() const { return kind == "array"; }
  bool isScalar() const { return kind == "scalar"; }
};

struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  /// Pairs of equal extents: operand, dimension, operand, dimension.
  std::vector<std::array<int64_t, 4>> shared;
};

/// "NAME=FILE::TENSOR", "NAME=FILE" or "NAME=NUMBER" of an option.
struct Assignment {
  std::string name, value;
  std::string file, tensor; ///< the parts of the value
};

Expected<std::vector<Assignment>>
parseAssignments(const char *option, const std::vector<std::string> &texts);

/// What to pass for the parameters of one function, and what it points at.
class Operands {
public:
  explicit Operands(const Signature &signature);

  /// Gives a parameter its value, once.
  Expected<void> set(const Assignment &value);
  /// Makes memory for what the function writes and was given no value. Its
  /// dynamic extents are those that must equal an extent of a value.
  Expected<void> allocateOutputs();
  /// One address for each parameter.
  std::vector<void *> addresses();

  /// True when a value came from this file.
  bool isInput(const std::string &path) const;
  const std::vector<int64_t> &shape(size_t index) const;
  ByteSpan bytes(size_t index) const { return slots[index].memory; }
  /// Of an array.
  const ArraySpec &spec(size_t index) const { return *slots[index].spec; }

private:
  struct Slot {
    bool isSet = false;
    grit_tensor_view_t tensor = {};
    grit_array_view_t array = {};
    std::optional<ArraySpec> spec;
    std::vector<int64_t> shape;
    std::vector<uint8_t> memory;
    std::unique_ptr<TensorFile> file; ///< holds the planes of an array
    std::string path;                 ///< of the file
    int64_t integer = 0;
    int32_t integer32 = 0;
    double number = 0;
    float number32 = 0;
  };

  Expected<void> setScalar(size_t index, const std::string &value);
  Expected<void> setTensor(size_t index, const TensorInfo &tensor);
  Expected<void> setArray(size_t index, const TensorInfo &tensor);
  void inferShapes();
  Expected<void> allocate(size_t index);
  void fillTensor(size_t index);

  const Signature &signature;
  std::vector<Slot> slots;
};

/// The ElementType of MLIR's name for it ("bf16"); nothing for another.
std::optional<ElementType> elementTypeOf(const std::string &element);

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_RUNOPERANDS_H
