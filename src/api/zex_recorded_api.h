// Functions of Intel's GPU driver that no installed header declares and that the software driver
// does not have: they are recorded, shown and replayed like all others. Programs get them by name
// through zeDriverGetExtensionFunctionAddress. What is declared nowhere is passed through:
// docs/recording.md. The form is that of zex_api.h, which the API generator reads too.
// clang-format off
#ifndef ZEVENT_ZEX_RECORDED_API_H
#define ZEVENT_ZEX_RECORDED_API_H

#include "zex_api.h"

#if defined(__cplusplus)
extern "C" {
#endif

/// @brief Types of the structures below
typedef enum _zex_recorded_structure_type_t
{
    ZEX_RECORDED_STRUCTURE_TYPE_LABEL_DESC = 0x00030002,                    ///< ::zex_label_desc_t
    ZEX_RECORDED_STRUCTURE_TYPE_OPERAND_DESC = 0x00030003,                  ///< ::zex_operand_desc_t
    ZEX_RECORDED_STRUCTURE_TYPE_VARIABLE_DESC = 0x00030004,                 ///< ::zex_variable_desc_t
    ZEX_RECORDED_STRUCTURE_TYPE_TEMP_VARIABLE_DESC = 0x00030005,            ///< ::zex_temp_variable_desc_t
    ZEX_RECORDED_STRUCTURE_TYPE_MEMORY_FREE_CALLBACK_DESC = 0x00030030,     ///< ::zex_memory_free_callback_desc_t
    ZEX_RECORDED_STRUCTURE_TYPE_VISIT_DESC = 0x00030032,                    ///< ::zex_visit_desc_t
    ZEX_RECORDED_STRUCTURE_TYPE_FORCE_UINT32 = 0x7fffffff                   ///< Value marking end of ZEX_RECORDED_STRUCTURE_TYPE_* ENUMs
} zex_recorded_structure_type_t;

/// @brief How far a wait for memory, or a write to it, reaches
typedef uint32_t zex_mem_action_scope_flags_t;
typedef enum _zex_mem_action_scope_flag_t
{
    ZEX_MEM_ACTION_SCOPE_FLAG_SUBDEVICE = ZE_BIT(0),                        ///< the sub-device
    ZEX_MEM_ACTION_SCOPE_FLAG_DEVICE = ZE_BIT(1),                           ///< the device
    ZEX_MEM_ACTION_SCOPE_FLAG_HOST = ZE_BIT(2),                             ///< the host
    ZEX_MEM_ACTION_SCOPE_FLAG_FORCE_UINT32 = 0x7fffffff                     ///< Value marking end of ZEX_MEM_ACTION_SCOPE_FLAG_* ENUMs
} zex_mem_action_scope_flag_t;

/// @brief How the value in memory is compared with the one that is waited for
typedef uint32_t zex_wait_on_mem_flags_t;
typedef enum _zex_wait_on_mem_flag_t
{
    ZEX_WAIT_ON_MEM_FLAG_EQUAL = ZE_BIT(0),                                 ///< until it is the same
    ZEX_WAIT_ON_MEM_FLAG_NOT_EQUAL = ZE_BIT(1),                             ///< until it is another
    ZEX_WAIT_ON_MEM_FLAG_GREATER_THAN = ZE_BIT(2),                          ///< until it is greater
    ZEX_WAIT_ON_MEM_FLAG_GREATER_THAN_EQUAL = ZE_BIT(3),                    ///< until it is not less
    ZEX_WAIT_ON_MEM_FLAG_LESSER_THAN = ZE_BIT(4),                           ///< until it is less
    ZEX_WAIT_ON_MEM_FLAG_LESSER_THAN_EQUAL = ZE_BIT(5),                     ///< until it is not greater
    ZEX_WAIT_ON_MEM_FLAG_FORCE_UINT32 = 0x7fffffff                          ///< Value marking end of ZEX_WAIT_ON_MEM_FLAG_* ENUMs
} zex_wait_on_mem_flag_t;

/// @brief What a comparison of memory expects
typedef enum _zex_verify_memory_mode_t
{
    ZEX_VERIFY_MEMORY_MODE_EQUAL = 0,                                       ///< the same bytes
    ZEX_VERIFY_MEMORY_MODE_NOT_EQUAL = 1,                                   ///< other bytes
    ZEX_VERIFY_MEMORY_MODE_FORCE_UINT32 = 0x7fffffff                        ///< Value marking end of ZEX_VERIFY_MEMORY_MODE_* ENUMs
} zex_verify_memory_mode_t;

/// @brief What a visit does with commands that no visitor is given for
typedef enum _zex_visit_default_op_t
{
    ZEX_VISIT_DEFAULT_OP_IGNORE = 0,                                        ///< nothing
    ZEX_VISIT_DEFAULT_OP_REAPPEND = 1,                                      ///< appends them again
    ZEX_VISIT_DEFAULT_OP_FORCE_UINT32 = 0x7fffffff                          ///< Value marking end of ZEX_VISIT_DEFAULT_OP_* ENUMs
} zex_visit_default_op_t;

/// @brief An operand of a jump
typedef uint32_t zex_operand_flags_t;
typedef enum _zex_operand_flag_t
{
    ZEX_OPERAND_FLAG_USES_VARIABLE = ZE_BIT(0),                             ///< the memory is a variable
    ZEX_OPERAND_FLAG_JUMP_ON_CLEAR = ZE_BIT(1),                             ///< jumps when it is 0
    ZEX_OPERAND_FLAG_FORCE_UINT32 = 0x7fffffff                              ///< Value marking end of ZEX_OPERAND_FLAG_* ENUMs
} zex_operand_flag_t;

/// @brief Size of a temporary variable
typedef uint32_t zex_temp_variable_flags_t;
typedef enum _zex_temp_variable_flag_t
{
    ZEX_TEMP_VARIABLE_FLAG_IS_CONST_SIZE = ZE_BIT(0),                       ///< always the same
    ZEX_TEMP_VARIABLE_FLAG_IS_SCALABLE = ZE_BIT(1),                         ///< grows with the number of elements
    ZEX_TEMP_VARIABLE_FLAG_FORCE_UINT32 = 0x7fffffff                        ///< Value marking end of ZEX_TEMP_VARIABLE_FLAG_* ENUMs
} zex_temp_variable_flag_t;

/// @brief A wait for a value in memory
typedef struct _zex_wait_on_mem_desc_t
{
    zex_wait_on_mem_flags_t actionFlag;                                     ///< [in] one of ::zex_wait_on_mem_flag_t
    zex_mem_action_scope_flags_t waitScope;                                 ///< [in] combination of ::zex_mem_action_scope_flag_t
} zex_wait_on_mem_desc_t;

/// @brief A write of a value to memory
typedef struct _zex_write_to_mem_desc_t
{
    zex_mem_action_scope_flags_t writeScope;                                ///< [in] combination of ::zex_mem_action_scope_flag_t
} zex_write_to_mem_desc_t;

/// @brief One step of arithmetic between registers
typedef struct _zex_alu_operation_t
{
    uint32_t opType;                                                        ///< [in] operation
    uint32_t regDest;                                                       ///< [in] target
    uint32_t regSource1;                                                    ///< [in] first operand
    uint32_t regSource2;                                                    ///< [in] second operand
    uint32_t flag;                                                          ///< [in] flag that is set or read
} zex_alu_operation_t;

/// @brief A label in a list
typedef struct _zex_label_desc_t
{
    zex_recorded_structure_type_t stype;                                    ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    const char* name;                                                       ///< [in][optional] name of the label
    uint32_t alignment;                                                     ///< [in][optional] least alignment of the label
} zex_label_desc_t;

/// @brief What a jump depends on
typedef struct _zex_operand_desc_t
{
    zex_recorded_structure_type_t stype;                                    ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    void* memory;                                                           ///< [in][optional] memory or variable; null: a register
    size_t offset;                                                          ///< [in] where in it
    uint32_t size;                                                          ///< [in] its size
    zex_operand_flags_t flags;                                              ///< [in] combination of ::zex_operand_flag_t
} zex_operand_desc_t;

/// @brief A variable of a mutable list
typedef struct _zex_variable_desc_t
{
    zex_recorded_structure_type_t stype;                                    ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    const char* name;                                                       ///< [in][optional] name of the variable
} zex_variable_desc_t;

/// @brief A temporary variable; hangs in the chain of ::zex_variable_desc_t
typedef struct _zex_temp_variable_desc_t
{
    zex_recorded_structure_type_t stype;                                    ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    zex_temp_variable_flags_t flags;                                        ///< [in] combination of ::zex_temp_variable_flag_t
    size_t size;                                                            ///< [in] its size in bytes
} zex_temp_variable_desc_t;

/// @brief Function of the program that the driver calls
typedef void (ZE_APICALL *zex_user_callback_t)(void* pUserData);

/// @brief What is called when memory is freed
typedef struct _zex_memory_free_callback_desc_t
{
    zex_recorded_structure_type_t stype;                                    ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    zex_user_callback_t pfnCallback;                                        ///< [in] function to call
    void* pUserData;                                                        ///< [in][optional] what it is given
} zex_memory_free_callback_desc_t;

/// @brief Function that a visit calls around each command
typedef void (ZE_APICALL *zex_visit_callback_t)(const char* fname, void* userData, uint32_t* numWaitEvents,
                                                ze_event_handle_t** phWaitEvents, ze_event_handle_t* hSignalEvent);

/// @brief How the commands of a list or a graph are visited
typedef struct _zex_visit_desc_t
{
    zex_recorded_structure_type_t stype;                                    ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    void* pUserData;                                                        ///< [in][optional] what callbacks are given
    ze_command_list_handle_t hReappendTargetCmdList;                        ///< [in][optional] where commands are appended again; null: where they were
    zex_visit_callback_t beforeDefaultOpClb;                                ///< [in][optional] called before the default operation
    zex_visit_default_op_t defaultOp;                                       ///< [in] what is done without a visitor
    zex_visit_callback_t afterDefaultOpClb;                                 ///< [in][optional] called after the default operation
} zex_visit_desc_t;

/// @brief A variable of a mutable list
typedef struct _zex_variable_handle_t *zex_variable_handle_t;

/// @brief A label in a mutable list
typedef struct _zex_label_handle_t *zex_label_handle_t;

// Commands.

/// @brief Appends a wait for 32 bits of memory to reach a value.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendWaitOnMemory(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_wait_on_mem_desc_t* desc,                                           ///< [in] how to compare
    void* ptr,                                                              ///< [in] where
    uint32_t data,                                                          ///< [in] with what
    ze_event_handle_t hSignalEvent                                          ///< [in][optional] event to signal on completion
    );

