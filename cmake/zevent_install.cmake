# What `make install` installs, besides what the parts install in their own folders, and the CMake
# package: find_package(zevent) gives the targets
#   zevent::events   the C++ event library; link it together with a Level Zero loader or
#   zevent::driver   the software driver, which has every ze* function itself
include(CMakePackageConfigHelpers)

set(zevent_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zevent)

install(TARGETS zevent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS zevent_events EXPORT zeventTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/zevent DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)

# The Level Zero headers that zevent was built with, for the reproducers that `repro --verify` builds:
# private, in a folder that no compiler searches by itself. They are found from bin/ in the build tree
# as after an installation (src/launch/installation.cpp).
set(zevent_private_headers zevent-level-zero)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/${zevent_private_headers})
file(CREATE_LINK ${zevent_ze_include}/level_zero
     ${PROJECT_BINARY_DIR}/include/${zevent_private_headers}/level_zero SYMBOLIC)
install(DIRECTORY ${zevent_ze_include}/level_zero/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${zevent_private_headers}/level_zero
        FILES_MATCHING PATTERN *.h)
install(FILES cmake/level_zero_license.txt
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${zevent_private_headers} RENAME LICENSE)

install(EXPORT zeventTargets NAMESPACE zevent:: DESTINATION ${zevent_package_dir})
configure_package_config_file(cmake/zeventConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/zeventConfig.cmake INSTALL_DESTINATION ${zevent_package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/zeventConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/zeventConfig.cmake
              ${PROJECT_BINARY_DIR}/package/zeventConfigVersion.cmake
        DESTINATION ${zevent_package_dir})
