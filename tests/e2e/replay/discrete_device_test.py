"""Records programs on a device whose memory has canonical-high addresses, and replays them there.

    discrete_device_test.py ZEVENT DRIVER SMALL_PROGRAMS

The driver gives out other addresses in every process, and the host cannot touch what is behind them.
Expected: a replay there and on the software driver is equal, with the memory that the programs read
back; the reproducer makes the same calls and has no recorded address in it; `show` names the memory
that kernel arguments point into; `check` finds nothing in the programs, and a copy past the end of
such memory.

What only the device sees is read through the driver, when it is recorded and when it is replayed: device
memory, and shared memory that the host has no access to. A device that writes something else is found;
where nothing can be read, nothing is said to be equal. An exception out of the driver ends a replay as it
ended the program.
"""

import os
import re
import signal
import sys
import tempfile

from commands import expect

COULD_NOT_RUN = 125
HIGH_ADDRESS = re.compile(r"0xff[0-9a-f]{14}|1844[0-9]{16}")


def memory_of_the_device(zevent, driver, programs, folder):
    def zev(words, status=0, texts=(), **variables):
        return expect(zevent, words, status, texts, folder, {**os.environ, **variables})

    def record(trace, name, *options, **variables):
        words = ["record", "--driver", driver, *options, "-o", trace, "--", programs, name]
        return zev(words, variables.pop("status", 0), (), **variables)

    # The program fills and copies memory of the device, and the host never reads any of it.
    record("own.zev", "only_on_the_device", "--memory=results")
    compared = ["replay", "--compare", "memory"]
    there = [*compared, "--driver", driver, "own.zev"]
    equal = "12288 bytes of memory in 2 allocations have the recorded contents"
    zev(there, 0, [equal])
    zev([*compared, "--driver", "software", "own.zev"], 0, [equal])
    found = ["pieces of memory differ", "memory_0 at call", "0x3f now"]
    zev(there, 1, found, DISCRETE_WRONG_FILL="1")
    symptom = ["replay", "--symptom", "memory", "--driver", driver, "own.zev"]
    zev(symptom, 1, ["the symptom memory is there"], DISCRETE_WRONG_FILL="1")
    zev(symptom, 0, ["the symptom memory is not there"])
    unread = "not compared: memory_0, memory_1 (the driver did not let it be read)"
    zev(there, COULD_NOT_RUN, ["no memory was compared", unread], DISCRETE_NO_COPY="1")
    zev(symptom, COULD_NOT_RUN, ["whether memory differs is not known"], DISCRETE_NO_COPY="1")
    # The injected copies are in no trace, and are no part of the program.
    shown = zev(["show", "own.zev"])
    if "zeMemAllocHost" in shown or shown.count("zeCommandListCreateImmediate") != 1:
        print(shown)
        sys.exit("calls of the recorder are in the trace")

    # A recorder that can read nothing says so in the end.
    record("unread.zev", "only_on_the_device", "--memory=results", DISCRETE_NO_COPY="1")
    nothing = "no memory was compared: whenever the program had waited, nothing had changed"
    zev([*compared, "--driver", driver, "unread.zev"], COULD_NOT_RUN, [nothing])
    record("full.zev", "only_on_the_device")
    kept = "'zevent record --memory=results' keeps them"
    zev([*compared, "--driver", driver, "full.zev"], COULD_NOT_RUN, [kept])

    # Shared memory that the host has no access to after a command was given to the device.
    record("shared.zev", "launch_kernel", "--memory=results", DISCRETE_SHARED="1")
    said = "bytes of memory in 1 allocation have the recorded contents"
    zev([*compared, "--driver", driver, "shared.zev"], 0, [said], DISCRETE_SHARED="1")
    zev([*compared, "--driver", "software", "shared.zev"], 0, [said])

    # Times are others in every run, and so are copies of them.
    record("times.zev", "times_on_the_device", "--memory=results")
    for library in (driver, "software"):
        zev([*compared, "--driver", library, "times.zev"], 0, ["have the recorded contents"])

    record("thrown.zev", "only_on_the_device", DISCRETE_THROW="1", status=-signal.SIGABRT)
    thrown = ["replay", "--driver", driver, "thrown.zev"]
    zev(thrown, 0, ["Aborted", "ended by SIGABRT before it returned"], DISCRETE_THROW="1")
    zev([*thrown, "--symptom", "crash=SIGABRT"], 1, ["is there"], DISCRETE_THROW="1")
    zev(thrown, 1, ["1 result differs"])


def main():
    zevent, driver, programs = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        memory_of_the_device(zevent, driver, programs, folder)
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:

        def zev(words, status=0, texts=()):
            return expect(zevent, words, status, texts, folder, environment)

        for name in ("device_pointers", "kinds_of_memory", "data_from_the_host"):
            trace = f"{name}.zev"
            zev(["record", "--driver", driver, "--memory=results", "-o", trace, "--", programs, name])
            zev(["check", trace])
            compared = ["replay", "--compare", "memory"]
            zev([*compared, "--driver", driver, trace])
            zev([*compared, trace])
            repro = ["repro", "--verify", "--symptom", "none", "--driver", driver, "-o", name, trace]
            zev(repro, 0, ["the reproducer makes the same calls", "verified: same calls"])
            for source in os.listdir(os.path.join(folder, name)):
                if not source.endswith(".c"):
                    continue
                with open(os.path.join(folder, name, source), encoding="utf-8") as file:
                    found = HIGH_ADDRESS.search(file.read())
                if found:
                    sys.exit(f"{name}/{source} has the recorded address {found.group()}")
        shown = zev(["show", "device_pointers.zev", "zeKernelSetArgumentValue"])
        if "pArgValue=memory_2" not in shown or HIGH_ADDRESS.search(shown):
            print(shown)
            sys.exit("'zevent show' does not name the memory of kernel arguments")


if __name__ == "__main__":
    main()
