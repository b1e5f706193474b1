# Kernels, from OpenCL C or SPIR-V assembly to SPIR-V.
#
# The compiler's own passes are left out: they make integers of widths that SPIR-V does not have, and
# whoever runs the kernel optimises it anyway.

# Of one LLVM: what one writes the other reads.
foreach(version 14 18 19 17)
  find_program(ZEVENT_OPENCL_COMPILER clang-${version})
  find_program(ZEVENT_SPIRV_WRITER llvm-spirv-${version})
  if(ZEVENT_OPENCL_COMPILER AND ZEVENT_SPIRV_WRITER)
    break()
  endif()
  unset(ZEVENT_OPENCL_COMPILER CACHE)
  unset(ZEVENT_SPIRV_WRITER CACHE)
endforeach()
if(NOT ZEVENT_OPENCL_COMPILER)
  message(FATAL_ERROR "No clang-N and llvm-spirv-N of one version; scripts/packages.txt names them")
endif()
find_program(ZEVENT_SPIRV_ASSEMBLER spirv-as)

# zevent_spirv(<target> <source.cl or source.spvasm>...)
# Makes <build>/kernels/<name>.spv of each source, and <build>/kernels/<name>_spv.h, which defines it
# as an array: static const uint32_t <name>_spv[]. The target finds both: the header as
# "kernels/<name>_spv.h", the folder as the macro ZEVENT_KERNEL_DIR.
function(zevent_spirv target)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(kind ${source} LAST_EXT)
    set(spirv ${folder}/${name}.spv)
    if(NOT TARGET zevent_spirv_${name})
      if(kind STREQUAL .cl)
        add_custom_command(OUTPUT ${spirv} ${folder}/${name}_spv.h
          COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
          COMMAND ${ZEVENT_OPENCL_COMPILER} -cc1 -triple spir64 -finclude-default-header
                  -cl-std=CL2.0 -O1 -disable-llvm-passes -emit-llvm-bc ${path} -o ${spirv}.bc
          COMMAND ${ZEVENT_SPIRV_WRITER} --spirv-ext=+SPV_INTEL_subgroups ${spirv}.bc -o ${spirv}
          COMMAND ${CMAKE_COMMAND} -DSPIRV=${spirv} -DNAME=${name}_spv -DHEADER=${folder}/${name}_spv.h
                  -P ${PROJECT_SOURCE_DIR}/cmake/embed_spirv.cmake
          DEPENDS ${path} VERBATIM)
      else()
        # Its first line may say which version it needs: "; SPIR-V 1.4".
        file(STRINGS ${path} version LIMIT_COUNT 1 REGEX "^; SPIR-V 1\\.[0-9]$")
        set(environment spv1.3)
        if("${version}" MATCHES "1\\.[0-9]")
          set(environment spv${CMAKE_MATCH_0})
        endif()
        add_custom_command(OUTPUT ${spirv} ${folder}/${name}_spv.h
          COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
          COMMAND ${ZEVENT_SPIRV_ASSEMBLER} --target-env ${environment} ${path} -o ${spirv}
          COMMAND ${CMAKE_COMMAND} -DSPIRV=${spirv} -DNAME=${name}_spv -DHEADER=${folder}/${name}_spv.h
                  -P ${PROJECT_SOURCE_DIR}/cmake/embed_spirv.cmake
          DEPENDS ${path} VERBATIM)
      endif()
      add_custom_target(zevent_spirv_${name} DEPENDS ${spirv} ${folder}/${name}_spv.h)
    endif()
    add_dependencies(${target} zevent_spirv_${name})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR})
  target_compile_definitions(${target} PRIVATE ZEVENT_KERNEL_DIR="${folder}")
endfunction()
