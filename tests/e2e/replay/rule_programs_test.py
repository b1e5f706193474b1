"""Records, replays and writes as C the programs that show the rules of `zevent check`.

    rule_programs_test.py ZEVENT INCLUDE PROGRAM PART OF [--all]

Of all that are legal and need nothing that the software driver lacks (with --all: also those that break
a rule, but for those that hang by it) the PART-th of every OF, counted from 1. What is expected of each:
see record_replay_repro_test.py.
"""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).parents[2] / "rules" / "programs"))

from record_replay_repro_test import again  # noqa: E402
from rule_program_test import ENVIRONMENT, ON_TEST_DRIVER  # noqa: E402

HANGING = {"12-host", "14", "19"}  # where they break their rule
KILLED = {"76-killed"}  # a signal ends them


def programs(zevent, program, all_of_them):
    listed = [zevent, "run", "--way", "direct", "--", program, "--list"]
    for line in subprocess.run(listed, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        name, *forms = line.split()
        if name in ON_TEST_DRIVER or name in KILLED:
            continue
        for form in forms:
            if form == "legal" or (all_of_them and name not in HANGING):
                yield name, form


def main():
    zevent, include, program, part, of = sys.argv[1:6]
    chosen = list(programs(zevent, program, "--all" in sys.argv))[int(part) - 1 :: int(of)]
    for name, form in chosen:
        print(f"rule_programs {name} {form}", flush=True)
        again(zevent, include, ["--no-memory"], [program, name, form], ENVIRONMENT.get(name, {}))
    print(f"{len(chosen)} programs")
    if not chosen:
        sys.exit("there are no programs")


main()
