# cmake --install build --prefix DIR: the program with its manual and completion, and the library with its headers.
include(GNUInstallDirs)

set(shared ${PROJECT_BINARY_DIR}/share)
add_custom_command(TARGET monet POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shared}
  COMMAND monet reference man > ${shared}/monet.1
  COMMAND monet completion bash > ${shared}/monet
  COMMAND monet completion zsh > ${shared}/_monet
  COMMAND monet completion fish > ${shared}/monet.fish
  VERBATIM)

install(TARGETS monet RUNTIME COMPONENT program)
install(FILES ${shared}/monet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${shared}/monet DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${shared}/_monet DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${shared}/monet.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# From the folder of monet.pc, which may lie deeper than lib/pkgconfig.
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(monet_pc_requires cbc cpp-httplib fmt libxxhash sqlite3 yaml-cpp)
list(JOIN monet_pc_requires " " monet_pc_requires)
configure_file(${PROJECT_SOURCE_DIR}/cmake/monet.pc.in ${shared}/monet.pc @ONLY)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/monet)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/monet-config.cmake.in ${shared}/monet-config.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${shared}/monet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${shared}/monet-config.cmake ${shared}/monet-config-version.cmake DESTINATION ${package}
  COMPONENT development)
install(TARGETS monet_core ARCHIVE COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/monet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES ${shared}/monet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
