//===- Tensor.cpp - the checks of tensors of plain numbers -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::capi;

namespace {

struct Dtype {
  const char *name;
  int64_t bytes;
};

} // namespace

static Dtype dtypeOf(int32_t dtype) {
  switch (dtype) {
  case GRIT_DTYPE_F32:
    return {"f32", 4};
  case GRIT_DTYPE_F64:
    return {"f64", 8};
  case GRIT_DTYPE_F16:
    return {"f16", 2};
  case GRIT_DTYPE_BF16:
    return {"bf16", 2};
  case GRIT_DTYPE_I8:
    return {"i8", 1};
  case GRIT_DTYPE_I16:
    return {"i16", 2};
  case GRIT_DTYPE_I32:
    return {"i32", 4};
  case GRIT_DTYPE_I64:
    return {"i64", 8};
  }
  return {"none", 0};
}

static std::string nameOf(const char *name) {
  return name ? "operand " + quoteText(name) : "an operand";
}

/// "any" stands for an extent that the function leaves open.
static std::string extentsText(int32_t rank, const int64_t *shape) {
  std::string text = "[";
  for (int32_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") +
            (shape && shape[i] >= 0 ? std::to_string(shape[i]) : "any");
  return text + "]";
}

static std::string foundText(int32_t rank, const int64_t *shape) {
  std::string text = "[";
  for (int32_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// The bytes of a tensor, or nothing when an extent is negative or their number
/// does not fit 63 bits.
static std::optional<int64_t> bytesOf(const grit_tensor_view_t &view,
                                      int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int32_t i = 0; i < view.rank; ++i)
    if (view.shape[i] < 0 ||
        __builtin_mul_overflow(bytes, view.shape[i], &bytes))
      return std::nullopt;
  return bytes;
}

static grit_status_t checkShape(const grit_tensor_view_t &view,
                                const grit_tensor_expect_t &expect,
                                grit_detail_t *detail) {
  std::string name = nameOf(expect.name);
  std::string declared = extentsText(expect.rank, expect.shape);
  if (view.rank != expect.rank)
    return fail(Error{Status::SizeMismatch, name + " has the wrong rank",
                      "rank",
                      std::to_string(expect.rank) + ", shape " + declared,
                      std::to_string(view.rank),
                      "the operands were passed in another order, or the view "
                      "was never filled",
                      "pass a tensor of this rank", -1},
                expect.rank, view.rank, detail);
  for (int32_t i = 0; expect.shape && i < expect.rank; ++i)
    if (expect.shape[i] >= 0 && expect.shape[i] != view.shape[i])
      return fail(Error{Status::SizeMismatch,
                        name + " has extent " + std::to_string(i) + " of " +
                            std::to_string(view.shape[i]) +
                            ", and the function needs " +
                            std::to_string(expect.shape[i]),
                        "extent " + std::to_string(i), declared,
                        foundText(view.rank, view.shape),
                        "the operands were passed in another order, or the "
                        "function was compiled for another shape",
                        "pass a tensor of this shape, or compile with dynamic "
                        "extents",
                        -1},
                  expect.shape[i], view.shape[i], detail);
  return GRIT_OK;
}

static grit_status_t checkMemory(const grit_tensor_view_t &view,
                                 const grit_tensor_expect_t &expect,
                                 grit_detail_t *detail) {
  std::string name = nameOf(expect.name);
  int64_t elementBytes = dtypeOf(expect.dtype).bytes;
  std::optional<int64_t> bytes = bytesOf(view, elementBytes);
  if (!bytes)
    return fail(Error{Status::SizeMismatch,
                      name + " has a shape that no memory holds", "shape",
                      "extents of at least 0 whose bytes fit 63 bits",
                      foundText(view.rank, view.shape),
                      "the view was never filled, or is damaged",
                      "correct the extents", -1},
                detail);
  if (!view.data && *bytes != 0)
    return fail(Error{Status::SizeMismatch, name + " has no memory", "data",
                      std::to_string(*bytes) + " bytes", "null",
                      "the view was never filled",
                      "set the address of the numbers", -1},
                detail);
  auto address = reinterpret_cast<uintptr_t>(view.data);
  int64_t past =
      static_cast<int64_t>(address % static_cast<uintptr_t>(elementBytes));
  if (past != 0)
    return fail(Error{Status::PlacementUnknown, name + " is not aligned",
                      "data",
                      "an address that is a multiple of " +
                          std::to_string(elementBytes),
                      std::to_string(past) + " bytes past one",
                      "the numbers were taken from the middle of other data",
                      "copy them to memory of their own", -1},
                0, past, detail);
  return GRIT_OK;
}

static grit_status_t checkTensor(const grit_tensor_view_t &view,
                                 const grit_tensor_expect_t &expect,
                                 grit_detail_t *detail) {
  if (view.dtype != expect.dtype)
    return fail(
        Error{Status::SizeMismatch,
              nameOf(expect.name) + " has the wrong type of numbers", "dtype",
              std::string(dtypeOf(expect.dtype).name) + " (" +
                  std::to_string(expect.dtype) + ")",
              std::string(dtypeOf(view.dtype).name) + " (" +
                  std::to_string(view.dtype) + ")",
              "the operands were passed in another order, or the view "
              "was never filled",
              "convert the numbers, or compile for the type they have", -1},
        expect.dtype, view.dtype, detail);
  if (grit_status_t status = checkShape(view, expect, detail))
    return status;
  if (grit_status_t status = checkMemory(view, expect, detail))
    return status;
  return succeed(detail);
}

grit_status_t grit_check_tensor_expected(const grit_tensor_view_t *view,
                                         const grit_tensor_expect_t *expect,
                                         grit_detail_t *detail) {
  if (!expect)
    return fail(badArgument("expect", "an address", "null"), detail);
  if (std::optional<Error> error = rankError(expect->rank))
    return fail(*error, detail);
  return guarded(detail, [&] {
    if (!view)
      return fail(badArgument(expect->name ? expect->name : "view",
                              "an address", "null"),
                  detail);
    if (dtypeOf(expect->dtype).bytes == 0)
      return fail(badArgument("expect.dtype", "a grit_dtype_t",
                              std::to_string(expect->dtype)),
                  detail);
    return checkTensor(*view, *expect, detail);
  });
}

static std::string extentName(const char *operand, int32_t dim) {
  std::string name = operand ? quoteText(operand) : "an operand";
  return dim < 0 ? name : "extent " + std::to_string(dim) + " of " + name;
}

grit_status_t grit_check_shared_extent(const grit_shared_extent_t *shared,
                                       int64_t first, int64_t second,
                                       grit_detail_t *detail) {
  if (!shared)
    return fail(badArgument("shared", "an address", "null"), detail);
  if (first == second)
    return succeed(detail);
  return guarded(detail, [&] {
    std::string one = extentName(shared->first, shared->first_dim);
    std::string other = extentName(shared->second, shared->second_dim);
    return fail(Error{Status::SizeMismatch, other + " must equal " + one, other,
                      std::to_string(first) + " (" + one + ")",
                      std::to_string(second),
                      "the operands belong to different problems, or were "
                      "passed in another order",
                      "pass operands whose shapes agree", -1},
                first, second, detail);
  });
}
