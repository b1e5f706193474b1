"""What a simulated device cannot show, and why: no failure of zevent."""

# Rule programs, in their broken form, whose rule cannot be seen in a recording from a simulated device.
NOTHING_EXECUTES = "host waits succeed at once, so that nothing hangs, blocks or runs at the same time"
NO_TIMESTAMPS = "no command ends, so that there are no timestamps"
ONE_DEVICE = "the device is the only one, or has no sub-devices"
FAULT_OF_SOFTWARE_DRIVER = "the call fails by a fault of the software driver"
REFUSED_BEFORE = "the driver refuses an earlier call that the specification allows"

NOT_SHOWN = {
    **dict.fromkeys(["12-reset", "12-list", "12-host", "13", "13-in-order", "14", "18", "19"], NOTHING_EXECUTES),
    **dict.fromkeys(["12-moment", "12-moment-list", "12-moment-reset", "13-broken"], NOTHING_EXECUTES),
    **dict.fromkeys(["18-free", "18-use", "22-kernel", "40", "41", "42"], NOTHING_EXECUTES),
    **dict.fromkeys(["30", "31"], NO_TIMESTAMPS),
    "74": FAULT_OF_SOFTWARE_DRIVER,
    **dict.fromkeys(["3", "23", "55", "63"], ONE_DEVICE),
    **dict.fromkeys(["44-evict", "57", "58-memory", "58-value", "59-increment", "59-both"], REFUSED_BEFORE),
    **dict.fromkeys(["43-close", "61-destroy", "62", "64", "65-destroy", "65-signal"], REFUSED_BEFORE),
}

# Rule programs, in their legal form, that this driver refuses (EV-50), or whose waits should time out.
NOT_LEGAL_HERE = {
    **dict.fromkeys(["21", "67"], REFUSED_BEFORE),
    "13-broken": NOTHING_EXECUTES,
}

# Profiled, these run out of time: for an event that takes timestamps (all of the profiler's do) the driver
# waits five seconds on BMG and PVC when it is destroyed, since no timestamp is ever written.
WAIT_FOR_TIMESTAMPS = [
    "counter_events",
    "counter_wrong_list right",
    "early_signal_copy all-but-first",
    "missing_wait right",
    "missing_wait wrong",
    "small_programs aggregate_counter",
    "small_programs counter_events",
    "small_programs many_alike",
    "small_programs memory_of_the_child",
    "small_programs reused_handles",
    "small_programs written_beside_a_copy",
    "rule_programs 14 broken",
    "rule_programs 19 broken",
    "rule_programs 76-leaks legal",
]

# Simulated memory cannot be shared: opening the event of another process crashes in the driver or says
# OUT_OF_DEVICE_MEMORY, now this and now that.
OPEN_NOTHING = ["ipc_producer+ipc_consumer", "small_programs memory_of_the_child"]

# Commands should overwrite what the host wrote, and do not: the replay, which leaves to the device what is the
# device's, has something else there.
NOT_OVERWRITTEN = ["missing_barrier wrong", "missing_barrier right", "missing_wait wrong", "missing_wait right"]

# Recordings that hold what the simulated device does otherwise than the specification says, so that the
# software driver has other results.
OTHER_RESULTS_ON_SOFTWARE = [
    "counter_events",
    "ipc_producer+ipc_consumer",
    "reset_race_wrong",
]

# They make no call, so that there is no trace.
WITHOUT_TRACE = ["small_programs no_calls"]
