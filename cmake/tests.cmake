# Tests and their labels: quick (make check), long, cli, reference, install, python, engines. All of them run in the
# source folder.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
set(source ${PROJECT_SOURCE_DIR})

function(lego_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${source})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 600)
endfunction()

# Unit tests see inside the library, so they link its objects rather than the archive. -iquote: a header of ours may
# share its name with one of the system's.
file(GLOB tests CONFIGURE_DEPENDS tests/test_*.c)
if(NOT LEGO_BUILD_CLI)
  list(FILTER tests EXCLUDE REGEX "/test_(lab|cli)_") # the lab comes with the command
endif()
foreach(file ${tests})
  cmake_path(GET file STEM name)
  add_executable(${name} ${file} $<TARGET_OBJECTS:lego_objects>)
  target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L $<$<BOOL:${CMAKE_CROSSCOMPILING}>:EMULATED>)
  foreach(room ${source}/src ${rooms})
    target_compile_options(${name} PRIVATE -iquote${room})
  endforeach()
  target_include_directories(${name} PRIVATE include ${XXHASH_INCLUDE_DIR})
  target_link_libraries(${name} PRIVATE lego_flags PkgConfig::CMOCKA Threads::Threads m)
  if(name MATCHES "^test_(train|lab|cli)") # these see inside the trainer, the lab or the command
    target_link_libraries(${name} PRIVATE lego_train $<TARGET_NAME_IF_EXISTS:lego_app>)
  endif()
  if(name MATCHES "^test_long_")
    lego_test(${name} long ${name})
  else()
    lego_test(${name} quick ${name})
  endif()
endforeach()

# It makes allocations of the lab fail, which have no allocator of ours to do that with.
if(LEGO_BUILD_CLI)
  target_link_options(test_lab_estimators PRIVATE LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc)
endif()

