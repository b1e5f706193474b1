"""Records a program, replays the recording, writes it as C, and records that again.

    record_replay_repro_test.py ZEVENT INCLUDE [--no-memory | --results[=BYTES] | --unknown | --empty] -- PROGRAM...

Expected: every call of the replay has the recorded result, and memory the recorded contents (unless
the program writes times to memory, --no-memory; with --results there has to be some, or as much as
is said); the C program compiles without warnings with GCC and with clang, and makes the recorded
calls with the same flags, waits and signals in the same order. On a slow device, and under chaos, the
replay has the recorded results too, and so has that of a recording made on a slow device. The C program
breaks no rule of `zevent check` that the program does not break, on any of these devices. --empty: the
program makes no call, so that there is no recording, and replay and repro say so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

STRICT = "-O0 -Wall -Wextra -Wshadow -pedantic -Werror"
# No symptom: the reproducer's calls are what counts here.
SYMPTOM = "none"
# How long calls take, and how often is polled, depends on the machine.
TIME_DEPENDENT = ["EV-70", "EV-71", "EV-72"]
# Devices that are done later than the one of the recording, and in another order.
OTHER_DEVICES = [{"ZEVENT_FAULTS": "slow-engine:factor=3"}, {"ZEVENT_CHAOS": "7"}]


def run(command, expected, environment=None):
    done = subprocess.run(
        command,
        env=dict(os.environ, **(environment or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != expected:
        print("$ " + " ".join(command))
        print(done.stdout)
        sys.exit(f"exit status {done.returncode}, expected was {expected}")
    return done.stdout


def compiles_with_clang(include, repro):
    clang = shutil.which("clang-14") or shutil.which("clang-19") or shutil.which("clang")
    if clang is None:
        return
    sources = [os.path.join(repro, each) for each in os.listdir(repro) if each.endswith(".c")]
    flags = ["-std=c99", "-fsyntax-only", *STRICT.split(), "-isystem", include]
    run([clang, *flags, *sources], 0)


def broken_rules(zevent, trace):
    """The rules that `zevent check` finds broken."""
    report = trace + ".json"
    ignored = [word for rule in TIME_DEPENDENT for word in ("--ignore", rule)]
    checked = [zevent, "check", "--json", "-o", report, *ignored, trace]
    done = subprocess.run(checked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"cannot check {trace}: {done.stdout}")
    with open(report, encoding="utf-8") as file:
        return {each["rule"] for each in json.load(file)["findings"]}


def on_device(environment, device):
    """The program's environment with that of another device; faults of both are on."""
    out = {**(environment or {}), **device}
    both = [each["ZEVENT_FAULTS"] for each in (environment or {}, device) if "ZEVENT_FAULTS" in each]
    if both:
        out["ZEVENT_FAULTS"] = ",".join(both)
    return out


def breaks_no_more_rules(zevent, trace, repro, environment):
    """The reproducer's own recordings have no findings that the program's has not."""
    known = broken_rules(zevent, trace)
    for device in [{}, *OTHER_DEVICES]:
        own = os.path.join(repro, "again.zev")
        record = [zevent, "record", "--driver", "software", "-o", own, "--", os.path.join(repro, "repro")]
        run(record, 0, on_device(environment, device))
        more = broken_rules(zevent, own) - known
        if more:
            subprocess.run([zevent, "check", own], check=False)
            sys.exit(f"the reproducer breaks {sorted(more)} with {device}; the program does not")


def replays_on_other_devices(zevent, trace, record, environment):
    """When the device is done must not matter, in whichever of the two runs."""
    for device in OTHER_DEVICES:
        run([zevent, "replay", "--environment", "own", trace], 0, on_device(environment, device))
    slow = on_device(environment, OTHER_DEVICES[0])
    run(record, 0, slow)
    run([zevent, "replay", "--environment", "own", trace], 0, environment)


def again(zevent, include, options, program, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.zev")
        repro = os.path.join(folder, "repro")
        memory = [] if "--no-memory" in options else ["--memory=results"]
        record = [zevent, "record", "--driver", "software", *memory, "-o", trace, "--", *program]
        if "--empty" in options:
            run(record, 2, environment)
            for command in (["replay", trace], ["repro", "--symptom", SYMPTOM, "-o", repro, trace]):
                print(run([zevent, *command], 2))
            return
        run(record, 0, environment)
        compared = ["--compare", "memory"] if memory else []
        said = run([zevent, "replay", *compared, trace], 125 if "--unknown" in options else 0)
        print(said)
        for wanted in options:
            if not wanted.startswith("--results"):
                continue
            bytes_wanted = wanted.partition("=")[2]
            if f"{bytes_wanted} bytes of memory in ".lstrip() not in said or "have the recorded contents" not in said:
                sys.exit("no memory was compared, or another number of bytes")
            said = run([zevent, "replay", "--symptom", "memory", trace], 0)
            if "have the recorded contents" not in said or "memory is not there" not in said:
                sys.exit("no memory was compared where it is the symptom")
        said = run(
            [zevent, "repro", "--verify", "--symptom", SYMPTOM, "-o", repro, trace],
            0,
            {"CFLAGS": STRICT},
        )
        print(said)
        if "the reproducer makes the same calls in the same order" not in said:
            sys.exit("the reproducer's calls are not those of the recording")
        if "./repro: all calls were made" not in said or "verified: same calls" not in said:
            sys.exit("the reproducer was not run to its end")
        compiles_with_clang(include, repro)
        breaks_no_more_rules(zevent, trace, repro, environment)
        replays_on_other_devices(zevent, trace, record, environment)
        with open(os.path.join(repro, "README.md"), "rb") as file:
            text = file.read()
        if b"\0" in text:
            sys.exit("the README.md is not all text")
        if b"| way in | `loader` |" in text and b"| loader | `/" not in text:
            sys.exit("the README.md does not say which loader it was")


def main():
    zevent, include = sys.argv[1:3]
    split = sys.argv.index("--")
    again(zevent, include, sys.argv[3:split], sys.argv[split + 1 :])


if __name__ == "__main__":
    main()
