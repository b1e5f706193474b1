"""A program that fails without a seed, too, now and then or always, gets its statistics.

    flaky_program_test.py ZEVENT
"""

import subprocess
import sys
import tempfile

# Every third run is right.
FLAKY = 'echo >> "$0"; [ $(($(wc -l < "$0") % 3)) = 0 ]'

# The first four runs: a failure, other output, a failure, other output; then all is well.
LATE = """echo >> "$0"
case $(wc -l < "$0") in [13]) exit 1 ;; [24]) echo other ;; *) echo right ;; esac"""


def run(zevent, *command):
    return subprocess.run([zevent, "run", "--chaos=6", "--", *command], capture_output=True, text=True)


def counts(trial):
    """Runs and bad ones, of the plain ones and of those under chaos."""
    print(trial.stdout + trial.stderr)
    rows = {line.split()[0]: line.split() for line in trial.stdout.splitlines() if "runs" in line and "bad" in line}
    return [(int(rows[kind][1]), int(rows[kind][3])) for kind in ("plain", "chaos")]


def main():
    zevent = sys.argv[1]
    with tempfile.NamedTemporaryFile() as count:
        flaky = run(zevent, "sh", "-c", FLAKY, count.name)
    plain, chaos = counts(flaky)
    assert plain[0] == chaos[0] == 6 and plain[1] + chaos[1] == 8, (plain, chaos)
    assert flaky.returncode == 1 and "each time" not in flaky.stdout, flaky.returncode
    broken = run(zevent, "false")
    assert counts(broken) == [(6, 6), (6, 6)]
    assert broken.returncode == 1 and "fails each time without chaos, too" in broken.stdout, broken.returncode
    # What is right is known only after the first runs under chaos: those are judged, too.
    with tempfile.NamedTemporaryFile() as count:
        late = run(zevent, "sh", "-c", LATE, count.name)
    assert counts(late) == [(6, 2), (6, 2)]
    assert "first bad seed 1;" in late.stdout, late.stdout


main()
