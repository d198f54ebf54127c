# Finds the pinned LLVM/MLIR (cmake/llvm_version.txt) and checks that it can be
# linked as one shared library: a plugin that links a second, static copy of
# LLVM aborts when mlir-opt loads it.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/llvm_version.txt GRIT_LLVM_VERSION LIMIT_COUNT 1)
string(REGEX MATCH "^[0-9]+" GRIT_LLVM_MAJOR ${GRIT_LLVM_VERSION})
find_package(MLIR ${GRIT_LLVM_VERSION} REQUIRED CONFIG
  HINTS /usr/lib/llvm-${GRIT_LLVM_MAJOR}/lib/cmake/mlir)
message(STATUS "grit: using MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")
if(NOT TARGET MLIR OR NOT TARGET LLVM)
  message(FATAL_ERROR
    "grit links the shared libMLIR and libLLVM, and the MLIR in ${MLIR_DIR} has none. "
    "Build LLVM with -DLLVM_BUILD_LLVM_DYLIB=ON -DMLIR_BUILD_MLIR_DYLIB=ON, or install "
    "the distribution's packages (see README.md).")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
