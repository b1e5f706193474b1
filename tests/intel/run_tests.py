"""Runs every program on every simulated device of Intel's driver; inside the chroot.

    run_tests.py BUILD RESULTS [--devices A,B] [--only REGEX] [--jobs N] [--timeout SECONDS]

RESULTS gets a folder for each device and in it one for each trial that failed: what each command wrote,
the trace, the reproducer, and a log. Prints a table for each device, the failures, and a summary.
Exit status: 0 when nothing failed, 1 when something did.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True

from devices import DEVICES, DRIVER, environment_of  # noqa: E402
from outcome import Outcome  # noqa: E402
from programs import all_programs  # noqa: E402
from trial import STEPS, Trial  # noqa: E402

GROUPS = {"small_programs": "small programs", "rule_programs": "rule programs", "recorded_program": "recorder's"}
TABLES = "dispatch tables"
# Recordings of these are replayed on the software driver afterwards: replay_on_software.py.
TAKEN_TO_SOFTWARE = ("examples",)


def repeat_line(device, name):
    return f"scripts/test_intel --devices {device} --only '^{re.escape(name)}$'".replace("\\ ", " ")


def group_of(name):
    return GROUPS.get(name.split()[0], "examples")


class DeviceReport:
    """Counts of one device by group and step, and what failed."""

    def __init__(self, device):
        self.device = device
        self.programs = collections.Counter()
        self.counts = collections.defaultdict(collections.Counter)  # (group, step) -> passed, failed
        self.failures = []  # (name, step, what)
        self.hung = []  # names of programs that do not end without zevent either

    def add(self, trial):
        group = group_of(trial.name)
        self.programs[group] += 1
        if trial.is_hung:
            self.hung.append(trial.name)
        for step, problem in trial.verdicts.items():
            self.counts[group, step]["failed" if problem else "passed"] += 1
            if problem:
                self.failures.append((trial.name, step, problem))

    def total(self, which):
        return sum(each[which] for each in self.counts.values())

    def print_table(self):
        print(f"\n{self.device}: passed of tried")
        print(f"  {'':15}{'programs':>9}" + "".join(f"{step:>11}" for step in STEPS))
        for group, count in self.programs.items():
            cells = []
            for step in STEPS:
                numbers = self.counts[group, step]
                tried = numbers["passed"] + numbers["failed"]
                cells.append(f"{numbers['passed']}/{tried}" if tried else "-")
            print(f"  {group:15}{count:>9}" + "".join(f"{cell:>11}" for cell in cells))

        for name in self.hung:
            print(f"  not tried: {name} does not end on this device without zevent either")

    def print_failures(self, results):
        for name, step, problem in sorted(self.failures):
            print(f"  FAILED {name}: {step}: {problem}")
        if self.failures:
            print(f"  logs: {results / self.device}/PROGRAM/log")


def compare_tables(device, build, folder):
    """The lines that differ between what the driver hands out and what the recorder does."""
    script = str(pathlib.Path(__file__).with_name("dispatch_tables.py"))
    environment = environment_of(device)
    bare = Outcome([sys.executable, script, DRIVER], environment, folder, "tables-bare", 120)
    environment |= {"ZEVENT_DRIVER": DRIVER, "ZEVENT_RECORD": os.path.join(folder, "tables.zev")}
    os.makedirs(os.path.join(folder, "tables.zev.parts"), exist_ok=True)
    recorder = str(build / "lib" / "libzevent_recorder.so.1")
    seen = Outcome([sys.executable, script, recorder, DRIVER], environment, folder, "tables-recorder", 120)
    shutil.rmtree(os.path.join(folder, "tables.zev.parts"))
    if bare.status != 0 or seen.status != 0:
        return 0, [f"ends with {bare.ending} without and {seen.ending} with the recorder: {seen.err[-300:]}"]
    expected, got = bare.out.splitlines(), seen.out.splitlines()
    differing = [f"{right}; without the recorder: {left}" for left, right in zip(expected, got) if left != right]
    if len(expected) != len(got):
        differing.append(f"{len(got)} lines, without the recorder {len(expected)}")
    return len(expected) - len(differing), differing


def print_tables(device, same, differing, text):
    tables = len(set(re.findall(r"^table (\w+) .*: 0x0 ", text, re.M)))
    functions = len(re.findall(r"^function .* handed out$", text, re.M))
    print(f"  {TABLES}: {tables} tables, {functions} functions by name; {same} lines the same, "
          f"{len(differing)} different")
    for line in differing[:20]:
        print(f"  FAILED {TABLES}: {line[:300]}")


def try_device(device, programs, options):
    report = DeviceReport(device)
    folder = options.results / device
    traces = folder / "traces"
    shutil.rmtree(traces, ignore_errors=True)
    traces.mkdir(parents=True)

    def try_one(numbered):
        name, command = numbered
        place = folder / re.sub(r"[^A-Za-z0-9_+-]+", "_", name)
        zevent = str(options.build / "bin" / "zevent")
        trial = Trial(zevent, name, command, environment_of(device), str(place), options.timeout)
        trial.run_all()
        if group_of(name) in TAKEN_TO_SOFTWARE and os.path.exists(trial.trace):
            shutil.copyfile(trial.trace, traces / (place.name + ".zev"))
        if trial.failed() or options.keep:
            trial.write_log(repeat_line(device, name))
        else:
            shutil.rmtree(place)
        return trial

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for trial in pool.map(try_one, programs):
            report.add(trial)
            for step in trial.failed():
                print(f"FAILED {device} {trial.name}: {step}: {trial.verdicts[step]}", flush=True)
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--devices", default=",".join(DEVICES))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=30)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("CFLAGS", "-O0 -Wall -Wextra")
    start = time.monotonic()
    programs = [each for each in all_programs(options.build) if re.search(options.only, each[0])]
    passed = failed = 0
    for device in options.devices.split(","):
        report = try_device(device, programs, options)
        report.print_table()
        report.print_failures(options.results)
        passed, failed = passed + report.total("passed"), failed + report.total("failed")
        if not options.only or re.search(options.only, TABLES):
            same, differing = compare_tables(device, options.build, options.results / device)
            print_tables(device, same, differing, (options.results / device / "tables-bare.out").read_text())
            passed, failed = passed + same, failed + len(differing)
    (options.results / "devices").write_text(options.devices.replace(",", "\n") + "\n")
    print(f"\n{passed} passed, {failed} failed, in {(time.monotonic() - start) / 60:.0f} minutes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
