// RUN: grit-opt %s --grit-attach-gpu-target=chip=sm_90a | FileCheck %s
// RUN: not grit-opt %s --grit-attach-gpu-target=chip=sm_91 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not grit-opt %s --grit-attach-gpu-target=chip=gfx942 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not grit-opt %s --grit-attach-gpu-target=chip=sm_70 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not grit-opt %s --grit-to-nvvm="chip=sm_9000" 2>&1 | FileCheck %s --check-prefix=PIPELINE

// CHECK: gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a">]
// UNKNOWN: error: chip 'sm_91' is unknown; expected one of {{.*}}sm_80{{.*}}sm_90a{{.*}}
// OTHER: error: chip 'gfx942' is unknown; expected one of
// OLD: error: chip 'sm_70' is too old: kernels need the bf16 conversions of sm_80; expected one of
// PIPELINE: error: chip 'sm_9000' is unknown
gpu.module @m {
}
