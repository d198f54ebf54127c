//===- Contract.h - what an array's bytes mean: a grade or a foreign format -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_CONTRACT_H
#define GRIT_FORMAT_CONTRACT_H

#include "grit/Format/Description.h"
#include "grit/Format/Grade.h"
#include "grit/Format/Placement.h"
#include "grit/Format/Status.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// A numeric contract, immutable and cheap to copy: either a grade of GRIT v1
/// or a foreign format (GGUF blocks, NF4, ...) given by its description.
class Contract {
public:
  /// Resolves a registered name in any case ("mxfp4", "GRADE_MXFP4",
  /// "gguf.q4_k", "hurray.nf4", "hurray.nf4(block=128)"), a name that was given
  /// to registerGrade or registerFormat, or any spelling of a grade string
  /// ("grit1(...)") or of a format ("gritfmt1(...)"). An unknown name is
  /// refused with the nearest known ones.
  static Expected<Contract> parse(std::string_view text);
  static Expected<Contract> fromGrade(const Grade &grade);
  /// The contract with this id (grade id or format id): a registered one, or
  /// one that was given to registerGrade or registerFormat.
  static std::optional<Contract> lookupId(uint64_t id);

  /// The registered name ("mxfp4", "gguf.q4_k", "hurray.nf4(block=128)"), or
  /// the canonical text of a contract without one.
  const std::string &name() const;
  /// True when `name()` is a registered name, which every reader knows. What
  /// registerGrade and registerFormat add has none: its text travels, not the
  /// name it has here.
  bool isRegistered() const;
  /// The name that registerGrade or registerFormat gave to this, or "".
  const std::string &userName() const;
  /// What messages and tables call it: the user's name, else `name()`.
  const std::string &displayName() const;
  /// "grit1(...)" for a grade, "gritfmt1(...)" for a foreign format.
  const std::string &canonical() const;
  /// FNV-1a-64 of the canonical text: the grade id of a grade.
  uint64_t id() const;
  /// Null for a foreign format.
  const Grade *grade() const;
  bool isGrade() const { return grade() != nullptr; }
  const FormatDescription &description() const;
  /// Where an array of this contract lies when nothing else is said.
  const Placements &canonicalPlacements() const;
  /// One sentence for people: what the format is and where it comes from.
  const std::string &summary() const;

  friend bool operator==(const Contract &a, const Contract &b) {
    return a.impl == b.impl || a.canonical() == b.canonical();
  }

  struct Impl;
  explicit Contract(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}

private:
  friend Contract nameForUser(const Contract &contract, std::string name);
  std::shared_ptr<const Impl> impl;
};

/// The registered names in the order of the documentation; a family with a
/// parameter appears once, with the default ("hurray.nf4").
const std::vector<std::string> &registeredContractNames();

/// Makes the grade known in this process: its id to grit_check, and `name` (in
/// any case) to Contract::parse. A letter, then letters, digits, '_', '-' and
/// '.'. The same pair may be registered again; a name or a grade that is taken
/// is refused. May be called from any thread.
Expected<Contract> registerGrade(std::string_view name, std::string_view text);

/// Makes the format that the text of spec/gritfmt1.md describes known in this
/// process, like a grade: its id to checks, and the name that the text gives it
/// (`name = mine`) to Contract::parse. A text with one parameter adds its whole
/// family, "mine(block=128)". The same text may be registered again; a name or
/// a format that is taken is refused. May be called from any thread.
Expected<Contract> registerFormat(std::string_view text);

/// What registerGrade and registerFormat added, in the order of the names.
std::vector<Contract> userContracts();

/// What registerGrade or registerFormat was given.
struct Registration {
  std::string name; ///< of a grade, in small letters; a format's text has it
  std::string text;
};
/// The `index`th that was accepted, for another copy of this library in the
/// process; null past the last. It stays where it is. From any thread.
const Registration *registration(size_t index);

/// The bytes of an array, as four numbers in the order of the planes of the
/// contract's description (as many as it has).
using PlaneSizes = std::vector<int64_t>;

/// An array under a contract: everything but the bytes.
struct ArraySpec {
  Contract contract;
  std::vector<int64_t> shape;
  int axis = 0; ///< group axis, 0 <= axis < rank
  Placements placements;
  /// The note of the descriptor (Note.h). It goes where the array goes, and is
  /// no part of the array's identity.
  uint32_t note = 0;

  /// `axis` counts from the end when negative (-1 is the last); without
  /// placements the contract's canonical ones are taken.
  static Expected<ArraySpec>
  get(Contract contract, std::vector<int64_t> shape, int axis = -1,
      std::optional<Placements> placements = std::nullopt);

  /// Steps 3 and 4 of grit_check: placements acceptable, extents and groups.
  std::optional<Error> verify() const;
  /// The size equations; SizeMismatch when the shape does not fit.
  Expected<PlaneSizes> planeSizes() const;
  /// Compares real sizes with the equations, plane by plane, and gives the
  /// arithmetic and the likeliest cause.
  std::optional<Error> checkPlaneSizes(const PlaneSizes &found) const;
  int64_t numElements() const;
  /// 64 bytes; nothing for a foreign contract.
  std::optional<std::array<uint8_t, 64>> descriptor() const;
  /// Identity of contract, placements and shape (big-endian FNV-1a-128).
  std::array<uint8_t, 16> gid() const;
};

/// Rank limit (GRIT_MAXRANK).
inline constexpr int kMaxRank = 8;

} // namespace grit

#endif // GRIT_FORMAT_CONTRACT_H
