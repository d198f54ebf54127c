/*===- grit-c/compiler.h - the C interface of the compiler ---------------===*\
|*                                                                            *|
|* Part of the grit project, under the Apache License v2.0 with LLVM          *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Compiles MLIR with quantized arrays to object files or into this process.  *|
|* The library is libGritCompiler.so; it brings LLVM and MLIR along, so a     *|
|* program may prefer to load it when it first compiles. Programs that only   *|
|* call compiled objects need libgrit.so alone.                               *|
|*                                                                            *|
|* A compiler and its modules are used by one thread at a time; the functions *|
|* that a module gives may be called from any.                                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef GRIT_C_COMPILER_H
#define GRIT_C_COMPILER_H

#include "grit-c/grit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grit_compiler_t grit_compiler_t;
typedef struct grit_module_t grit_module_t;

/** How to compile. Zeros and nulls are the defaults, except that `threads` and
    `check_level` take their value as it is. */
typedef struct grit_compiler_options_t {
  const char *cpu;      /**< as LLVM names it; null or "native": this one */
  const char *features; /**< on top of the processor's, e.g. "-avx512f" */
  int32_t threads;      /**< 1: plain loops; 0: OpenMP decides; N threads */
  int32_t check_level;  /**< 0 no checks, 1 descriptors and sizes, 2 planes */
} grit_compiler_options_t;

/** What a module can be written as. */
typedef enum grit_artifact_t {
  GRIT_ARTIFACT_MLIR = 0,      /**< text in the LLVM dialect */
  GRIT_ARTIFACT_LLVM = 1,      /**< text of LLVM IR, optimized */
  GRIT_ARTIFACT_ASSEMBLY = 2,  /**< text for the processor */
  GRIT_ARTIFACT_OBJECT = 3,    /**< an object file, position independent */
  GRIT_ARTIFACT_HEADER = 4,    /**< the functions, declared in C */
  GRIT_ARTIFACT_SIGNATURES = 5 /**< the functions and operands as JSON */
} grit_artifact_t;

/** A function over addresses, one for each parameter in order: that of a view,
    or of a number. */
typedef grit_status_t (*grit_packed_function_t)(void *const *operands);

/** Null when memory runs out. */
GRIT_API grit_compiler_t *grit_compiler_create(void);
/** After its modules. */
GRIT_API void grit_compiler_destroy(grit_compiler_t *compiler);

/** Why the last call on this compiler, or on one of its modules, failed: text
    with locations. Valid until the next call. */
GRIT_API const char *grit_compiler_last_error(const grit_compiler_t *compiler);

/** Compiles MLIR text or bytecode; null when it is refused. `name` is the file
    that messages speak of. Null options: this processor, one thread, check
    level 1. */
GRIT_API grit_module_t *
grit_compiler_compile(grit_compiler_t *compiler, const char *source,
                      size_t size, const char *name,
                      const grit_compiler_options_t *options);
GRIT_API void grit_module_destroy(grit_module_t *module);

/** Writes a module; returns 0, or 1 when it is refused. The bytes are followed
    by a zero that `size` does not count, and live until the next call on the
    module. */
GRIT_API GRIT_NODISCARD int grit_module_emit(grit_module_t *module,
                                             grit_artifact_t artifact,
                                             const char **data, size_t *size);

/** The address of a public function, with the type that the header declares;
    null when there is none, or the code is for another processor. It lives as
    long as the module. */
GRIT_API void *grit_module_lookup(grit_module_t *module, const char *function);
/** The same function over addresses. */
GRIT_API grit_packed_function_t grit_module_lookup_packed(grit_module_t *module,
                                                          const char *function);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GRIT_C_COMPILER_H */
