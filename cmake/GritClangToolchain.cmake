# The clang of the pinned LLVM as compiler, for the sanitizer and fuzzing builds:
# libFuzzer is clang's, and a second compiler finds other mistakes.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/llvm_version.txt _llvm_version LIMIT_COUNT 1)
string(REGEX MATCH "^[0-9]+" _llvm_major ${_llvm_version})
find_program(CMAKE_C_COMPILER NAMES clang-${_llvm_major} clang
  HINTS /usr/lib/llvm-${_llvm_major}/bin REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-${_llvm_major} clang++
  HINTS /usr/lib/llvm-${_llvm_major}/bin REQUIRED)
