"""A finding of a rule as a symptom: what check, replay and repro say of it.

    rule_finding_test.py ZEVENT MISSING_BARRIER
"""

import os
import re
import subprocess
import sys
import tempfile


def main():
    zevent, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:

        def run(words, status, *texts):
            done = subprocess.run(
                [zevent, *words],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            print("$ zevent " + " ".join(words), done.stdout, sep="\n")
            if done.returncode != status or any(each not in done.stdout for each in texts):
                sys.exit(f"status {done.returncode}; expected was {status} and {texts}")
            return done.stdout

        run(["record", "--driver", "software", "-o", "t.zev", "--", program, "wrong"], 0)
        shown = run(["check", "--symptom", "EV-25", "t.zev"], 1, "the symptom EV-25 is there")
        call = int(re.search(r"call (\d+)", shown).group(1))
        run(["check", "--symptom", f"{call} EV-25", "t.zev"], 1, "is there")
        run(["check", "--symptom", f"{call - 1} EV-25", "t.zev"], 0, "is not there")
        run(["check", "--symptom", "EV-11", "t.zev"], 0, "is not there")
        run(["check", "--symptom", "EV-999", "t.zev"], 2, "there is no rule EV-999")
        run(["replay", "--symptom", "EV-25", "t.zev"], 2, "'zevent check", "'zevent repro --verify")

        found = f"symptom {call} EV-25: call {call} zeCommandListAppendMemoryCopy"
        verdict = "verified: same symptom in 3 of 3 runs"
        figures = f"call {call} zeCommandListAppendMemoryCopy: recorded EV-25; 3 runs: EV-25 (3)"
        run(["repro", "--verify", "-o", "found", "t.zev"], 0, found, figures, verdict)
        with open(os.path.join(folder, "found", "README.md"), encoding="utf-8") as file:
            text = file.read()
        if f"Symptom: `{call} EV-25`" not in text or "`zevent check -- ./repro` finds the symptom" not in text:
            sys.exit(f"the README.md does not say how to see it:\n{text}")
        run(["run", "--", "found/repro"], 0, "all calls were made; whether they show")
        run(["check", "--symptom", f"{call} EV-25", "--", "found/repro"], 1, "is there")
        elsewhere = ["repro", "--verify", "--symptom", f"{call - 1} EV-25", "-o", "other", "t.zev"]
        run(elsewhere, 1, "not verified: no call of the recording shows the symptom")

        # Without the race there is nothing to show.
        run(["record", "--driver", "software", "-o", "right.zev", "--", program, "right"], 0)
        if "EV-" in run(["repro", "-o", "right", "right.zev"], 0):
            sys.exit("a rule is told to be broken by a program that keeps it")


main()