# The tests of sketches on a GPU, with the CPU for it: no CUDA is needed. g++ takes the kernels and the C of our headers
# as well, with a grumble.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT CMAKE_CROSSCOMPILING)
  enable_language(CXX)
  file(GLOB host CONFIGURE_DEPENDS src/cuda/*.c tests/cuda_on_host/*.cpp)
  add_library(cuda_on_host OBJECT ${host})
  set_source_files_properties(tests/cuda_on_host/kernels.cpp PROPERTIES COMPILE_OPTIONS
                              "-Wno-unknown-pragmas;-Wno-pedantic")
  set_target_properties(cuda_on_host PROPERTIES CXX_STANDARD 20)
  foreach(part sketch bricks)
    add_executable(cuda_host_${part} tests/cuda_test_${part}.c $<TARGET_OBJECTS:cuda_on_host>
                                     $<TARGET_OBJECTS:lego_objects>)
    set_target_properties(cuda_host_${part} PROPERTIES LINKER_LANGUAGE CXX)
    target_compile_definitions(cuda_host_${part} PRIVATE LEGO_ON_HOST)
    lego_test(cuda_host_${part} quick cuda_host_${part})
  endforeach()
  foreach(target cuda_on_host cuda_host_sketch cuda_host_bricks)
    target_compile_options(${target} PRIVATE -ffp-contract=off)
    target_include_directories(${target} BEFORE PRIVATE tests/cuda_on_host include ${XXHASH_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE lego_flags PkgConfig::CMOCKA Threads::Threads m)
    foreach(room ${source}/src ${rooms})
      target_compile_options(${target} PRIVATE -iquote${room})
    endforeach()
  endforeach()
endif()

# Where there is no GPU, as in CI, they are built and skipped.
if(LEGO_CUDA)
  foreach(name cuda_test_train cuda_test_train_ms)
    add_executable(${name} tests/${name}.c $<TARGET_OBJECTS:lego_objects>)
    target_include_directories(${name} PRIVATE include ${XXHASH_INCLUDE_DIR})
    target_link_libraries(${name} PRIVATE lego_flags lego_train PkgConfig::CMOCKA Threads::Threads m)
  endforeach()
  foreach(name cuda_test_sketch cuda_test_bricks)
    add_executable(${name} tests/${name}.c $<TARGET_OBJECTS:lego_objects> $<TARGET_OBJECTS:lego_cuda_objects>
                           $<TARGET_OBJECTS:lego_cuda_kernels>)
    target_include_directories(${name} PRIVATE include ${XXHASH_INCLUDE_DIR})
    target_link_libraries(${name} PRIVATE lego_flags CUDA::cudart_static PkgConfig::CMOCKA Threads::Threads m)
  endforeach()
  foreach(name cuda_test_train cuda_test_train_ms cuda_test_sketch cuda_test_bricks)
    foreach(room ${source}/src ${rooms})
      target_compile_options(${name} PRIVATE -iquote${room})
    endforeach()
    lego_test(${name} gpu ${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()

function(lego_python_test file label) # Debian's Python: setup puts numpy there, whatever python3 comes first in PATH
  cmake_path(GET file STEM name)
  lego_test(${name} ${label} /usr/bin/python3 -B ${file})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
                       "LEGOSKETCH=$<TARGET_FILE:legosketch_cli>;BENCH=$<TARGET_FILE:bench>")
endfunction()
if(LEGO_BUILD_CLI)
  lego_python_test(tests/test_cli.py cli)
  lego_python_test(tests/test_cli_compressed.py cli)
  lego_python_test(tests/test_cli_count.py cli)
  lego_python_test(tests/test_cli_eval.py cli)
  lego_python_test(tests/test_cli_files.py cli)
  lego_python_test(tests/test_cli_input.py cli)
  lego_python_test(tests/test_cli_secret.py cli)
  lego_python_test(tests/test_cli_sketches.py cli)
  lego_python_test(tests/test_cli_suggest.py cli)
  lego_python_test(tests/test_cli_top.py cli)
  lego_python_test(tests/test_train_cli.py cli)
  lego_python_test(tests/test_lab.py cli)
  lego_python_test(tests/test_report.py cli)
  lego_python_test(tests/test_bench.py cli)
  lego_python_test(tests/test_scripts.py cli)
  lego_python_test(tests/test_documents.py cli)
endif()

if(LEGO_SANITIZE) # the rest looks at what is released, or links it with programs that have no sanitizer
  return()
endif()

# Kills and faults: a tracer of system calls, and a library that refuses memory.
if(LEGO_BUILD_CLI AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_executable(tracer tests/tracer.c)
  add_library(no_memory MODULE tests/no_memory.c)
  foreach(name tracer no_memory)
    target_link_libraries(${name} PRIVATE lego_flags)
  endforeach()
  lego_python_test(tests/test_kills.py cli)
  set_property(TEST test_kills APPEND PROPERTY ENVIRONMENT "TRACER=$<TARGET_FILE:tracer>;NO_MEMORY_LIBRARY=$<TARGET_FILE:no_memory>")
endif()

# What chosen keys cost, in instructions: valgrind counts them.
add_executable(flood tests/flood.c $<TARGET_OBJECTS:lego_objects>)
target_compile_definitions(flood PRIVATE _POSIX_C_SOURCE=200809L)
target_compile_options(flood PRIVATE -iquote${source}/src)
target_include_directories(flood PRIVATE include ${XXHASH_INCLUDE_DIR})
target_link_libraries(flood PRIVATE lego_flags PkgConfig::CMOCKA Threads::Threads m)
lego_test(test_flood long /usr/bin/python3 -B tests/test_flood.py)
set_tests_properties(test_flood PROPERTIES ENVIRONMENT FLOOD=$<TARGET_FILE:flood> SKIP_RETURN_CODE 77)

lego_test(test_reference reference /usr/bin/python3 -B tests/reference/test_reference.py)
set_tests_properties(test_reference PROPERTIES ENVIRONMENT LEGOSKETCH=$<TARGET_FILE:legosketch_shared>)
if(LEGO_BUILD_CLI)
  lego_python_test(tests/reference/test_training.py reference)
  lego_python_test(tests/reference/test_ms.py reference)
endif()
lego_test(check_symbols quick tests/check_symbols.sh ${CMAKE_CURRENT_BINARY_DIR})
lego_test(check_layers quick tests/check_layers.sh ${CMAKE_CURRENT_BINARY_DIR})
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  lego_test(refuses_32_bits quick ${CMAKE_COMMAND} -S . -B ${CMAKE_CURRENT_BINARY_DIR}/32 -DCMAKE_C_FLAGS=-m32
                                  -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY) # which no 32-bit libc is needed for
  set_tests_properties(refuses_32_bits PROPERTIES PASS_REGULAR_EXPRESSION "64-bit machines alone")
endif()
lego_test(check_dist quick tests/check_dist.sh)
set_tests_properties(check_dist PROPERTIES SKIP_RETURN_CODE 77)
lego_test(check_style quick tests/check_style.sh)
set_tests_properties(check_style PROPERTIES SKIP_RETURN_CODE 77)

# The installed package, used in every way it can be.
lego_test(install install tests/install/run.sh ${CMAKE_CURRENT_BINARY_DIR} install)
set_tests_properties(install PROPERTIES FIXTURES_SETUP installed)
foreach(way pkgconfig_shared pkgconfig_static find_package add_subdirectory readme examples)
  lego_test(install_${way} install tests/install/run.sh ${CMAKE_CURRENT_BINARY_DIR} ${way})
  set_tests_properties(install_${way} PROPERTIES FIXTURES_REQUIRED installed)
endforeach()

# The Python package, in environments of its own; what else it needs comes from PyPI, without which it is skipped.
if(LEGO_BUILD_CLI)
  lego_test(python python bindings/python/tests/run.sh ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(python PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT LEGOSKETCH=$<TARGET_FILE:legosketch_cli>)
  lego_test(spark python bindings/python/tests/run_spark.sh ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(spark PROPERTIES SKIP_RETURN_CODE 77 PROCESSORS 2 TIMEOUT 900) # a worker needs a core
endif()

# The servers. One Python environment is for all their tests: clients of both servers from PyPI, and our own package.
if(LEGO_BUILD_CLI)
  lego_test(engines_environment engines bindings/environment.sh ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(engines_environment PROPERTIES FIXTURES_SETUP engines SKIP_RETURN_CODE 77)
  lego_test(postgres engines bindings/postgres/tests/run.sh ${CMAKE_CURRENT_BINARY_DIR})
  lego_test(postgres_versions engines bindings/postgres/tests/versions.sh ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(postgres postgres_versions PROPERTIES FIXTURES_REQUIRED engines SKIP_RETURN_CODE 77)
  set_tests_properties(postgres_versions PROPERTIES TIMEOUT 1200) # servers one after another
endif()
if(LEGO_BUILD_CLI AND TARGET legosketch_redis)
  set(redis bindings/redis/tests/run.sh ${CMAKE_CURRENT_BINARY_DIR})
  lego_test(redis engines ${redis} --ignore=test_cluster.py --ignore=test_groups.py .)
  lego_test(redis_cluster engines ${redis} test_cluster.py test_groups.py)
  set_tests_properties(redis redis_cluster PROPERTIES FIXTURES_REQUIRED engines SKIP_RETURN_CODE 77)
  set_tests_properties(redis_cluster PROPERTIES PROCESSORS 2) # seven servers and their writers
  if(LEGO_SANITIZE MATCHES address) # with the Python of the build around this one
    lego_test(redis_hostile cli ${redis} test_hostile.py)
    set_tests_properties(redis_hostile PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()
if(LEGO_BUILD_CLI)
  lego_test(golden engines bindings/tests/golden.sh ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(golden PROPERTIES FIXTURES_REQUIRED engines SKIP_RETURN_CODE 77)
endif()
