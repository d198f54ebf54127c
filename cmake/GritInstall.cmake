# Install rules and the exported package: find_package(Grit).
include(CMakePackageConfigHelpers)
set(GRIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Grit)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
