"""The wrong way of an example is found out by each of the seeds 1 to 10.

    wrong_way_test.py ZEVENT EXAMPLE WAY

`zevent run --chaos` would not do: to it, any failure is one.
"""

import os
import subprocess
import sys

SEEDS = range(1, 11)
FOUND_OUT = (1, 66)  # the example says so, or the thread sanitizer does


def main():
    zevent, example, way = sys.argv[1:]
    missed = []
    for seed in SEEDS:
        command = [zevent, "run", "--seed", str(seed), "--", example, way]
        # However long the machine takes for a call, the driver does not go on without it.
        patient = dict(os.environ, ZEVENT_CHAOS_PATIENCE="forever")
        run = subprocess.run(command, capture_output=True, text=True, env=patient)
        if run.returncode not in FOUND_OUT:
            missed.append(seed)
            print(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    print(f"{len(SEEDS) - len(missed)} of {len(SEEDS)} seeds found it")
    sys.exit(bool(missed))


main()
