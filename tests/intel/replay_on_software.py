"""Takes recordings that were made on a simulated device of Intel's to the software driver.

    replay_on_software.py BUILD RESULTS [DEVICE...]

run_tests.py keeps the traces of the examples in RESULTS/DEVICE/traces. Each is replayed here, outside the
chroot, and has to make every call with the recorded result; and it is written as a C program, which has to
build, to run and to make the same calls, without an address of the recorded device. Prints the failures and a table. Exit status: 0 when nothing failed, 1 when something did.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from devices import DEVICES, ON_SOFTWARE  # noqa: E402
from expectations import OTHER_RESULTS_ON_SOFTWARE  # noqa: E402
from trial import DEVICE_ADDRESS  # noqa: E402

TIMEOUT = 120


def run(command, environment):
    """The exit status (None: it hung) and what was printed."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT, env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout.decode(errors="replace")


def problem_of(ending):
    status, text = ending
    if status == 0:
        return ""
    telling = [line for line in text.splitlines() if re.search(r"differ|not |cannot|hang|undefined", line)]
    return f"{'hung' if status is None else f'status {status}'}: {(telling or ['nothing was said'])[0][:160]}"


def replay(zevent, trace, environment):
    command = [zevent, "replay", "--driver", "software", "--timeout", "20s", str(trace)]
    return problem_of(run(command, environment))


def reproduce(zevent, trace, environment):
    with tempfile.TemporaryDirectory() as folder:
        options = ["--verify", "--symptom", "none", "--driver", "software", "-o", folder]
        problem = problem_of(run([zevent, "repro", *options, str(trace)], environment))
        for source in pathlib.Path(folder).glob("*.c"):
            if found := DEVICE_ADDRESS.search(source.read_text()):
                problem = problem or f"{source.name} has the address {found[0]}"
    return problem


def main():
    build, results = (pathlib.Path(each) for each in sys.argv[1:3])
    zevent = str(build / "bin" / "zevent")
    failed = 0
    for device in sys.argv[3:] or DEVICES:
        counts = collections.Counter()
        for trace in sorted((results / device / "traces").glob("*.zev")):
            if trace.stem in OTHER_RESULTS_ON_SOFTWARE:
                continue
            for step, try_it in (("replay", replay), ("repro", reproduce)):
                problem = try_it(zevent, trace, ON_SOFTWARE[device])
                counts[step, "failed" if problem else "passed"] += 1
                if problem:
                    print(f"FAILED {device} {trace.stem}: {step} on the software driver: {problem}", flush=True)
        failed += counts["replay", "failed"] + counts["repro", "failed"]
        print(f"{device}: on the software driver: " + ", ".join(
            f"{step} {counts[step, 'passed']}/{counts[step, 'passed'] + counts[step, 'failed']}"
            for step in ("replay", "repro")), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
