# How targets of this project are made: one place for warnings, sanitizers and naming.

set(zevent_warnings -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
if(ZEVENT_WERROR)
  list(APPEND zevent_warnings -Werror)
endif()

if(ZEVENT_SANITIZE)
  add_compile_options(-fsanitize=${ZEVENT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ZEVENT_SANITIZE})
  # GCC takes the instrumented moves of a std::variant for reads of what it does not hold.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND zevent_warnings -Wno-maybe-uninitialized)
  endif()
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It keeps what was compiled with a precompiled header only if it is told that this is meant.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# Line numbers are what a backtrace needs; all the rest of debug information is a third of the build.
# Benchmarks and parts are optimised fully, tests and the command line are not what is measured.
foreach(language C CXX)
  string(REPLACE "-g " "-g1 " CMAKE_${language}_FLAGS_RELWITHDEBINFO
         "${CMAKE_${language}_FLAGS_RELWITHDEBINFO} ")
endforeach()
set(zevent_quick_to_build $<$<CONFIG:RelWithDebInfo>:-O1>)
if(ZEVENT_SANITIZE)
  add_compile_options(${zevent_quick_to_build})
endif()

# zevent_part(<name> SOURCES ... [LINK ...])
# One folder of src/: the static library zevent_<name>, included as "<name>/header.hpp".
function(zevent_part name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(zevent_${name} STATIC ${arg_SOURCES})
  target_include_directories(zevent_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_options(zevent_${name} PRIVATE ${zevent_warnings})
  target_link_libraries(zevent_${name} PUBLIC ${arg_LINK})
endfunction()

# zevent_precompile(<target> <header>), zevent_precompile(<target> REUSE_FROM <target>)
# Headers that take seconds to compile and that many sources of a target include.
function(zevent_precompile name)
  if(ARGV1 STREQUAL REUSE_FROM)
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()

# GoogleTest's header takes two seconds to compile and every test includes it: this is done once. A
# program, since a precompiled header fits only what is compiled with the same options.
function(zevent_precompile_test_header)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_header.cpp CONTENT "int main() {}\n")
  add_executable(zevent_test_header ${PROJECT_BINARY_DIR}/generated/test_header.cpp)
  zevent_test_options(zevent_test_header)
  zevent_precompile(zevent_test_header <gtest/gtest.h>)
endfunction()

function(zevent_test_options name)
  target_compile_options(${name} PRIVATE ${zevent_warnings} ${zevent_quick_to_build})
  target_link_libraries(${name} PRIVATE GTest::gtest_main fmt::fmt Threads::Threads)
endfunction()

# zevent_test(<name> SOURCES ... [LINK ...] [LABELS ...] [ENVIRONMENT ...] [TIMEOUT s] [WHOLE])
# A GoogleTest binary whose cases CTest runs one by one (WHOLE: as one).
function(zevent_test name)
  cmake_parse_arguments(arg "WHOLE" "TIMEOUT" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  zevent_test_options(${name})
  zevent_precompile(${name} REUSE_FROM zevent_test_header)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(name IN_LIST zevent_core_tests)
    list(APPEND arg_LABELS core)
    add_dependencies(core_tests ${name})
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  foreach(property LABELS ENVIRONMENT)
    if(arg_${property})
      list(APPEND properties ${property} "${arg_${property}}")
    endif()
  endforeach()
  if(arg_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300
      TEST_PREFIX "${name}." PROPERTIES ${properties})
  endif()
endfunction()

# zevent_output_test(<name> STATUS n PRINTS regex [WITHOUT regex] [TIMEOUT s] [ENVIRONMENT ...] COMMAND ...)
# A command whose exit status and output are both compared: see tests/support/output_test.py.
function(zevent_output_test name)
  cmake_parse_arguments(arg "" "STATUS;PRINTS;WITHOUT;TIMEOUT" "ENVIRONMENT;COMMAND" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(without)
  if(arg_WITHOUT)
    set(without "--without=${arg_WITHOUT}")
  endif()
  add_test(NAME ${name}
    COMMAND ${ZEVENT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/support/output_test.py
            ${without} ${arg_STATUS} "${arg_PRINTS}" -- ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
