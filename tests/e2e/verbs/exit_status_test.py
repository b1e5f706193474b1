"""Every verb ends with the same status for the same thing, and says why in one line.

    exit_status_test.py ZEVENT PROGRAM DOCS_PAGE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

CANNOT = 2

READING = ["show", "summary", "check", "replay", "repro", "export"]
RUNNING = ["run", "record", "profile", "check"]

zevent, program, page = sys.argv[1:4]
failures = []


def expect(words, status, *texts, folder):
    """Of a complaint: one line on stderr that has the texts; nothing on stdout."""
    done = subprocess.run(
        [zevent, *words], cwd=folder, capture_output=True, text=True, errors="replace"
    )
    told = done.stderr
    is_right = done.returncode == status
    if status != 0:
        is_right &= told.startswith("zevent: ") and done.stdout == ""
        is_right &= all(each in told for each in texts)
    if not is_right:
        failures.append(f"$ zevent {' '.join(words)}: status {done.returncode}, not {status}\n{told}")


def line_of(verb, trace):
    """The shortest command line of a verb that reads a trace."""
    return [verb, *(["--jsonl", "out.jsonl"] if verb == "export" else []), trace]


def main():
    verbs = re.findall(
        r"^  ([a-z]+) ",
        subprocess.run([zevent, "--help"], capture_output=True, text=True).stdout.split("verbs:")[1],
        re.MULTILINE,
    )
    named = pathlib.Path(page).read_text()
    for verb in verbs:
        if f"`{verb}" not in named:
            failures.append(f"{os.path.basename(page)} does not have the verb {verb}")

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [zevent, "record", "-q", "--driver", "software", "-o", "good.zev", "--", program],
            cwd=folder, check=True, stdout=subprocess.DEVNULL,
        )
        good = pathlib.Path(folder, "good.zev").read_bytes()
        for name, content in (("text.zev", b"no trace\n"), ("empty.zev", b""), ("cut.zev", good[:40])):
            pathlib.Path(folder, name).write_bytes(content)
        os.mkdir(os.path.join(folder, "folder"))

        expect(["no-such-verb"], CANNOT, "no-such-verb", folder=folder)
        expect(["recrod"], CANNOT, "did you mean 'record'?", folder=folder)
        expect(["show", "--jsn", "good.zev"], CANNOT, "did you mean '--json'?", folder=folder)
        expect(["record", "--or-rnu", "--", program], CANNOT, "did you mean '--or-run'?", folder=folder)
        expect(["check", "--fail-on"], CANNOT, "--fail-on needs a value", folder=folder)
        expect(["check", "good.zev", "more"], CANNOT, "unexpected argument 'more'", folder=folder)
        for verb in verbs:
            expect(["help", verb], 0, folder=folder)
            expect([verb, "--help"], 0, folder=folder)
            expect([verb, "--no-such-option"], CANNOT, "--no-such-option", folder=folder)
            expect([verb, "--no-such-option", "good.zev"], CANNOT, "--no-such-option", folder=folder)
        for verb in READING:
            expect([verb], CANNOT, folder=folder)
            for file in ("absent.zev", "text.zev", "empty.zev", "cut.zev", "folder"):
                expect(line_of(verb, file), CANNOT, file, folder=folder)
            expect([*line_of(verb, "good.zev"), "--no-such-option"], CANNOT, "--no-such-option", folder=folder)
        for verb in RUNNING:
            expect([verb], CANNOT, folder=folder)
            expect([verb, "--"], CANNOT, folder=folder)
            expect([verb, "--", "./absent"], 127, "./absent", folder=folder)
            expect([verb, "--", "./text.zev"], 126, "./text.zev", folder=folder)
            expect([verb, "--", "./good.zev"], CANNOT, "is a trace", folder=folder)
        for verb in ("show", "summary", "export"):
            expect([*line_of(verb, "good.zev"), "zeNoSuchFunction"], CANNOT, "zeNoSuchFunction", folder=folder)
        for words in (
            ["export", "--jsonl", "absent/out", "good.zev"],
            ["export", "--sqlite", "absent/out", "good.zev"],
            ["repro", "--symptom", "none", "-o", "good.zev/out", "good.zev"],
            ["check", "-o", "absent/out", "good.zev"],
            ["record", "-o", "absent/out", "--", program],
            ["profile", "-o", "absent/out", "--", program],
            ["profile", "--report", "absent/out", "--", program],
            ["check", "-o", "absent/out", "--", program],
            ["run", "--fault", "no-such-fault", "--", program],
        ):
            expect(words, CANNOT, folder=folder)
        # What the statuses are for: nothing wrong, and something found.
        for verb in READING:
            if verb != "repro":
                expect(line_of(verb, "good.zev"), 0, folder=folder)
    if failures:
        print("\n".join(failures))
        sys.exit(f"{len(failures)} command lines end otherwise than docs/exit-status.md says")


main()
