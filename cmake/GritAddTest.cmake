# Functions that declare tests, so that all of them run under one ctest and say
# what they counted in the same way.
#
# A ctest entry that wraps another runner (lit, pytest) writes JUnit XML to
# ${GRIT_TEST_RESULTS}/<name of the entry>.xml; scripts/summarize-tests.py then
# counts what is in the file instead of the one entry.
set(GRIT_TEST_RESULTS ${CMAKE_BINARY_DIR}/test-results)

# Listing the cases of a test program when ctest starts, not when it is linked,
# keeps a slow or failing program from breaking the build.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)

# grit_add_unittest(<name> SOURCES ... [LINK ...] [MLIR])
#   A GoogleTest program, every case of it a ctest entry.
function(grit_add_unittest name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE
    GRIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" GRIT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  if(ARG_MLIR)
    grit_use_mlir(${name})
  endif()
  grit_warnings(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()

# grit_add_fuzzer(<name> SOURCES ... [LINK ...] [MLIR])
#   A fuzz target with the committed corpus in corpus/<name> beside it. With
#   GRIT_ENABLE_FUZZERS it is a libFuzzer program that ctest runs for
#   FUZZ_SECONDS (an environment variable, 20 by default); without, every input
#   of the corpus is run once by a plain main(), so that no finding comes back.
function(grit_add_fuzzer name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  set(target grit-fuzz-${name})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  add_executable(${target} ${ARG_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    grit_use_mlir(${target})
  endif()
  grit_warnings(${target})
  if(GRIT_ENABLE_FUZZERS)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(grit-fuzzers ${target})
    add_test(NAME fuzz.${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/run-fuzzer.sh
      $<TARGET_FILE:${target}> ${corpus} ${CMAKE_BINARY_DIR}/fuzz/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/unittests/Fuzz/ReplayMain.cpp)
    add_test(NAME corpus.${name} COMMAND ${target} ${corpus})
  endif()
endfunction()

# grit_add_benchmark(<name> SOURCES ... [LINK ...] [MLIR])
#   A Google Benchmark program, built on demand (target grit-benchmarks).
function(grit_add_benchmark name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  if(ARG_MLIR)
    grit_use_mlir(${name})
  endif()
  grit_warnings(${name})
  add_dependencies(grit-benchmarks ${name})
endfunction()
