"""What replay and repro make of a recording that is nearly all polls.

    polls_test.py ZEVENT SMALL_PROGRAMS

Expected: 200,000 polls are a few calls and statements; --polls=exact makes every call;
a reproducer asks until it has the recorded answer, and says what is not done when that never comes; one
written with --polls=exact does not.
"""

import os
import re
import subprocess
import sys
import tempfile

POLLS = 200_000


def run(command, status=0, environment=None):
    done = subprocess.run(
        command,
        env=dict(os.environ, **(environment or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}, not {status}:\n{done.stdout}")
    return done.stdout


def number(text, pattern):
    found = re.search(pattern, text)
    if found is None:
        sys.exit(f"'{pattern}' is not in:\n{text}")
    return int(found.group(1))


def expect(what, text):
    if not what:
        sys.exit(text)


def main():
    zevent, programs = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.zev")
        record = [zevent, "record", "--driver", "software", "-o", trace, "--", programs, "many_polls"]
        run(record, 0, {"POLLS": str(POLLS)})

        said = run([zevent, "replay", trace])
        expect(number(said, r"(\d+) of \d+ calls made on 2 threads") < 200, said)
        expect(number(said, r"polls asked \d+ times, (\d+) in the recording") >= POLLS, said)
        said = run([zevent, "replay", "--polls=exact", trace])
        expect(number(said, r"of (\d+) calls made") >= POLLS, said)
        expect("polls asked" not in said, said)

        repro = os.path.join(folder, "repro")
        write = [zevent, "repro", "--symptom", "none", "-o", repro]
        said = run([*write, "--verify", trace])
        expect(number(said, r"as (\d+) statements") < 200, said)
        expect("verified: same calls" in said, said)
        # The commands of this device are never done.
        lost = {"ZEVENT_FAULTS": "completion-lost:after=0"}
        said = run([zevent, "run", "--", os.path.join(repro, "repro"), "--timeout", "1"], 125, lost)
        expect(re.search(r"zeEventQueryStatus\(\w+\) is still NOT_READY after 1 s", said), said)
        said = run([zevent, "replay", "--environment", "own", "--timeout", "1s", trace], 1, lost)
        expect("in the recording it was answered SUCCESS after" in said, said)

        exact = os.path.join(folder, "exact")
        write = [zevent, "repro", "--symptom", "none", "--polls=exact", "-o", exact]
        run([*write, trace])
        with open(os.path.join(exact, "repro.c"), encoding="utf-8") as file:
            expect("POLL(" not in file.read(), "there is a loop until it is done")
        run([zevent, "replay", "--polls=never", trace], 2)


main()
