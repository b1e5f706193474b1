"""What check, replay and repro make of programs that crashed.

    crashed_program_test.py ZEVENT PROGRAM

PROGRAM makes some calls and then what it is told to do. Expected: a crash in the program's own code is
said to be one; no reproducer claims to show it, but its calls are made again. A wait that hangs where the
recording crashed in it is without the symptom, and no replay of it.
"""

import os
import subprocess
import sys
import tempfile

from commands import expect

COULD_NOT_RUN = 125
STRICT = "-O0 -Wall -Wextra -Wshadow -pedantic -Werror"


class Trial:
    def __init__(self, zevent, program, folder):
        self.zevent, self.program, self.folder = zevent, program, folder

    def record(self, *deeds):
        subprocess.run(
            [self.zevent, "record", "--driver", "software", "-o", "t.zev", "--", self.program, *deeds],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
        )

    def run(self, words, status, *texts):
        environment = dict(os.environ, CFLAGS=STRICT)
        return expect(self.zevent, words, status, texts, self.folder, environment)

    def text(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()


def crash_in_its_own_code(trial):
    trial.record("abort")
    ended = "the program was ended by SIGABRT after call"
    own = "in no call; no command was under way: it crashed in its own code"
    trial.run(["check", "--symptom", "crash=SIGABRT", "t.zev"], 1, ended, "is there")
    trial.run(["check", "--symptom", "crash=SIGSEGV", "t.zev"], 0, "is not there")
    trial.run(["replay", "t.zev"], 0, ended, own)
    trial.run(["replay", "--symptom", "crash", "t.zev"], 0, own, "the symptom crash is not there")
    trial.run(["replay", "--until", "2", "t.zev"], 0)
    found = ["repro", "--verify", "-o", "abort", "t.zev"]
    trial.run(found, 0, ended, own, "nothing else in this recording", "verified: same calls")
    if own not in trial.text("abort/README.md") or "Symptom" in trial.text("abort/README.md"):
        sys.exit("the README.md does not say how the program crashed, or promises to show it")
    for symptom in ("crash", "crash=SIGABRT"):
        wanted = ["repro", "--symptom", symptom, "-o", "never", "t.zev"]
        trial.run(wanted, COULD_NOT_RUN, own, "calls do not show that again")
    if os.path.exists(os.path.join(trial.folder, "never")):
        sys.exit("a reproducer was written that can never show its symptom")
    other = ["repro", "--symptom", "crash=SIGSEGV", "-o", "other", "t.zev"]
    trial.run(other, 0, "no call of the recording shows the symptom crash=SIGSEGV")
    if own in trial.run(["repro", "--until", "2", "-o", "part", "t.zev"], 0):
        sys.exit("a crash is told that comes after what was asked for")


def crash_in_a_wait(trial):
    trial.record("stuck-crash")
    before = "the program was ended by SIGSEGV before it returned"
    trial.run(["replay", "--timeout", "1s", "t.zev"], 1, f"{before} in the recording; in the replay it hangs")
    symptom = "symptom crash=SIGSEGV"
    found = ["repro", "--verify", "-o", "wait", "t.zev"]
    trial.run(found, 1, symptom, "did not return in 10 s", f"{symptom}: not shown", "makes the same calls")
    trial.run(["run", "--", "wait/repro", "--timeout", "1"], 0, f"{symptom}: not shown")
    repeated = ["run", "--", "wait/repro", "--timeout", "1", "--repeat", "2"]
    trial.run(repeated, 0, f"{symptom}: shown in 0 of 2 runs")
    if "Where it hangs instead of crashing" not in trial.text("wait/README.md"):
        sys.exit("the README.md does not say what a hang is where the recording crashed")
    # A run that does not get so far tells nothing.
    fails = ["run", "--fault", "event-create-fails", "--", "wait/repro"]
    trial.run(fails, COULD_NOT_RUN, "zeEventCreate")


def wait_that_a_thread_was_left_in(trial):
    trial.record("stuck-leave")
    trial.run(["replay", "--timeout", "1s", "t.zev"], 0, "it did not return in the recording either")
    calls = ["repro", "--verify", "--symptom", "none", "-o", "left", "t.zev"]
    trial.run(calls, 0, "did not return", "verified: same calls")
    # What was left waiting broke a rule.
    trial.run(["repro", "-o", "left", "t.zev"], 0, "EV-12: call")


def main():
    zevent, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(zevent, program, folder)
        for part in (crash_in_its_own_code, crash_in_a_wait, wait_that_a_thread_was_left_in):
            part(trial)


main()
