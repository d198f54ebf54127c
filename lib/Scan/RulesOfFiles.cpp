//===- RulesOfFiles.cpp - what can be wrong with files and records -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace grit::scan;

static constexpr Rule kRules[] = {
    {Id::Unreadable, Severity::Unreadable, Certainty::Proven, false,
     "unreadable", "an input cannot be parsed at all",
     "The file is something else, is empty, ends inside its header, or cannot "
     "be opened.",
     "A zip archive with the name of a safetensors file; an empty directory.",
     "Name a safetensors or GGUF file, a directory that holds some, an index "
     "or a manifest."},
    {Id::Truncated, Severity::Violation, Certainty::Proven, false, "truncated",
     "the file ends inside a tensor",
     "A copy or download stopped early, or a converter wrote fewer bytes than "
     "it announced.",
     "A GGUF file of two tensors that ends inside the second.",
     "Copy or download the file again; the tensors that are cut are named."},
    {Id::TrailingBytes, Severity::Violation, Certainty::Proven, false,
     "trailing-bytes", "bytes follow the last tensor",
     "Something was appended to a complete file. No tensor is damaged.",
     "Seven bytes after the data of a safetensors file.",
     "Cut the bytes off; the finding says how many."},
    {Id::Overlap, Severity::Violation, Certainty::Proven, false, "overlap",
     "two tensors share bytes",
     "The header was changed without moving the data, or was made to mislead.",
     "data_offsets [0, 16] and [8, 24].",
     "Write the file again with a current writer."},
    {Id::Gap, Severity::Violation, Certainty::Proven, false, "gap",
     "bytes between tensors belong to none",
     "A tensor was removed from the header and its bytes were left.",
     "data_offsets [0, 16] and [24, 40].",
     "Write the file again with a current writer."},
    {Id::DuplicateName, Severity::Violation, Certainty::Proven, false,
     "duplicate-name", "a name appears twice in one header",
     "Readers differ in which of the two they take.",
     "Two entries \"w\" in the header of a safetensors file.",
     "Write the file again; decide which entry was meant."},
    {Id::ShapeBytes, Severity::Violation, Certainty::Proven, false,
     "shape-bytes", "shape and type ask for another number of bytes",
     "The shape counts packed bytes instead of elements, the product "
     "overflows, "
     "or elements of a type below 8 bits do not fill whole bytes.",
     "F4 with shape [1, 7], or F32 [4] in 8 bytes.",
     "Correct the shape or the type; the finding shows the arithmetic."},
    {Id::MalformedEntry, Severity::Violation, Certainty::Proven, false,
     "malformed-entry", "an entry of the header breaks the format",
     "A writer that does not follow the format.",
     "A shape that holds -1, or a value of __metadata__ that is a number.",
     "Write the file again with a current writer."},
    {Id::UnknownType, Severity::Warning, Certainty::Ambiguous, false,
     "unknown-type", "the type of a tensor is not known",
     "The file is newer than this program, or a fork added its own type. The "
     "tensor is not judged.",
     "GGUF type id 200.", "Use a newer grit, or convert the model again."},
    {Id::RetiredType, Severity::Warning, Certainty::Ambiguous, false,
     "retired-type", "the type id had another meaning once",
     "The id was removed from ggml, and some run times used it again for "
     "another format. The bytes cannot say which is meant.",
     "GGUF type id 4: Q4_2 long ago, MXFP4 in one fork.",
     "Convert the model again with a current llama.cpp."},

    {Id::ContractSize, Severity::Violation, Certainty::Proven, false,
     "contract-size", "a declared contract does not fit the bytes",
     "A wrong group size or shape, a missing plane, or a cut tensor.",
     "Contract mxfp4, shape [8, 64], in 271 bytes instead of 272.",
     "Correct the shape or the contract; the finding shows the size "
     "equations."},
    {Id::ContractRefused, Severity::Violation, Certainty::Proven, false,
     "contract-refused", "grit_check refuses a declared contract",
     "The descriptor is damaged, contradicts its grade or its record, or names "
     "a placement that no registry has.",
     "A descriptor whose magic is not GRT1.",
     "Write the descriptor from the contract again."},
    {Id::UnregisteredGrade, Severity::Warning, Certainty::Proven, false,
     "unregistered-grade", "the grade of a descriptor is not registered",
     "A custom grade. Its frame may be sound, but its numbers cannot be "
     "checked "
     "without its canonical string.",
     "A descriptor with grade_id 0x1234.",
     "Record the contract by its canonical string beside the descriptor."},
    {Id::Assumed, Severity::Warning, Certainty::Proven, false, "assumed",
     "a layout was assumed, not proven",
     "The producer used assume_placement, and nobody verified the claim since.",
     "A descriptor whose note has the bit NOTE_ASSUMED.",
     "Run verify_placement on the array, or convert it from its source again."},
    {Id::DigestMismatch, Severity::Violation, Certainty::Proven, true,
     "digest-mismatch", "planes do not hash to the recorded digest",
     "Bytes changed after the file was written.",
     "One byte of a plane changed after grit quantize.",
     "Fetch the file again."},
    {Id::MetadataOrder, Severity::Violation, Certainty::Proven, true,
     "metadata-order", "sparse indices are out of order",
     "The grade promises rising indices in every run; kernels rely on it.",
     "A run of i8s24 with the indices 2, 1.",
     "Encode again, or declare the order unord."},
    {Id::OrphanRecord, Severity::Violation, Certainty::Proven, false,
     "orphan-record", "a record describes a tensor that is not there",
     "The tensor was renamed or dropped and its record was kept.",
     "__grit__ describes w2 in a file that holds only w.",
     "Remove the record, or restore the tensor."},
    {Id::PlacementUnspecified, Severity::Warning, Certainty::Proven, false,
     "placement-unspecified", "a declared contract leaves its layout open",
     "The placement word is 0 or opaque: the order of the bytes is not stated, "
     "so swizzled and linear planes look alike.",
     "placement_scale 0 in a descriptor of nvf4.",
     "Record the placement, e.g. row_major."},
    {Id::OuterGroupAxis, Severity::Warning, Certainty::Ambiguous, false,
     "outer-group-axis", "groups along an axis that is not the last",
     "GRIT v1 counts groups in row-major order. Along an outer axis that is "
     "not "
     "the order that people expect.",
     "Contract mxfp4, shape [64, 8], axis 0.",
     "Transpose the array so that groups run along its last axis."},
    {Id::FileType, Severity::Disagreement, Certainty::Proven, false,
     "file-type", "general.file_type names a type that no matrix has",
     "The key was copied from the source of the conversion. Recipes mix types "
     "(those named S, M or L by design), so that a type which few matrices "
     "have is no fault.",
     "file_type 7 (Q8_0) in a file whose matrices are all Q4_K.",
     "Set general.file_type to the recipe of the file."},

    {Id::MissingShard, Severity::Violation, Certainty::Proven, false,
     "missing-shard", "the index names a file that is not there",
     "A download is incomplete.",
     "model-00002-of-00002.safetensors in weight_map, not in the directory.",
     "Fetch the file."},
    {Id::MissingTensor, Severity::Violation, Certainty::Proven, false,
     "missing-tensor", "the index or manifest names a tensor that is not there",
     "The index belongs to another revision of the files.",
     "weight_map has \"w2\": \"a.safetensors\"; a.safetensors has no w2.",
     "Fetch index and files of one revision."},
    {Id::UnlistedTensor, Severity::Warning, Certainty::Proven, false,
     "unlisted-tensor", "a tensor is not in the index",
     "Loaders that follow the index skip it.",
     "a.safetensors holds w3; weight_map does not name it.",
     "Write the index again."},
    {Id::RepeatedTensor, Severity::Violation, Certainty::Proven, false,
     "repeated-tensor", "two shards of one checkpoint hold the same name",
     "A shard of another revision lies in the directory.",
     "w in model-00001-of-00002 and in model-00002-of-00002.",
     "Remove the shard that the index does not name for it."},
    {Id::ShardSet, Severity::Warning, Certainty::Proven, false, "shard-set",
     "not all shards of a checkpoint were scanned",
     "Only some of the files were named or fetched. Planes in the others are "
     "not reported as missing.",
     "model-00001-of-00002.safetensors alone.",
     "Scan the directory, or fetch the other shards."},
    {Id::TotalSize, Severity::Disagreement, Certainty::Proven, false,
     "total-size", "the index states another number of bytes than its tensors",
     "Index and files are of different revisions, or a tool left the number of "
     "the unquantized model.",
     "metadata.total_size 64 where the tensors have 32 bytes.",
     "Write the index again."},
    {Id::ManifestPath, Severity::Violation, Certainty::Proven, false,
     "manifest-path", "an index or manifest names a file outside its directory",
     "The path is absolute or climbs with '..'. It is not followed.",
     "weight_map value \"../x.safetensors\".",
     "Use names of files beside the index."},
    {Id::ManifestContract, Severity::Disagreement, Certainty::Proven, false,
     "manifest-contract", "manifest and file state different contracts",
     "The file was quantized again after the manifest was written.",
     "The manifest says mxfp4, the record in the file nvf4.",
     "Write the manifest again."},
    {Id::ConfigUnreadable, Severity::Warning, Certainty::Proven, false,
     "config-unreadable", "a configuration beside the files cannot be read",
     "It is not JSON, or a value has another type than it must have.",
     "config.json with \"bits\": \"four\".",
     "Correct the configuration; until then only the tensors are judged."},
};

std::span<const Rule> grit::scan::rulesOfFiles() { return kRules; }
