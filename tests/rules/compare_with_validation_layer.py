"""Runs the rule programs under the loader's own validation layer and under `zevent check`, and prints
a table of both, as it is in docs/checking.md.

    compare_with_validation_layer.py ZEVENT RULE_PROGRAMS DRIVER LOADER_FOLDER [LAYER_FOLDER]

DRIVER is libze_zevent.so.1, LOADER_FOLDER has libze_loader.so.1 and LAYER_FOLDER, the same unless
it is given, libze_validation_layer.so.1. The layer says something when it prints a line of its own,
or when a call of the program fails that succeeds without it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from programs.rule_program_test import ENVIRONMENT, ON_TEST_DRIVER, forms_of, without_times

# The cases by which the two differ most, in words.
CASES = [
    ("a wait for an event of a list that is never executed", "12-list", "broken"),
    ("a wait of the host that nothing signals", "12-host", "broken"),
    ("in-order list: wait for E, then signal E", "13-in-order", "broken"),
    ("two lists that wait for each other", "13", "broken"),
    ("a list executed twice, its event not reset", "10", "broken"),
    ("an event reset while its signal is pending", "11", "broken"),
    ("an event destroyed while the device uses it", "7", "broken"),
    ("a list destroyed while the device executes it", "36-destroy", "broken"),
    ("the last chunk signals, the list is not in-order", "0-last", "broken"),
    ("all chunks but the first signal", "0-all-but-first", "broken"),
    ("two copies race", "25", "broken"),
    ("an imported pool is destroyed, not closed", "61-destroy", "broken"),
    ("an imported pool is closed before its events are destroyed", "64", "broken"),
    ("an imported counter-based event is destroyed, not closed", "65-destroy", "broken"),
    ("two threads append to one list at once", "40", "broken"),
    ("a counter-based event, signalled and waited for", "48", "legal"),
    ("a counter-based event, used again without a reset", "60-reuse", "legal"),
    ("an event signalled twice", "10-signalled", "legal"),
]

# The layer's handle lifetime is asked alone: since 1.32 it takes every immediate list for a closed
# one and refuses whatever is appended, so that nothing else would be seen. Its leak and performance
# checkers are left out, for they speak of every program.
LOGGING = {
    "ZE_ENABLE_VALIDATION_LAYER": "1",
    "ZEL_ENABLE_LOADER_LOGGING": "1",
    "ZEL_LOADER_LOG_CONSOLE": "1",
    "ZEL_LOADER_LOGGING_LEVEL": "warn",
}
MODES = {
    "events, parameters": {
        "ZE_ENABLE_PARAMETER_VALIDATION": "1",
        "ZE_ENABLE_THREADING_VALIDATION": "1",
        "ZEL_ENABLE_EVENTS_CHECKER": "1",
        "ZEL_ENABLE_CERTIFICATION_CHECKER": "1",
    },
    "handle lifetime": {"ZE_ENABLE_HANDLE_LIFETIME": "1"},
}

# The program calls a function that the loader does not have.
NOT_RUN = "does not run"


def run(command, environment):
    """The program's output and status. What hangs is ended."""
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=20
        )
        return done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"") + (late.stderr or b"")
        return said.decode(errors="replace"), "hangs"


class peer:
    def __init__(self, programs, driver, folders):
        self.programs = programs
        self.environment = dict(
            os.environ, LD_LIBRARY_PATH=":".join(folders), ZE_ENABLE_ALT_DRIVERS=driver
        )

    def says(self, name, form, mode):
        """What the layer says of the program: its first line, or "" when it says nothing."""
        program = [self.programs, name, form]
        plain = dict(self.environment, **ENVIRONMENT.get(name, {}))
        without, status = run(program, plain)
        if status == 127:
            return NOT_RUN
        with_layer, layered = run(program, dict(plain, **LOGGING, **MODES[mode]))
        known = set(without.splitlines())
        for line in with_layer.splitlines():
            if line in known or not re.search(r"warn|error|invalid|deadlock", line, re.I):
                continue
            return re.sub(r"0x[0-9a-f]+", "0x…", re.sub(r"^(\[[^]]*\] )*", "", line.strip()))
        return "" if layered == status else f"ends with {layered} instead of {status}"


def checker_says(zevent, programs, name, form):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [zevent, "check", "--json", "-o", report]
        command += without_times(name)
        if form == "broken":
            command += ["--severity", "note", "--rule", "EV-" + name.split("-")[0]]
        run(command + ["--", programs, name, form], dict(os.environ, **ENVIRONMENT.get(name, {})))
        with open(report) as file:
            return sorted({each["rule"] for each in json.load(file)["findings"]})


def main():
    zevent, programs, driver, *folders = sys.argv[1:]
    layer = peer(programs, driver, folders)
    listed = subprocess.run([zevent, "run", "--", programs, "--list"], capture_output=True, text=True)
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    names = [name for name in names if name not in ON_TEST_DRIVER]
    results = {}
    for name in names:
        for form in forms_of(zevent, programs, name):
            ours = checker_says(zevent, programs, name, form)
            peers = {mode: layer.says(name, form, mode) for mode in MODES}
            results[name, form] = (ours, peers)
            print(f"{name:<26} {form:<7} {', '.join(ours):<12} {list(peers.values())}", flush=True)

    print("\n| program | | `zevent check` | " + " | ".join(MODES) + " |\n|---|---|---|---|---|")
    for words, name, form in CASES:
        ours, peers = results[name, form]
        said = " | ".join(each or "silent" for each in peers.values())
        print(f"| {words} | {form} | {', '.join(ours) or 'silent'} | {said} |")
    # What is said of the legal form in the same words is not about the fault.
    nothing = (None, dict.fromkeys(MODES))
    for form, what in (("broken", "found"), ("legal", "false alarm")):
        of = {name: each for (name, f), each in results.items() if f == form}
        print(f"{form}: {len(of)} programs; {what}: zevent {sum(1 for each in of.values() if each[0])}")
        for mode in MODES:
            runs = {name: each for name, each in of.items() if each[1][mode] != NOT_RUN}
            said = [name for name, each in runs.items() if each[1][mode]]
            if form == "broken":
                legal = {name: results.get((name, "legal"), nothing)[1][mode] for name in said}
                said = [name for name in said if of[name][1][mode] != legal[name]]
            print(f"    layer, {mode}: {len(said)} of {len(runs)}: {' '.join(said)}")


if __name__ == "__main__":
    main()
