//===- RulesOfContents.cpp - what planes show, alone and against each other -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace grit::scan;

static constexpr Rule kRules[] = {
    {Id::ContractDiffers, Severity::Disagreement, Certainty::Proven, false,
     "contract-differs",
     "one name, two contracts or shapes, in two checkpoints",
     "Two tools or revisions hold what ought to be the same operand under "
     "contracts, shapes or layouts that are not the same. For declared arrays "
     "the finding says what the difference means for the numbers.",
     "w is mxfp4 in a.safetensors and nvf4 in b.safetensors.",
     "Compare them with grit explain; convert one from the other."},
    {Id::NibbleSwap, Severity::Disagreement, Certainty::Inferred, true,
     "nibble-swap", "the same codes with nibbles swapped",
     "One tool puts the first element in the low half of a byte, the other in "
     "the high half.",
     "0x21 in one file where the other has 0x12, in every byte.",
     "State the bit order (po=msb); swap the nibbles when converting."},
    {Id::PackingOrder, Severity::Disagreement, Certainty::Inferred, true,
     "packing-order", "the same codes in linear and in interleaved order",
     "AWQ packs the elements of a word as 0 2 4 6 1 3 5 7; another tool packs "
     "them in order.",
     "0x76543210 in one file, 0x75316420 in the other.",
     "Correct the declared order, or pack again."},
    {Id::RowInterleave, Severity::Disagreement, Certainty::Inferred, true,
     "row-interleave", "the same rows, interleaved in one file",
     "Gate and up are stacked in one file and alternate in the other.",
     "Rows g0 g1 u0 u1 against g0 u0 g1 u1.",
     "Split the rows as the loader expects them."},
    {Id::ReciprocalTwin, Severity::Disagreement, Certainty::Inferred, true,
     "reciprocal-twin", "two tensor scales of one name are reciprocals",
     "One file stores the divisor, the other the multiplier.",
     "3584 in one file, 1/3584 in the other.", "Invert one of them."},

    {Id::ScaleNaN, Severity::Warning, Certainty::Proven, true, "scale-nan",
     "scales that are NaN or infinite",
     "Every element of such a group decodes to NaN.", "An e8m0 scale of 255.",
     "Quantize the layer again."},
    {Id::ElementNaN, Severity::Warning, Certainty::Proven, true, "element-nan",
     "codes of weights that are NaN", "The quantizer divided zero by zero.",
     "An F8_E4M3 tile of 0x7F with the scale 0.",
     "Quantize the layer again; a zero group takes the scale 1."},
    {Id::ZeroScale, Severity::Warning, Certainty::Proven, true, "zero-scale",
     "all scales of a tensor are zero",
     "The plane was never written: the tensor decodes to zeros.",
     "A plane of scales that holds only zero bytes.",
     "Fetch or quantize the layer again."},
    {Id::ExtremeScale, Severity::Warning, Certainty::Proven, true,
     "extreme-scale", "e8m0 scales with the code 0",
     "Code 0 is 2^-127. Some decoders take it for zero, and some flush it.",
     "An e8m0 scale of 0.", "Give empty groups the scale 1 (code 127)."},
    {Id::ZeroPointRange, Severity::Warning, Certainty::Proven, true,
     "zero-point-range", "zero points outside the range of the codes",
     "Unsigned zero points went through a packer for signed ones, or back.",
     "Signed 4-bit codes with zero points of 8 to 15.",
     "Write the zero points in the range of the codes."},
    {Id::UnusedCodes, Severity::Warning, Certainty::Inferred, true,
     "unused-codes", "no group uses the upper half of its codes",
     "Scales are one step or more too large: they were rounded up after the "
     "codes were chosen, or belong to another tensor.",
     "F8_E4M3 codes up to 224 in every block, with power-of-two scales.",
     "Choose the codes with the stored scale."},
    {Id::IllegalWord, Severity::Violation, Certainty::Proven, true,
     "illegal-word", "an array holds what its contract calls illegal",
     "A code that no encoder of the format writes, a scale that is not finite "
     "or of the wrong sign, or numbers under a scale of 0.",
     "Byte 80 in ninfer.q8_g32_fp16, whose codes are -127 to 127.",
     "Encode again with an encoder of the format."},

    {Id::SwizzleAmbiguous, Severity::Warning, Certainty::Ambiguous, false,
     "swizzle-ambiguous", "the scale plane may be linear or swizzled",
     "Swizzled planes are padded to 128 rows and 4 columns. Where the linear "
     "plane has this size already, sizes cannot tell the two apart.",
     "Scales of 128 rows and 4 columns.",
     "Record the placement of the scales."},
    {Id::OrderUnproven, Severity::Warning, Certainty::Ambiguous, false,
     "order-unproven", "the order of codes in a byte or word is not stated",
     "Low half first is usual; tools that swap or interleave write the same "
     "types and shapes.",
     "U8 codes of FP4; qweight of AWQ.",
     "Record the contract, or compare with another file (--deep)."},
    {Id::FusedRows, Severity::Warning, Certainty::Ambiguous, false,
     "fused-rows", "the order of rows in a fused matrix is not stated",
     "Gate and up may be stacked or alternate.",
     "experts.gate_up_proj of MXFP4.", "Check what the loader expects."},
    {Id::NotExpressible, Severity::Warning, Certainty::NotExpressible, false,
     "not-expressible", "a format that GRIT v1 cannot spell",
     "The format has a part that no grade spells; the finding says which, e.g. "
     "a table of levels of its own, blocks of rows and columns, or scales in "
     "bfloat16.",
     "FP8 with one scale per block of 128 x 128.",
     "Nothing to do; the format is named, not forced into a grade."},
    {Id::FormatInferred, Severity::Warning, Certainty::Inferred, false,
     "format-inferred", "a format was recognized by names, types and shapes",
     "No record states the contract. A configuration may name the method; the "
     "finding says which.",
     "qweight, qzeros and scales: GPTQ or AWQ.",
     "Nothing, where the loader reads it the same way; record the contract "
     "with "
     "the tensors to have it checked."},
};

std::span<const Rule> grit::scan::rulesOfContents() { return kRules; }
