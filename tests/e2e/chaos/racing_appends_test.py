"""Under chaos, appends to one list that nothing keeps apart overlap and are found (EV-40).

    racing_appends_test.py ZEVENT PROGRAM

With a lock around them they do not, and are a note.
"""

import json
import os
import subprocess
import sys
import tempfile


def levels(zevent, folder, seed, program):
    """The severities of EV-40."""
    trace, report = (os.path.join(folder, name) for name in ("t.zev", "report.json"))
    record = [zevent, "record", "-q", "--driver", "software", "-o", trace, "--", *program]
    subprocess.run(record, check=True, env={**os.environ, "ZEVENT_CHAOS": str(seed)})
    check = [zevent, "check", "--json", "--severity", "note", "--rule", "EV-40", "-o", report, trace]
    subprocess.run(check)
    with open(report) as file:
        return {each["severity"] for each in json.load(file)["findings"]}


def main():
    zevent, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, 6):
            racing = levels(zevent, folder, seed, [program])
            if racing != {"error"}:
                sys.exit(f"seed {seed}: EV-40 was {racing or 'not'} found in the racing program")
            locked = levels(zevent, folder, seed, [program, "locked"])
            if locked != {"note"}:
                sys.exit(f"seed {seed}: EV-40 was {locked or 'not'} found in the program with a lock")


main()
