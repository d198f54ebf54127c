# Installs a build of grit, builds the project in this directory against the
# install and runs its programs.
#   GRIT_BUILD      a finished build of grit
#   WORK            a directory to work in
#   ARGUMENTS       arguments for the project's configure step
#   MLIR_LIBRARIES  the exported libraries that need MLIR; may be empty
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${GRIT_BUILD} --prefix ${WORK}/install)
set(expect_mlir OFF)
if(MLIR_LIBRARIES)
  set(expect_mlir ON)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build ${ARGUMENTS}
  -DCMAKE_PREFIX_PATH=${WORK}/install -DEXPECT_MLIR=${expect_mlir})
run(${CMAKE_COMMAND} --build ${WORK}/build)

run(${WORK}/build/uses-format)
if(NOT output MATCHES "^grit1\\(")
  message(FATAL_ERROR "uses-format printed: ${output}")
endif()
run(${WORK}/build/uses-c)
if(MLIR_LIBRARIES)
  run(${WORK}/build/uses-dialect)
endif()

# A program without the dialect must load neither LLVM nor MLIR.
foreach(program uses-format uses-c)
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${WORK}/build/${program}
    RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR not_found)
  if("${found};${not_found}" MATCHES "libLLVM|libMLIR")
    message(FATAL_ERROR "${program} loads LLVM: ${found};${not_found}")
  endif()
endforeach()
