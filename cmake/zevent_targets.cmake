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

# --- what a build from nothing takes ------------------------------------------------------------------
# Most of the time goes into the standard library's headers and what is made of their templates. For tests
# they are compiled once. With ZEVENT_JOIN above 1 they are for the parts, too, and as many sources of a
# target are compiled at a time; that is not the default, since not every part builds so yet. Every source
# stands by itself, and the target each_source_alone compiles each of src/ and tools/ so.
option(ZEVENT_PRECOMPILE "Compile the headers of libraries once" ON)
set(ZEVENT_JOIN 1 CACHE STRING "How many sources of a target are compiled together; 1: each by itself")

# zevent_join(<variable> <target> <source>...)
# Puts into the variable what to compile in place of the sources. Those of one target that have names in
# common cannot be compiled together: give them to the target as they are.
function(zevent_join variable target)
  set(units)
  set(names ${ARGN})
  list(SORT names)
  list(LENGTH names left)
  set(number 0)
  while(left GREATER 0)
    list(SUBLIST names 0 ${ZEVENT_JOIN} together)
    list(LENGTH together count)
    foreach(name ${together})
      list(POP_FRONT names)
    endforeach()
    math(EXPR left "${left} - ${count}")
    if(count EQUAL 1)
      list(APPEND units ${together})
      continue()
    endif()
    set(text)
    foreach(name ${together})
      get_filename_component(path ${name} ABSOLUTE)
      # As sources of src/ name each other, so that the text is the same in every clone.
      if(path MATCHES "^${PROJECT_SOURCE_DIR}/src/(.*)$")
        string(APPEND text "#include \"${CMAKE_MATCH_1}\"\n")
      else()
        file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
        string(APPEND text "#include \"${path}\"\n")
      endif()
    endforeach()
    math(EXPR number "${number} + 1")
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/joined/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
    list(APPEND units ${unit})
  endwhile()
  set(${variable} ${units} PARENT_SCOPE)
endfunction()

# zevent_each_alone(<target> <source>...)
# Adds the sources of a target that are compiled together, each by itself, to each_source_alone. They are
# also what compile_commands.json has of them.
function(zevent_each_alone target)
  if(ZEVENT_JOIN GREATER 1)
    add_library(${target}_alone OBJECT EXCLUDE_FROM_ALL ${ARGN})
    target_include_directories(${target}_alone PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_include_directories(${target}_alone SYSTEM PRIVATE
      ${zevent_ze_include} ${TL_EXPECTED_INCLUDE_DIR})
    target_compile_definitions(${target}_alone PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_compile_options(${target}_alone PRIVATE ${zevent_warnings})
    add_dependencies(${target}_alone zevent_generated)
    add_dependencies(each_source_alone ${target}_alone)
  endif()
endfunction()
add_custom_target(each_source_alone)

# zevent_precompile(<target> <header>...), zevent_precompile(<target> REUSE_FROM <target>)
# Headers that take seconds to compile and that many sources of a target include.
function(zevent_precompile name)
  if(NOT ZEVENT_PRECOMPILE)
    return()
  endif()
  if(ZEVENT_JOIN EQUAL 1 AND (name STREQUAL zevent_part_header OR "zevent_part_header" IN_LIST ARGN))
    return()
  endif()
  if(ARGV1 STREQUAL REUSE_FROM)
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -fpch-preprocess)  # for ccache
  endif()
  # GCC warns of code of the library that it has inlined (moves of short strings, GCC 12; ends of vectors,
  # GCC 14) as of our own where the library's headers are precompiled. Where they are not, as with presets
  # 'debug' and 'clang', these warnings are on.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE
      -Wno-array-bounds -Wno-free-nonheap-object -Wno-restrict -Wno-stringop-overflow)
  endif()
endfunction()

# What sources of all parts include.
set(zevent_usual_headers <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <cstring> <deque>
    <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <string>
    <string_view> <tuple> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>
    <tl/expected.hpp> <level_zero/ze_api.h>)

# Targets whose precompiled headers others use. Such a header fits only what is compiled with the same
# options: one is for the parts, which libraries are made of, one for the tests, which are programs.
function(zevent_precompile_usual_headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/precompiled.cpp CONTENT "int main() {}\n")
  if(ZEVENT_TESTS)
    add_executable(zevent_test_header ${PROJECT_BINARY_DIR}/generated/precompiled.cpp)
    zevent_test_options(zevent_test_header)
    zevent_precompile(zevent_test_header <gtest/gtest.h> ${zevent_usual_headers})
  endif()
  add_library(zevent_part_header OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled.cpp)
  target_compile_options(zevent_part_header PRIVATE ${zevent_warnings})
  target_link_libraries(zevent_part_header PRIVATE fmt::fmt)
  zevent_precompile(zevent_part_header ${zevent_usual_headers})
  foreach(target zevent_part_header zevent_test_header)
    if(TARGET ${target})
      target_link_libraries(${target} PRIVATE level_zero_headers)
      target_include_directories(${target} SYSTEM PRIVATE ${TL_EXPECTED_INCLUDE_DIR})
    endif()
  endforeach()
endfunction()

# zevent_part(<name> SOURCES ... [ALONE ...] [LINK ...])
# One folder of src/: the static library zevent_<name>, included as "<name>/header.hpp". ALONE are sources
# with options of their own, or with names that others of the part have, too.
function(zevent_part name)
  cmake_parse_arguments(arg "" "" "SOURCES;ALONE;LINK" ${ARGN})
  zevent_join(joined ${name} ${arg_SOURCES})
  add_library(zevent_${name} STATIC ${joined} ${arg_ALONE})
  target_include_directories(zevent_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_options(zevent_${name} PRIVATE ${zevent_warnings})
  target_link_libraries(zevent_${name} PUBLIC ${arg_LINK})
  zevent_precompile(zevent_${name} REUSE_FROM zevent_part_header)
  zevent_each_alone(zevent_${name} ${arg_SOURCES})
endfunction()

function(zevent_test_options name)
  target_compile_options(${name} PRIVATE ${zevent_warnings} ${zevent_quick_to_build})
  target_link_libraries(${name} PRIVATE GTest::gtest_main fmt::fmt Threads::Threads)
endfunction()

# zevent_test(<name> SOURCES ... [ALONE ...] [LINK ...] [LABELS ...] [ENVIRONMENT ...] [TIMEOUT s] [WHOLE])
# A GoogleTest binary whose cases CTest runs one by one (WHOLE: as one).
function(zevent_test name)
  cmake_parse_arguments(arg "WHOLE" "TIMEOUT" "SOURCES;ALONE;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES} ${arg_ALONE})
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
