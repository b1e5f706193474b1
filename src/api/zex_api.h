// Functions of Level Zero drivers that no installed header declares. Programs get them by name
// through zeDriverGetExtensionFunctionAddress. The declarations follow the form of ze_api.h
// (tags, @returns) because the API generator reads both; hence no formatting of our own.
// clang-format off
#ifndef ZEVENT_ZEX_API_H
#define ZEVENT_ZEX_API_H

#include <level_zero/ze_api.h>

#if defined(__cplusplus)
extern "C" {
#endif

/// @brief Name of the extension under which the counter-based event functions are listed
#define ZEX_COUNTER_BASED_EVENT_EXT_NAME "ZEX_counter_based_event"

/// @brief Types of the structures below
typedef enum _zex_structure_type_t
{
    ZEX_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC = 0x00030016,                   ///< ::zex_event_sync_mode_desc_t
    ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_DESC = 0x0003001C,               ///< ::zex_counter_based_event_desc_t
    ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_EXTERNAL_SYNC_ALLOCATION_DESC = 0x0003001D, ///< ::zex_counter_based_event_external_sync_allocation_desc_t
    ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_EXTERNAL_AGGREGATE_STORAGE_DESC = 0x00030027, ///< ::zex_counter_based_event_external_aggregate_storage_desc_t
    ZEX_STRUCTURE_TYPE_FORCE_UINT32 = 0x7fffffff                            ///< Value marking end of ZEX_STRUCTURE_TYPE_* ENUMs
} zex_structure_type_t;

/// @brief Counter-based event flags: the bits of ::ze_event_counter_based_flag_t
typedef uint32_t zex_counter_based_event_flags_t;
typedef enum _zex_counter_based_event_flag_t
{
    ZEX_COUNTER_BASED_EVENT_FLAG_IMMEDIATE = ZE_BIT(0),                     ///< may be signalled by immediate command lists
    ZEX_COUNTER_BASED_EVENT_FLAG_NON_IMMEDIATE = ZE_BIT(1),                 ///< may be signalled by regular command lists
    ZEX_COUNTER_BASED_EVENT_FLAG_HOST_VISIBLE = ZE_BIT(2),                  ///< the host may wait for it and query it
    ZEX_COUNTER_BASED_EVENT_FLAG_IPC = ZE_BIT(3),                           ///< may be shared with other processes
    ZEX_COUNTER_BASED_EVENT_FLAG_DEVICE_TIMESTAMP = ZE_BIT(4),              ///< carries timestamps in device time
    ZEX_COUNTER_BASED_EVENT_FLAG_HOST_TIMESTAMP = ZE_BIT(5),                ///< carries timestamps in host time
    ZEX_COUNTER_BASED_EVENT_FLAG_GRAPH_EXTERNAL = ZE_BIT(6),                ///< synchronises a recorded graph with what is outside
    ZEX_COUNTER_BASED_EVENT_FLAG_FORCE_UINT32 = 0x7fffffff                  ///< Value marking end of ZEX_COUNTER_BASED_EVENT_FLAG_* ENUMs
} zex_counter_based_event_flag_t;

/// @brief Event sync mode flags
typedef uint32_t zex_event_sync_mode_flags_t;
typedef enum _zex_event_sync_mode_flag_t
{
    ZEX_EVENT_SYNC_MODE_FLAG_LOW_POWER_WAIT = ZE_BIT(0),                    ///< the host sleeps while it waits
    ZEX_EVENT_SYNC_MODE_FLAG_SIGNAL_INTERRUPT = ZE_BIT(1),                  ///< a signal from the device raises an interrupt
    ZEX_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT = ZE_BIT(2),           ///< the host waits for the interrupt of the given id
    ZEX_EVENT_SYNC_MODE_FLAG_FORCE_UINT32 = 0x7fffffff                      ///< Value marking end of ZEX_EVENT_SYNC_MODE_FLAG_* ENUMs
} zex_event_sync_mode_flag_t;

/// @brief How the host waits for an event; hangs in the chain of an event descriptor
typedef struct _zex_event_sync_mode_desc_t
{
    zex_structure_type_t stype;                                             ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    zex_event_sync_mode_flags_t syncModeFlags;                              ///< [in] combination of ::zex_event_sync_mode_flag_t
    uint32_t externalInterruptId;                                           ///< [in] id of the interrupt to wait for
} zex_event_sync_mode_desc_t;

/// @brief Counter-based event descriptor: the layout of ::ze_event_counter_based_desc_t
typedef struct _zex_counter_based_event_desc_t
{
    zex_structure_type_t stype;                                             ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    zex_counter_based_event_flags_t flags;                                  ///< [in] combination of ::zex_counter_based_event_flag_t
    ze_event_scope_flags_t signalScope;                                     ///< [in] combination of ::ze_event_scope_flag_t
    ze_event_scope_flags_t waitScope;                                       ///< [in] combination of ::ze_event_scope_flag_t
} zex_counter_based_event_desc_t;

/// @brief The counter lives in the caller's memory and is written by someone else
typedef struct _zex_counter_based_event_external_sync_allocation_desc_t
{
    zex_structure_type_t stype;                                             ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    uint64_t* deviceAddress;                                                ///< [in] where the device reads the counter
    uint64_t* hostAddress;                                                  ///< [in] where the host reads the counter
    uint64_t completionValue;                                               ///< [in] complete when the counter has reached this
} zex_counter_based_event_external_sync_allocation_desc_t;

/// @brief Several commands add to one counter in the caller's memory
typedef struct _zex_counter_based_event_external_aggregate_storage_desc_t
{
    zex_structure_type_t stype;                                             ///< [in] type of this structure
    const void* pNext;                                                      ///< [in][optional] must be null or a pointer to an extension-specific structure
    uint64_t* deviceAddress;                                                ///< [in] the counter, added to atomically at each signal
    uint64_t incrementValue;                                                ///< [in] how much each signal adds
    uint64_t completionValue;                                               ///< [in] complete when the counter has reached this
} zex_counter_based_event_external_aggregate_storage_desc_t;

/// @brief A counter-based event as another process may open it
typedef struct _zex_ipc_counter_based_event_handle_t
{
    char data[ZE_MAX_IPC_HANDLE_SIZE];                                      ///< [out] opaque data of the handle
} zex_ipc_counter_based_event_handle_t;

/// @brief Creates a counter-based event; without a descriptor one for all kinds of in-order lists
///        that the host may see, of signal scope HOST and wait scope DEVICE.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_NULL_HANDLE
///         + `nullptr == hContext`
///         + `nullptr == hDevice`
///     - ::ZE_RESULT_ERROR_INVALID_NULL_POINTER
///         + `nullptr == phEvent`
///     - ::ZE_RESULT_ERROR_INVALID_ENUMERATION
///         + `0x7f < desc->flags`
///         + `0x7 < desc->signalScope`
///         + `0x7 < desc->waitScope`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCounterBasedEventCreate2(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    ze_device_handle_t hDevice,                                             ///< [in] handle of the device
    const zex_counter_based_event_desc_t* desc,                             ///< [in][optional] pointer to the descriptor
    ze_event_handle_t* phEvent                                              ///< [out] pointer to handle of event object created
    );

