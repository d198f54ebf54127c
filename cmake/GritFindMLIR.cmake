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
set(GRIT_MLIR_TOOLS_DIR ${MLIR_INSTALL_PREFIX}/bin)
set(GRIT_MLIR_LIB_DIR ${MLIR_INSTALL_PREFIX}/lib)
# Where the shared libraries are; LLVM can be in another prefix than MLIR.
set(GRIT_MLIR_LIB_DIRS ${GRIT_MLIR_LIB_DIR} ${LLVM_LIBRARY_DIR})
list(REMOVE_DUPLICATES GRIT_MLIR_LIB_DIRS)

# The OpenMP run-time library that compiled kernels call for threads (MLIR emits
# __kmpc_* calls, which GCC's libgomp does not have). Any LLVM's will do.
file(GLOB _llvm_lib_dirs /usr/lib/llvm-*/lib)
find_library(GRIT_OMP_LIBRARY NAMES omp libomp.so.5 HINTS ${GRIT_MLIR_LIB_DIR} ${_llvm_lib_dirs})
if(NOT GRIT_OMP_LIBRARY)
  set(GRIT_OMP_LIBRARY "")
endif()
