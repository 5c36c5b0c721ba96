# What `make install` lays down. Nothing in it names the prefix, so the tree may be moved afterwards.
include(CMakePackageConfigHelpers)

install(FILES include/legosketch.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS legosketch_shared legosketch_static EXPORT legosketchTargets)
if(LEGO_CUDA)
  install(FILES include/legosketch_cuda.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS legosketch_cuda EXPORT legosketchTargets)
endif()
if(LEGO_BUILD_CLI)
  install(TARGETS legosketch_cli)
  install(FILES docs/legosketch.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES completions/legosketch.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME legosketch)
  install(FILES completions/_legosketch DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
if(TARGET legosketch_redis)
  install(TARGETS legosketch_redis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/redis/modules)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(legosketch) gives legosketch::legosketch (shared) and legosketch::static, and legosketch::cuda if built.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/legosketch)
set(config ${CMAKE_CURRENT_BINARY_DIR}/legosketchConfigVersion.cmake)
write_basic_package_version_file(${config} COMPATIBILITY SameMinorVersion) # 0.x: the next minor may break
install(FILES cmake/legosketchConfig.cmake ${config} DESTINATION ${package})
install(EXPORT legosketchTargets NAMESPACE legosketch:: DESTINATION ${package})

# pkg-config: the prefix is found from where the .pc file lies.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
configure_file(cmake/legosketch.pc.in legosketch.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/legosketch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
