"""Records a program and replays it under twenty seeds.

    replay_under_chaos_test.py ZEVENT EXPECTED... -- PROGRAM...

EXPECTED: texts that the replay is to print, which then finds something; "same" if it is to find
nothing.
"""

import os
import subprocess
import sys
import tempfile


def main():
    zevent = sys.argv[1]
    split = sys.argv.index("--")
    expected, program = sys.argv[2:split], sys.argv[split + 1 :]
    finds = expected != ["same"]
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.zev")
        subprocess.run([zevent, "record", "--driver", "software", "-o", trace, "--", *program])
        done = subprocess.run(
            [zevent, "replay", "--chaos=20", "--timeout=2s" if finds else "--timeout=5s", trace],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    print(done.stdout)
    if done.returncode != (1 if finds else 0):
        sys.exit(f"exit status {done.returncode}")
    for text in expected if finds else ["memory and results are the same under 20 seeds"]:
        if text not in done.stdout:
            sys.exit(f"'{text}' was not said")


main()
