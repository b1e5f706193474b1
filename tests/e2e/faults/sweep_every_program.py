"""Sweeps faults over every example and every program of the tests.

    sweep_every_program.py BUILD [--runs N] [--faults A,B] [--only REGEX] [--recorded] [--timeout S]

BUILD is the build folder. Each program runs plainly once, then with each fault at its first
occasion, its second, and so on, until none is left or N runs are made. A run is bad when it crashes,
hangs, or is complained about by a sanitizer. It is listed when it ended as if nothing had happened
although its program looks at every result. --recorded runs each under `zevent record`, and has
`check`, `summary`, `replay` and `repro` read what was recorded; they may not crash or hang either.
Nothing may be left in the folder of temporary files, but by tests that have some themselves.
Exit status: 0 when no run was bad.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FAULTS = ["out-of-host-memory", "out-of-device-memory", "device-lost"]
FIRST = {"device-lost": 0}
# Two devices, or what else a program needs to end well.
ENVIRONMENT = {
    "rule_programs 3 ": {"ZEVENT_DEVICES": "2"},
    "rule_programs 23 ": {"ZEVENT_DEVICES": "2"},
    "driver_devices_tests ": {"ZEVENT_DEVICES": "3"},
    "driver_subdevices_tests ": {"ZEVENT_DEVICES": "2", "ZEVENT_SUBDEVICES": "3"},
    "driver_timer_tests ": {
        "ZEVENT_TIMER_FREQUENCY": "1000000",
        "ZEVENT_TIMER_BITS": "12",
        "ZEVENT_KERNEL_TIMER_BITS": "12",
    },
}
# Cases that have faults of their own, and some that wait for a program to get somewhere, then kill it. One
# that looks at memory for 15 seconds is tried with the first of its seeds.
LEFT_OUT = (
    "^chaos_tests .*(fault|handle_reuse|looks_at_memory_only_gets_there/[1-9])|^record_killed(_long)?_tests "
)


def examples(build):
    """The examples in all their ways, wrong ones too."""
    ways = {
        "early_signal_copy": ["all-but-first", "last", "library"],
        "missing_barrier": ["wrong", "right"],
        "missing_wait": ["wrong", "right"],
        "reset_race": ["wrong", "right"],
        "counter_wrong_list": ["wrong", "right"],
    }
    for file in sorted((build / "examples").iterdir()):
        if not os.access(file, os.X_OK) or file.is_dir() or file.name.startswith("ipc_"):
            continue
        for way in ways.get(file.name, [None]):
            yield [str(file)] + ([way] if way else [])
    pair = [str(build / "examples" / name) for name in ("ipc_producer", "ipc_consumer")]
    script = pathlib.Path(__file__).parents[1] / "events" / "ipc_example_test.py"
    yield [sys.executable, str(script), str(build / "bin" / "zevent"), "direct"] + pair


def small_programs(build):
    program = str(build / "tests" / "small_programs")
    for source in sorted((pathlib.Path(__file__).parents[1] / "replay").glob("*.cpp")):
        for name in re.findall(r'^    {"([a-z0-9_]+)", [a-z0-9_]+},$', source.read_text(), re.M):
            yield [program, name]


def rule_programs(build):
    program = str(build / "tests" / "rule_programs")
    run = [str(build / "bin" / "zevent"), "run", "--way", "direct", "--", program, "--list"]
    for line in subprocess.run(run, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        name, *forms = line.split()
        for form in forms:
            yield [program, name, form]


def other_programs(build):
    for deed in ("calls", "threads", "fork", "exec"):
        yield [str(build / "tests" / "recorded_program"), deed, "calls"]


def test_cases(build):
    """Each case of the unit tests and of those that start programs; of one that does not use the driver
    nothing is left to try after one run. One that fails is as good as one that ends with an error; it
    ends at the first thing it does not expect."""
    for file in sorted((build / "tests").iterdir()):
        if not re.search("_tests?$", file.name):
            continue
        program = str(file)
        listed = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True).stdout
        suite = ""
        for line in listed.splitlines():
            if not line.startswith(" "):
                suite = line.split()[0] if line.split() else ""
            elif suite.endswith("."):
                yield [program, "--gtest_filter=" + suite + line.split()[0]]


def name_of(command):
    words = [each if each.startswith("--") else pathlib.Path(each).name for each in command]
    return " ".join(words[1:2] if words[0].startswith("python") else words)


def fields_of(path):
    """Of a process or thread: what follows its name, from its state on; nothing when it is gone."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_at_work(session):
    """Whether a thread of the session's processes would run if the machine let it, looked at for two
    seconds: what hangs sleeps, and is seen awake seldom."""
    seen, looks = 0, 40
    for _ in range(looks):
        threads = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            fields = fields_of(process / "stat")
            if len(fields) > 3 and fields[3] == str(session):
                threads += process.glob("task/*/stat")
        seen += any(fields_of(each)[:1] in (["R"], ["D"]) for each in threads)
        time.sleep(0.05)
    return seen > looks / 2


def wait(process, timeout):
    """The status of a process; raises TimeoutExpired when it hangs, which one that is only slow, as on
    a machine that has other things to do, does not. One that runs in circles does, in the end."""
    for patience in range(10):
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            if patience == 9 or (not is_at_work(process.pid) and process.poll() is None):
                raise


