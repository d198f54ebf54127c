// The stock mlir-opt knows the dialect and the passes once it has loaded the
// plugin. Flags of passes are read before plugins are, so passes are named in a
// pipeline.
// RUN: mlir-opt %s --load-dialect-plugin=%grit_plugin --load-pass-plugin=%grit_plugin \
// RUN:   --pass-pipeline="builtin.module(grit-lower-relayout,grit-expand-arrays,grit-verify-stage{after=planes})" \
// RUN: | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%grit_plugin | FileCheck %s --check-prefix=PARSED
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// WITHOUT: error

// PARSED: #mxfp4 = #grit.grade<mxfp4>

// CHECK-LABEL: func.func @scales
// CHECK-SAME: (%{{.*}}: tensor<?xi8>, %[[SCALE:.*]]: tensor<?xi8>, %{{.*}}: index) -> tensor<?xi8>
// CHECK-NEXT: return %[[SCALE]]
// PARSED-LABEL: func.func @scales
// PARSED: grit.planes
func.func @scales(%a: !grit.array<?x32x#grit.grade<mxfp4>>) -> tensor<?xi8> {
  %data, %scale = grit.planes %a : !grit.array<?x32x#grit.grade<mxfp4>> -> tensor<?xi8>, tensor<?xi8>
  return %scale : tensor<?xi8>
}

// CHECK-LABEL: func.func @relayout
// CHECK: linalg.generic
// PARSED-LABEL: func.func @relayout
func.func @relayout(%a: !grit.array<128x64x#grit.grade<nvf4>>) -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b> {
  %b = grit.relayout %a : !grit.array<128x64x#grit.grade<nvf4>> -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
  return %b : !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
}
