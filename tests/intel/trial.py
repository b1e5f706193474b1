"""One program on one device: bare, recorded, checked, profiled, replayed, and written as C.

The bare run is what the others are compared with: a program may fail on a simulated device, since
nothing executes there. It has to fail alike under the recorder, and its replay and its reproducer have
to make the same calls with the same results.
"""

import json
import os
import re
import shutil

from devices import DRIVER
from expectations import (NOT_LEGAL_HERE, NOT_OVERWRITTEN, NOT_SHOWN, OPEN_NOTHING, WAIT_FOR_TIMESTAMPS,
                          WITHOUT_TRACE)
from outcome import Outcome, without_varying

STEPS = ["record", "check", "profile", "replay", "memory", "repro", "addresses"]
TIME_DEPENDENT = ["EV-70", "EV-71"]
# Legal, and a hazard on this driver: a program that is about something else may do it.
DRIVER_DEPENDENT = ["EV-77"]
# A canonical-high word: where the driver puts device memory. Small negative numbers are none.
DEVICE_ADDRESS = re.compile(r"\b0x(?!f{8})ff[0-9a-f]{14}(?![0-9a-f])", re.I)


class Trial:
    def __init__(self, zevent, name, command, environment, folder, timeout):
        self.zevent, self.name, self.command = zevent, name, command
        self.environment, self.folder, self.timeout = environment, folder, timeout
        self.trace = os.path.join(folder, "trace.zev")
        self.runs = []
        self.verdicts = {}  # step -> "" when it passed, else what is wrong; no entry: not applicable

    def run(self, label, *command):
        outcome = Outcome(list(command), self.environment, self.folder, label, self.timeout)
        self.runs.append((label, outcome))
        return outcome

    def failed(self):
        return [step for step in STEPS if self.verdicts.get(step)]

    def run_all(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        bare = self.bare()
        if self.is_hung:
            return
        self.record(bare)
        if not os.path.exists(self.trace):
            self.profile(bare)
            return
        self.check()
        self.profile(bare)
        self.replay()
        self.repro()

    def bare(self):
        first = self.run("bare-1", *self.command)
        self.is_hung = first.hung  # it polls for what nothing executes
        if self.is_hung:
            return first
        second = self.run("bare-2", *self.command)
        self.is_steady = first.ending == second.ending
        self.is_output_steady = without_varying(first.text) == without_varying(second.text)
        return second

    def difference(self, bare, other, is_with_report=False):
        """What the bare run has and the other has not; a report may follow the program's output."""
        if self.is_steady and other.ending != bare.ending:
            return f"ends with {other.ending}, bare with {bare.ending}"
        if not self.is_output_steady:
            return ""
        for stream in ("out", "err"):
            expected, seen = (without_varying(getattr(each, stream)) for each in (bare, other))
            is_same = seen.startswith(expected) if is_with_report and stream == "err" else seen == expected
            if not is_same:
                return f"std{stream} differs from the bare run's"
        return ""

    def record(self, bare):
        options = ["--driver", DRIVER, "--memory=results", "-q", "--or-run", "-o", self.trace]
        recorded = self.run("record", self.zevent, "record", *options, "--", *self.command)
        self.verdicts["record"] = self.difference(bare, recorded)
        if not self.verdicts["record"] and os.path.exists(self.trace) == (self.name in WITHOUT_TRACE):
            self.verdicts["record"] = "a trace was written" if self.name in WITHOUT_TRACE else "no trace was written"

    def check(self):
        """A rule program that is legal has no finding; one that breaks its rule has that one."""
        ignored = [option for rule in TIME_DEPENDENT for option in ("--ignore", rule)]
        leaks = ["--leaks"] if self.name.startswith("rule_programs 76-leaks") else []
        done = self.run("check", self.zevent, "check", "--json", *leaks, *ignored, self.trace)
        if done.hung or done.status not in (0, 1):
            self.verdicts["check"] = f"ends with {done.ending}"
            return
        program, *arguments = self.name.split()
        if program != "rule_programs" or arguments[0].startswith(("70", "71")):
            self.verdicts["check"] = ""
            return
        findings = json.loads(done.out)["findings"]
        found = sorted({each["rule"] for each in findings if each["severity"] != "note"})
        rule = "EV-" + arguments[0].split("-")[0]
        if arguments[1] == "legal":
            if arguments[0] in NOT_LEGAL_HERE:
                return
            found = [each for each in found if each == rule or each not in DRIVER_DEPENDENT]
            self.verdicts["check"] = f"found in a legal program: {', '.join(found)}" if found else ""
        else:
            is_found = any(each["rule"] == rule for each in findings)
            if is_found or arguments[0] not in NOT_SHOWN:
                seen = ", ".join(found) or "nothing"
                self.verdicts["check"] = "" if is_found else f"{rule} is not found; found: {seen}"

    def profile(self, bare):
        if self.name in WAIT_FOR_TIMESTAMPS:
            return
        profiled = self.run("profile", self.zevent, "profile", "--driver", DRIVER, "--or-run", "--", *self.command)
        self.verdicts["profile"] = self.difference(bare, profiled, is_with_report=True)

    def replay(self):
        """With the recorded results; what memory held is compared where the results are the same."""
        if self.name in OPEN_NOTHING:
            return
        options = ["--driver", DRIVER, "--timeout", "10s", self.trace]
        compared = self.run("replay-memory", self.zevent, "replay", "--compare", "memory", *options)
        if compared.status == 0 and not compared.hung:
            self.verdicts["replay"] = self.verdicts["memory"] = ""
            return
        if compared.status == 125 and "no memory was compared" in compared.text and not compared.hung:
            self.verdicts["replay"] = ""
            return
        plain = self.run("replay", self.zevent, "replay", *options)
        self.verdicts["replay"] = self.problem(plain)
        if not self.verdicts["replay"] and self.name not in NOT_OVERWRITTEN:
            self.verdicts["memory"] = self.problem(compared)

    def repro(self):
        """The calls are what counts, unless the recorded program crashed in one."""
        if self.name in OPEN_NOTHING:
            return
        folder = os.path.join(self.folder, "repro")
        crashed = self.run("check-crash", self.zevent, "check", "--symptom", "crash", self.trace)
        symptom = "crash" if crashed.status == 1 and "in no call" not in crashed.text else "none"
        options = ["--verify", "--symptom", symptom, "--driver", DRIVER, "-o", folder, self.trace]
        written = self.run("repro", self.zevent, "repro", *options)
        self.verdicts["repro"] = self.problem(written)
        sources = [each for each in (os.listdir(folder) if os.path.isdir(folder) else []) if each.endswith(".c")]
        found = set()
        for source in sources:
            with open(os.path.join(folder, source)) as file:
                found.update(DEVICE_ADDRESS.findall(file.read()))
        if sources:
            self.verdicts["addresses"] = f"raw device addresses in C: {', '.join(sorted(found)[:3])}" if found else ""

    @staticmethod
    def problem(outcome):
        if outcome.status == 0 and not outcome.hung:
            return ""
        lines = [line.strip() for line in outcome.text.splitlines() if line.strip()]
        telling = [line for line in lines if re.search(r"crash|differ|not |lacks|cannot|hang|stuck", line)]
        return f"ends with {outcome.ending}: {(telling or lines or ['nothing was said'])[0][:160]}"

    def write_log(self, repeat):
        with open(os.path.join(self.folder, "log"), "w") as log:
            for step in self.failed():
                log.write(f"FAILED {step}: {self.verdicts[step]}\n")
            log.write(f"to repeat it: {repeat}\n")
            for label, outcome in self.runs:
                log.write(f"\n=== {label}: {outcome.ending}, {outcome.seconds:.1f} s\n$ {outcome.shell_line()}\n")
                log.write(outcome.text)