class Ending:
    def __init__(self, command, environment, timeout):
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command,
                env=dict(os.environ, **environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                self.status, self.hung = wait(process, timeout), False
            except subprocess.TimeoutExpired:
                self.status, self.hung = 0, True
            try:
                os.killpg(process.pid, signal.SIGKILL)  # also what it left behind
            except ProcessLookupError:
                pass
            process.wait()
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        if self.status > 128:  # as a shell says it
            self.status = 128 - self.status
        if self.status == -signal.SIGABRT and ": Failure\n" in self.output:
            self.status = 1  # a test that failed

    def left_to_the_system(self, plain):
        """Whether all that is lost was made by calls that succeeded: the program's to destroy. One that
        stops at an error says which call had it."""
        said, *reports = self.output.split("=====")
        if "LeakSanitizer" not in self.output or "LeakSanitizer" not in plain.output:
            return False
        failed = re.findall(r"\b(ze[A-Z]\w+)\(", said)
        made_by = [f" in {each} " for each in failed]
        return not any(each in report for each in made_by for report in reports)

    def bad(self, plain):
        """What is wrong with it, or nothing."""
        if self.hung:
            return "" if plain.hung else "hung"
        if "AddressSanitizer" in self.output and "AddressSanitizer" in plain.output:
            return ""  # what it uses after its end on purpose
        if "Sanitizer" in self.output and not self.left_to_the_system(plain):
            return "sanitizer"
        if self.status < 0 and self.status != plain.status:
            return f"signal {-self.status}"
        return ""


class TemporaryFiles:
    """A folder for those of one run after another."""

    def __init__(self, parent):
        self.path = os.path.join(parent, "temporary")
        os.mkdir(self.path)

    def sweep_out(self):
        """What the last run left; it is removed."""
        left = sorted(os.listdir(self.path))
        if left:
            shutil.rmtree(self.path, ignore_errors=True)
            os.makedirs(self.path, exist_ok=True)
        return left


class Sweep:
    def __init__(self, options, folder):
        self.build = options.build.resolve()
        self.zevent = str(self.build / "bin" / "zevent")
        self.options = options
        self.folder = folder
        self.temporary = TemporaryFiles(folder)
        self.total = {"programs": 0, "runs": 0, "error": 0, "unnoticed": 0, "bad": 0}

    def start(self, command, trace):
        if not self.options.recorded:
            return [self.zevent, "run", "--way", "direct", "--"] + command
        return [self.zevent, "record", "--driver", "software", "-o", trace, "--"] + command

    def read(self, trace, environment):
        """What the verbs that read a trace do wrong."""
        folder = trace + ".repro"
        for verb in (["check"], ["summary"], ["replay", "--timeout", "5s"], ["repro", "-o", folder]):
            ending = Ending([self.zevent, *verb, trace], environment, self.options.timeout)
            if ending.hung or ending.status < 0 or "Sanitizer" in ending.output:
                return f"{verb[0]}: {ending.output[-600:]}"
            if verb[0] == "replay" and "the replay crashed" in ending.output:
                return f"replay: {ending.output[-600:]}"
        return ""

    def program(self, command):
        name = name_of(command)
        is_test = command[-1].startswith("--gtest_filter=")
        environment = {"GTEST_THROW_ON_FAILURE": "1", "TMPDIR": self.temporary.path}
        for start, more in ENVIRONMENT.items():
            if name.startswith(start):
                environment.update(more)
        trace = os.path.join(self.folder, "t.zev")
        note = os.path.join(self.folder, "note")
        shutil.rmtree(trace + ".parts", ignore_errors=True)
        plain = Ending(self.start(command, trace), environment, self.options.timeout)
        self.total["programs"] += 1
        self.temporary.sweep_out()
        for fault in self.options.faults:
            counts = {"error": 0, "unnoticed": [], "bad": 0}
            runs = 0
            for run in range(self.options.runs):
                number = FIRST.get(fault, 1) + run
                open(note, "w").close()
                shutil.rmtree(trace + ".parts", ignore_errors=True)  # of one that was killed
                more = {"ZEVENT_FAULTS": f"{fault}:{number}", "ZEVENT_TRIAL_NOTE": note}
                ending = Ending(self.start(command, trace), dict(environment, **more), self.options.timeout)
                struck = fault in pathlib.Path(note).read_text().splitlines()
                bad = ending.bad(plain)
                if not struck and not bad:
                    break
                runs += 1
                if not bad and self.options.recorded and os.path.exists(trace):
                    bad = self.read(trace, environment)
                    if os.path.exists(trace):
                        os.remove(trace)
                if os.path.exists(trace + ".parts"):
                    bad = bad or "left behind: " + " ".join(os.listdir(trace + ".parts"))
                if (left := self.temporary.sweep_out()) and not is_test:
                    bad = bad or "left among the temporary files: " + " ".join(left)
                if bad:
                    counts["bad"] += 1
                    print(f"BAD {name}: {fault}:{number}: {bad}\n{ending.output[-1500:]}", flush=True)
                elif ending.status != 0:
                    counts["error"] += 1
                else:
                    counts["unnoticed"].append(number)
            self.total["runs"] += runs
            self.total["error"] += counts["error"]
            self.total["unnoticed"] += len(counts["unnoticed"])
            self.total["bad"] += counts["bad"]
            unnoticed = f", unnoticed {counts['unnoticed']}" if counts["unnoticed"] else ""
            print(f"{name}: {fault}: {runs} runs, {counts['error']} errors{unnoticed}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--faults", type=lambda text: text.split(","), default=FAULTS)
    parser.add_argument("--only", default="")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--timeout", type=float, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(options, folder)
        for group in (examples, small_programs, rule_programs, other_programs, test_cases):
            for command in group(sweep.build):
                name = name_of(command)
                if re.search(sweep.options.only, name) and not re.search(LEFT_OUT, name):
                    sweep.program(command)
    print(", ".join(f"{count} {what}" for what, count in sweep.total.items()))
    return 1 if sweep.total["bad"] else 0


if __name__ == "__main__":
    sys.exit(main())
