//===- RulesOfModels.cpp - what can be wrong between tensors and configuration
//-*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace grit::scan;

static constexpr Rule kRules[] = {
    {Id::PackedBits, Severity::Violation, Certainty::Proven, false,
     "packed-bits", "packed codes and scales imply other bits than declared",
     "Layers of mixed widths are described by one number, or a shard was split "
     "unevenly.",
     "qweight [276, 64], scales [32, 64], groups of 128, bits 2: K is 4416 by "
     "the codes and 4096 by the scales.",
     "Record the width of this layer, or pack it again."},
    {Id::GroupSize, Severity::Disagreement, Certainty::Proven, false,
     "group-size", "the scales imply another group size than declared",
     "The scales were split or merged without the weights, or the "
     "configuration "
     "is that of another model.",
     "128 elements per group declared; 1024 columns have 32 scales, which "
     "is 32 elements per group.",
     "Correct group_size, or split scales and weights alike."},
    {Id::ScaleShape, Severity::Violation, Certainty::Proven, false,
     "scale-shape", "the scale does not cover the weight",
     "Every dimension of the scale must be 1 group for the whole axis or "
     "divide "
     "it. A loader that checks only the columns lets one row broadcast.",
     "Codes of 4 rows with block scales of 1 row.",
     "Fetch the scales again, or quantize the layer again."},
    {Id::Strategy, Severity::Disagreement, Certainty::Ambiguous, false,
     "strategy", "declared strategy and shape of the scale differ",
     "The shape fits another strategy than the declared one, or fits two.",
     "Weight [256, 128], block [128, 128], scale [2, 1]: blocks, and also "
     "read as one scale per run of rows.",
     "Follow the declared strategy; correct it where it is wrong."},
    {Id::ZeroPointAbsent, Severity::Disagreement, Certainty::Proven, false,
     "zero-point-absent", "asymmetric by declaration, without zero points",
     "A packer drops zero points that are all zero.",
     "symmetric false, and no weight_zero_point.",
     "Declare symmetric, or write the zero points."},
    {Id::ZeroPointUndeclared, Severity::Disagreement, Certainty::Proven, false,
     "zero-point-undeclared", "symmetric by declaration, with zero points",
     "The configuration is wrong, or the loader will ignore the plane.",
     "symmetric true, and a weight_zero_point.",
     "Declare asymmetric, or remove the zero points when they are all zero."},
    {Id::ReorderAbsent, Severity::Disagreement, Certainty::Proven, false,
     "reorder-absent", "reordered activations are declared without an index",
     "The packer no longer writes g_idx; groups cannot be found without it.",
     "actorder \"group\", and no weight_g_idx.",
     "Declare no reordering, or write g_idx."},
    {Id::IgnoredModule, Severity::Disagreement, Certainty::Proven, false,
     "ignored-module", "the configuration ignores a module that is quantized",
     "A name in the ignore list covers children that were quantized; loaders "
     "read them as plain weights.",
     "ignore [\"mlp.experts.0\"], and packed codes in mlp.experts.0.w1.",
     "Correct the ignore list."},
    {Id::Method, Severity::Disagreement, Certainty::Inferred, false, "method",
     "the configuration names another method than the tensors show",
     "The configuration is that of another model, or was edited.",
     "quant_method \"awq\" beside tensors in the layout of GPTQ.",
     "Correct quant_method."},
    {Id::NothingQuantized, Severity::Disagreement, Certainty::Inferred, false,
     "nothing-quantized", "quantization is declared and no tensor shows it",
     "The weights were dequantized, or their configuration was copied.",
     "quantization_config of GPTQ beside BF16 weights.",
     "Remove quantization_config, or fetch the quantized weights."},

    {Id::Undeclared, Severity::Warning, Certainty::Inferred, false,
     "undeclared", "quantized tensors without any declaration",
     "No configuration and no record says how to read them; a loader may take "
     "packed codes for plain weights and drop the scales.",
     "U8 codes with three scale tensors and no config.json.",
     "Keep config.json beside the file, or record the contracts."},
    {Id::MissingScale, Severity::Violation, Certainty::Inferred, false,
     "missing-scale", "packed codes without their scales",
     "A converter dropped the scales or renamed them.",
     "qweight without scales.",
     "Fetch the scales, or convert the layer again."},
    {Id::OrphanWeight, Severity::Disagreement, Certainty::Inferred, false,
     "orphan-weight", "an 8-bit weight without a scale among scaled ones",
     "Its scale was dropped; a bare cast gives numbers that are off by the "
     "scale.",
     "Three F8 weights with weight_scale_inv, one without.",
     "Fetch the scale, or convert the layer again."},
    {Id::MissingSecondScale, Severity::Disagreement, Certainty::Inferred, false,
     "missing-second-scale", "a tensor-level scale is missing",
     "Others in the checkpoint have two levels; this one would be off by its "
     "tensor scale.",
     "FP4 codes with block scales and no weight_scale_2, beside layers that "
     "have one.",
     "Fetch the scale, or convert the layer again."},
    {Id::MissingInputScale, Severity::Disagreement, Certainty::Inferred, false,
     "missing-input-scale", "some layers lack the input scale that others have",
     "Loaders take 1.0 where it is missing.",
     "Four FP4 layers, two of them without input_scale.",
     "Calibrate the listed layers, or keep their activations wide."},
    {Id::Partial, Severity::Warning, Certainty::Inferred, false, "partial",
     "some layers of a role are quantized and some are not",
     "A mixed-precision recipe, or a conversion that stopped half-way.",
     "layers.0.mlp.up_proj packed, layers.1.mlp.up_proj F16.",
     "Nothing, if it was meant; else convert again."},
    {Id::ScaleSpelling, Severity::Warning, Certainty::Inferred, false,
     "scale-spelling", "a scale under a name that few loaders know",
     "A loader that looks for weight_scale finds none and casts the codes.",
     "wo_b.weight F8_E4M3 with wo_b.scale F8_E8M0.",
     "Check that the loader knows the name, or rename the tensors."},

    {Id::ReciprocalScale, Severity::Warning, Certainty::Inferred, false,
     "reciprocal-scale", "a tensor scale that divides, by its name",
     "weight_global_scale is the reciprocal of weight_scale_2 of other tools.",
     "weight_packed, weight_scale and weight_global_scale.",
     "Invert the number when it moves between the two spellings."},
    {Id::ZeroPointConvention, Severity::Disagreement, Certainty::Ambiguous,
     false, "zero-point-convention",
     "whether zero points are stored minus one is not declared",
     "Packers of GPTQ store z - 1 in version 1 and z in version 2; the bytes "
     "look alike and every weight shifts by one step.",
     "qzeros without checkpoint_format in the configuration.",
     "Add checkpoint_format (\"gptq\" or \"gptq_v2\") to the configuration."},
    {Id::ZeroPointOffByOne, Severity::Disagreement, Certainty::Inferred, true,
     "zero-point-off-by-one", "zero points contradict the declared convention",
     "Symmetric codes of n bits have the zero point 2^(n-1); under version 1 "
     "the file must hold one less.",
     "sym true, checkpoint_format gptq, qzeros all 0x88888888.",
     "Declare gptq_v2, or store the zero points minus one."},
    {Id::ByteScale, Severity::Warning, Certainty::Inferred, false, "byte-scale",
     "a scale of bytes, read as powers of two",
     "The container has no type for it where the file was written; U8 may also "
     "be an integer.",
     "U8 codes with U8 scales, one per 32 elements.",
     "Store the scale as F8_E8M0, or record the contract."},
    {Id::Fnuz, Severity::Warning, Certainty::NotExpressible, false, "fnuz",
     "an FNUZ type, which is not e4m3 or e5m2",
     "Bias and NaN differ: read as e4m3 every value is twice as large, and "
     "0x80 is NaN.",
     "dtype F8_E4M3FNUZ.", "Convert the tensor to F8_E4M3 with new scales."},
    {Id::ActOrder, Severity::Warning, Certainty::NotExpressible, false,
     "act-order", "rows belong to groups by an index",
     "With a real order the groups are not runs of rows, and GRIT v1 cannot "
     "spell them. Only --deep can see that an index is trivial.",
     "A g_idx that is shuffled.",
     "Never decode it as runs; as an array (grit inspect --layers) the layer "
     "has the index as a plane."},
    {Id::DenseZeroPoints, Severity::Warning, Certainty::NotExpressible, false,
     "dense-zero-points", "zero points are packed as dense nibbles",
     "GRIT v1 stores one zero point per byte, so its size equation asks for "
     "twice the bytes that the file has.",
     "qzeros of GPTQ or AWQ.",
     "Nothing to do; the numbers can be converted, the bytes cannot be named."},
    {Id::ReciprocalName, Severity::Disagreement, Certainty::Inferred, true,
     "reciprocal-name", "the value of a tensor scale contradicts its name",
     "A multiplier of FP4 weights is far below 1, a divisor far above.",
     "weight_scale_2 = 3584.", "Invert the number, or use the other name."},

    {Id::SiblingScale, Severity::Disagreement, Certainty::Inferred, true,
     "sibling-scale", "siblings that engines fuse have unequal tensor scales",
     "Fused kernels take one tensor scale; the other parts are off by the "
     "quotient.",
     "gate_proj.weight_scale_2 = 3.85e-5, up_proj.weight_scale_2 = 4.83e-5.",
     "Requantize the siblings with their common maximum."},
    {Id::SiblingContract, Severity::Disagreement, Certainty::Inferred, false,
     "sibling-contract", "siblings that engines fuse have different formats",
     "q, k and v, or gate and up, are loaded as one matrix.",
     "q_proj and k_proj of 4 bits, v_proj of 8.",
     "Quantize the siblings alike."},
    {Id::RoleDrift, Severity::Disagreement, Certainty::Inferred, false,
     "role-drift", "one role has several contracts",
     "The checkpoint was converted half-way, or mixed on purpose.",
     "mlp.down_proj in groups of 128 in layer 0 and of 64 in layer 1.",
     "Convert again, or record what was meant layer by layer."},
    {Id::ArtifactDrift, Severity::Warning, Certainty::Inferred, false,
     "artifact-drift", "one checkpoint holds several contracts",
     "Usual for mixed-precision recipes.",
     "Attention in one format, the MLP in another.",
     "Nothing, if it was meant."},
};

std::span<const Rule> grit::scan::rulesOfModels() { return kRules; }
