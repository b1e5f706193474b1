"""The rules that tests keep (docs/testing.md): none depends on time, none passes whatever its exit status.

    test_rules_test.py ROOT

A sleep or a clock in a test needs an entry here that says why no outcome depends on it.
"""

import pathlib
import re
import sys

SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|time\.sleep)\s*\(|\bsleep [0-9]")
CLOCK = re.compile(r"\b(steady_clock|system_clock|high_resolution_clock|clock_gettime|perf_counter)\b|time\.(monotonic|time)\(")
SECOND_TRY = re.compile(r"--repeat\b|until-pass")
OUTPUT_ALONE = re.compile(r"\b(PASS|FAIL)_REGULAR_EXPRESSION\b")

POLL = "between two looks at what it waits for"
WORK = "the program that is tested takes its time"
MOMENT = "a random moment: any will do"

# How many lines of a file sleep, and why.
SLEEPS = {
    "e2e/chaos/interrupted_run_test.py": (2, POLL + "; a program that is ended by the test"),
    "e2e/chaos/racing_appends.cpp": (1, WORK),
    "e2e/events/ipc_event_test.cpp": (1, POLL),
    "e2e/faults/sweep_every_program.py": (1, POLL),
    "e2e/profile/unchanged_test.cpp": (1, WORK + ", which is the least that is measured"),
    "e2e/record/killed_program_test.cpp": (2, POLL + "; " + MOMENT),
    "e2e/record/other_driver_test.cpp": (1, POLL),
    "e2e/record/recorded_program.cpp": (6, POLL + "; " + WORK + "; for a second signal, which must not come"),
    "e2e/replay/impatient_user_test.py": (2, POLL),
    "e2e/replay/process_programs.cpp": (1, POLL),
    "e2e/verify/slow_query_driver.cpp": (1, WORK + ", three times as long as what counts as slow"),
    "rules/programs/rule_program.cpp": (1, POLL),
    "rules/programs/blocking_programs.cpp": (2, WORK + ": the group `statistical`"),
    "unit/driver/ipc_test.cpp": (1, POLL),
    "unit/kernels/module_test.cpp": (1, POLL),
    "unit/launch/process_end_watch_test.cpp": (1, POLL),
    "unit/launch/program_test.cpp": (1, POLL),
    "unit/recorder/living_log_test.cpp": (3, POLL + "; " + MOMENT),
    "unit/recorder/thread_usage_test.cpp": (1, WORK),
}

# How many lines of a file read a clock, and why.
CLOCKS = {
    "e2e/profile/times_test.cpp": (1, "an interval lies within another one"),
    "e2e/verify/lost_race.cpp": (1, "how much work is long on this machine"),
    "rules/programs/rule_program.cpp": (1, "processor time of a thread that spins"),
    "rules/programs/thread_programs.cpp": (1, "processor time of a thread that spins"),
    "unit/launch/process_end_watch_test.cpp": (1, "what came later has a later time"),
}

# Not part of `make test`.
BY_HAND = ("intel/", "load/")


def lines_with(pattern, text):
    return sum(1 for line in text.splitlines() if pattern.search(line))


def violations(tests, makefile, sleeps, clocks):
    """`tests`: the text of each file by its name."""
    for name, text in sorted(tests.items()):
        if name.startswith(BY_HAND):
            continue
        if name.endswith("CMakeLists.txt"):
            if OUTPUT_ALONE.search(text):
                yield f"tests/{name}: a test passes by its output alone; use zevent_output_test"
            continue
        for what, pattern, known in (("sleep", SLEEP, sleeps), ("read a clock", CLOCK, clocks)):
            found, allowed = lines_with(pattern, text), known.get(name, (0, ""))[0]
            if found != allowed:
                yield (
                    f"tests/{name}: {found} lines {what}, {allowed} are known; wait for an event, count, or stop the "
                    "clock (docs/testing.md), or say here why no outcome depends on it"
                )
    for name in sorted((set(sleeps) | set(clocks)) - set(tests)):
        yield f"tests/{name} is not there any more"
    for name, text in makefile.items():
        if SECOND_TRY.search(text):
            yield f"{name}: a failed test gets no second try"


def self_test():
    """A rule that could not be broken would prove nothing."""
    sleeps, clocks = {"known.cpp": (1, POLL)}, {}
    good = {"known.cpp": "usleep(1);", "a/CMakeLists.txt": "zevent_output_test(x)", "intel/t.py": "time.sleep(1)"}
    assert not list(violations(good, {"Makefile": "ctest -j 2"}, sleeps, clocks))
    for name, text in (
        ("new.cpp", "std::this_thread::sleep_for(1ms);"),
        ("known.cpp", "usleep(1);\nusleep(1);"),
        ("new.py", "x = time.monotonic()"),
        ("new.cpp", "const auto start = std::chrono::steady_clock::now();"),
        ("b/CMakeLists.txt", 'PASS_REGULAR_EXPRESSION "x"'),
    ):
        assert len(list(violations({**good, name: text}, {}, sleeps, clocks))) == 1, (name, text)
    assert len(list(violations({}, {}, sleeps, clocks))) == 1
    assert len(list(violations(good, {"Makefile": "ctest --repeat until-pass:2"}, sleeps, clocks))) == 1


def main():
    self_test()
    root = pathlib.Path(sys.argv[1])
    own = pathlib.Path(__file__).resolve()
    suffixes = {".cpp", ".hpp", ".c", ".h", ".py", ".txt"}
    files = [path for path in (root / "tests").rglob("*") if path.suffix in suffixes and path.resolve() != own]
    tests = {str(path.relative_to(root / "tests")): path.read_text(errors="replace") for path in files}
    commands = {name: (root / name).read_text() for name in ("Makefile", ".ci/run")}
    found = list(violations(tests, commands, SLEEPS, CLOCKS))
    print("\n".join(found))
    sys.exit(1 if found else 0)


main()
