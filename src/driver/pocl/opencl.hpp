#pragma once

// PoCL's OpenCL, called through the dispatch table that its objects carry: there is no OpenCL
// loader in between, and so no other OpenCL implementation.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <string>

#include "base/result.hpp"
#include "driver/pocl/toolchain.hpp"

namespace zevent::pocl {

struct platform {
  const cl_icd_dispatch* cl = nullptr;
  cl_platform_id id = nullptr;
  cl_device_id device = nullptr;
  toolchain tools;
};

// Loads PoCL and finds its first device. The environment says which (POCL_DEVICES).
result<platform> load_platform();

}  // namespace zevent::pocl
