"""What `zevent repro --verify` says where the driver shows the symptom again, in other calls, or now and then.

    verdict_test.py CASE ZEVENT DRIVER PROGRAM PRELOADED

The driver makes the query slow that the environment names; the program makes two. With what is preloaded,
its thread had no processor all the while.
"""

import os
import re
import subprocess
import sys
import tempfile

SLOW = "zeEventQueryStatus>100ms"


class Trial:
    def __init__(self, zevent, driver, program, preloaded, folder):
        self.zevent, self.driver, self.program, self.folder = zevent, driver, program, folder
        self.preloaded = preloaded

    def run(self, words, status, *texts, **variables):
        done = subprocess.run(
            [self.zevent, *words],
            cwd=self.folder,
            env=dict(os.environ, **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print("$ zevent " + " ".join(words), done.stdout, sep="\n")
        if done.returncode != status or any(not re.search(each, done.stdout) for each in texts):
            sys.exit(f"status {done.returncode}; expected was {status} and {texts}")
        return done.stdout

    def record(self, slow_query, *arguments):
        words = ["record", "--driver", self.driver, "-o", "t.zev", "--", self.program, *arguments]
        self.run(words, 0, TEST_SLOW_QUERY=slow_query)

    def verify(self, options, status, *texts, **variables):
        words = ["repro", "--verify", "--driver", self.driver, *options, "-o", "repro", "t.zev"]
        return self.run(words, status, *texts, **variables)


def case_same_call(trial):
    trial.record("1")
    figures = r"call \d+ zeEventQueryStatus: recorded \d+\.\d+ m?s; 5 runs: (\d+\.\d+, ){4}\d+\.\d+ m?s"
    same = "verified: same symptom in 5 of 5 runs"
    trial.verify(["--symptom", SLOW], 0, figures, same, TEST_SLOW_QUERY="1")
    trial.verify([], 0, r"symptom \d+>100us: call", figures, same, TEST_SLOW_QUERY="1")
    trial.verify(["--repeat", "1"], 0, "; 1 run: ", "same symptom in 1 of 1 run\n", TEST_SLOW_QUERY="1")


def case_other_call(trial):
    """A call that is as slow, and of the same function, is another one."""
    trial.record("1")
    missed = "not verified: the symptom was not shown in 5 runs"
    trial.verify(["--symptom", SLOW], 1, "shows the symptom too", "; 5 runs: ", missed, TEST_SLOW_QUERY="2")
    call = re.search(r"call (\d+)", trial.run(["check", "--symptom", SLOW, "t.zev"], 1)).group(1)
    trial.verify(["--symptom", f"{call}>100ms"], 1, "; 5 runs: ", missed, TEST_SLOW_QUERY="2")


def case_no_processor(trial):
    """Time in which the thread could not run is not the driver's."""
    trial.record("1")
    waits = r"; 5 runs: ((\d+\.\d+, ){4}\d+\.\d+ m?s), of which \1 without a processor \(not counted\)"
    missed = "not verified: the symptom was not shown in 5 runs"
    trial.verify(["--symptom", SLOW], 1, waits, missed, TEST_SLOW_QUERY="1", LD_PRELOAD=trial.preloaded)


def case_minority(trial):
    trial.record("1")
    runs = {"TEST_SLOW_QUERY": "1", "TEST_SLOW_RUNS": "14", "TEST_RUNS_FILE": os.path.join(trial.folder, "runs")}
    trial.verify(["--symptom", SLOW], 1, "not verified: the symptom was shown in 2 of 5 runs", **runs)


def case_no_recorded_call(trial):
    """What the recording does not have cannot be the same in the reproducer."""
    trial.record("0")
    none = "no call of the recording shows the symptom; 5 of 5 runs did"
    trial.verify(["--symptom", SLOW], 1, none, TEST_SLOW_QUERY="1")


def case_order_of_symptoms(trial):
    """A broken rule is more than a slow call, unless it is broken after it."""
    trial.record("1", "race")
    trial.run(["repro", "-o", "repro", "t.zev"], 0, r"symptom \d+ EV-25: call \d+ zeCommandListAppendMemoryFill")
    race = re.search(r"call (\d+)", trial.run(["check", "--symptom", "EV-25", "t.zev"], 1)).group(1)
    if "EV-25" in trial.run(["repro", "--until", str(int(race) - 1), "-o", "repro", "t.zev"], 0):
        sys.exit("a rule is told to be broken by calls that are left out")
    trial.record("1", "leak")
    trial.run(["check", "--symptom", "EV-39", "t.zev"], 1, "is there")
    trial.run(["repro", "-o", "repro", "t.zev"], 0, r"symptom \d+>100us: call \d+ zeEventQueryStatus")


def main():
    case, *paths = sys.argv[1:6]
    with tempfile.TemporaryDirectory() as folder:
        globals()["case_" + case](Trial(*paths, folder))


main()
