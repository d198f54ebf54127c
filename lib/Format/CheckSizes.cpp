//===- CheckSizes.cpp - step 4 of grit_check -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckSteps.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::check_steps;

static std::string number(int64_t value) { return std::to_string(value); }

Error grit::check_steps::sizeError(std::string message, std::string field,
                                   std::string declared, std::string found,
                                   std::string cause, std::string fix,
                                   int plane) {
  return {Status::SizeMismatch, std::move(message),
          std::move(field),     std::move(declared),
          std::move(found),     std::move(cause),
          std::move(fix),       plane};
}

static Error overflow(std::span<const int64_t> shape) {
  return sizeError("the sizes of the array exceed 63 bits", "shape",
                   "counts and bits below 2^63", shapeText(shape),
                   "the extents are damaged", "correct the shape");
}

/// Bits of a code in its plane: the width, or 8 for what is padded to bytes.
static int64_t codeBits(FormatWord word, bool pad8) {
  return pad8 && word.width() <= 8 ? 8 : word.width();
}

/// Step 4.1.
static std::optional<Error> checkExtents(const Descriptor &d,
                                         std::span<const int64_t> shape) {
  if (shape.size() > kMaxRank)
    return sizeError(
        "the array has too many axes", "rank", "at most " + number(kMaxRank),
        number(static_cast<int64_t>(shape.size())), {}, "merge axes");
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0)
      return sizeError("an extent is negative",
                       "shape[" + number(static_cast<int64_t>(i)) + "]",
                       "0 or more", number(shape[i]),
                       "the shape is damaged, or -1 was meant to be inferred",
                       "give the real extent");
  int64_t rank = static_cast<int64_t>(shape.size());
  if (d.groupAxis < 0 || d.groupAxis >= rank)
    return sizeError("the group axis is not an axis of the array", "group_axis",
                     rank ? "0 to " + number(rank - 1) : "a rank of 1 or more",
                     number(d.groupAxis),
                     d.groupAxis < 0
                         ? "descriptors do not count axes from the end"
                         : "the descriptor is that of an array of higher rank",
                     "correct the axis or the shape " + shapeText(shape));
  return std::nullopt;
}

/// Steps 4.2 and 4.3: the group axis holds whole groups.
static std::optional<Error> checkGroups(const Descriptor &d,
                                        std::span<const int64_t> shape) {
  int64_t extent = shape[static_cast<size_t>(d.groupAxis)];
  std::string field = "k0";
  int64_t divisor = d.k0;
  if (divisor != 0 && extent % divisor == 0) {
    if (!(d.flags & Descriptor::Sparse))
      return std::nullopt;
    field = "sp_m";
    divisor = d.spM;
    if (divisor != 0 && extent % divisor == 0)
      return std::nullopt;
  }
  if (divisor == 0)
    return sizeError(field + " is 0", field, "1 or more", "0",
                     "the descriptor is damaged",
                     "write it from the contract again");
  int64_t padded = extent - extent % divisor;
  bool fits = !__builtin_add_overflow(padded, divisor, &padded);
  return sizeError("the group axis does not hold whole groups",
                   "shape[" + number(d.groupAxis) + "]",
                   "a multiple of " + field + "=" + number(divisor),
                   number(extent) + " in " + shapeText(shape),
                   "another axis was grouped, or the array was not padded",
                   fits ? "pad the axis to " + number(padded)
                        : "correct the shape");
}

namespace {

/// Arithmetic on non-negative numbers that remembers an overflow.
struct Checked {
  bool overflowed = false;

  int64_t times(int64_t a, int64_t b) {
    int64_t product = 0;
    overflowed |= __builtin_mul_overflow(a, b, &product);
    return product;
  }
  int64_t bytesOf(int64_t count, int64_t bits) {
    int64_t total = times(count, bits);
    return total / 8 + (total % 8 != 0);
  }
};

} // namespace

