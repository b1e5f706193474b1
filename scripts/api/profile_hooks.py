"""What the recorder's hooks do for the profiler (src/recorder/profiler.hpp), by what the model says
of a function: commands that signal an event, executions of lists, objects that come and go, and
waits."""

# The times of the signal of a query for times mean nothing.
NOT_TIMED = {"zeCommandListAppendQueryKernelTimestamps"}

# Commands that hold back all commands behind them until they are complete, whatever the list.
BARRIERS = {"zeCommandListAppendBarrier", "zeCommandListAppendMemoryRangesBarrier"}

# Handles whose end the profiler has to hear of before the driver does.
RELEASED = {"ze_command_list_handle_t", "ze_command_queue_handle_t", "ze_fence_handle_t",
            "ze_event_pool_handle_t", "ze_event_handle_t", "ze_kernel_handle_t",
            "ze_context_handle_t"}

# How an object came to be, by the parameter that puts it out; the first whose parameters the
# function has.
CREATED = {
    "phCommandList": [(("hContext", "hDevice", "desc"), "list_created(*phCommandList, hContext, hDevice, desc)"),
                      (("hContext", "hDevice", "altdesc"),
                       "list_created(*phCommandList, hContext, hDevice, altdesc)")],
    "phClonedCommandList": [(("hCommandList",), "list_cloned(*phClonedCommandList, hCommandList)")],
    "phCommandQueue": [((), "queue_created(*phCommandQueue)")],
    "phFence": [(("hCommandQueue",), "fence_created(*phFence, hCommandQueue)")],
    "phEventPool": [(("hContext", "desc"), "pool_created(*phEventPool, hContext, desc)"),
                    (("hContext", "hIpc"), "pool_opened(*phEventPool, hContext)")],
    "phEvent": [(("hEventPool",), "event_created(*phEvent, hEventPool)"),
                (("hIpc",), "counter_event_opened(*phEvent)"),
                (("hContext", "deviceAddress"),
                 "counter_event_created(*phEvent, hContext, ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | "
                 "ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE)"),
                (("hContext", "hDevice", "desc"),
                 "counter_event_created(*phEvent, hContext, desc != nullptr ? desc->flags : "
                 "ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE)")],
    "phKernel": [(("hModule", "desc"), "kernel_created(*phKernel, desc->pKernelName)")],
}

BEFORE = {
    "zeCommandListClose": "profile::list_closes(hCommandList)",
    "zeCommandListReset": "profile::list_resets(hCommandList)",
}

AFTER = {
    "zeCommandListAppendSignalEvent":
        "profile::signal_appended(hCommandList, hEvent, call.position(), call.start_ticks())",
    "zeCommandListBeginGraphCaptureExt": "profile::list_captures(hCommandList)",
    "zeCommandListBeginCaptureIntoGraphExt": "profile::list_captures(hCommandList)",
    "zeCommandListEndGraphCaptureExt": "profile::list_ends_capture(hCommandList)",
    "zeCommandListBeginGraphCaptureExp": "profile::list_captures(hCommandList)",
    "zeCommandListBeginCaptureIntoGraphExp": "profile::list_captures(hCommandList)",
    "zeCommandListEndGraphCaptureExp": "profile::list_ends_capture(hCommandList)",
    "zeEventHostSynchronize": "profile::complete(hEvent)",
    "zeEventQueryStatus": "profile::complete(hEvent)",
    "zeEventQueryKernelTimestamp": "profile::complete(hEvent)",
    "zeFenceHostSynchronize": "profile::complete(hFence)",
    "zeFenceQueryStatus": "profile::complete(hFence)",
    "zeCommandQueueSynchronize": "profile::complete(hCommandQueue)",
    "zeDeviceSynchronize": "profile::complete(hDevice)",
}


class ProfileHook:
    """The lines of one function's hook, and the arguments that the driver gets instead."""

    def __init__(self, model, function):
        self.function = function
        self.names = [p.name for p in function.parameters]
        self.before = []        # before the driver is entered
        self.arguments = {}     # name of a parameter: what the driver gets instead
        self.changes_result = False
        self.after = []         # after it returned
        if function.api not in ("ze", "zex") or function.result != "ze_result_t" or function.is_newer:
            return
        self.append()
        self.execution()
        self.lifetimes(model)
        self.waits()

    def list_parameter(self):
        names = [n for n in self.names if n.startswith("hCommandList")]
        return names[0] if names else None

    def append(self):
        if not {"hSignalEvent", "numWaitEvents"} <= set(self.names) or not self.list_parameter() or \
                self.function.name in NOT_TIMED:
            return
        kernels = ""
        if "hKernel" in self.names:
            kernels = ", hKernel"
        elif "phKernels" in self.names:
            kernels = ", launched_kernels(readable_span(phKernels, numKernels))"
        elif self.function.name in BARRIERS:
            kernels = ", {}, order::holds_back_all_behind"
        self.before.append(f"append_timing timing({self.list_parameter()}, hSignalEvent, "
                           f"call.position(), call.start_ticks(){kernels});")
        self.arguments["hSignalEvent"] = "timing.signal()"
        self.changes_result = True
        self.after += ["if (timing.is_timed()) [[unlikely]] {", "  result = timing.finish(result);",
                       "  call.change_result(static_cast<uint32_t>(result));", "}"]

    def execution(self):
        if "phCommandLists" not in self.names or "numCommandLists" not in self.names:
            return
        queue = "hCommandQueue" if "hCommandQueue" in self.names else "nullptr"
        through = self.list_parameter() or "nullptr"
        self.before.append(f"execution_timing execution({queue}, {through}, numCommandLists, "
                           "phCommandLists, call.position(), call.start_ticks());")
        self.arguments["numCommandLists"] = "execution.count()"
        self.arguments["phCommandLists"] = "execution.lists()"
        self.after.append("execution.finish(result);")

    def lifetimes(self, model):
        for p in self.function.parameters:
            type_ = model.types[p.type]
            if p.role == "released" and type_.kind == "handle" and type_.of in RELEASED:
                self.before.append(f"if (profiles()) [[unlikely]] profile::is_destroyed({p.name});")
            for needed, statement in CREATED.get(p.name, []):
                if set(needed) <= set(self.names):
                    self.on_success("profile::" + statement)
                    break

    def waits(self):
        name = self.function.name
        if name in BEFORE:
            self.before.append(f"if (profiles()) [[unlikely]] {BEFORE[name]};")
        if name in AFTER:
            self.on_success(AFTER[name])
        if name == "zeCommandListHostSynchronize":
            self.before.append("const uint64_t commands_before = profiles() ? "
                               "profile::commands_before_wait(hCommandList) : 0;")
            self.on_success("profile::list_complete(hCommandList, commands_before)")

    def on_success(self, statement):
        self.after.append(f"if (profiles() && result == ZE_RESULT_SUCCESS) [[unlikely]] {statement};")