/// @brief Creates a counter-based event whose counter lives in the caller's memory (deprecated).
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_NULL_HANDLE
///         + `nullptr == hContext`
///         + `nullptr == hDevice`
///     - ::ZE_RESULT_ERROR_INVALID_NULL_POINTER
///         + `nullptr == desc`
///         + `nullptr == phEvent`
///     - ::ZE_RESULT_ERROR_INVALID_ENUMERATION
///         + `0x7 < desc->signal`
///         + `0x7 < desc->wait`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCounterBasedEventCreate(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    ze_device_handle_t hDevice,                                             ///< [in] handle of the device
    uint64_t* deviceAddress,                                                ///< [in][optional] where the device reads the counter
    uint64_t* hostAddress,                                                  ///< [in][optional] where the host reads the counter
    uint64_t completionValue,                                               ///< [in] complete when the counter has reached this
    const ze_event_desc_t* desc,                                            ///< [in] pointer to the event descriptor
    ze_event_handle_t* phEvent                                              ///< [out] pointer to handle of event object created
    );

/// @brief Makes a handle with which another process can open the event.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == hEvent`
///         + `nullptr == phIpc`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCounterBasedEventGetIpcHandle(
    ze_event_handle_t hEvent,                                               ///< [in] handle of the event
    zex_ipc_counter_based_event_handle_t* phIpc                             ///< [out] the handle to give to the other process
    );