/// @brief Appends a wait for 64 bits of memory to reach a value.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendWaitOnMemory64(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_wait_on_mem_desc_t* desc,                                           ///< [in] how to compare
    void* ptr,                                                              ///< [in] where
    uint64_t data,                                                          ///< [in] with what
    ze_event_handle_t hSignalEvent                                          ///< [in][optional] event to signal on completion
    );

/// @brief Appends a write of 64 bits to memory.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendWriteToMemory(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_write_to_mem_desc_t* desc,                                          ///< [in] how far it reaches
    void* ptr,                                                              ///< [in] where
    uint64_t data                                                           ///< [in] what
    );

/// @brief Appends a copy; ::zeCommandListAppendMemoryCopyWithParameters with the signal last.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMemoryCopyWithParameters(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    void* dstptr,                                                           ///< [in] where to
    const void* srcptr,                                                     ///< [in] where from
    size_t size,                                                            ///< [in] bytes
    const void* pNext,                                                      ///< [in][optional] chain of extension structures
    uint32_t numWaitEvents,                                                 ///< [in][optional] number of events to wait for
    ze_event_handle_t* phWaitEvents,                                        ///< [in][optional][range(0, numWaitEvents)] events to wait for
    ze_event_handle_t hSignalEvent                                          ///< [in][optional] event to signal on completion
    );

