// The tracepoints that a tracer such as THAPI would have for the two calls that recorder_bench
// compares: one before and one after the driver, with the call's arguments and its result.
//
// LTTng includes this file several times, each time with other macros.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zevent_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_calls.h"

#if !defined(ZEVENT_BENCH_LTTNG_CALLS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ZEVENT_BENCH_LTTNG_CALLS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

// clang-format off

LTTNG_UST_TRACEPOINT_EVENT(zevent_bench, zeEventQueryStatus_entry,
  LTTNG_UST_TP_ARGS(uint64_t, hEvent),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(uint64_t, hEvent, hEvent)
  )
)

LTTNG_UST_TRACEPOINT_EVENT(zevent_bench, zeEventQueryStatus_exit,
  LTTNG_UST_TP_ARGS(uint32_t, result),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer(uint32_t, result, result)
  )
)

LTTNG_UST_TRACEPOINT_EVENT(zevent_bench, zeCommandListAppendBarrier_entry,
  LTTNG_UST_TP_ARGS(uint64_t, hCommandList, uint64_t, hSignalEvent, uint32_t, numWaitEvents,
                    const uint64_t*, phWaitEvents),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(uint64_t, hCommandList, hCommandList)
    lttng_ust_field_integer_hex(uint64_t, hSignalEvent, hSignalEvent)
    lttng_ust_field_integer(uint32_t, numWaitEvents, numWaitEvents)
    lttng_ust_field_integer_hex(uint64_t, phWaitEvents, (uint64_t)(uintptr_t)phWaitEvents)
    lttng_ust_field_sequence_hex(uint64_t, waitEvents, phWaitEvents, uint32_t, numWaitEvents)
  )
)

LTTNG_UST_TRACEPOINT_EVENT(zevent_bench, zeCommandListAppendBarrier_exit,
  LTTNG_UST_TP_ARGS(uint32_t, result),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer(uint32_t, result, result)
  )
)
// clang-format on

#endif

#include <lttng/tracepoint-event.h>
