"""A program that fails now and then without a seed, too, gets its statistics: only one that always fails is
refused.

    flaky_program_test.py ZEVENT
"""

import subprocess
import sys
import tempfile

# Every third run is right.
FLAKY = 'echo >> "$0"; [ $(($(wc -l < "$0") % 3)) = 0 ]'


def run(zevent, *command):
    return subprocess.run([zevent, "run", "--chaos=6", "--", *command], capture_output=True, text=True, timeout=60)


def main():
    zevent = sys.argv[1]
    with tempfile.NamedTemporaryFile() as count:
        flaky = run(zevent, "sh", "-c", FLAKY, count.name)
    print(flaky.stdout + flaky.stderr)
    assert flaky.returncode == 1, flaky.returncode
    rows = [line.split()[:4] for line in flaky.stdout.splitlines()]
    plain, chaos = (next(row for row in rows if row[0] == kind) for kind in ("plain", "chaos"))
    assert plain[1] == chaos[1] == "6", rows
    assert int(plain[3]) + int(chaos[3]) == 8, rows
    broken = run(zevent, "false")
    print(broken.stdout + broken.stderr)
    assert broken.returncode == 2 and "5 times of 5" in broken.stderr, broken.returncode


main()