/// @brief Appends a fill; ::zeCommandListAppendMemoryFillWithParameters.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMemoryFillWithParameters(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    void* ptr,                                                              ///< [in] where
    const void* pattern,                                                    ///< [in] what
    size_t pattern_size,                                                    ///< [in] its size in bytes
    size_t size,                                                            ///< [in] bytes to fill
    const void* pNext,                                                      ///< [in][optional] chain of extension structures
    ze_event_handle_t hSignalEvent,                                         ///< [in][optional] event to signal on completion
    uint32_t numWaitEvents,                                                 ///< [in][optional] number of events to wait for
    ze_event_handle_t* phWaitEvents                                         ///< [in][optional][range(0, numWaitEvents)] events to wait for
    );

/// @brief Appends an operation that the chain describes.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendCustomOperation(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const void* pNext,                                                      ///< [in] the operation
    ze_event_handle_t hSignalEvent,                                         ///< [in][optional] event to signal on completion
    uint32_t numWaitEvents,                                                 ///< [in][optional] number of events to wait for
    ze_event_handle_t* phWaitEvents                                         ///< [in][optional][range(0, numWaitEvents)] events to wait for
    );

/// @brief Has a function called when the list is reset or destroyed.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListSetCleanupCallback(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_user_callback_t pfnCallback,                                        ///< [in] function to call
    void* pUserData,                                                        ///< [in][optional] what it is given
    const void* pNext                                                       ///< [in][optional] chain of extension structures
    );

