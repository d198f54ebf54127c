# The clang of the pinned LLVM as compiler, where it is installed and CC and CXX
# name no other: it reads MLIR's headers in two thirds of GCC's time, and libFuzzer
# is its own. Without it the system's compiler is taken.
if(DEFINED ENV{CC} OR DEFINED ENV{CXX})
  return()
endif()
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/llvm_version.txt _llvm_version LIMIT_COUNT 1)
string(REGEX MATCH "^[0-9]+" _llvm_major ${_llvm_version})
find_program(GRIT_CLANG NAMES clang-${_llvm_major} HINTS /usr/lib/llvm-${_llvm_major}/bin)
find_program(GRIT_CLANGXX NAMES clang++-${_llvm_major} HINTS /usr/lib/llvm-${_llvm_major}/bin)
if(GRIT_CLANG AND GRIT_CLANGXX)
  set(CMAKE_C_COMPILER ${GRIT_CLANG})
  set(CMAKE_CXX_COMPILER ${GRIT_CLANGXX})
endif()
