//===- GradeTables.cpp - spellings of grade values -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradeTables.h"

using namespace grit;

// In each table the token itself comes first, then its other spellings.

static constexpr Spelling kFormat[] = {
    {"e2m1", "e2m1"},
    {"fp4", "e2m1"},
    {"fp4e2m1", "e2m1"},
    {"float4_e2m1", "e2m1"},
    {"float4_e2m1fn", "e2m1"},
    {"e2m1fn", "e2m1"},
    {"mxfp4elem", "e2m1"},
    {"e4m3", "e4m3"},
    {"fp8e4m3", "e4m3"},
    {"e4m3fn", "e4m3"},
    {"float8_e4m3fn", "e4m3"},
    {"f8e4m3fn", "e4m3"},
    {"e8m0", "e8m0"},
    {"ue8m0", "e8m0"},
    {"e8m0fnu", "e8m0"},
    {"float8_e8m0fnu", "e8m0"},
    {"binary16", "binary16"},
    {"f16", "binary16"},
    {"fp16", "binary16"},
    {"half", "binary16"},
    {"float16", "binary16"},
    {"binary32", "binary32"},
    {"f32", "binary32"},
    {"fp32", "binary32"},
    {"float", "binary32"},
    {"float32", "binary32"},
    {"single", "binary32"},
    {"u2", "u2"},
    {"uint2", "u2"},
    {"u4", "u4"},
    {"uint4", "u4"},
    {"nibble", "u4"},
    {"u6", "u6"},
    {"uint6", "u6"},
    {"u8", "u8"},
    {"uint8", "u8"},
    {"byte", "u8"},
    {"s4", "s4"},
    {"int4", "s4"},
    {"sint4", "s4"},
    {"i4", "s4"},
    {"s8", "s8"},
    {"int8", "s8"},
    {"sint8", "s8"},
    {"i8", "s8"},
    {"e4m3fnuz", {}, "its bias and its NaN differ from those of e4m3"},
    {"b16", {}, "bfloat16 is not binary16, and version 1 has no token for it"},
    {"bf16", {}, "version 1 has no token for bfloat16"},
    {"bfloat16", {}, "version 1 has no token for bfloat16"},
    {"u4b", {}, "a u4 with a bias is not u4"},
    {"int2", {}, "version 1 has no token for signed two-bit integers"},
    {"s2", {}, "version 1 has no token for signed two-bit integers"},
};

static constexpr Spelling kRounding[] = {
    {"rne", "rne"},
    {"rn", "rne"},
    {"nearesttiestoeven", "rne"},
    {"nearest_even", "rne"},
    {"roundtiestoeven", "rne"},
    {"even", "rne"},
    {"rna", "rna"},
    {"nearesttiestoaway", "rna"},
    {"away", "rna"},
    {"rtz", "rtz"},
    {"towardzero", "rtz"},
    {"trunc", "rtz"},
    {"truncate", "rtz"},
    {"rtp", "rtp"},
    {"towardpositive", "rtp"},
    {"ceil", "rtp"},
    {"up", "rtp"},
    {"rtn", "rtn"},
    {"towardnegative", "rtn"},
    {"floor", "rtn"},
    {"down", "rtn"},
};

static constexpr Spelling kSaturation[] = {
    {"satfinite", "satfinite"},  {"sat_finite", "satfinite"},
    {"satf", "satfinite"},       {"finite", "satfinite"},
    {"clamp", "satfinite"},      {"satmax", "satmax"},
    {"sat_max", "satmax"},       {"ovfinf", "ovfinf"},
    {"ovf_inf", "ovfinf"},       {"inf", "ovfinf"},
    {"overflowtoinf", "ovfinf"},
};

static constexpr Spelling kScaleRule[] = {
    {"exp2floormaxabs", "exp2floormaxabs"},
    {"exp2floor", "exp2floormaxabs"},
    {"floor", "exp2floormaxabs"},
    {"rtz_shared_exp", "exp2floormaxabs"},
    {"ocpmx", "exp2floormaxabs"},
    {"exp2ceilmaxabs", "exp2ceilmaxabs"},
    {"exp2ceil", "exp2ceilmaxabs"},
    {"rceil", "exp2ceilmaxabs"},
    {"exp2rnemaxabs", "exp2rnemaxabs"},
    {"exp2rne", "exp2rnemaxabs"},
    {"rne_shared_exp", "exp2rnemaxabs"},
    {"ratiomaxabs", "ratiomaxabs"},
    {"ratio", "ratiomaxabs"},
    {"amax_over_emax", "ratiomaxabs"},
    {"affineminmax", "affineminmax"},
    {"affine", "affineminmax"},
    {"minmax", "affineminmax"},
};

static constexpr Spelling kSubnormal[] = {
    {"preserve", "preserve"},
    {"preserved", "preserve"},
    {"subnormalpreserved", "preserve"},
    {"denorm", "preserve"},
    {"ftz", "ftz"},
    {"flushtozero", "ftz"},
    {"subnormalftz", "ftz"},
    {"any", "any"},
    {"subnormalany", "any"},
};

static constexpr Spelling kOrder[] = {
    {"seq", "seq"},       {"sequential", "seq"},     {"inorder", "seq"},
    {"tree", "tree"},     {"treeany", "tree"},       {"any_tree", "tree"},
    {"unspec", "unspec"}, {"unspecified", "unspec"}, {"any", "unspec"},
};

static constexpr Spelling kZeroPointCode[] = {
    {"asis", "asis"},
    {"asstored", "asis"},
    {"stored", "asis"},
    {"minus1", "minus1"},
    {"storedminusone", "minus1"},
    {"stored_minus_one", "minus1"},
    {"gptq", "minus1"},
};

static constexpr Spelling kZeroPointScale[] = {
    {"shared", "shared"}, {"sharedscale", "shared"}, {"symmetric", "shared"},
    {"l1", "l1"},         {"ownscale", "l1"},        {"level1", "l1"},
    {"l1scaled", "l1"},
};

static constexpr Spelling kContainer[] = {
    {"dense", "dense"}, {"packed", "dense"}, {"pad8", "pad8"},
    {"padto8", "pad8"}, {"padded", "pad8"},
};

static constexpr Spelling kPackingOrder[] = {
    {"lsb", "lsb"}, {"lsbfirst", "lsb"}, {"littlebit", "lsb"},
    {"msb", "msb"}, {"msbfirst", "msb"},
};

static constexpr Spelling kIndexOrder[] = {
    {"asclsb", "asclsb"}, {"ascendinglsb", "asclsb"}, {"ordered", "asclsb"},
    {"sorted", "asclsb"}, {"unord", "unord"},         {"unordered", "unord"},
    {"none", "unord"},
};

constinit const Domain domains::Format = {"format", kFormat};
constinit const Domain domains::Rounding = {"rounding", kRounding};
constinit const Domain domains::Saturation = {"saturation", kSaturation};
constinit const Domain domains::ScaleRule = {"scale rule", kScaleRule};
constinit const Domain domains::Subnormal = {"subnormal rule", kSubnormal};
constinit const Domain domains::Order = {"accumulation order", kOrder};
constinit const Domain domains::ZeroPointCode = {"zero-point convention",
                                                 kZeroPointCode};
constinit const Domain domains::ZeroPointScale = {"zero-point scale",
                                                  kZeroPointScale};
constinit const Domain domains::Container = {"container", kContainer};
constinit const Domain domains::PackingOrder = {"packing order", kPackingOrder};
constinit const Domain domains::IndexOrder = {"index order", kIndexOrder};