/// @brief Compares memory with what is expected there.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListVerifyMemory(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const void* allocationPtr,                                              ///< [in] the memory
    const void* expectedData,                                               ///< [in] what is expected
    size_t sizeOfComparison,                                                ///< [in] bytes to compare
    zex_verify_memory_mode_t comparisonMode                                 ///< [in] what is expected of the comparison
    );

// Memory.

/// @brief Gives out the IPC handles of memory that has several.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexMemGetIpcHandles(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    const void* ptr,                                                        ///< [in] start of the memory
    uint32_t* numIpcHandles,                                                ///< [in,out] how many there are, or are wanted
    ze_ipc_mem_handle_t* pIpcHandles                                        ///< [in,out][optional][range(0, *numIpcHandles)] the handles
    );

/// @brief Opens memory of another process by its IPC handles.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexMemOpenIpcHandles(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    ze_device_handle_t hDevice,                                             ///< [in] handle of the device
    uint32_t numIpcHandles,                                                 ///< [in] how many there are
    ze_ipc_mem_handle_t* pIpcHandles,                                       ///< [in][range(0, numIpcHandles)] the handles
    ze_ipc_memory_flags_t flags,                                            ///< [in] combination of ::ze_ipc_memory_flag_t
    void** pptr                                                             ///< [out] start of the memory here
    );

/// @brief Maps memory of the device for the host.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeIntelMemMapDeviceMemToHost(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    const void* ptr,                                                        ///< [in] start of the memory
    void** pptr,                                                            ///< [out] where the host finds it
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Has a function called when memory is freed.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexMemFreeRegisterCallbackExt(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    zex_memory_free_callback_desc_t* hFreeCallbackDesc,                     ///< [in] function to call
    void* ptr                                                               ///< [in] start of the memory
    );

// Kernels and drivers.

/// @brief Tells where the code of a kernel is.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexKernelGetBaseAddress(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    uint64_t* baseAddress                                                   ///< [out] address of the code
    );

/// @brief Tells the size of an argument.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexKernelGetArgumentSize(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    uint32_t argIndex,                                                      ///< [in] index of the argument
    uint32_t* pArgSize                                                      ///< [out] its size in bytes
    );

/// @brief Tells the type of an argument.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexKernelGetArgumentType(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    uint32_t argIndex,                                                      ///< [in] index of the argument
    uint32_t* pSize,                                                        ///< [in,out] size of the text
    char* pString                                                           ///< [in,out][optional] the text
    );

/// @brief Gives the machine code of a kernel.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeIntelKernelGetBinaryExp(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    size_t* pSize,                                                          ///< [in,out] size of the code
    char* pKernelBinary                                                     ///< [in,out][optional] the code
    );

/// @brief Gives the version of the driver as text.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeIntelGetDriverVersionString(
    ze_driver_handle_t hDriver,                                             ///< [in] handle of the driver
    char* pDriverVersion,                                                   ///< [in,out][optional] the text
    size_t* pVersionSize                                                    ///< [in,out] size of the text
    );

// Mutable lists with variables and jumps.

/// @brief Finds a variable of a list, or makes one.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListGetVariable(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const zex_variable_desc_t* pVariableDescriptor,                         ///< [in] which one
    zex_variable_handle_t* phVariable                                       ///< [out] handle of the variable
    );

/// @brief Lets a variable be the argument of a kernel.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexKernelSetArgumentVariable(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    uint32_t argIndex,                                                      ///< [in] index of the argument
    zex_variable_handle_t hVariable                                         ///< [in] handle of the variable
    );

/// @brief Lets a variable be the group size of a kernel.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexKernelSetVariableGroupSize(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    zex_variable_handle_t hGroupSizeVariable                                ///< [in] handle of the variable
    );

/// @brief Sets the value of a variable.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexVariableSetValue(
    zex_variable_handle_t hVariable,                                        ///< [in] handle of the variable
    uint32_t flags,                                                         ///< [in] flags
    size_t valueSize,                                                       ///< [in] size of the value
    const void* pValue                                                      ///< [in] the value
    );

/// @brief Tells what is known of a variable.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexVariableGetInfo(
    zex_variable_handle_t hVariable,                                        ///< [in] handle of the variable
    const void** pTypeInfo                                                  ///< [out] where the driver keeps it
    );

