# Finds the Level Zero headers: those given by LEVEL_ZERO_INCLUDE_DIR, an installed libze-dev that
# is new enough, or those that scripts/setup fetched.

set(LEVEL_ZERO_INCLUDE_DIR "" CACHE PATH "Folder that holds level_zero/ze_api.h, API 1.15 or later")
set(zevent_minimum_api 1.15)
set(ZEVENT_DEPS_DIR ${PROJECT_SOURCE_DIR}/build/deps CACHE PATH "Where scripts/setup put the header files")

function(zevent_api_version dir out)
  set(version "0")
  if(EXISTS ${dir}/level_zero/ze_api.h)
    file(STRINGS ${dir}/level_zero/ze_api.h line REGEX "@version v[0-9]+\\.[0-9]+" LIMIT_COUNT 1)
    if(line MATCHES "@version v([0-9]+\\.[0-9]+)")
      set(version ${CMAKE_MATCH_1})
    endif()
  endif()
  set(${out} ${version} PARENT_SCOPE)
endfunction()

set(zevent_ze_include "")
foreach(dir "${LEVEL_ZERO_INCLUDE_DIR}" /usr/include ${ZEVENT_DEPS_DIR}/level-zero/include)
  if(dir)
    zevent_api_version(${dir} version)
    if(version VERSION_GREATER_EQUAL zevent_minimum_api)
      set(zevent_ze_include ${dir})
      break()
    elseif(dir STREQUAL LEVEL_ZERO_INCLUDE_DIR)
      message(FATAL_ERROR "LEVEL_ZERO_INCLUDE_DIR=${dir} has Level Zero API ${version}; "
                          "zevent needs ${zevent_minimum_api} or later")
    endif()
  endif()
endforeach()
if(NOT zevent_ze_include)
  message(FATAL_ERROR "No Level Zero headers of API ${zevent_minimum_api} or later. Run scripts/setup, "
                      "or give -DLEVEL_ZERO_INCLUDE_DIR=<folder that holds level_zero/>")
endif()
message(STATUS "Level Zero headers: API ${version} in ${zevent_ze_include}")

# Warnings are errors only with headers that were tried: an enumerator that is new is no reason not to build.
file(GLOB zevent_ze_headers ${zevent_ze_include}/level_zero/*.h)
set(checksums "")
foreach(header ${zevent_ze_headers})
  file(SHA256 ${header} checksum)
  string(APPEND checksums ${checksum})
endforeach()
string(SHA256 zevent_ze_checksum "${checksums}")
file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/api/tested_headers.txt tested REGEX "^${zevent_ze_checksum} ")
if(NOT tested)
  message(STATUS "These headers were not tested with this version of zevent (${zevent_ze_checksum})")
  list(REMOVE_ITEM zevent_warnings -Werror)
endif()

add_library(level_zero_headers INTERFACE)
target_include_directories(level_zero_headers SYSTEM INTERFACE ${zevent_ze_include})
