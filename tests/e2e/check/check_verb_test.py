"""`zevent check` as a user runs it.

    check_verb_test.py CASE ZEVENT EXAMPLES_FOLDER RULE_PROGRAMS
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

zevent, examples, rule_programs = "", "", ""

# How long a call takes depends on the machine.
UNTIMED = ["--ignore", "EV-70", "--ignore", "EV-71", "--ignore", "EV-72"]


def run(*words, status=None, environment=None):
    done = subprocess.run(
        [zevent, *map(str, words)],
        env=dict(os.environ, **(environment or {})),
        capture_output=True,
        text=True,
    )
    if status is not None and done.returncode != status:
        print("zevent", *words)
        print(done.stdout + done.stderr)
        sys.exit(f"ended with {done.returncode}, expected {status}")
    return done


def expect(holds, what, *shown):
    if not holds:
        print(*shown, sep="\n")
        sys.exit(f"FAILED: {what}")


def findings_of(*words, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = run("check", "--json", "-o", report, *words, environment=environment)
        expect(done.returncode in (0, 1), f"check {words} could not check", done.stderr)
        return json.loads(report.read_text())["findings"]


def listed_rules():
    """The rules by their ids, in the order of `zevent check --list-rules`."""
    return [line.split()[0] for line in run("check", "--list-rules", status=0).stdout.splitlines()]


def record(folder, *program, environment=None):
    trace = pathlib.Path(folder) / "trace.zev"
    run("record", "-q", "--driver", "software", "-o", trace, "--", *program,
        environment=environment)
    expect(trace.exists(), f"{program} was not recorded")
    return trace


def case_examples():
    """What each example does wrong on purpose is found, and nothing else in any of them."""
    expected = {
        "hello_event": set(),
        "device_info": set(),
        "strided_copy": set(),
        "counter_events": set(),
        "blocking_query": set(),
        "early_signal_copy all-but-first": {"EV-0"},
        "early_signal_copy last": {"EV-0"},
        "early_signal_copy library": set(),
        "missing_barrier wrong": {"EV-25"},
        "missing_barrier right": set(),
        "missing_wait wrong": {"EV-25"},
        "missing_wait right": set(),
        "reset_race wrong": {"EV-11"},
        "reset_race right": set(),
        "counter_wrong_list wrong": {"EV-48", "EV-74"},
        "counter_wrong_list right": set(),
    }
    for words, rules in expected.items():
        name, *arguments = words.split()
        found = findings_of(*UNTIMED, "--", f"{examples}/{name}", *arguments)
        got = {each["rule"] for each in found}
        expect(got == rules, f"{words}: expected {rules}, found {got}", json.dumps(found, indent=1))
        if rules == {"EV-0"}:
            # Premature completion: which operations may still be running.
            expect(
                any("may still be running" in each["message"] for each in found),
                f"{words}: it is not said what may still be running",
                json.dumps(found, indent=1),
            )


def case_selection():
    """--rule, --ignore, --severity and a suppression file, alone and the exit status with each."""
    with tempfile.TemporaryDirectory() as folder:
        trace = record(folder, f"{examples}/missing_barrier", "wrong")
        text = run("check", *UNTIMED, trace, status=1).stdout
        expect("error EV-25" in text and "What to do:" in text, "the report for people", text)
        expect("zeCommandListAppendMemoryCopy(" in text, "the calls are shown", text)
        expect(text.rstrip().splitlines()[-1].endswith("calls"), "a line that sums up", text)
        run("check", trace, "--rule", "EV-25", status=1)
        run("check", "--rule", "25", trace, status=1)
        run("check", trace, *UNTIMED, "--ignore", "EV-25", status=0)
        expect(not findings_of("--rule", "EV-12", trace), "--rule keeps only that rule")
        expect(not findings_of("--ignore", "ev-25", *UNTIMED, trace), "--ignore leaves it out")
        hazards = findings_of("--severity", "error", trace)
        expect({each["severity"] for each in hazards} == {"error"}, "--severity error")

        memory = next(
            word
            for each in findings_of("--rule", "EV-25", trace)
            for word in each["message"].replace(":", " ").replace(",", " ").split()
            if word.startswith("command_list_")
        )
        suppressions = pathlib.Path(folder) / "known"
        for content, found in [
            ("# known\nEV-25 # all of them\n", 0),
            ("EV-25 zeCommandListAppendMemoryCopy\n", 0),
            ("EV-25 zeCommandList*\n", 0),
            (f"EV-25 {memory}\n", 0),
            ("EV-25 zeEventDestroy\n", 1),
            ("EV-26\n", 1),
        ]:
            suppressions.write_text(content)
            got = run("check", *UNTIMED, "--suppressions", suppressions, trace).returncode
            expect(got == found, f"with the suppressions {content!r} the status is {got}")
        suppressions.write_text("EV-25\n")
        said = run("check", *UNTIMED, "--suppressions", suppressions, trace, status=0).stdout
        expect("left out" in said, "the report says that something was suppressed", said)
        suppressions.write_text("EV-25\nEV-999\n")
        refused = run("check", "--suppressions", suppressions, trace, status=2)
        expect("known:2" in refused.stderr, "the wrong line is named", refused.stderr)

        report = pathlib.Path(folder) / "report"
        said = run("check", "-o", report, trace, status=1).stdout
        expect(said == "" and "EV-25" in report.read_text(), "-o writes the report to a file")
    rules = listed_rules()
    expect(len(set(rules)) == len(rules) and "EV-48" in rules, "--list-rules", rules)


def case_documented_suppressions():
    """Every line of the example in docs/checking.md suppresses what it says, and nothing else does."""
    page = (pathlib.Path(__file__).parents[3] / "docs/checking.md").read_text()
    example = next(each for each in page.split("```") if each.startswith("\nEV-70 "))
    lines = example.strip().splitlines()
    programs = {"EV-70": "70", "EV-36": "36-reset", "EV-25": "25", "EV-28": "28", "EV-75": "75"}
    expect({each.split()[0] for each in lines} == set(programs), "a program for each line", lines)
    with tempfile.TemporaryDirectory() as folder:
        known = pathlib.Path(folder) / "known"
        for line in lines:
            rule = line.split()[0]
            trace = record(folder, rule_programs, programs[rule], "broken",
                           environment={"ZEVENT_FAULTS": "query-slow:5000" if rule == "EV-70" else ""})
            fails = ["--fail-on", "performance", "--rule", rule]
            run("check", *fails, trace, status=1)
            known.write_text(example)
            said = run("check", *fails, "--suppressions", known, trace, status=0).stdout
            expect("left out" in said, f"{line}: it is said", said)
            known.write_text(line + "\n")
            said = run("check", *fails, "--suppressions", known, trace, status=0).stdout
            expect("suppresses nothing" not in said, f"{line}: it is used", said)
            others = [each for each in lines if each != line]
            known.write_text("\n".join([f"{rule} nothing_99", *others]))
            said = run("check", *fails, "--suppressions", known, trace, status=1).stdout
            expect("known:1: suppresses nothing here" in said, "an unused line is named", said)
            expect("known:2: " not in said, "what is not checked is not said to be unused", said)
            trace.unlink()


# What the schema of SARIF 2.1.0 requires of each object, and the values that it allows.
def check_sarif(log, lines):
    expect(log["version"] == "2.1.0" and "sarif" in log["$schema"], "version and schema")
    expect(len(log["runs"]) == 1, "one run")
    sarif_run = log["runs"][0]
    driver = sarif_run["tool"]["driver"]
    expect(driver["name"] == "zevent" and driver["version"], "the tool's name")
    rules = driver["rules"]
    expect([rule["id"] for rule in rules] == listed_rules(), "the rules are those of --list-rules")
    for rule in rules:
        for text in ("shortDescription", "fullDescription", "help"):
            expect(rule[text]["text"], f"{rule['id']} has a {text}")
        expect(
            rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error"),
            "the level of a rule",
        )
    for invocation in sarif_run["invocations"]:
        expect(isinstance(invocation["executionSuccessful"], bool), "executionSuccessful")
        for notification in invocation.get("toolExecutionNotifications", []):
            expect(notification["message"]["text"], "the message of a notification")
    artifacts = sarif_run["artifacts"]
    for artifact in artifacts:
        check_uri(artifact["location"]["uri"])
    for result in sarif_run["results"]:
        expect(result["message"]["text"], "a result has a message")
        expect(result["level"] in ("none", "note", "warning", "error"), "the level of a result")
        expect(rules[result["ruleIndex"]]["id"] == result["ruleId"], "ruleIndex and ruleId agree")
        expect(result["locations"], "a result has a location")
        related = result.get("relatedLocations", [])
        expect(len({each["id"] for each in related}) == len(related), "ids of related locations")
        for location in result["locations"] + related:
            physical = location["physicalLocation"]
            check_uri(physical["artifactLocation"]["uri"])
            expect(0 <= physical["artifactLocation"]["index"] < len(artifacts), "index")
            line = physical["region"]["startLine"]
            expect(1 <= line <= len(lines), f"line {line} is one of `zevent show`")
            expect(
                physical["region"]["snippet"]["text"] == lines[line - 1],
                "a location is the line of `zevent show`",
                physical["region"]["snippet"]["text"],
                lines[line - 1],
            )
    return sarif_run["results"]


def check_uri(uri):
    plain = "-._~:/?#[]@!$&'()*+,;=%"
    expect(all(c.isascii() and (c.isalnum() or c in plain) for c in uri), f"{uri!r} is a URI")


def case_leaks():
    """What is never destroyed is a note, and a hazard with --leaks; it is never an error."""
    with tempfile.TemporaryDirectory() as folder:
        trace = record(folder, rule_programs, "76-leaks", "broken")
        text = run("check", *UNTIMED, trace, status=0).stdout
        expect("EV-76" not in text, "leaks are not shown unless asked for", text)
        text = run("check", *UNTIMED, "--leaks", trace, status=0).stdout
        for words in ("3 events, made by zeEventCreate on thread T1, are never destroyed",
                      "1 event, made by zeEventCreate on thread T2, is never destroyed"):
            expect(words in text, f"not said: {words}", text)
        trace = record(folder, rule_programs, "76-leaks", "legal")
        text = run("check", *UNTIMED, "--leaks", trace, status=0).stdout
        expect("EV-76" not in text, "nothing is left, and nothing is said", text)


def case_sarif():
    """What --sarif writes is SARIF, and its locations are the lines of `zevent show`."""
    with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
        for program in (
            [f"{examples}/early_signal_copy", "last"],
            [f"{examples}/hello_event"],
            [rule_programs, "13", "broken"],
        ):
            trace = record(folder, *program)
            lines = run("show", trace, status=0).stdout.splitlines()
            log = json.loads(run("check", "--sarif", *UNTIMED, trace).stdout)
            results = check_sarif(log, lines)
            expect(
                bool(results) == (program[0] != f"{examples}/hello_event"),
                f"{program}: {len(results)} results",
            )
            trace.unlink()


def case_run_check():
    """`zevent run --check`: the report at the end, the program's own status or the check's."""
    right = run("run", "--check", "--", f"{examples}/hello_event", status=0)
    expect("event" in right.stdout, "the program's output is its own", right.stdout)
    expect("hello_event: " in right.stderr, "the report is on stderr", right.stderr)
    found = run("run", "--check", "--", rule_programs, "25", "broken", status=1)
    expect("error EV-25" in found.stderr and "EV-25" not in found.stdout, "the finding", found)
    # The program's own status comes first.
    usage = run("run", "--check", "--", f"{examples}/reset_race", "sideways", status=2)
    expect("usage:" in usage.stderr, "the program's usage", usage.stderr)
    slow = run("run", "--check", "--fault", "query-slow:5000", "--", rule_programs, "70", "broken",
               status=0)
    expect("performance EV-70" in slow.stderr, "faults are passed on", slow.stderr)
    run("run", "--check", "--chaos", "2", "--", f"{examples}/hello_event", status=2)


def case_cut_traces():
    """Of a trace that was cut anywhere, what is there is checked and the rest is said."""
    with tempfile.TemporaryDirectory() as folder:
        trace = record(folder, rule_programs, "13", "broken")
        whole = trace.read_bytes()
        complete = findings_of(trace)
        expect({"EV-13"} <= {each["rule"] for each in complete}, "EV-13 is in the whole trace")
        cut = pathlib.Path(folder) / "cut.zev"
        checked = 0
        # The description of the API comes first; behind it are the calls.
        calls = next(
            at
            for at in range(32, len(whole), 8)
            if whole[at : at + 4] == b"ZEVK" and whole[at + 4] == 3
        )
        end_of_calls = calls + 48 + int.from_bytes(whole[calls + 8 : calls + 16], "little")
        offsets = [0, 1, 31, 32, 33, 100, calls - 1, calls, calls + 47, calls + 48, len(whole) - 1]
        offsets += range(calls // 8, calls, calls // 8)
        offsets += range(calls, len(whole), (len(whole) - calls) // 24)
        offsets += range(end_of_calls, len(whole), (len(whole) - end_of_calls) // 12)
        for offset in offsets:
            cut.write_bytes(whole[:offset])
            done = run("check", "--json", cut)
            expect(done.returncode in (0, 1, 2), f"cut at {offset}: {done.returncode}", done.stderr)
            if done.returncode == 2:
                expect(done.stderr.startswith("zevent: check: "), "says why not", done.stderr)
                continue
            checked += 1
            report = json.loads(done.stdout)
            expect(report["notes"], f"cut at {offset}: it is not said that something is missing")
            # What was waited for at the end cannot be known.
            late = {each["rule"] for each in report["findings"]} & {"EV-12", "EV-13", "EV-19"}
            expect(not late, f"cut at {offset}: {late}", done.stdout)
        expect(checked > 12, f"only {checked} of the cut traces could be checked")
        # Bytes that were changed instead of cut off.
        for offset in range(calls, len(whole), (len(whole) - calls) // 24):
            damaged = bytearray(whole)
            damaged[offset] ^= 0x5A
            cut.write_bytes(damaged)
            done = run("check", "--json", cut)
            expect(done.returncode in (0, 1, 2), f"damaged at {offset}", done.stderr)


def case_could_not_check():
    """Status 2 and a message that says why, never a report about nothing."""
    with tempfile.TemporaryDirectory() as folder:
        junk = pathlib.Path(folder) / "junk.zev"
        junk.write_text("no trace")
        for words in (
            [junk],
            [pathlib.Path(folder) / "absent.zev"],
            ["--", "/bin/true"],
            ["--rule", "EV-999", junk],
            ["--severity", "fatal", junk],
            ["--blocking", "soon", junk],
            ["--polls", "-1", junk],
            [],
        ):
            done = run("check", *words, status=2)
            expect(done.stderr and not done.stdout, f"check {words}", done.stdout, done.stderr)
        missing = pathlib.Path(folder) / "absent"
        done = run("check", "--", missing, status=127)
        expect(f"cannot run {missing}" in done.stderr, "a program that is not there", done.stderr)


def case_report():
    """Where the report goes, what the processes are numbered from, and what makes the status 1."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        wrong = ["--", f"{examples}/missing_barrier", "wrong"]
        own = subprocess.run([zevent, "run", *wrong], capture_output=True, text=True).stdout
        for form in ([], ["--json"], ["--sarif"]):
            done = run("check", *form, *UNTIMED, *wrong, status=1)
            expect(done.stdout == own, f"{form}: stdout is the program's own", done.stdout)
            expect("EV-25" in done.stderr, f"{form}: the report is on stderr", done.stderr)
            done = run("check", *form, "-o", report, *UNTIMED, *wrong, status=1)
            expect(done.stdout == own and "EV-25" not in done.stderr, f"{form} with -o", done)
            expect("EV-25" in report.read_text(), f"{form}: the report is in the file")
            done = run("check", *form, "-o", "-", *UNTIMED, *wrong, status=1)
            expect("EV-25" in done.stdout, f"{form}: -o - is standard output", done.stdout)
        found = findings_of(*UNTIMED, *wrong)
        expect({each["process"] for each in found} == {1}, "processes count from 1", found)

        refused = run("check", "-o", f"{folder}/absent/report", *wrong, status=2)
        expect(refused.stdout == "" and "absent/report" in refused.stderr, "no place", refused)

        trace = record(folder, f"{examples}/missing_barrier", "wrong")
        content = trace.read_bytes()
        run("check", "-o", trace, trace, status=2)
        expect(trace.read_bytes() == content, "a report does not overwrite the trace")
        expect("EV-25" in run("check", trace, status=1).stdout, "of a trace it is on stdout")


