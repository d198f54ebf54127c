//===- RunOperands.cpp - the operands of a compiled function -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunOperands.h"
#include "OutputFile.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

using namespace grit;
using namespace grit::tool;

std::optional<ElementType>
grit::tool::elementTypeOf(const std::string &element) {
  std::string token;
  for (char c : element)
    token += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return lookupElementType(token);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Expected<std::vector<Assignment>>
grit::tool::parseAssignments(const char *option,
                             const std::vector<std::string> &texts) {
  std::vector<Assignment> result;
  for (const std::string &text : texts) {
    size_t equals = std::min(text.find('='), text.size());
    Assignment one{text.substr(0, equals), {}, {}, {}};
    if (equals < text.size())
      one.value = text.substr(equals + 1);
    size_t split = one.value.rfind("::");
    one.file = one.value.substr(0, split);
    if (split != std::string::npos)
      one.tensor = one.value.substr(split + 2);
    if (one.name.empty() || one.file.empty() || one.value.ends_with("::"))
      return makeError(Status::GradeUnknown,
                       "the option lacks the operand, the file or the tensor",
                       option, "NAME=FILE or NAME=FILE::TENSOR", text, {},
                       "write every part that it has");
    result.push_back(std::move(one));
  }
  return result;
}

static int32_t dtypeOf(const std::string &element) {
  static const std::map<std::string, int32_t> dtypes = {
      {"f32", GRIT_DTYPE_F32}, {"f64", GRIT_DTYPE_F64},
      {"f16", GRIT_DTYPE_F16}, {"bf16", GRIT_DTYPE_BF16},
      {"i8", GRIT_DTYPE_I8},   {"i16", GRIT_DTYPE_I16},
      {"i32", GRIT_DTYPE_I32}, {"i64", GRIT_DTYPE_I64}};
  auto it = dtypes.find(element);
  return it == dtypes.end() ? 0 : it->second;
}

static tl::unexpected<Error> refuse(const Parameter &parameter,
                                    std::string message, std::string declared,
                                    std::string found, std::string fix) {
  return makeError(Status::SizeMismatch, std::move(message),
                   "--arg " + parameter.name, std::move(declared),
                   std::move(found), {}, std::move(fix));
}

Operands::Operands(const Signature &signature)
    : signature(signature), slots(signature.parameters.size()) {}

const std::vector<int64_t> &Operands::shape(size_t index) const {
  return slots[index].shape;
}

template <typename Number>
static bool parseNumber(const std::string &text, Number &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Expected<void> Operands::setScalar(size_t index, const std::string &value) {
  const Parameter &parameter = signature.parameters[index];
  Slot &slot = slots[index];
  bool isNumber = false;
  if (parameter.element == "f32")
    isNumber = parseNumber(value, slot.number32);
  else if (parameter.element == "f64")
    isNumber = parseNumber(value, slot.number);
  else if (parameter.element == "i32")
    isNumber = parseNumber(value, slot.integer32);
  else
    isNumber = parseNumber(value, slot.integer);
  if (!isNumber)
    return refuse(parameter, "the operand is a number",
                  "a number of type " + parameter.element, value,
                  "write " + parameter.name + "=NUMBER");
  return {};
}

void Operands::fillTensor(size_t index) {
  Slot &slot = slots[index];
  slot.tensor.data = slot.memory.data();
  slot.tensor.dtype = dtypeOf(signature.parameters[index].element);
  slot.tensor.rank = static_cast<int32_t>(slot.shape.size());
  std::copy(slot.shape.begin(), slot.shape.end(), slot.tensor.shape);
}

Expected<void> Operands::setTensor(size_t index, const TensorInfo &tensor) {
  const Parameter &parameter = signature.parameters[index];
  Slot &slot = slots[index];
  std::optional<ElementType> wanted = elementTypeOf(parameter.element);
  if (!tensor.element)
    return refuse(parameter, "the operand is a tensor of plain numbers",
                  parameter.element, tensor.dtype, "name another tensor");
  if (tensor.shape.size() > GRIT_MAXRANK)
    return refuse(parameter, "the tensor has too many dimensions",
                  "at most " + std::to_string(GRIT_MAXRANK),
                  std::to_string(tensor.shape.size()), "merge axes");
  slot.shape = tensor.shape;
  if (wanted && *tensor.element == *wanted) {
    slot.memory.assign(tensor.bytes.begin(), tensor.bytes.end());
  } else if (parameter.element == "f32" && isPlainFloat(*tensor.element)) {
    slot.memory.resize(tensor.bytes.size() * 8 / tensor.element->bits * 4);
    std::span<float> values(reinterpret_cast<float *>(slot.memory.data()),
                            slot.memory.size() / 4);
    if (auto done = toFloat32(*tensor.element, tensor.bytes, values); !done)
      return done;
  } else {
    return refuse(parameter, "the tensor has another type of numbers",
                  parameter.element, tensor.dtype,
                  "convert it, or compile for the type it has");
  }
  fillTensor(index);
  return {};
}

/// Everything but the planes' addresses.
static Expected<grit_array_view_t> viewOf(const ArraySpec &spec) {
  grit_array_view_t view = {};
  Expected<PlaneSizes> sizes = spec.planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  const FormatDescription &description = spec.contract.description();
  bool isGrade = spec.contract.isGrade();
  view.tag = isGrade ? GRIT_ARRAY_GRADE : GRIT_ARRAY_FOREIGN;
  auto fill = [&](auto &part) {
    part.rank = static_cast<int32_t>(spec.shape.size());
    std::copy(spec.shape.begin(), spec.shape.end(), part.shape);
    for (unsigned i = 0; i < sizes->size(); ++i)
      part.plane_bytes[planeSlot(description, i)] = (*sizes)[i];
  };
  if (!isGrade) {
    fill(view.u.foreign);
    view.u.foreign.id = spec.contract.id();
    view.u.foreign.axis = spec.axis;
    view.u.foreign.placement[0] = spec.placements.data.raw();
    view.u.foreign.placement[1] = spec.placements.scale.raw();
    view.u.foreign.placement[2] = spec.placements.meta.raw();
    return view;
  }
  fill(view.u.grade);
  std::optional<std::array<uint8_t, 64>> descriptor = spec.descriptor();
  if (!descriptor)
    return makeError(Status::GradeUnknown,
                     "the grade does not fit a descriptor", "contract",
                     "k0 and k1 below 65536", spec.contract.canonical(), {},
                     "use smaller groups");
  std::memcpy(&view.u.grade.d, descriptor->data(), descriptor->size());
  return view;
}

static void setPlane(grit_array_view_t &view, const ArraySpec &spec,
                     unsigned plane, const uint8_t *data) {
  unsigned slot = planeSlot(spec.contract.description(), plane);
  void *address = const_cast<uint8_t *>(data);
  if (spec.contract.isGrade())
    view.u.grade.plane[slot] = address;
  else
    view.u.foreign.plane[slot] = address;
}

Expected<void> Operands::setArray(size_t index, const TensorInfo &tensor) {
  const Parameter &parameter = signature.parameters[index];
  Slot &slot = slots[index];
  if (!tensor.array)
    return refuse(parameter, "the operand is a quantized array",
                  parameter.element, tensor.dtype,
                  "quantize the tensor with grit quantize");
  Expected<grit_array_view_t> view = viewOf(*tensor.array);
  if (!view)
    return tl::unexpected(view.error());
  slot.array = *view;
  slot.spec = tensor.array;
  slot.shape = tensor.shape;
  // Planes that are only read stay in the file.
  const uint8_t *data = tensor.bytes.data();
  if (parameter.access != "in") {
    slot.memory.assign(tensor.bytes.begin(), tensor.bytes.end());
    data = slot.memory.data();
  }
  for (unsigned i = 0; ByteSpan plane : tensor.planes()) {
    setPlane(slot.array, *slot.spec, i++, data);
    data += plane.size();
  }
  return {};
}

/// The tensor that "FILE" or "FILE::TENSOR" means for a parameter.
static Expected<const TensorInfo *> chooseTensor(const TensorFile &file,
                                                 const std::string &name,
                                                 const Parameter &parameter) {
  if (!name.empty()) {
    if (const TensorInfo *tensor = file.find(name))
      return tensor;
    return refuse(parameter, file.path() + " has no such tensor",
                  "a tensor of the file", name, "list them with grit inspect");
  }
  if (file.tensors().size() == 1)
    return &file.tensors().front();
  if (const TensorInfo *tensor = file.find(parameter.name))
    return tensor;
  return refuse(parameter, file.path() + " holds several tensors",
                "FILE::TENSOR", file.path(),
                "name one; grit inspect lists them");
}

Expected<void> Operands::set(const Assignment &value) {
  size_t index = 0;
  std::string known;
  for (; index < slots.size(); ++index) {
    if (signature.parameters[index].name == value.name)
      break;
    known += (index ? ", " : "") + signature.parameters[index].name;
  }
  if (index == slots.size())
    return makeError(Status::GradeUnknown,
                     "the function has no operand " + quoteText(value.name),
                     "--arg", "one of " + known, value.name, {},
                     "correct the name");
  const Parameter &parameter = signature.parameters[index];
  Slot &slot = slots[index];
  slot.isSet = true;
  if (parameter.isScalar())
    return setScalar(index, value.value);
  auto file = openTensorFile(value.file);
  if (!file)
    return tl::unexpected(file.error());
  Expected<const TensorInfo *> tensor =
      chooseTensor(**file, value.tensor, parameter);
  if (!tensor)
    return tl::unexpected(tensor.error());
  slot.file = std::move(*file);
  slot.path = value.file;
  return parameter.isArray() ? setArray(index, **tensor)
                             : setTensor(index, **tensor);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Expected<void> Operands::allocate(size_t index) {
  const Parameter &parameter = signature.parameters[index];
  Slot &slot = slots[index];
  if (!parameter.isArray()) {
    std::optional<ElementType> type = elementTypeOf(parameter.element);
    Expected<int64_t> size = byteSize(*type, slot.shape);
    if (!size)
      return tl::unexpected(size.error());
    slot.memory.resize(static_cast<size_t>(*size));
    fillTensor(index);
    return {};
  }
  Expected<Contract> contract = Contract::parse(parameter.element);
  if (!contract)
    return tl::unexpected(contract.error());
  Expected<ArraySpec> spec =
      ArraySpec::get(*contract, slot.shape, static_cast<int>(parameter.axis),
                     parameter.placements);
  if (!spec)
    return tl::unexpected(spec.error());
  Expected<grit_array_view_t> view = viewOf(*spec);
  if (!view)
    return tl::unexpected(view.error());
  slot.array = *view;
  slot.spec = *spec;
  Expected<PlaneSizes> sizes = spec->planeSizes();
  size_t total = 0;
  for (int64_t bytes : *sizes)
    total += static_cast<size_t>(bytes);
  slot.memory.resize(total);
  size_t offset = 0;
  for (unsigned i = 0; i < sizes->size(); ++i) {
    setPlane(slot.array, *spec, i, slot.memory.data() + offset);
    offset += static_cast<size_t>((*sizes)[i]);
  }
  return {};
}

/// Extents that are not known yet, from the other side of the pairs that must
/// be equal, through as many outputs as it takes.
void Operands::inferShapes() {
  auto extent = [&](int64_t operand, int64_t dim) -> int64_t {
    const Slot &slot = slots[static_cast<size_t>(operand)];
    if (dim < 0)
      return slot.integer;
    return static_cast<size_t>(dim) < slot.shape.size()
               ? slot.shape[static_cast<size_t>(dim)]
               : -1;
  };
  bool changed = true;
  auto infer = [&](int64_t operand, int64_t dim, int64_t known) {
    Slot &slot = slots[static_cast<size_t>(operand)];
    if (slot.isSet || dim < 0 || extent(operand, dim) >= 0 || known < 0)
      return;
    slot.shape[static_cast<size_t>(dim)] = known;
    changed = true;
  };
  while (changed) {
    changed = false;
    for (const auto &[first, firstDim, second, secondDim] : signature.shared) {
      infer(first, firstDim, extent(second, secondDim));
      infer(second, secondDim, extent(first, firstDim));
    }
  }
}

Expected<void> Operands::allocateOutputs() {
  for (size_t index = 0; index < slots.size(); ++index) {
    const Parameter &parameter = signature.parameters[index];
    if (slots[index].isSet)
      continue;
    if (parameter.access == "in")
      return refuse(parameter, "the operand has no value",
                    parameter.isScalar() ? "a number" : "FILE::TENSOR",
                    "nothing", "pass --arg " + parameter.name + "=...");
    slots[index].shape = parameter.shape;
  }
  inferShapes();
  for (size_t index = 0; index < slots.size(); ++index) {
    const Parameter &parameter = signature.parameters[index];
    if (slots[index].isSet)
      continue;
    for (int64_t length : slots[index].shape)
      if (length < 0)
        return refuse(parameter, "the shape of this output is not known",
                      "a value that has the shape",
                      shapeText(slots[index].shape),
                      "pass --arg " + parameter.name + "=FILE::TENSOR");
    if (auto done = allocate(index); !done)
      return done;
  }
  return {};
}

bool Operands::isInput(const std::string &path) const {
  return std::ranges::any_of(slots, [&](const Slot &slot) {
    return !slot.path.empty() && replacesInput(path, slot.path);
  });
}

std::vector<void *> Operands::addresses() {
  std::vector<void *> result;
  for (size_t index = 0; index < slots.size(); ++index) {
    Slot &slot = slots[index];
    const Parameter &parameter = signature.parameters[index];
    if (parameter.isArray())
      result.push_back(&slot.array);
    else if (!parameter.isScalar())
      result.push_back(&slot.tensor);
    else if (parameter.element == "f32")
      result.push_back(&slot.number32);
    else if (parameter.element == "f64")
      result.push_back(&slot.number);
    else if (parameter.element == "i32")
      result.push_back(&slot.integer32);
    else
      result.push_back(&slot.integer);
  }
  return result;
}
