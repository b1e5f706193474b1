"""Ends `zevent run` by Ctrl-C in the middle of its runs: what was found so far is printed.

    interrupted_run_test.py ZEVENT EXAMPLE OPTION EXPECTED...

EXAMPLE runs three times to its end, with OPTION of `zevent run`; the fourth run never ends by itself.
EXPECTED: texts that are to be printed.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = """
echo $$ >> {folder}/runs
[ $(wc -l < {folder}/runs) -lt 4 ] || exec sleep 1000
exec {example}
"""


def fourth_run(runs, process):
    while process.poll() is None:
        lines = open(runs).read().splitlines() if os.path.exists(runs) else []
        if len(lines) == 4:
            return int(lines[3])
        time.sleep(0.01)
    sys.exit(f"it ended by itself: {process.stdout.read()}")


def still_runs(process_id):
    try:
        return open(f"/proc/{process_id}/stat").read().split()[2] != "Z"
    except OSError:
        return False


def main():
    zevent, example, option, *expected = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAM.format(folder=folder, example=example)
        process = subprocess.Popen(
            [zevent, "run", option, "--", "sh", "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        left_behind = fourth_run(os.path.join(folder, "runs"), process)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    print(output)
    if process.returncode != 130:
        sys.exit(f"exit status {process.returncode}")
    if still_runs(left_behind):
        sys.exit("the program that ran was left behind")
    for text in expected:
        if text not in output:
            sys.exit(f"'{text}' was not said")


main()
