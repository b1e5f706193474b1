"""Runs a command, and compares its exit status and what it prints.

    output_test.py STATUS PATTERN [--without PATTERN] -- COMMAND...

STATUS: the exit status that is expected, or the negative number of a signal. PATTERN: a regular
expression that is found in what the command prints, standard error included; '.' is a new line, too.
"""

import argparse
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("status", type=int)
    parser.add_argument("pattern")
    parser.add_argument("--without", help="a pattern that is not found")
    split = sys.argv.index("--")
    expected = parser.parse_args(sys.argv[1:split])
    command = sys.argv[split + 1 :]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout)
    failures = []
    if run.returncode != expected.status:
        failures.append(f"exit status {run.returncode} instead of {expected.status}")
    if not re.search(expected.pattern, run.stdout, re.DOTALL):
        failures.append(f"nothing matches '{expected.pattern}'")
    if expected.without and re.search(expected.without, run.stdout, re.DOTALL):
        failures.append(f"something matches '{expected.without}'")
    print("\n".join(failures), end="")
    sys.exit(1 if failures else 0)


main()