/// The number of elements of extents >= 0; an empty array never overflows.
static int64_t countElements(std::span<const int64_t> shape, Checked &math) {
  for (int64_t extent : shape)
    if (extent == 0)
      return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count = math.times(count, extent);
  return count;
}

/// Steps 4.4 and 4.5.
static std::optional<Error> countGroups(const Descriptor &d, Sizes &sizes) {
  sizes.numGroups0 = sizes.numElements / d.k0;
  if (d.k1 != 0 && sizes.numGroups0 % d.k1 != 0)
    return sizeError(
        "the level-0 groups do not fill level-1 groups", "k1",
        "a number of groups that is a multiple of k1=" + number(d.k1),
        "numel=" + number(sizes.numElements) + ", k0=" + number(d.k0) +
            " -> n_groups0=" + number(sizes.numGroups0),
        "the array ends inside a level-1 group of " +
            number(int64_t(d.k0) * d.k1) + " elements",
        "pad the array, or choose a grade with smaller groups");
  if (d.levels == 2)
    sizes.numGroups1 = d.k1 == 0 ? 1 : sizes.numGroups0 / d.k1;
  if (d.flags & Descriptor::Sparse && d.spMetaFormat > 2)
    return sizeError("the format of the sparse indices is not known",
                     "sp_meta_fmt", "0 (none), 1 (u2) or 2 (u4)",
                     number(d.spMetaFormat), "the descriptor is damaged",
                     "write it from the contract again");
  return std::nullopt;
}