def case_fail_on():
    """--fail-on says from which severity on the status is 1; what fails is shown."""
    with tempfile.TemporaryDirectory() as folder:
        # A hazard and nothing worse; and what costs time and nothing worse.
        for number, fault, level in (("22", "", "hazard"), ("70", "query-slow:5000", "performance")):
            trace = record(folder, rule_programs, number, "broken", environment={"ZEVENT_FAULTS": fault})
            rule = ["--rule", f"EV-{number}"]
            severities = {each["severity"] for each in findings_of(*rule, trace)}
            expect(severities == {level}, f"EV-{number} is {severities}")
            order = ["error", "hazard", "performance"]
            for fails in order:
                status = 1 if order.index(fails) >= order.index(level) else 0
                done = run("check", *rule, "--fail-on", fails, "--severity", "error", trace, status=status)
                expect((level in done.stdout) == bool(status), f"{level} on {fails}", done.stdout)
            run("check", *rule, trace, status=0)
            trace.unlink()
    run("check", "--fail-on", "note", "x.zev", status=2)
    slow = ["--check", "--fault", "query-slow:5000", "--", rule_programs, "70", "broken"]
    run("run", "--fail-on", "performance", *slow, status=1)
    run("run", "--fail-on", "error", "--", rule_programs, "70", "broken", status=2)


if __name__ == "__main__":
    case, zevent, examples, rule_programs = sys.argv[1:5]
    globals()[f"case_{case}"]()
