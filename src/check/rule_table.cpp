#include <array>

#include "check/rules.hpp"

namespace zevent::check {
namespace {

using enum severity;

// By number.
constexpr std::array table = {
    rule{ev(0), error,
         "Premature completion: an event is signalled before the work it stands for is done",
         "Only an in-order list makes each command complete before the next one starts. On any "
         "other list commands are started in order and complete in any order, so a signal on the "
         "last of several commands says nothing about the ones before it. An event that several "
         "commands signal is signalled by the first of them.",
         "Programming guide: Command Lists, Appending; Barriers, Execution Barriers",
         "Let a barrier without wait events, appended after the commands, signal the event; or use "
         "an in-order list and signal on the last command; or use one event per command."},

    rule{ev(1), error, "A pool is created with a wrong descriptor",
         "A pool holds at least one event, phDevices is null only when numDevices is 0, and flags "
         "are a combination of the defined bits.",
         "zeEventPoolCreate, ze_event_pool_desc_t",
         "Give a count of 1 or more, a device list that matches numDevices, and defined flags."},
    rule{ev(2), error, "Both kinds of kernel timestamps are asked for",
         "KERNEL_TIMESTAMP and KERNEL_MAPPED_TIMESTAMP exclude each other. IPC together with "
         "KERNEL_TIMESTAMP is allowed.",
         "ze_event_pool_flag_t",
         "Use KERNEL_MAPPED_TIMESTAMP alone: it gives kernel timestamps too."},
    rule{ev(3), error, "An event is used on a device that its pool was not made for",
         "The events of a pool are used only on the devices that were named when it was created, "
         "and on their sub-devices.",
         "zeEventPoolCreate", "Name the device when the pool is created, or name none at all."},
    rule{ev(4), error, "An event is created in a slot that does not exist or is taken",
         "The index is below the pool's count, and a slot holds one live event at most.",
         "zeEventCreate, ze_event_desc_t",
         "Keep track of free indices; destroy the event of a slot before it is used again."},
    rule{ev(5), error, "An event is created wrongly",
         "zeEventCreate is not called from two threads at once with the same pool, and scopes are "
         "a combination of the defined bits.",
         "zeEventCreate",
         "Guard each pool with a lock, or give each thread a pool; use only defined scope flags."},
    rule{ev(6), error, "A pool is destroyed before its events",
         "All events of a pool are destroyed before the pool, and the device refers to none of "
         "them.",
         "zeEventPoolDestroy", "Destroy the events first."},
    rule{ev(7), error, "An event is destroyed while the device may still refer to it",
         "An event is destroyed only when every command that signals, resets or waits for it is "
         "complete. Counter-based events may be destroyed at any time.",
         "zeEventDestroy; programming guide: Counter Based Events",
         "Wait for the commands that use the event, e.g. by synchronising the queue or the list."},
    rule{ev(8), error, "A handle is used after it was destroyed, or was never made",
         "A handle means nothing after its destroy function was called. It is destroyed once, by "
         "one thread. A handle that was never made is reported only where the process crashed on "
         "it.",
         "zeEventDestroy and the other destroy functions",
         "Give each handle one owner, and clear the variable when it is destroyed."},
    rule{ev(9), error, "External-interrupt waiting on an event that is not counter-based",
         "EXTERNAL_INTERRUPT_WAIT is a sync mode of counter-based events only.",
         "ze_event_sync_mode_flag_t", "Create the event with zeEventCounterBasedCreate."},

    rule{ev(10), error, "A wait passes at once because the event was not reset",
         "A regular event stays signalled until it is reset. Executing a list again, or signalling "
         "the event again, does not reset it: what waits for it then waits for nothing.",
         "Programming guide: Events; Command Lists, Submission",
         "Reset the event before the work is submitted again, by zeEventHostReset or by "
         "zeCommandListAppendEventReset at the start of the list; or use counter-based events."},
    rule{ev(11), hazard, "An event is reset while it is being signalled or waited for",
         "A reset that is not ordered after a signal may come before it or undo it; a reset that "
         "is not ordered after a wait may make that wait last for ever.",
         "Programming guide: Events",
         "Wait for the commands that signal the event and for those that wait for it, then reset."},
    rule{ev(12), error, "A wait that nothing ends",
         "An event is waited for that no command and no host call signals: no signal was ever "
         "appended, the list with the signal was never executed, or the event was reset after the "
         "signal. A wait of the host with a timeout that ends by it because nothing had been "
         "submitted by then that signals the event is a hazard, even if the signal comes later.",
         "Programming guide: Events",
         "Submit the command that signals the event, and reset it only before that."},
    rule{ev(13), error, "Commands wait for each other",
         "Commands that wait in a circle never start. In-order lists and queues add to the circle: "
         "a command that waits holds up all commands behind it. A circle that the host breaks by a "
         "signal, after a wait of the same thread has timed out, is a hazard.",
         "Programming guide: Events",
         "Break the circle: submit the signalling command before the one that waits, or put them "
         "on different queues."},
    rule{ev(14), hazard, "Submitted work waits for an event that is signalled only later",
         "A command that waits for an event of the host or of another queue holds up its queue "
         "until the signal comes. A synchronous list, and some drivers, hold up the appending "
         "thread too: if that thread was to signal the event, it never gets there.",
         "Programming guide: Events",
         "Signal before submitting, or signal from another thread, and append to an asynchronous "
         "list."},
    rule{ev(15), error, "A list and its events do not belong together",
         "A list and the events it uses are of one context, and the device of the list can reach "
         "the events. The signal of a counter-based event may come from any device.",
         "zeCommandListAppendSignalEvent, zeCommandListAppendWaitOnEvents",
         "Create the events in the list's context, for the list's device."},
    rule{ev(16), error, "A wait list that is null but not empty",
         "phWaitEvents is null only when numWaitEvents is 0.", "every append function",
         "Pass the array, or 0."},
    rule{ev(17), error, "The host looks at an event that it may not see",
         "The host signals, queries, waits for or resets only events of a HOST_VISIBLE pool, or "
         "counter-based events with that flag.",
         "ze_event_pool_flag_t, ze_event_counter_based_flag_t",
         "Create the pool with HOST_VISIBLE."},
    rule{ev(18), hazard,
         "A wait with timeout 0 that found the event not ready and was not repeated",
         "zeEventHostSynchronize with timeout 0 waits for nothing: it asks, as zeEventQueryStatus "
         "does. After NOT_READY the work may still be running: its memory is not freed or used by "
         "other commands, and the event is not reset or destroyed, before the program has waited.",
         "zeEventHostSynchronize",
         "Wait with UINT64_MAX, or look at the result and ask again on NOT_READY."},
    rule{ev(19), error,
         "The device is synchronised while it waits for an event that nobody signals",
         "zeDeviceSynchronize does not return while the device is blocked on an event.",
         "zeDeviceSynchronize", "Signal the event first, or synchronise only what can complete."},
    rule{ev(20), hazard, "A wait for no events at all",
         "zeCommandListAppendWaitOnEvents with no events is not defined.",
         "zeCommandListAppendWaitOnEvents",
         "Leave the call out when there is nothing to wait for."},
    rule{ev(21), hazard, "A command waits for the event that it signals itself",
         "A regular event that is not signalled yet is then never signalled: the command waits for "
         "its own end.",
         "Programming guide: Events",
         "Use two events, or a counter-based one, whose wait means the signal before."},

    rule{ev(22), hazard, "A signal's scope does not reach the reader",
         "Without a scope a signal makes memory coherent within its command list only. A reader on "
         "another list or device needs DEVICE (SUBDEVICE within one), the host needs HOST.",
         "ze_event_desc_t; programming guide: Memory Barriers",
         "Create the event with the signal scope of its farthest reader."},
    rule{ev(23), note, "A wait's scope does not reach the writer",
         "The wait scope says which caches are invalidated on the side of the waiter. A waiter on "
         "another device than the signal needs DEVICE.",
         "ze_event_desc_t", "Create the event with wait scope DEVICE."},
    rule{ev(24), note, "Fences make memory coherent by themselves",
         "When a fence is signalled, all previous commands of its queue are complete and memory is "
         "coherent for device and host. No event scope is needed.",
         "Programming guide: Fences", "Nothing to do.", true},
    rule{ev(25), error, "Two commands touch the same memory and nothing orders them",
         "One of them writes, and there is no in-order list, no barrier and no chain of events "
         "between them. What the memory holds afterwards is open.",
         "Programming guide: Barriers",
         "Append a barrier between them, or let the first signal an event that the second waits "
         "for."},

    rule{ev(26), error, "A barrier with wait events is taken for a full barrier",
         "A barrier without wait events waits for all previous commands of its queue. With wait "
         "events it waits only for those. Both hold back all following commands.",
         "zeCommandListAppendBarrier",
         "Append a barrier without wait events; wait for the events by "
         "zeCommandListAppendWaitOnEvents before it where needed."},
    rule{ev(27), error, "A memory-ranges barrier with wait events is taken for a full barrier",
         "The same as for other barriers: with wait events it waits only for those.",
         "zeCommandListAppendMemoryRangesBarrier", "Append the barrier without wait events."},

    rule{ev(28), error, "Timestamps are asked of an event that has none",
         "Timestamp queries need an event with a timestamp flag; synchronised timestamps need "
         "KERNEL_MAPPED_TIMESTAMP.",
         "zeEventQueryKernelTimestamp, zeEventQueryKernelTimestampsExt",
         "Create the pool with a timestamp flag."},
    rule{ev(29), hazard, "Timestamps are asked for before the event is signalled",
         "The host gets NOT_READY and its memory is left as it was; on the device the values are "
         "undefined. An answer that is not asked for again is lost when the event is signalled "
         "again, reset or destroyed.",
         "zeEventQueryKernelTimestamp, zeCommandListAppendQueryKernelTimestamps",
         "Wait for the event first; let the device's query wait for it."},
    rule{ev(30), hazard, "The duration of an event that no command signalled",
         "After zeCommandListAppendSignalEvent or zeEventHostSignal the timestamps of an event "
         "have no meaning.",
         "zeCommandListAppendSignalEvent, zeEventHostSignal",
         "Let the command that is to be timed signal the event."},
    rule{ev(31), note, "A kernel timestamp wrapped around",
         "Kernel timestamps have kernelTimestampValidBits bits and start again from 0. They are on "
         "another axis than zeCommandListAppendWriteGlobalTimestamp.",
         "Programming guide: Kernel Timestamp Events",
         "Take the difference modulo 2^kernelTimestampValidBits."},
    rule{ev(32), error, "Timestamps are written to an unaligned address",
         "zeCommandListAppendWriteGlobalTimestamp writes to 8-byte aligned memory, "
         "zeCommandListAppendQueryKernelTimestamps to memory and offsets aligned for its results.",
         "zeCommandListAppendWriteGlobalTimestamp, zeCommandListAppendQueryKernelTimestamps",
         "Align the destination to 8 bytes, offsets to 4."},
    rule{ev(33), hazard, "The count of timestamps is guessed",
         "zeEventQueryKernelTimestampsExt is called with a count of 0 to learn how many there are, "
         "then with memory for as many.",
         "zeEventQueryKernelTimestampsExt", "Ask for the count first, and pass what it says."},

    rule{ev(34), error, "A list is used in the wrong state",
         "Commands are appended to an open list, a closed list is executed, and IN_ORDER excludes "
         "RELAXED_ORDERING.",
         "zeCommandListClose, zeCommandListCreate; programming guide: Command Lists, Submission",
         "Close before executing, reset before appending again."},
    rule{ev(35), error, "Lists are executed where they do not belong",
         "At least one list is executed; none of them is immediate; all have the ordinal and the "
         "context of the queue; the fence was created for that queue.",
         "zeCommandQueueExecuteCommandLists",
         "Create list, queue and fence for the same context and queue group."},
    rule{ev(36), error, "A list is used again while the device may still refer to it",
         "A list is executed again, reset or destroyed only after its last execution is complete, "
         "and never runs on two queues at once.",
         "zeCommandQueueExecuteCommandLists, zeCommandListReset, zeCommandListDestroy",
         "Wait for the queue, for a fence or for an event that the end of the list signals."},
    rule{ev(37), error, "Immediate and regular lists are mixed up",
         "zeCommandListHostSynchronize takes immediate lists. Regular lists are appended to "
         "immediate ones, nothing else.",
         "zeCommandListHostSynchronize, zeCommandListImmediateAppendCommandListsExp",
         "Synchronise the queue of a regular list."},
    rule{ev(38), error, "IN_ORDER on a command queue",
         "The queue flag IN_ORDER is for immediate lists. A regular list is made in-order by its "
         "own flag.",
         "ze_command_queue_flag_t", "Create the list with ZE_COMMAND_LIST_FLAG_IN_ORDER."},
    rule{ev(39), error, "A queue or a fence is destroyed too early",
         "Fences are destroyed before their queue, and both only when the device has done with "
         "them.",
         "zeFenceDestroy, zeCommandQueueDestroy",
         "Synchronise the queue, destroy its fences, then destroy it."},
    rule{ev(40), error, "Two threads use one handle at the same time",
         "Appending to a list, closing, resetting and destroying it, returning and closing IPC "
         "handles are not done by two threads at once with the same handle. Signals, resets and "
         "queries from the host, executing lists and fences are free-threaded. Calls that overlap "
         "in the recording are an error; an object that several threads used in turn is a note, "
         "since a recording does not show the program's locks.",
         "the functions named, \"from simultaneous threads\"",
         "Give each thread its own list, or guard it with a lock."},
    rule{ev(41), hazard, "Two threads execute lists on one queue at the same time",
         "It is allowed, and the order in which the lists run is then open.",
         "Programming guide: Command Queues, Execution",
         "Use one queue per thread, or order the lists by events."},
    rule{ev(42), error, "A host function calls Level Zero",
         "The callback of zeCommandListAppendHostFunction makes no call of the API.",
         "zeCommandListAppendHostFunction",
         "Let the callback notify a thread of the program, which makes the call."},
    rule{ev(43), error, "A mutable list is updated wrongly",
         "It is updated when its last execution is complete, and closed afterwards. A new event "
         "has the type, scope and flags of the old one, and the number of wait events stays.",
         "zeCommandListUpdateMutableCommandSignalEventExp and its siblings",
         "Synchronise, update, close, execute; use events of one pool."},
    rule{ev(44), error, "Something that the device may still refer to is freed",
         "Memory is freed or evicted, and images, modules, kernels, samplers and contexts are "
         "destroyed, when no command uses them. zeMemFreeExt with a blocking or deferring policy "
         "may be called earlier.",
         "zeMemFree, zeKernelDestroy and the other destroy functions",
         "Wait for the commands first, or use zeMemFreeExt with BLOCKING_FREE or DEFER_FREE."},
    rule{ev(45), error, "The two sides of a copy do not fit",
         "The regions of a copy have the same extents and do not overlap; a copy of depth needs "
         "slice pitches. A plain copy onto itself is a hazard.",
         "zeCommandListAppendMemoryCopyRegion",
         "Copy by way of another buffer where source and destination overlap."},
    rule{ev(46), error, "A fill with a wrong pattern",
         "The pattern is a power of two within the limit of the queue group, the pointer is "
         "aligned to it, and the size is a multiple of it.",
         "zeCommandListAppendMemoryFill, ze_command_queue_group_properties_t",
         "Align the pointer, and round the size to the pattern."},
    rule{
        ev(47), error, "The host writes memory that a command is using",
        "What a submitted command reads or writes is left alone by the host until the command is "
        "complete. Seen where memory was recorded as `zevent check -- PROGRAM` does it: changes of "
        "host and shared allocations, and what copies from and to other host memory find there.",
        "zeCommandListAppendMemoryCopy; programming guide: Barriers",
        "Wait for the command before the memory is used again."},

    rule{ev(48), error, "A counter-based event is signalled by a list that is not in-order",
         "Only in-order lists signal counter-based events. Any list may wait for them.",
         "Programming guide: Counter Based Events",
         "Create the list with the IN_ORDER flag, or use a regular event."},
    rule{ev(49), error, "A counter-based event is reset, or signalled by the host",
         "Counter-based events have no reset, neither by the host nor by the device, and the host "
         "does not signal them. The next signal replaces the state.",
         "Programming guide: Counter Based Events",
         "Leave the reset out; use a regular event where the host is to signal."},
    rule{ev(50), hazard, "A counter-based event is waited for before anything signals it",
         "It is complete from its creation, unless it has external storage: the wait passes at "
         "once.",
         "Programming guide: Counter Based Events", "Append the signal first, then the wait."},
    rule{ev(51), hazard, "A wait for a counter-based event means an older signal",
         "A wait is for the append that signalled the event last when the wait was appended. A "
         "later signal does not change it.",
         "Programming guide: Counter Based Events",
         "Append the signal first, then the wait; or use two events."},
    rule{ev(52), error, "A counter-based event is signalled by the wrong kind of list",
         "The flags IMMEDIATE and NON_IMMEDIATE say which lists may signal it; without either of "
         "them it is for immediate lists.",
         "ze_event_counter_based_flag_t", "Create the event with both flags."},
    rule{ev(53), error, "Timestamp flags of a counter-based event that exclude each other",
         "DEVICE_TIMESTAMP excludes HOST_TIMESTAMP, and IPC excludes both.",
         "ze_event_counter_based_flag_t; programming guide: IPC sharing",
         "Ask for one kind of timestamps, and for none on a shared event."},
    rule{ev(54), error, "A counter-based event with undefined flags",
         "Flags are a combination of the defined bits.", "zeEventCounterBasedCreate",
         "Use only the flags that the header defines."},
    rule{ev(55), error, "A counter-based event is waited for by a device that cannot reach it",
         "It may be signalled on any device; the waiting device needs peer access to the one that "
         "signalled it last.",
         "zeCommandListAppendWaitOnEvents; programming guide: Device association",
         "Ask zeDeviceCanAccessPeer first, or wait on the host."},
    rule{ev(56), hazard, "A list executed again waits for the run before",
         "Executing a regular list renews its counter-based events. A wait in a list that is "
         "executed means the latest execution of the signalling list at that moment, which may be "
         "the one before.",
         "Programming guide: Multi directional dependencies on Regular command lists",
         "Execute the list with the signal before the list with the wait, each time."},
    rule{ev(57), hazard, "A counter's address is kept beyond its validity",
         "What zeEventCounterBasedGetDeviceAddress gave is for the state at that time. The next "
         "signal or execution makes it stale.",
         "Programming guide: Obtaining counter memory and value",
         "Ask again after each append or execution that signals the event."},
    rule{ev(58), error, "External storage of a counter-based event that cannot work",
         "The completion value is within zeDeviceGetCounterBasedEventMaxValue, which is asked "
         "first; the addresses are in memory that device and host can reach.",
         "ze_event_counter_based_external_sync_allocation_desc_t",
         "Allocate the counter with zeMemAllocHost or zeMemAllocShared, and ask for the maximum."},
    rule{ev(59), error, "Aggregate storage of a counter-based event that cannot work",
         "It is not combined with external synchronisation storage, it adds more than 0, and it "
         "can reach its completion value. Signals add up until the program resets the storage.",
         "ze_event_counter_based_external_aggregate_storage_desc_t",
         "Use one of the two kinds of storage, and count the signals."},
    rule{ev(60), hazard, "A counter-based event is taken for more than its last signal",
         "Queries and waits of the host speak of the append that signalled the event last, and of "
         "no other one. The event may be used again without a reset and without waiting.",
         "Programming guide: Counter Based Events",
         "Use one event per list whose end matters, or synchronise each list."},

    rule{ev(61), error, "A shared pool is handled wrongly",
         "An IPC handle is taken of a pool with the IPC flag. The importer ends its use with "
         "zeEventPoolCloseIpcHandle, not with zeEventPoolDestroy; each open is an object of its "
         "own.",
         "zeEventPoolGetIpcHandle, zeEventPoolOpenIpcHandle",
         "Create the pool with ZE_EVENT_POOL_FLAG_IPC; close what was opened."},
    rule{ev(62), error, "An IPC handle is returned that was not taken",
         "zeEventPoolPutIpcHandle is for handles from zeEventPoolGetIpcHandle of this process. "
         "Leaving it out is allowed.",
         "zeEventPoolPutIpcHandle", "Return each handle once, in the process that took it."},
    rule{ev(63), error, "A pool shared from a sub-device is used on a whole device",
         "A pool that was made for a sub-device is used on sub-devices only, also by importers.",
         "zeEventPoolOpenIpcHandle", "Make the pool for the root device."},
    rule{ev(64), error, "A shared pool is closed before its events are destroyed",
         "The importer destroys its events, then closes the pool.",
         "Programming guide: Inter-Process Communication, Events", "Destroy the events first."},
    rule{ev(65), error, "A shared counter-based event is handled wrongly",
         "It is opened with any context of the importer and ended with "
         "zeEventCounterBasedCloseIpcHandle. Whether an importer may signal it depends on the "
         "driver: the guide says no, the function's description says yes.",
         "zeEventCounterBasedOpenIpcHandle; programming guide: IPC sharing",
         "Only wait for imported events, and open the handle again after each signal."},

    rule{ev(66), error, "The host waits for work that is being captured",
         "What is appended to a list that captures into a graph does not run; neither its list nor "
         "its events are waited for until the capture ends.",
         "zeCommandListBeginGraphCaptureExt", "End the capture, execute the graph, then wait."},
    rule{ev(67), error, "An event internal to a graph is used outside of it",
         "A counter-based event that a capture signals is for that graph alone, unless it was "
         "created with GRAPH_EXTERNAL.",
         "zeCommandListBeginGraphCaptureExt, zeGraphInstantiateExt",
         "Create the event with ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL."},
    rule{ev(68), error, "Two captures are joined",
         "A list that captures into one graph does not wait for an event of another capture.",
         "zeCommandListBeginGraphCaptureExt", "Capture both into one graph, or execute one first."},
    rule{ev(69), error, "A capture is begun on the wrong list",
         "Graph capture begins on an immediate list that is asynchronous.",
         "zeCommandListBeginGraphCaptureExt",
         "Create the list with zeCommandListCreateImmediate, mode ASYNCHRONOUS."},

    rule{ev(70), performance, "A call that should not block took long",
         "Queries, getters, waits with timeout 0 and appends to asynchronous lists return at once "
         "in a good driver. The specification gives no bound, so this is a finding about the "
         "driver, not a fault of the program. What explains the time otherwise is taken off: "
         "waiting "
         "for a processor, page faults. A first use, one call in a thousand, and a call that is "
         "explained are notes.",
         "zeEventQueryStatus and others, \"should be lock-free\"",
         "Report it to the driver's makers: `zevent repro` writes the program to attach."},
    rule{ev(71), performance, "A wait took longer than its timeout",
         "A wait of the host with a timeout returns when the time is over, rounded to what the "
         "system can do, and to a twentieth of it. Time that its thread waited for a processor is "
         "taken off.",
         "zeEventHostSynchronize", "Do not build deadlines on this driver's timeouts."},
    rule{ev(72), performance, "An event is polled in a tight loop",
         "The same query was repeated very often with nothing in between: a processor is kept busy "
         "with waiting.",
         "zeEventHostSynchronize",
         "Wait with zeEventHostSynchronize, which may sleep, or do something between queries."},

    rule{ev(73), error, "Memory is used outside of its allocation, or after it was freed",
         "Copies, fills and regions stay inside the allocation that they begin in, memory is not "
         "used after it was freed, and nothing is freed twice. A kernel that is launched with a "
         "pointer to freed memory is a hazard, for it may have no use for the pointer. So is a "
         "buffer on the stack whose function has returned before the copy is complete; it is seen "
         "where a later call has a descriptor or a region at the same address.",
         "zeCommandListAppendMemoryCopy, zeMemFree; programming guide: Memory",
         "Compute sizes and offsets from the size of the allocation; free memory when the last "
         "list that refers to it is gone."},
    rule{ev(74), error, "What a failed call should have made is used",
         "A call that failed has made nothing: its handle is null or an old one, its memory does "
         "not exist, its command is not in the list and signals nothing. The result is looked at "
         "before that is relied on. A launch with the old value of an argument, and a handle that "
         "a failed call may have been meant to replace, are hazards.",
         "ze_result_t; every function that returns one",
         "Check each result, and stop or take another way when a call failed."},
    rule{ev(75), error, "A kernel is launched with an argument that was never set",
         "Every argument of a kernel is set before it is launched; arguments keep their values for "
         "later launches. Intel's driver accepts the launch and passes zeros. Where the kernel's "
         "code is not known as SPIR-V, and so not whether it uses the argument, it is a hazard.",
         "zeKernelSetArgumentValue, zeCommandListAppendLaunchKernel",
         "Set each argument after the kernel is created, with a null value for what is not used."},
    rule{ev(76), hazard, "Work is pending, or objects exist, when the process ends",
         "A process that ends waits for its work first: what is pending is cut off, and drivers "
         "have crashed in it. What was made is destroyed. Objects that are not are a note, and a "
         "hazard with --leaks: a program that runs for long runs out of memory. They are counted "
         "by the function and the thread that made them. Of a process that was killed or crashed "
         "nothing is said.",
         "zeContextDestroy and the other destroy functions, zeMemFree",
         "Synchronise all queues and immediate lists, then destroy what was created, before the "
         "program ends."},
    rule{ev(77), hazard, "The host resets an event that an in-order immediate list has signalled",
         "It is allowed. Intel's drivers from 24.26 to 26.27, on Data Center GPU Max and Arc B, "
         "make such an event counter-based: the reset has no effect, later waits pass at once. "
         "Pools with the IPC flag are exempt. On any other driver it is a note.",
         "zeEventHostReset; Intel's compute runtime, fixed in July 2026",
         "Reset it by zeCommandListAppendEventReset, use another event for each signal, or a "
         "counter-based event, which needs no reset."},
    rule{
        ev(78), error, "Memory is used in a way that the device has no access for",
        "A fill of memory that is not from zeMemAlloc*, e.g. malloc, is for devices that report "
        "access to shared system memory; Intel's driver refuses it. Where the program did not "
        "ask for that, it is a note. Shared memory that the host writes to while a kernel that "
        "was given a pointer to it is pending needs concurrent access: a hazard where the device "
        "reports none.",
        "zeDeviceGetMemoryAccessProperties, ze_device_memory_access_properties_t",
        "Fill memory of zeMemAllocHost or zeMemAllocShared, or use memset; wait for kernels before "
        "the host uses their shared memory."},
    rule{ev(79), note, "The driver refused a call",
         "A call that breaks a rule is a finding of that rule, also where the driver refused it: "
         "the finding says so, and what the program did then. A call that was refused as invalid "
         "and breaks no other rule is a note. Calls that failed for lack of memory or of a feature "
         "are no findings. A null pointer that should have been refused, and on which the driver "
         "crashed, is an error.",
         "ze_result_t", "Look up the function's result in the specification; mend the call."},
};

constexpr std::array groups = {
    rule_group{"Ordering", 0, 0},
    rule_group{"Pools and events", 1, 9},
    rule_group{"Signal, reset, wait, query", 10, 21},
    rule_group{"Scopes and memory", 22, 25},
    rule_group{"Barriers", 26, 27},
    rule_group{"Timestamps", 28, 33},
    rule_group{"Lists, queues, fences", 34, 47},
    rule_group{"Counter-based events", 48, 60},
    rule_group{"Events across processes", 61, 65},
    rule_group{"Graph capture", 66, 69},
    rule_group{"Blocking", 70, 72},
    rule_group{"Memory, arguments, results and ends", 73, 79},
};

constexpr bool in_order() {
  for (unsigned i = 1; i < table.size(); ++i) {
    if (table[i - 1].id >= table[i].id) return false;
  }
  for (unsigned i = 0; i < groups.size(); ++i) {
    if (groups[i].first != (i == 0 ? 0 : groups[i - 1].last + 1)) return false;
  }
  return ev(groups.back().last) == table.back().id;
}
static_assert(in_order());

}  // namespace

std::span<const rule> rules() {
  return table;
}

std::span<const rule_group> rule_groups() {
  return groups;
}

}  // namespace zevent::check
