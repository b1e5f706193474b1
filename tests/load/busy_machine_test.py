"""Records correct programs while other processes take all processors, and expects no
verdict about it: no finding about a call's time, and no stall for `zevent repro` to show.

    busy_machine_test.py BUILD_FOLDER [--runs 200] [--stalls 10] [--reproducers 20] [--spinners 4]
                         [--keep FOLDER]

Not one of CTest's tests: it is about what happens once in many runs, and takes minutes. Beside the
same processes,
- a real stall must still be found (--stalls times);
- a polling program's reproducer makes the same calls, has no symptom to show, and breaks no rule that
  the program keeps (--reproducers times).
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TIME_RULES = ("EV-70", "EV-71")

# Programs that do nothing a driver could be blamed for. Rule programs in their legal form.
EXAMPLES = ["hello_event", "counter_events", "strided_copy", "device_info"]
RULE_PROGRAMS = ["0-last", "10", "11", "20", "25", "48", "60-reuse", "36-execute", "72"]


# Keeps a processor busy for as long as its parent lives.
SPIN = "import os\nwhile os.getppid() == {}:\n for i in range(1000000): pass"


class spinning_processes:
    def __init__(self, count):
        command = [sys.executable, "-c", SPIN.format(os.getpid())]
        self.processes = [subprocess.Popen(command) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.processes:
            each.kill()
            each.wait()


def programs_of(build):
    yield [build / "tests/load/polling", "24"]
    for name in EXAMPLES:
        yield [build / "examples" / name]
    yield [build / "tests/load/polling", "8"]
    for name in RULE_PROGRAMS:
        yield [build / "tests/rule_programs", name, "legal"]
    # The stalling program, on a driver that does not stall.
    yield [build / "examples/blocking_query"]


def run(command, **more):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, **more)
    return done


def record(zevent, trace, program, environment=None):
    done = run([zevent, "record", "-q", "--driver", "software", "-o", trace, "--", *program],
               env=dict(os.environ, **(environment or {})))
    if not trace.exists():
        sys.exit(f"{program} was not recorded: {done.stdout}{done.stderr}")


def time_findings(zevent, trace):
    done = run([zevent, "check", "--json", "--severity", "note", trace])
    if done.returncode not in (0, 1):
        sys.exit(f"check {trace}: {done.stderr}")
    found = json.loads(done.stdout)["findings"]
    return [each for each in found if each["rule"] in TIME_RULES]


def stall_of(zevent, trace, folder):
    """The stall that `zevent repro` would show, or nothing."""
    done = run([zevent, "repro", trace, "-o", folder])
    text = done.stdout + done.stderr
    shutil.rmtree(folder, ignore_errors=True)
    return next((line for line in text.splitlines() if "may not block" in line), None)


def broken_rules(zevent, trace):
    done = run([zevent, "check", "--json", "--severity", "hazard", trace])
    if done.returncode not in (0, 1):
        sys.exit(f"check {trace}: {done.stderr}")
    return {each["rule"] for each in json.loads(done.stdout)["findings"]}


def fault_of_reproducer(zevent, trace, folder):
    """What is wrong with the reproducer of a correct program, or nothing."""
    done = run([zevent, "repro", "--verify", "-o", folder, trace])
    said = (done.stdout + done.stderr).strip().splitlines()
    own = folder / "own.zev"
    more = set()
    if done.returncode == 0:
        record(zevent, own, [folder / "repro"])
        more = broken_rules(zevent, own) - broken_rules(zevent, trace)
    shutil.rmtree(folder, ignore_errors=True)
    if done.returncode != 0 or said[-1] != "verified: same calls":
        return f"exit status {done.returncode}: {said[-1] if said else ''}"
    return f"it breaks {', '.join(sorted(more))}" if more else None


def main():
    words = argparse.ArgumentParser()
    words.add_argument("build", type=pathlib.Path)
    words.add_argument("--runs", type=int, default=200)
    words.add_argument("--stalls", type=int, default=10)
    words.add_argument("--reproducers", type=int, default=20)
    words.add_argument("--spinners", type=int, default=4)
    words.add_argument("--keep", type=pathlib.Path, help="keep traces with findings here")
    options = words.parse_args()
    build = options.build.resolve()
    zevent = build / "bin/zevent"
    programs = list(programs_of(build))
    bad, notes, missed, wrong = 0, 0, 0, 0
    with spinning_processes(options.spinners), tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        trace = folder / "trace.zev"
        for number in range(options.runs):
            program = programs[number % len(programs)]
            record(zevent, trace, program)
            found = time_findings(zevent, trace)
            notes += sum(1 for each in found if each["severity"] == "note")
            blamed = [each for each in found if each["severity"] != "note"]
            stall = stall_of(zevent, trace, folder / "repro")
            if sys.stdout.isatty():
                print(f"run {number + 1} of {options.runs}", end="\r", flush=True)
            if blamed or stall:
                bad += 1
                print(f"run {number}: {pathlib.Path(program[0]).name} {' '.join(program[1:])}")
                for each in blamed:
                    print(f"    {each['rule']} call {each['call']}: {each['message']}")
                if stall:
                    print(f"    repro: {stall}")
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    shutil.copy(trace, options.keep / f"run-{number}.zev")
            trace.unlink()
        for number in range(options.stalls):
            record(zevent, trace, [build / "examples/blocking_query"],
                   {"ZEVENT_FAULTS": "query-blocks-behind-barrier"})
            found = [each for each in time_findings(zevent, trace) if each["severity"] != "note"]
            if not found or not stall_of(zevent, trace, folder / "repro"):
                missed += 1
                print(f"stall {number} was not found")
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    shutil.copy(trace, options.keep / f"stall-{number}.zev")
            trace.unlink()
        for number in range(options.reproducers):
            record(zevent, trace, [build / "tests/load/polling", "8"])
            fault = fault_of_reproducer(zevent, trace, folder / "repro")
            if fault:
                wrong += 1
                print(f"reproducer {number}: {fault}")
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    shutil.copy(trace, options.keep / f"reproducer-{number}.zev")
            trace.unlink()
    print(f"{options.runs} recordings of correct programs beside {options.spinners} spinning "
          f"processes: {bad} with a finding about time, {notes} notes; "
          f"{options.stalls} with a real stall: {missed} missed; "
          f"{options.reproducers} reproducers of a polling program: {wrong} wrong")
    sys.exit(1 if bad or missed or wrong else 0)


if __name__ == "__main__":
    main()