std::optional<Error> check_steps::computeSizes(const Descriptor &d,
                                               std::span<const int64_t> shape,
                                               Sizes &sizes) {
  if (std::optional<Error> error = checkExtents(d, shape))
    return error;
  if (std::optional<Error> error = checkGroups(d, shape))
    return error;
  Checked math;
  sizes.numElements = countElements(shape, math);
  if (math.overflowed)
    return overflow(shape);
  if (std::optional<Error> error = countGroups(d, sizes))
    return error;

  bool sparse = d.flags & Descriptor::Sparse;
  sizes.numStored =
      sparse ? math.times(sizes.numElements, d.spN) / d.spM : sizes.numElements;
  auto &bytes = sizes.planeBytes;
  bytes[0] = math.bytesOf(sizes.numStored, codeBits(d.elem, d.container == 1));
  bytes[1] = math.bytesOf(sizes.numGroups0, codeBits(d.scale0, true));
  int64_t perGroup = d.flags & Descriptor::ZpL1Scaled ? 2 : 1;
  bytes[2] =
      math.bytesOf(math.times(sizes.numGroups1, perGroup), d.scale1.width());
  bytes[3] = 0;
  if (sparse)
    bytes[3] = math.bytesOf(math.times(sizes.numElements / d.spM, d.spN),
                            d.spMetaFormat * 2);
  else if (d.flags & Descriptor::HasZp)
    bytes[3] = math.bytesOf(sizes.numGroups0, codeBits(d.zp, true));
  if (math.overflowed)
    return overflow(shape);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Step 4.6, and what its failure probably means
//===----------------------------------------------------------------------===//

/// "numel=64, k0=32 -> n_groups0=2, cw(e8m0)=8 -> ceil(2*8/8)".
static std::string arithmetic(const Descriptor &d, const Sizes &sizes,
                              int plane) {
  std::string text = "numel=" + number(sizes.numElements);
  auto result = [&](const std::string &count, FormatWord word, int64_t bits) {
    text += ", cw(" + word.str() + ")=" + number(bits) + " -> ceil(" + count +
            "*" + number(bits) + "/8)";
  };
  bool sparse = d.flags & Descriptor::Sparse;
  std::string survivors =
      ", sp=" + number(d.spN) + ":" + number(d.spM) + " -> ";
  if (plane == 0) {
    if (sparse)
      text += survivors + "nnz=" + number(sizes.numStored);
    result(number(sizes.numStored), d.elem, codeBits(d.elem, d.container == 1));
    return text;
  }
  if (plane == 3 && sparse)
    return text + survivors + number(sizes.numStored) + " indices of " +
           number(d.spMetaFormat * 2) + " bits";
  if (plane == 3 && !(d.flags & Descriptor::HasZp))
    return "no zero points and no indices";
  if (plane == 2 && d.levels == 1)
    return "one level of scales";
  text += ", k0=" + number(d.k0) + " -> n_groups0=" + number(sizes.numGroups0);
  if (plane != 2) {
    FormatWord word = plane == 1 ? d.scale0 : d.zp;
    result(number(sizes.numGroups0), word, codeBits(word, true));
    return text;
  }
  text += ", k1=" + number(d.k1) + " -> n_groups1=" + number(sizes.numGroups1);
  std::string pairs = d.flags & Descriptor::ZpL1Scaled ? "*2" : "";
  result(number(sizes.numGroups1) + pairs, d.scale1, d.scale1.width());
  return text;
}

/// a * b / c where that is a whole number of int64 above 0.
static std::optional<int64_t> wholeRatio(int64_t a, int64_t b, int64_t c) {
  __int128 product = static_cast<__int128>(a) * b;
  if (c <= 0 || product == 0 || product % c != 0 || product / c > INT64_MAX)
    return std::nullopt;
  return static_cast<int64_t>(product / c);
}

static std::string likeliestCause(const Descriptor &d, const Sizes &sizes,
                                  std::span<const int64_t> found, int plane) {
  int64_t actual = found[static_cast<size_t>(plane)];
  int64_t required = sizes.planeBytes[static_cast<size_t>(plane)];
  if (actual == 0)
    return "the plane is missing";
  if (required == 0)
    return "the contract has no such plane for this shape";
  bool scalePerGroup =
      plane == 1 || (plane == 3 && d.flags & Descriptor::HasZp);
  if (scalePerGroup) {
    int64_t bits = codeBits(plane == 1 ? d.scale0 : d.zp, true);
    std::optional<int64_t> k0 = wholeRatio(sizes.numElements, bits / 8, actual);
    if (k0 && *k0 != d.k0)
      return "the plane was made for k0=" + number(*k0);
  }
  if (plane == 0)
    if (auto bits = wholeRatio(actual, 8, sizes.numStored))
      return "the plane has " + number(*bits) + " bits per code, and " +
             d.elem.str() + " takes " +
             number(codeBits(d.elem, d.container == 1));
  for (int other = 0; other < 4; ++other)
    if (other != plane &&
        sizes.planeBytes[static_cast<size_t>(other)] == actual)
      return std::string("this is the size of plane ") + kPlaneNames[other] +
             ": the planes may be in another order";
  return actual < required ? "the plane was cut short"
                           : "the plane is padded, or of another array";
}

std::optional<Error>
check_steps::comparePlaneBytes(const Descriptor &d, const Sizes &sizes,
                               std::span<const int64_t> planeBytes) {
  if (planeBytes.size() != 4)
    return sizeError("an array of a grade has four planes", "plane_bytes",
                     "4 sizes: data, scale0, scale1, aux",
                     number(static_cast<int64_t>(planeBytes.size())), {},
                     "give 0 for a plane that is absent");
  for (int i = 0; i < 4; ++i) {
    size_t index = static_cast<size_t>(i);
    int64_t required = sizes.planeBytes[index], found = planeBytes[index];
    if (required == found)
      continue;
    std::string name = kPlaneNames[i];
    Error error = sizeError(
        "plane " + name + " has " + number(found) + " bytes, and " +
            number(required) + " are required",
        "plane_bytes[" + name + "]",
        number(required) + " bytes (" + arithmetic(d, sizes, i) + ")",
        number(found) + " bytes", likeliestCause(d, sizes, planeBytes, i),
        "give the bytes that belong to the descriptor and the shape, or "
        "quantize again",
        i);
    return error;
  }
  return std::nullopt;
}
