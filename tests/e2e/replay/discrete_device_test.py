"""Records programs on a device whose memory has canonical-high addresses, and replays them there.

    discrete_device_test.py ZEVENT DRIVER SMALL_PROGRAMS

The driver gives out other addresses in every process, and the host cannot touch what is behind them.
Expected: a replay there and on the software driver is equal, with the memory that the programs read
back; the reproducer makes the same calls and has no recorded address in it; `show` names the memory
that kernel arguments point into; `check` finds nothing in the programs, and a copy past the end of
such memory.
"""

import os
import re
import sys
import tempfile

from commands import expect

HIGH_ADDRESS = re.compile(r"0xff[0-9a-f]{14}|1844[0-9]{16}")


def main():
    zevent, driver, programs = sys.argv[1:4]
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
