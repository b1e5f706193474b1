"""Makes Level Zero headers that are newer than any that exist: what may come with the next version,
and what the generator has never seen.

newer_headers.py INCLUDE OUTPUT_INCLUDE"""

import os
import re
import shutil
import sys

# Declarations that stand at the end of ze_api.h.
TYPES = """
typedef struct _ze_future_part_t ze_future_part_t;
typedef struct _ze_future_desc_t
{
    ze_structure_type_t stype;   ///< [in] type of this structure
    const void* pNext;           ///< [in][optional] chain
    const void* pBlob;           ///< [in] nobody says how long
    uint32_t count;              ///< [in] number of parts
    const ze_future_part_t* pParts;  ///< [in][range(0, count)] of a type that is not declared
    const uint32_t* pNumbers;    ///< [in][range(0, howMany)] a length that does not exist
    int32_t signedCount;         ///< [in] a length with a sign
    const uint32_t* pSigned;     ///< [in][range(0, signedCount)] numbers
    float matrix[3][4];          ///< [in] two dimensions
    long double wide;            ///< [in] a number that no slot holds
    union { uint32_t word; float number; } choice;  ///< [in] a type without a name
    uint64_t last;               ///< [in] what comes after all these
} ze_future_desc_t;
typedef struct _ze_future_empty_t
{
} ze_future_empty_t;
"""

# (result, name, parameters): each becomes a slot of the event table.
FUNCTIONS = [
    ("ze_result_t", "EventFuture", """
    ze_event_handle_t hEvent,      ///< [in] handle of the event
    const ze_future_desc_t* desc,  ///< [in] what to do
    void* pData,                   ///< [in,out] nobody says how long
    size_t bytes                   ///< [in] a size of something
"""),
    ("ze_result_t", "EventCreateFuture", """
    ze_context_handle_t hContext,  ///< [in] handle of the context
    ze_device_handle_t hDevice,    ///< [in] handle of the device
    const ze_future_desc_t* desc,  ///< [in] of another type than that of events before
    ze_event_handle_t* phEvent     ///< [out] the event
"""),
    ("ze_result_t", "CommandListAppendFuture", """
    ze_command_list_handle_t hCommandList,  ///< [in] handle of the list
    uint64_t dstptr,                        ///< [in] a number where others have an address
    uint64_t srcptr,                        ///< [in] likewise
    uint32_t size,                          ///< [in] bytes
    ze_event_handle_t* hSignalEvent,        ///< [in] an address where others have a handle
    uint32_t numWaitEvents,                 ///< [in] how many
    ze_event_handle_t* phWaitEvents         ///< [in][range(0, numWaitEvents)] them
"""),
    ("void", "EventFutureWithoutResult", """
    ze_event_handle_t hEvent       ///< [in] handle of the event
"""),
    ("ze_result_t", "EventFutureByValue", """
    ze_event_handle_t hEvent,      ///< [in] handle of the event
    long double wide               ///< [in] a number that no slot holds
"""),
    ("const char*", "EventFutureText", """
    ze_event_handle_t hEvent       ///< [in] handle of the event
"""),
]

TABLE = """
typedef void (ZE_APICALL *odd_callback)(int);
typedef struct _ze_future_dditable_t
{
    ze_pfnEventFuture_t pfnAgain;
    odd_callback pfnOdd;
} ze_future_dditable_t;
ZE_DLLEXPORT ze_result_t ZE_APICALL
zeGetFutureProcAddrTable(
    ze_api_version_t version,
    ze_future_dditable_t* pDdiTable
    );
"""


def replace_once(text, old, new):
    if text.count(old) != 1:
        sys.exit(f"newer_headers.py: '{old}' stands {text.count(old)} times in the headers")
    return text.replace(old, new)


def newer_api(text):
    text = re.sub(r"ZE_API_VERSION_CURRENT = ZE_MAKE_VERSION\( 1, \d+ \)",
                  "ZE_API_VERSION_CURRENT = ZE_MAKE_VERSION( 1, 99 )", text)
    text = replace_once(text, "    ZE_STRUCTURE_TYPE_FORCE_UINT32",
                        "    ZE_STRUCTURE_TYPE_FUTURE_DESC = 0x0002f001,  ///< ::ze_future_desc_t\n"
                        "    ZE_STRUCTURE_TYPE_FUTURE_EMPTY = 0x0002f002,  ///< ::ze_future_empty_t\n"
                        "    ZE_STRUCTURE_TYPE_FORCE_UINT32")
    for kind in ("DEVICE_TYPE", "MEMORY_TYPE", "IMAGE_TYPE", "MODULE_FORMAT", "COMMAND_QUEUE_MODE"):
        text = replace_once(text, f"    ZE_{kind}_FORCE_UINT32",
                            f"    ZE_{kind}_FUTURE = 0x70,\n    ZE_{kind}_FORCE_UINT32")
    # What the documentation says of arguments may be anything.
    text = replace_once(text, "ZE_APIEXPORT ze_result_t ZE_APICALL\nzeEventQueryStatus(",
                        "///     - ::ZE_RESULT_ERROR_INVALID_ENUMERATION\n"
                        "///         + `0x7 < hEvent`\n"
                        "///         + `nullptr == pNobody`\n"
                        "///         + `hEvent % 2 != 0`\n"
                        "///         + (0 == hEvent) || (\n"
                        "ZE_APIEXPORT ze_result_t ZE_APICALL\nzeEventQueryStatus(")
    declared = "".join(f"ZE_APIEXPORT {result} ZE_APICALL\nze{name}({parameters}    );\n"
                       for result, name, parameters in FUNCTIONS)
    variadic = "ZE_APIEXPORT ze_result_t ZE_APICALL\nzeFutureLog(\n    const char* format, ...\n    );\n"
    return before_end(text, TYPES + declared + variadic)


def newer_ddi(text):
    pointers = "".join(f"typedef {result} (ZE_APICALL *ze_pfn{name}_t)({parameters}    );\n"
                       for result, name, parameters in FUNCTIONS)
    slots = "".join(f"    ze_pfn{name}_t pfn{name};\n" for _, name, _ in FUNCTIONS)
    text = replace_once(text, "typedef struct _ze_event_dditable_t", pointers + "typedef struct _ze_event_dditable_t")
    text = replace_once(text, "} ze_event_dditable_t;", slots + "} ze_event_dditable_t;")
    text = replace_once(text, "/// @brief Container for all DDI tables with version and tables set by the Driver\n",
                        TABLE)
    return replace_once(text, "} ze_dditable_driver_t;",
                        "    ze_future_dditable_t * Future;\n} ze_dditable_driver_t;")


def before_end(text, addition):
    at = text.rindex("#if defined(__cplusplus)")
    return text[:at] + addition + text[at:]


def make(include, output):
    shutil.copytree(include, output, dirs_exist_ok=True)
    for name, change in (("ze_api.h", newer_api), ("ze_ddi.h", newer_ddi)):
        path = os.path.join(output, "level_zero", name)
        with open(path, encoding="utf-8") as file:
            text = change(file.read())
        os.chmod(path, 0o644)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    make(*sys.argv[1:3])
