# How targets of this project are made: one place for warnings, sanitizers and naming.

set(zevent_warnings -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
if(ZEVENT_WERROR)
  list(APPEND zevent_warnings -Werror)
endif()

if(ZEVENT_SANITIZE)
  add_compile_options(-fsanitize=${ZEVENT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ZEVENT_SANITIZE})
  # GCC takes the instrumented moves of a std::variant for reads of what it does not hold.
  list(APPEND zevent_warnings -Wno-maybe-uninitialized)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
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

# zevent_test(<name> SOURCES ... [LINK ...] [LABELS ...] [ENVIRONMENT ...] [TIMEOUT s] [WHOLE])
# A GoogleTest binary whose cases CTest runs one by one (WHOLE: as one).
function(zevent_test name)
  cmake_parse_arguments(arg "WHOLE" "TIMEOUT" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_options(${name} PRIVATE ${zevent_warnings} ${zevent_quick_to_build})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main fmt::fmt Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
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
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      TEST_PREFIX "${name}." PROPERTIES ${properties})
  endif()
endfunction()
