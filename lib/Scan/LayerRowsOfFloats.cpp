//===- LayerRowsOfFloats.cpp - layers with codes that are floats -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerFamilies.h"

using namespace grit;
using namespace grit::scan;

using enum Count;
using enum Presence;

static constexpr std::string_view kPowers = "U8 F8_E8M0";

static FamilyRow nvfp4DividingRow() {
  return {
      .name = "nvfp4",
      .title = "compressed-tensors `nvfp4-pack-quantized`",
      .bits = "4",
      .group = 16,
      .stacked = true,
      .parts =
          {{"weight_packed", Use::Plane, Mark, "U8", {Rows, ColumnBytes}},
           {"weight_scale", Use::Plane, Required, "F8_E4M3", {Rows, Groups}},
           {"weight_global_scale", Use::Plane, Mark, "F32", {One}},
           {"weight_shape", Use::Shape, Optional, "I64 I32", {Any}}},
      .spellings = {{"F8_E4M3", "", "ct.nvfp4"}}};
}

static FamilyRow nvfp4MultiplyingRow() {
  return {
      .name = "nvfp4",
      .title = "ModelOpt NVFP4",
      .bits = "4",
      .group = 16,
      .parts =
          {{"weight", Use::Plane, Mark, "U8", {Rows, ColumnBytes}},
           {"weight_scale", Use::Plane, Required, "F8_E4M3", {Rows, Groups}},
           {"weight_scale_2", Use::Plane, Mark, "F32", {One}}},
      .spellings = {{"F8_E4M3", "", "nvf4"}}};
}

static FamilyRow mxfp4Row() {
  return {
      .name = "mxfp4",
      .title = "compressed-tensors `mxfp4-pack-quantized`",
      .bits = "4",
      .group = 32,
      .stacked = true,
      .parts = {{"weight_packed", Use::Plane, Mark, "U8", {Rows, ColumnBytes}},
                {"weight_scale", Use::Plane, Required, kPowers, {Rows, Groups}},
                {"weight_global_scale", Use::Plane, Absent, "", {}},
                {"weight_shape", Use::Shape, Optional, "I64 I32", {Any}}},
      .spellings = {{kPowers, "", "mxfp4"}}};
}

static FamilyRow blocksRow() {
  return {
      .name = "mxfp4",
      .title = "gpt-oss",
      .bits = "4",
      .group = 32,
      .stacked = true,
      .parts = {{"_blocks", Use::Plane, Mark, "U8", {Rows, Groups, GroupBytes}},
                {"_scales", Use::Plane, Required, kPowers, {Rows, Groups}}},
      .spellings = {{kPowers, "", "mxfp4"}},
      .isTensorName = true,
      .forbiddenScale = 255};
}

static FamilyRow mxfp8Row(std::string_view type, std::string_view contract) {
  return {
      .name = "mxfp8",
      .title = "MXFP8, scales in the order of rows",
      // Others may have the order of block-scaled instructions.
      .methods = "compressed-tensors modelopt mxfp8",
      .bits = "8",
      .group = 32,
      .stacked = true,
      .parts = {{"weight", Use::Plane, Mark, type, {Rows, Columns}},
                {"weight_scale", Use::Plane, Mark, kPowers, {Rows, Groups}}},
      .spellings = {{kPowers, "", contract}}};
}

std::vector<FamilyRow> grit::scan::rowsOfFloats() {
  return {nvfp4DividingRow(),
          nvfp4MultiplyingRow(),
          mxfp4Row(),
          blocksRow(),
          mxfp8Row("F8_E4M3", "mxfp8_e4m3"),
          mxfp8Row("F8_E5M2", "mxfp8_e5m2")};
}