/// @brief Lists the variables of a list.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListGetVariablesList(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t* pVariablesCount,                                              ///< [in,out] how many there are, or are wanted
    const void** pVariablesInfos                                            ///< [in,out][optional] where the driver keeps what is known of each
    );

/// @brief Appends a kernel whose number of groups is in a variable.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendVariableLaunchKernel(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    zex_variable_handle_t hGroupCountVariable,                              ///< [in] handle of the variable
    ze_event_handle_t hSignalEvent,                                         ///< [in][optional] event to signal on completion
    uint32_t numWaitEvents,                                                 ///< [in][optional] number of events to wait for
    ze_event_handle_t* phWaitEvents                                         ///< [in][optional][range(0, numWaitEvents)] events to wait for
    );

/// @brief Finds a label of a list, or makes one.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListGetLabel(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const zex_label_desc_t* pLabelDesc,                                     ///< [in] which one
    zex_label_handle_t* phLabel                                             ///< [out] handle of the label
    );

/// @brief Puts a label at the end of a list.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListSetLabel(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_label_handle_t hLabel                                               ///< [in] handle of the label
    );

/// @brief Appends a jump to a label.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendJump(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_label_handle_t hLabel,                                              ///< [in] handle of the label
    zex_operand_desc_t* pCondition                                          ///< [in][optional] what it depends on
    );

/// @brief Appends a load of a register from a variable.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendLoadRegVariable(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t reg,                                                           ///< [in] the register
    zex_variable_handle_t hVariable                                         ///< [in] handle of the variable
    );

/// @brief Appends a store of a register to a variable.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendStoreRegVariable(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t reg,                                                           ///< [in] the register
    zex_variable_handle_t hVariable                                         ///< [in] handle of the variable
    );

/// @brief Appends a move between registers.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMILoadRegReg(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t destination,                                                   ///< [in] register
    uint32_t source                                                         ///< [in] register
    );

/// @brief Appends a load of a register from memory.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMILoadRegMem(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t reg,                                                           ///< [in] the register
    uint64_t address                                                        ///< [in] address of the device
    );

/// @brief Appends a load of a register with a number.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMILoadRegImm(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t destination,                                                   ///< [in] the register
    uint32_t val                                                            ///< [in] the number
    );

/// @brief Appends a store of a register to memory.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMIStoreRegMem(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    uint32_t reg,                                                           ///< [in] the register
    uint64_t address                                                        ///< [in] address of the device
    );

/// @brief Appends arithmetic between registers.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListAppendMIMath(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    zex_alu_operation_t* opArray,                                           ///< [in][range(0, noOperations)] the operations
    size_t noOperations                                                     ///< [in] how many
    );

/// @brief Sets the number of elements that temporary memory is for.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListTempMemSetEleCount(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    size_t eleCount                                                         ///< [in] how many
    );

/// @brief Tells how much temporary memory a list needs.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListTempMemGetSize(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    size_t* pTempMemSize                                                    ///< [out] bytes
    );

/// @brief Gives a list its temporary memory.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListTempMemSet(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const void* pTempMem                                                    ///< [in] the memory
    );

/// @brief Gives the bytes of a list that can be loaded again.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListGetNativeBinary(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    void* pBinary,                                                          ///< [in,out][optional] the bytes
    size_t* pBinarySize,                                                    ///< [in,out] how many
    const void* pModule,                                                    ///< [in] module of its kernels
    size_t moduleSize                                                       ///< [in] bytes of the module
    );

/// @brief Loads the commands of a list.
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCommandListLoadNativeBinary(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const void* pBinary,                                                    ///< [in] the bytes
    size_t binarySize                                                       ///< [in] how many
    );

// Not in the headers of version 1.17. A later header may declare them, and then decides how they are
// called.
#if ZE_API_VERSION_CURRENT_M <= ZE_MAKE_VERSION(1, 17)

/// @brief Calls functions of the program for the commands of a list.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListVisitExt(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    const zex_visit_desc_t* desc                                            ///< [in] which ones
    );

/// @brief Tells the module of a kernel.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeKernelGetModuleHandleExt(
    ze_kernel_handle_t hKernel,                                             ///< [in] handle of the kernel
    ze_module_handle_t* phModule                                            ///< [out] handle of the module
    );

/// @brief Tells the device of a module.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeModuleGetDeviceHandleExt(
    ze_module_handle_t hModule,                                             ///< [in] handle of the module
    ze_device_handle_t* phDevice                                            ///< [out] handle of the device
    );