/// @brief Opens an event of another process.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == hContext`
///         + `nullptr == phEvent`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCounterBasedEventOpenIpcHandle(
    ze_context_handle_t hContext,                                           ///< [in] handle of the context
    zex_ipc_counter_based_event_handle_t hIpc,                              ///< [in] what the other process gave
    ze_event_handle_t* phEvent                                              ///< [out] pointer to handle of event object opened
    );

/// @brief Closes an event that was opened from another process's handle.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == hEvent`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexCounterBasedEventCloseIpcHandle(
    ze_event_handle_t hEvent                                                ///< [in][release] handle of the event
    );

/// @brief Tells where the counter of an event is and which value completes it.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == hEvent`
///         + `nullptr == completionValue`
///         + `nullptr == address`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexEventGetDeviceAddress(
    ze_event_handle_t hEvent,                                               ///< [in] handle of the event
    uint64_t* completionValue,                                              ///< [out] complete when the counter has reached this
    uint64_t* address                                                       ///< [out] device address of the counter
    );

/// @brief Tells how much one copy adds to an aggregate counter when the device splits copies.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_NULL_HANDLE
///         + `nullptr == hDevice`
///     - ::ZE_RESULT_ERROR_INVALID_NULL_POINTER
///         + `nullptr == incrementValue`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexDeviceGetAggregatedCopyOffloadIncrementValue(
    ze_device_handle_t hDevice,                                             ///< [in] handle of the device
    uint32_t* incrementValue                                                ///< [out] how much one copy adds
    );

/// @brief Makes plain host memory known to the driver, so that devices use it in place.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_NULL_HANDLE
///         + `nullptr == hDriver`
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == ptr`
///         + `0 == size`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexDriverImportExternalPointer(
    ze_driver_handle_t hDriver,                                             ///< [in] handle of the driver
    void* ptr,                                                              ///< [in] start of the memory
    size_t size                                                             ///< [in] its size in bytes
    );

/// @brief Takes back what ::zexDriverImportExternalPointer did.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_NULL_HANDLE
///         + `nullptr == hDriver`
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == ptr`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexDriverReleaseImportedPointer(
    ze_driver_handle_t hDriver,                                             ///< [in] handle of the driver
    void* ptr                                                               ///< [in] start of the memory
    );

/// @brief Finds the start of the imported memory that an address lies in.
///
/// @returns
///     - ::ZE_RESULT_SUCCESS
///     - ::ZE_RESULT_ERROR_INVALID_NULL_HANDLE
///         + `nullptr == hDriver`
///     - ::ZE_RESULT_ERROR_INVALID_ARGUMENT
///         + `nullptr == ptr`
ZE_APIEXPORT ze_result_t ZE_APICALL
zexDriverGetHostPointerBaseAddress(
    ze_driver_handle_t hDriver,                                             ///< [in] handle of the driver
    void* ptr,                                                              ///< [in] any address
    void** baseAddress                                                      ///< [out][optional] start of the memory it lies in
    );

#if defined(__cplusplus)
} // extern "C"
#endif

#endif // ZEVENT_ZEX_API_H
