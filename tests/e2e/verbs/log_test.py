"""ZEVENT_LOG: what the command, the recorder and the driver say on stderr.

    log_test.py ZEVENT HELLO_EVENT BLOCKING_QUERY

HELLO_EVENT has no kernel, BLOCKING_QUERY has some.
"""

import os
import subprocess
import sys
import tempfile

zevent, hello_event, blocking_query = sys.argv[1:4]


def said(log, *words, **variables):
    environment = {**os.environ, **variables}
    environment.pop("ZEVENT_LOG", None)
    if log is not None:
        environment["ZEVENT_LOG"] = log
    done = subprocess.run([zevent, *words], env=environment, capture_output=True, text=True)
    return done.stderr


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"{part!r} is not in:\n{text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        record = ["record", "-q", "--driver", "software", "-o", f"{folder}/t.zev", "--", hello_event]
        for quiet in (None, "", "error"):
            if text := said(quiet, *record):
                sys.exit(f"ZEVENT_LOG={quiet} is not quiet:\n{text}")
        info = said("info", *record)
        expect(info, "zevent: launch: ", "zevent: recorder: in front of the driver ", f"records to {folder}/t.zev",
               "zevent: driver: the software driver is in use")
        if "ZEVENT_RECORD=" in info:
            sys.exit(f"info says what trace is to say:\n{info}")
        expect(said("trace", *record), f"zevent: launch: ZEVENT_RECORD={folder}/t.zev", f"runs {hello_event}",
               *info.splitlines()[:1])
        expect(said("loud", "run", "--", hello_event), "'loud' is not error, info or trace")

        # A compiler that is missing, and one that fails.
        run = ["run", "--", blocking_query]
        fresh = {"ZEVENT_CACHE_DIR": f"{folder}/cache"}
        absent = {**fresh, "ZEVENT_KERNEL_COMPILER": f"{folder}/absent"}
        expect(said("info", *run, **absent), "zevent: driver: a module cannot be built", f"{folder}/absent")
        if "zevent: driver" in said(None, *run, **absent):
            sys.exit("it is said without being asked for")
        failing = {**fresh, "ZEVENT_KERNEL_COMPILER": "/bin/false"}
        expect(said("info", *run, **failing), "a module cannot be built", "ended without a word")
        # Without the translator in PATH.
        expect(said("info", *run, **{**fresh, "PATH": folder}), "a module cannot be built", "llvm-spirv")
        # Runs whose output is compared are quiet.
        chaos = subprocess.run([zevent, "run", "--chaos=1", "--", hello_event],
                               env={**os.environ, "ZEVENT_LOG": "info"}, capture_output=True, text=True)
        expect(chaos.stdout, "never failed under chaos")


main()
