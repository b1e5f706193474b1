"""Calls whose arguments make no sense have the same results with the recorder as without it.

    garbage_test.py ZEVENT PROGRAM VERB KIND

VERB is record or profile. What the driver crashes on by itself is left out.
"""

import pathlib
import subprocess
import sys
import tempfile

zevent, program, verb, kind = sys.argv[1:]


def outcomes(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace",
                          timeout=250)
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    seen = {int(index): (name, outcome) for index, name, outcome in lines if index.isdigit()}
    if done.returncode != 0 or len(seen) < 400:
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
        sys.exit(f"FAILED: {command} ended with {done.returncode}, with {len(seen)} results")
    return seen


with tempfile.TemporaryDirectory() as folder:
    bare = [zevent, "run", "--way", "direct", "--", program, kind]
    first = outcomes(bare, folder)
    crashed = [str(index) for index, (_, outcome) in first.items() if outcome.startswith("signal")]
    expected = outcomes([*bare, *crashed], folder)
    into = ["-q", "-o", "t.zev"] if verb == "record" else []
    seen = outcomes([zevent, verb, "--driver", "software", *into, "--", program, kind, *crashed], folder)
    different = [f"{name}: {outcome}, with {verb}: {seen[index][1]}"
                 for index, (name, outcome) in expected.items()
                 if not outcome.startswith("absent") and seen[index][1] != outcome]
    print(*different, sep="\n")
    if different:
        sys.exit(f"FAILED: {len(different)} calls of kind {kind} differ; to repeat it: "
                 f"{pathlib.Path(zevent).name} {verb} --driver software -- {program} {kind} {' '.join(crashed)}")
    absent = sum(outcome.startswith("absent") for _, outcome in seen.values())
    errors = sum(outcome != "0" for _, outcome in seen.values()) - absent
    if errors < 50 or absent > 100:
        sys.exit(f"FAILED: {errors} calls have an error and {absent} functions are absent")
    print(f"{len(seen)} functions, {errors} with an error, {absent} absent, {len(crashed)} left out")