/// @brief Tells which priorities queues may have.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeDeviceGetPriorityLevels(
    ze_device_handle_t hDevice,                                             ///< [in] handle of the device
    int32_t* lowestPriority,                                                ///< [out] the lowest
    int32_t* highestPriority                                                ///< [out] the highest
    );

#endif

// Graphs, where the installed headers know of them: the forms from before they were part of the API,
// and what came later.
#if defined(ZE_RECORD_REPLAY_GRAPH_EXT_NAME)

/// @brief Creates a graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphCreateExp(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    ze_graph_handle_t* phGraph,                                             ///< [out] handle of the graph
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Begins to capture what is appended to a list.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListBeginGraphCaptureExp(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Begins to capture what is appended to a list into a graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListBeginCaptureIntoGraphExp(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    ze_graph_handle_t hGraph,                                               ///< [in] handle of the graph
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Ends a capture.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListEndGraphCaptureExp(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    ze_graph_handle_t* phGraph,                                             ///< [in,out][optional] handle of the graph
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Makes a graph executable.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListInstantiateGraphExp(
    ze_graph_handle_t hGraph,                                               ///< [in] handle of the graph
    ze_executable_graph_handle_t* phExecutableGraph,                        ///< [out] handle of the executable graph
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Appends the commands of a graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListAppendGraphExp(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    ze_executable_graph_handle_t hGraph,                                    ///< [in] handle of the executable graph
    void* pNext,                                                            ///< [in][optional] chain of extension structures
    ze_event_handle_t hSignalEvent,                                         ///< [in][optional] event to signal on completion
    uint32_t numWaitEvents,                                                 ///< [in][optional] number of events to wait for
    ze_event_handle_t* phWaitEvents                                         ///< [in][optional][range(0, numWaitEvents)] events to wait for
    );

/// @brief Destroys a graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphDestroyExp(
    ze_graph_handle_t hGraph                                                ///< [in][release] handle of the graph
    );

/// @brief Destroys an executable graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeExecutableGraphDestroyExp(
    ze_executable_graph_handle_t hGraph                                     ///< [in][release] handle of the executable graph
    );

/// @brief Tells whether a list is being captured.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListIsGraphCaptureEnabledExp(
    ze_command_list_handle_t hCommandList                                   ///< [in] handle of the command list
    );

/// @brief Tells whether a graph has no commands.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphIsEmptyExp(
    ze_graph_handle_t hGraph                                                ///< [in] handle of the graph
    );

/// @brief Writes a graph to a file.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphDumpContentsExp(
    ze_graph_handle_t hGraph,                                               ///< [in] handle of the graph
    const char* filePath,                                                   ///< [in] name of the file
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

/// @brief Tells the graph that a list is captured into.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeCommandListGetGraphExp(
    ze_command_list_handle_t hCommandList,                                  ///< [in] handle of the command list
    ze_graph_handle_t* phGraph                                              ///< [out] handle of the graph
    );

/// @brief Has a function called when a graph is destroyed.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphSetDestructionCallbackExp(
    ze_graph_handle_t hGraph,                                               ///< [in] handle of the graph
    zex_user_callback_t pfnCallback,                                        ///< [in] function to call
    void* pUserData,                                                        ///< [in][optional] what it is given
    void* pNext                                                             ///< [in][optional] chain of extension structures
    );

#if ZE_API_VERSION_CURRENT_M <= ZE_MAKE_VERSION(1, 17)

/// @brief Lets commands run again that are appended during a capture.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphPauseCaptureExt(
    ze_graph_handle_t hGraph                                                ///< [in] handle of the graph
    );

/// @brief Goes on with a capture.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphResumeCaptureExt(
    ze_graph_handle_t hGraph                                                ///< [in] handle of the graph
    );

/// @brief Tells the number of a graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphGetIdExt(
    ze_graph_handle_t hGraph,                                               ///< [in] handle of the graph
    uint64_t* pGraphId                                                      ///< [out] the number
    );

/// @brief Calls functions of the program for the commands of a graph.
ZE_APIEXPORT ze_result_t ZE_APICALL
zeGraphVisitExt(
    ze_graph_handle_t hGraph,                                               ///< [in] handle of the graph
    const zex_visit_desc_t* desc                                            ///< [in] which ones
    );

#endif

#endif // ZE_RECORD_REPLAY_GRAPH_EXT_NAME

#if defined(__cplusplus)
} // extern "C"
#endif

#endif // ZEVENT_ZEX_RECORDED_API_H
