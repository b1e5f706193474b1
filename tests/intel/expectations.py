"""What a simulated device cannot show, and why: no failure of zevent."""

# Rule programs, in their broken form, whose rule cannot be seen in a recording from a simulated device.
NOTHING_EXECUTES = "host waits succeed at once, so that nothing hangs, blocks or runs at the same time"
NO_TIMESTAMPS = "no command ends, so that there are no timestamps"
ONE_DEVICE = "the device is the only one, or has no sub-devices"
FAULT_OF_SOFTWARE_DRIVER = "the call fails by a fault of the software driver"
REFUSED_BEFORE = "the driver refuses an earlier call that the specification allows"

NOT_SHOWN = {
    **dict.fromkeys(["12-reset", "12-list", "12-host", "13", "13-in-order", "14", "18", "19"], NOTHING_EXECUTES),
    **dict.fromkeys(["40", "41", "42"], NOTHING_EXECUTES),
    **dict.fromkeys(["30", "31"], NO_TIMESTAMPS),
    "74": FAULT_OF_SOFTWARE_DRIVER,
    **dict.fromkeys(["3", "23", "55", "63"], ONE_DEVICE),
    **dict.fromkeys(["44-evict", "57", "58-memory", "58-value", "59-increment", "59-both"], REFUSED_BEFORE),
    **dict.fromkeys(["61-destroy", "64", "65-destroy", "65-signal"], REFUSED_BEFORE),
}

# Profiled, these run out of time: for an event that takes timestamps (all of the profiler's do) the driver
# waits five seconds on BMG and PVC when it is destroyed, since no timestamp is ever written.
WAIT_FOR_TIMESTAMPS = [
    "counter_events",
    "missing_wait right",
    "missing_wait wrong",
    "small_programs many_alike",
    "small_programs memory_of_the_child",
    "small_programs reused_handles",
    "rule_programs 14 broken",
    "rule_programs 19 broken",
]

# Simulated memory cannot be shared: opening the event of another process crashes in the driver or says
# OUT_OF_DEVICE_MEMORY, now this and now that.
OPEN_NOTHING = ["ipc_producer+ipc_consumer"]

# They make no call, so that there is no trace.
WITHOUT_TRACE = ["small_programs no_calls"]
