// RUN: grit-opt %s --grit-to-nvvm="chip=sm_90a format=isa" | %python %grit_src/scripts/extract-ptx.py | FileCheck %s
// RUN: grit-opt %s --grit-to-nvvm="chip=sm_90a" | FileCheck %s --check-prefix=NVVM
// RUN: grit-opt %s --grit-to-nvvm="chip=sm_90a" | FileCheck %s --check-prefix=HOST

#q4_k = #grit.format<gguf.q4_k>

// NVVM: gpu.module @grit_kernels [#nvvm.target<O = 3, chip = "sm_90a">]
// NVVM: llvm.func @decode_gguf_q4_k_f32(%{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: i64)
// NVVM-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>
// NVVM: nvvm.read.ptx.sreg.tid.x
// NVVM: llvm.load {{.*}} -> vector<

// HOST-LABEL: func.func @decode
// HOST: gpu.launch_func @grit_kernels::@decode_gguf_q4_k_f32

// CHECK: .target sm_90a
// CHECK: .visible .entry decode_gguf_q4_k_f32(
// CHECK-NEXT: .param .u64 .ptr .align 16
// CHECK-NEXT: .param .u64 .ptr .align 16
// CHECK-NEXT: .param .u64
// CHECK: .maxntid 128
// A product and a difference are rounded each, and neither flushes: nothing may
// fuse them.
// CHECK: ld.global{{.*}}.v
// CHECK-NOT: fma
// CHECK-NOT: .ftz
// CHECK: mul.rn.f32
// CHECK: sub.rn.f32
// CHECK: st.global.v4
// CHECK: ret
func.func @decode(%a: !grit.array<4x256x#q4_k>, %init: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %r = grit.decode ins(%a : !grit.array<4x256x#q4_k>) outs(%init : tensor<4x256xf32>) -> tensor<4x256xf32>
  return %r : tensor<4x256xf32>
}

// CHECK: .visible .entry matmul_gguf_q4_k_bf16_f32_seq(
// CHECK-NOT: fma
// CHECK: add.rn.f32
// CHECK: .visible .entry matmul_gguf_q4_k_bf16_f32(
// CHECK: fma.rn.f32
func.func @matmul_seq(%x: tensor<3x256xbf16>, %w: !grit.array<5x256x#q4_k>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = grit.matmul ins(%x, %w : tensor<3x256xbf16>, !grit.array<5x256x#q4_k>) outs(%y : tensor<3x5xf32>) accum = #grit.accum<ao = seq> -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @matmul(%x: tensor<3x256xbf16>, %w: !grit.array<5x256x#q4_k>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = grit.matmul ins(%x, %w : tensor<3x256xbf16>, !grit.array<5x256x#q4_k>) outs(%y : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
