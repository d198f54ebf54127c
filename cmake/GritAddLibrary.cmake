# Functions that declare grit's targets, so that every library gets the same
# warnings, the same install rules and the same place in the exported package.

# grit_warnings(<target>): warnings are errors in our own code. GCC 12 sees an
# overlapping copy in `"x" + std::string` where there is none (GCC bug 105651),
# and uninitialized members where an empty std::optional is moved.
function(grit_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wno-unused-parameter -Wno-comment
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized
      -Wno-stringop-overflow -Wno-array-bounds>)
  if(GRIT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# grit_add_library(<name> SOURCES ... [LINK ...] [PRIVATE_LINK ...] [SHARED]
#                  [MLIR] [NO_INSTALL])
#   MLIR: the library uses MLIR; it gets its include directories and flags and
#         is linked against the shared libMLIR and libLLVM.
function(grit_add_library name)
  cmake_parse_arguments(ARG "SHARED;MLIR;NO_INSTALL" "" "SOURCES;LINK;PRIVATE_LINK;DEPENDS" ${ARGN})
  set(kind STATIC)
  if(ARG_SHARED)
    set(kind SHARED)
  endif()
  add_library(${name} ${kind} ${ARG_SOURCES})
  add_library(Grit::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${name} PUBLIC cxx_std_20)
  # Contraction would fuse a multiply and an add that the contracts round twice.
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_PRIVATE_LINK)
    target_link_libraries(${name} PRIVATE ${ARG_PRIVATE_LINK})
  endif()
  if(ARG_MLIR)
    grit_use_mlir(${name})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  grit_warnings(${name})
  if(NOT ARG_NO_INSTALL)
    # What needs MLIR is exported apart, so that a project without MLIR can use
    # the rest.
    set(export GritTargets)
    if(ARG_MLIR)
      set(export GritMLIRTargets)
      set_property(GLOBAL APPEND PROPERTY GRIT_MLIR_LIBRARIES ${name})
    endif()
    install(TARGETS ${name} EXPORT ${export}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# grit_use_mlir(<target>): compile and link against the shared MLIR and LLVM.
function(grit_use_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}> $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
  target_link_libraries(${target} PUBLIC MLIR LLVM)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE -fno-rtti)
  endif()
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  # Passes spend their time inside LLVM. At -O3 some of our files take GCC two
  # minutes, at -O1 ten seconds.
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  if(TARGET GritGenerated)
    add_dependencies(${target} GritGenerated)
  endif()
  grit_precompile_mlir(${target})
endfunction()

# grit_precompile_mlir(<target>): reading MLIR's headers is most of the time that
# a file takes to compile. clang writes them once in 20 seconds and halves what
# is left; GCC needs longer for that than it saves.
function(grit_precompile_mlir target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR GRIT_SANITIZE)
    return()
  endif()
  # One file serves all, so all are compiled alike, programs too; ccache cannot
  # tell two of them apart by their times.
  target_compile_options(${target} PRIVATE -fPIC -ffp-contract=off
    "SHELL:-Xclang -fno-pch-timestamp")
  if(target STREQUAL "GritMLIRHeaders")
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MLIRHeaders.h)
    return()
  endif()
  if(NOT TARGET GritMLIRHeaders)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/MLIRHeaders.cpp CONTENT "")
    add_library(GritMLIRHeaders OBJECT ${PROJECT_BINARY_DIR}/MLIRHeaders.cpp)
    target_compile_features(GritMLIRHeaders PRIVATE cxx_std_20)
    grit_use_mlir(GritMLIRHeaders)
    grit_warnings(GritMLIRHeaders)
  endif()
  target_precompile_headers(${target} REUSE_FROM GritMLIRHeaders)
endfunction()

# grit_add_tool(<name> SOURCES ... [LINK ...] [MLIR])
function(grit_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    grit_use_mlir(${name})
  endif()
  grit_warnings(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
