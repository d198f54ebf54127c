//===- Walk.cpp - how a kernel may walk an array -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Walk.h"
#include "grit/KernelGen/KernelGen.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace grit;
using namespace grit::kernelgen;

bool grit::kernelgen::hasDynamicPart(const Digit &digit, int64_t align) {
  return digit.mod == 0 || align % (digit.div * digit.mod) != 0;
}

int64_t grit::kernelgen::addressAlignment(const BitSlice &slice) {
  int64_t alignment = std::gcd<int64_t>(8, slice.base);
  for (const Digit &digit : slice.digits)
    alignment = std::gcd(alignment, digit.stride);
  return alignment;
}

/// True when the digit's value is a part of the base plus a part of c, the
/// former a whole number of bytes.
static bool canSplit(const Digit &digit, int64_t align) {
  if (!hasDynamicPart(digit, align))
    return true;
  if (!digit.table.empty())
    return false;
  if (digit.div % align == 0) // c never reaches the digit
    return digit.stride % 8 == 0;
  if (align % digit.div != 0)
    return false;
  // base / div is a multiple of align / div, which must divide mod, so that no
  // carry leaves c's part.
  int64_t multiple = align / digit.div;
  if (digit.mod != 0 && digit.mod % multiple != 0)
    return false;
  return multiple * digit.stride % 8 == 0;
}

static bool canSplit(const BitField &field, int64_t align) {
  if (field.radix && llvm::any_of(field.radix->place, [&](const Digit &digit) {
        return hasDynamicPart(digit, align);
      }))
    return false;
  return llvm::all_of(field.slices, [&](const BitSlice &slice) {
    return llvm::all_of(slice.digits, [&](const Digit &digit) {
      return canSplit(digit, align);
    });
  });
}

/// True when codes (and signs, or the indices of a sparse array) can be read in
/// steps.
static bool canStep(const FormatDescription &description, int64_t step) {
  const std::optional<Sparsity> &sparsity = description.sparsity;
  const Level &level = description.level;
  if (level.book)
    return false;
  if (!sparsity) {
    int64_t vector = level.vector;
    if (step % vector != 0 || !canSplit(description.codes, step / vector))
      return false;
    return !level.signs ||
           (step % level.signs->group == 0 &&
            canSplit(level.signs->bits, step / int64_t(level.signs->group)));
  }
  if (step % sparsity->m != 0)
    return false;
  int64_t survivors = step / sparsity->m * sparsity->n;
  return canSplit(description.codes, survivors) &&
         canSplit(sparsity->indices, survivors);
}

/// True when each run lies in one group of each factor or holds whole groups.
static bool fitsGroups(const FormatDescription &description, int64_t run) {
  auto fits = [&](const Factor &factor) {
    return factor.group == 0 || factor.group == kWholeAxis ||
           factor.group % run == 0 || run % factor.group == 0;
  };
  bool fitsMask =
      !description.sparsity || run % int64_t(description.sparsity->m) == 0;
  bool fitsVectors = run % int64_t(description.level.vector) == 0;
  return fitsMask && fitsVectors && llvm::all_of(description.scales, fits) &&
         llvm::all_of(description.offset.factors, fits);
}

std::optional<Walk>
grit::kernelgen::chooseWalk(const FormatDescription &description,
                            int64_t maxLanes, int64_t multiple) {
  std::optional<Walk> best;
  // A step beyond 512 elements would unroll into more code than it saves.
  int64_t limit = std::min<int64_t>(multiple, 512);
  for (int64_t step = 1; step <= limit; ++step) {
    if (multiple % step != 0 || !canStep(description, step))
      continue;
    int64_t run = 1;
    for (int64_t lanes = 2; lanes <= maxLanes && step % lanes == 0; lanes *= 2)
      if (fitsGroups(description, lanes))
        run = lanes;
    if (fitsGroups(description, run) && (!best || run > best->run))
      best = Walk{step, run};
  }
  return best;
}
