# Level Zero programs as users build them: linked to libze_loader.so.1 and to nothing of zevent.
#
# The loader that Debian 12 has lacks the newer functions, and the newer ones do not run there. So
# programs are linked to a stand-in that has every name and no code; which libze_loader.so.1 they
# get is decided when they run: the stock loader, or the driver under the loader's name.

set(link_loader ${PROJECT_BINARY_DIR}/link)
file(MAKE_DIRECTORY ${link_loader})
file(GLOB zevent_api_headers ${zevent_ze_include}/level_zero/*_api.h)
add_custom_command(OUTPUT ${link_loader}/names.c
  COMMAND awk "/^ZE_APIEXPORT/ { getline; sub(/\\(.*/, \"\"); print \"void \" $1 \"(void) {}\" }"
          ${zevent_api_headers} > ${link_loader}/names.c
  DEPENDS ${zevent_api_headers} VERBATIM)
add_library(zevent_link_loader SHARED ${link_loader}/names.c)
set_target_properties(zevent_link_loader PROPERTIES
  OUTPUT_NAME ze_loader SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${link_loader} C_VISIBILITY_PRESET default)
target_compile_options(zevent_link_loader PRIVATE -fno-builtin -w)

# zevent_program(<name> SOURCES ... [LINK ...] [FOLDER dir])
# A program in <build>/<FOLDER>/<name> (default: examples).
function(zevent_program name)
  cmake_parse_arguments(arg "" "FOLDER" "SOURCES;LINK" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER examples)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_options(${name} PRIVATE ${zevent_warnings})
  target_link_libraries(${name} PRIVATE ${arg_LINK} level_zero_headers zevent_link_loader)
  # No run path: these programs find the loader as any installed program does.
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${arg_FOLDER} SKIP_BUILD_RPATH ON)
endfunction()
