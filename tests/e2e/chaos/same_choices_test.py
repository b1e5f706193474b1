"""A seed gives the same order of completion again, another seed another one.

    same_choices_test.py ZEVENT PROGRAM...

PROGRAM prints the order.
"""

import os
import subprocess
import sys


def order(zevent, program, *options):
    return subprocess.run(
        [zevent, "run", *options, "--", *program],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        # However long the machine takes for a call, the driver does not go on without it.
        env=dict(os.environ, ZEVENT_CHAOS_PATIENCE="forever"),
    ).stdout


def main():
    zevent, *program = sys.argv[1:]
    plain = order(zevent, program)
    seen = {}
    for seed in range(1, 5):
        first, second = (order(zevent, program, "--seed", str(seed)) for _ in range(2))
        if first != second:
            sys.exit(f"seed {seed} gives different orders:\n{first}{second}")
        if first == plain:
            sys.exit(f"seed {seed} changes nothing:\n{first}")
        if first in seen:
            sys.exit(f"seeds {seen[first]} and {seed} give the same order:\n{first}")
        seen[first] = seed


main()
