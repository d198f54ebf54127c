# Install rules and the exported package: find_package(Grit).
include(CMakePackageConfigHelpers)
set(GRIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Grit)

#===----------------------------------------------------------------------===#
# Headers and TableGen files, written and generated
#===----------------------------------------------------------------------===#
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  OPTIONAL FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
  PATTERN "CMakeFiles" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/grit)

#===----------------------------------------------------------------------===#
# The package
#===----------------------------------------------------------------------===#
get_property(GRIT_MLIR_LIBRARIES GLOBAL PROPERTY GRIT_MLIR_LIBRARIES)
install(EXPORT GritTargets NAMESPACE Grit:: DESTINATION ${GRIT_CMAKE_DIR})
if(GRIT_MLIR_LIBRARIES)
  install(EXPORT GritMLIRTargets NAMESPACE Grit:: DESTINATION ${GRIT_CMAKE_DIR})
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/GritConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/GritConfig.cmake INSTALL_DESTINATION ${GRIT_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/GritConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/GritConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/GritConfigVersion.cmake DESTINATION ${GRIT_CMAKE_DIR})
