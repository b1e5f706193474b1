"""What the pointers of the API point at, where the headers' own tags do not say it.

A key is "function.parameter" or "struct.field"; "*" matches anything. The first rule that matches
wins over the headers' tags. Lengths are written as in the headers: `count` is the value of a
neighbour, `*pCount` what a neighbour points at, `sizes[]` the neighbour's element at the same
position, `call.*pCount` what a parameter of the call points at (for fields). Lengths count
elements, or bytes where the pointee has no type of its own.

docs/api-model.md tells how to add one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    kind: str         # single, elements, string, chain, address, external
    length: str = ""  # of elements: the expression; of external: who knows the size
    inner: "Extent" = None  # what the elements point at, where they are pointers themselves


ADDRESS = Extent("address")  # a value: device memory, user data, an address range; never followed
SINGLE = Extent("single")
STRING = Extent("string")
CHAIN = Extent("chain")      # a struct with stype and pNext


def elements(length, inner=None):
    return Extent("elements", length, inner)


def external(who):
    """The size is known to another object, not to the call."""
    return Extent("external", who)


RULES = [
    # Bytes that the call reads or writes at once.
    ("zeKernelSetArgumentValue.pArgValue", elements("argSize")),
    ("ze_mutable_kernel_argument_exp_desc_t.pArgValue", elements("argSize")),
    ("zeCommandListAppendMemoryFill*.pattern", elements("pattern_size")),
    ("ze_module_desc_t.pInputModule", elements("inputSize")),
    ("ze_module_program_exp_desc_t.pInputModules", elements("count", elements("inputSizes[]"))),
    ("ze_module_program_exp_desc_t.pBuildFlags", elements("count", STRING)),
    ("ze_module_program_exp_desc_t.pConstants", elements("count", SINGLE)),
    ("zeModuleGetNativeBinary.pModuleNativeBinary", elements("*pSize")),
    ("zeModuleBuildLogGetString.pBuildLog", elements("*pSize")),
    ("zeKernelGetName.pName", elements("*pSize")),
    ("zeKernelGetSourceAttributes.pString", Extent("single", "", elements("*pSize"))),
    ("zeKernelGetBinaryExp.pKernelBinary", elements("*pSize")),
    ("zeDeviceGetRuntimeRequirements.pRequirements", elements("*pSize")),
    ("zetModuleGetDebugInfo.pDebugInfo", elements("*pSize")),
    ("zetDebugReadMemory.buffer", elements("size")),
    ("zetDebugWriteMemory.buffer", elements("size")),
    ("zetMetricGroupGetExportDataExp.pRawData", elements("rawDataSize")),
    ("zesFirmwareFlash.pImage", elements("size")),
    ("zesFirmwareGetConsoleLogs.pFirmwareLog", elements("*pSize")),
    ("zesPowerSetLimitsExt.pCount", SINGLE),
    ("zesFirmwareGetSecurityVersionExp.pVersion", STRING),
    ("zexCommandListAppendMemoryFillWithParameters.pattern", elements("pattern_size")),
    ("zexCommandListVerifyMemory.expectedData", elements("sizeOfComparison")),
    ("zexVariableSetValue.pValue", elements("valueSize")),
    ("zexCommandListGetNativeBinary.pBinary", elements("*pBinarySize")),
    ("zexCommandListGetNativeBinary.pModule", elements("moduleSize")),
    ("zexCommandListLoadNativeBinary.pBinary", elements("binarySize")),
    ("zexKernelGetArgumentType.pString", elements("*pSize")),
    ("zeIntelKernelGetBinaryExp.pKernelBinary", elements("*pSize")),
    ("zeIntelGetDriverVersionString.pDriverVersion", elements("*pVersionSize")),

    # Arrays whose length the tags leave out or put elsewhere.
    ("zeModuleGetKernelNames.pNames", elements("*pCount", STRING)),
    ("zesDriverEventListen*.pEvents", elements("count")),
    ("zetDeviceCreateMetricGroupsFromMetricsExp.phMetrics", elements("metricCount")),
    ("zetDeviceGetConcurrentMetricGroupsExp.phMetricGroups", elements("metricGroupCount")),
    ("zetMetricProgrammable*.pParameterInfo", elements("*pParameterCount")),
    ("zetMetricProgrammable*.pValueInfo", elements("*pValueInfoCount")),
    ("zetMetricCreateFromProgrammableExp*.pParameterValues", elements("parameterCount")),
    ("zetMetricGroupCalculateMetricExportDataExp.pExportData", elements("exportDataSize")),
    ("ze_event_query_kernel_timestamps_results_ext_properties_t.*Buffer", elements("call.*pCount")),
    ("zesFabricPortGetMultiPortThroughput.pThroughput", elements("numPorts", SINGLE)),
    ("zetCommandListAppendMetricQueryEnd.phWaitEvents", elements("numWaitEvents")),
    ("zexCommandListGetVariablesList.pVariablesInfos", elements("*pVariablesCount", ADDRESS)),

    # Structs behind untyped pointers.
    ("zeDeviceGetRuntimeRequirements.pObjDesc", CHAIN),
    ("*.pNext", CHAIN),

    # Sizes that only a kernel or a module knows.
    ("zeCommandListAppendLaunchKernelWithArguments.pArguments", external("kernel arguments")),
    ("ze_module_constants_t.pConstantValues",
     elements("numConstants", external("specialization constant"))),
    ("ze_mutable_graph_argument_exp_desc_t.pArgValue", external("graph argument")),
    ("zetDebug*Registers.pRegisterValues", external("register set")),

    # Named like memory of the device, but written by the call itself.
    ("zeEventQueryKernelTimestamp.dstptr", SINGLE),
    ("zeEventCounterBasedGetDeviceAddress.deviceAddress", SINGLE),

    # Memory that commands read or write later, on the device.
    ("zeCommandListAppendLaunch*Indirect.pLaunchArgumentsBuffer", ADDRESS),
    ("zeCommandListAppendLaunchMultipleKernelsIndirect.pCountBuffer", ADDRESS),
    ("zeCommandListAppendMemoryRangesBarrier.pRanges", elements("numRanges", ADDRESS)),
    ("ze*.dstptr", ADDRESS),
    ("ze*.srcptr", ADDRESS),
    ("ze*.ptr", ADDRESS),
    ("ze*.pStart", ADDRESS),
    ("*.deviceAddress", ADDRESS),
    ("*.hostAddress", ADDRESS),
    ("ze_image_pitched_exp_desc_t.ptr", ADDRESS),
    ("ze_sub_allocation_t.base", ADDRESS),
    ("zexCommandListVerifyMemory.allocationPtr", ADDRESS),
    ("zexCommandListTempMemSet.pTempMem", ADDRESS),
    ("zex_operand_desc_t.memory", ADDRESS),
    ("ze_external_memmap_sysmem_ext_desc_t.pSystemMemory", ADDRESS),

    # Ray-tracing geometry: formats and strides that the builder alone interprets.
    ("zeRTASBuilderBuild*.pScratchBuffer", ADDRESS),
    ("zeRTASBuilderBuild*.pRtasBuffer", ADDRESS),
    ("ze_rtas_builder_build_op_*.ppGeometries", elements("numGeometries", ADDRESS)),
    ("ze_rtas_builder_*_geometry_info_*.p*Buffer", ADDRESS),
    ("ze_rtas_builder_instance_geometry_info_*.pTransform", ADDRESS),
    ("ze_rtas_geometry_aabbs_*_cb_params_t.pBoundsOut", elements("primIDCount")),
    ("ze_rtas_builder_instance_geometry_info_*.pAccelerationStructure", ADDRESS),

    # Values for someone else to interpret.
    ("*.pUserData", ADDRESS),
    ("*.pGeomUserPtr", ADDRESS),
    ("*.pBuildUserPtr", ADDRESS),
    ("ze_external_*win32*.handle", ADDRESS),
    ("ze_external_*win32*.name", ADDRESS),
]

# Where the tag says [in,out] of handles, addresses or two-call buffers, the headers mean an output;
# these really are both.
BOTH_WAYS = {
    "zetDeviceGetConcurrentMetricGroupsExp.phMetricGroups",
    "zetMetricTracerDecodeExp.pRawData",
}

# Parameters that end the life of what they name and carry no [release] tag. Functions whose names
# say Destroy need no mention.
RELEASES = {
    "zeDeviceReleaseExternalSemaphoreExt.hSemaphore",
    "zeVirtualMemFree.ptr",
    "zexDriverReleaseImportedPointer.ptr",
}
