"""What replay and repro say to somebody in a hurry.

    impatient_user_test.py ZEVENT PROGRAM ASKS_DEVICES

PROGRAM waits for an event, ASKS_DEVICES asks for all devices. Expected: wrong words on the command line are named and end with status 2,
what cannot be opened or written too, what cannot be run with 125, each with one line that says why; a symptom is read the same way by check,
replay and repro; nothing of the user's is overwritten; Ctrl-C leaves no process behind, and nothing
leaves a temporary file.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from commands import expect

USAGE, CANNOT_OPEN, CANNOT_WRITE, COULD_NOT_RUN = 2, 2, 2, 125


class Trial:
    def __init__(self, zevent, folder):
        self.zevent, self.folder = zevent, folder
        self.temporary = os.path.join(folder, "tmp")
        os.mkdir(self.temporary)
        self.environment = dict(os.environ, TMPDIR=self.temporary)

    def path(self, name):
        return os.path.join(self.folder, name)

    def output(self, words, status, *texts, environment=None):
        environment = environment or self.environment
        return expect(self.zevent, words, status, texts, self.folder, environment)

    def run(self, words, status, *texts, environment=None):
        said = self.output(words, status, *texts, environment=environment)
        if status in (USAGE, COULD_NOT_RUN) and len(said.splitlines()) != 1:
            sys.exit(f"more than one line of complaint:\n{said}")


def wrong_words(trial):
    for verb in ("replay", "repro"):
        trial.run([verb], USAGE, "TRACE is required", f"zevent {verb} --help")
        trial.run([verb, "--frobnicate", "t.zev"], USAGE, "--frobnicate")
        trial.run([verb, "t.zev", "other"], USAGE, "other")
        trial.run([verb, "--until", "-1", "t.zev"], USAGE, "'-1' is not a whole number")
        trial.run([verb, "--until", "last", "t.zev"], USAGE, "'last' is not a whole number")
        trial.run([verb, "--process", "5", "t.zev"], USAGE, "there is no process 5")
        trial.run([verb, "--process", "0", "t.zev"], USAGE, "there is no process 0")
        trial.run([verb, "--process", "one", "t.zev"], USAGE, "'one' is not a whole number")
        trial.run([verb, "nowhere.zev"], CANNOT_OPEN, "No such file")
        trial.run([verb, "empty"], CANNOT_OPEN, "not a zevent trace")
        trial.run([verb, "nothing"], CANNOT_OPEN, "is a folder, and no recording")
    trial.run(["replay", "--timeout", "soon", "t.zev"], USAGE, "'soon' is not a duration")
    trial.run(["replay", "--timeout", "0s", "t.zev"], USAGE, "'0s' is not a duration")
    trial.run(["replay", "--pace", "slow", "t.zev"], USAGE, "slow")
    trial.run(["replay", "--driver", "/nowhere.so", "t.zev"], COULD_NOT_RUN, "cannot load the driver")
    trial.run(["replay", "--driver", "libm.so.6", "t.zev"], COULD_NOT_RUN, "it has no zeInit")


def symptoms(trial):
    for verb in ("check", "replay", "repro"):
        line = [verb] + (["-o", "symptom"] if verb == "repro" else [])
        for wrong, said in {
            "slow": "'slow' is not a symptom",
            "zeInit>5": "'5' is not a duration",
            "zeInti>1ms": "no function 'zeInti'",
            "zeInit result=SUCESS": "'SUCESS' is not the name of a result",
            "crash=SIGNONE": "'SIGNONE' is not a signal",
            "exit=999": "not an exit status",
        }.items():
            trial.run([*line, "--symptom", wrong, "t.zev"], USAGE, said)
    trial.run(["replay", "--symptom", "exit=3", "t.zev"], USAGE, "with which a program ends")
    trial.run(["check", "--symptom", "exit=3", "t.zev"], 0, "the symptom exit=3 is not there")
    trial.run(["check", "--symptom", "exit=0", "t.zev"], 1, "exit status 0", "is there")
    for verb in ("check", "replay"):
        for text in ("hang", "crash", "zeInit result=ERROR_DEVICE_LOST", "99>1s", "zeEvent*>1000s"):
            trial.run([verb, "--symptom", text, "t.zev"], 0, f"the symptom {text} is not there")
        trial.run([verb, "--symptom", "zeInit result=SUCCESS", "t.zev"], 1, "is there")
    line = ["repro", "-o", "symptom"]
    trial.run([*line, "--symptom", "99>1s", "t.zev"], COULD_NOT_RUN, "has no call 99")
    trial.run([*line, "--until", "3", "--symptom", "5>1s", "t.zev"], COULD_NOT_RUN, "leaves out call 5")
    trial.run([*line, "--symptom", "hang", "t.zev"], 0, "no call of the recording shows")
    trial.run([*line, "--symptom", "zeInit result=SUCCESS", "t.zev"], 0, "symptom zeInit result=SUCCESS")


def folders(trial):
    os.mkdir(trial.path("mine"))
    open(trial.path("mine/file"), "w").close()
    trial.run(["repro", "-o", "mine", "t.zev"], CANNOT_WRITE, "has other things in it")
    trial.run(["repro", "-o", "empty", "t.zev"], CANNOT_WRITE, "is not a folder")
    trial.run(["repro", "-o", "", "t.zev"], CANNOT_WRITE, "has no name")
    trial.run(["repro", "-o", "t.zev/sub", "t.zev"], CANNOT_WRITE, "cannot make")
    trial.run(["repro", "--symptom", "none", "-o", "again", "t.zev"], 0)
    trial.run(["repro", "--symptom", "none", "-o", "again", "t.zev"], 0)
    if os.listdir(trial.path("mine")) != ["file"]:
        sys.exit("something was written to a folder that had things in it")
    os.makedirs(trial.path("by_hand/data"))
    with open(trial.path("by_hand/repro.c"), "w") as file:
        file.write("int main(void) { return 0; }\n")
    trial.run(["repro", "-o", "by_hand", "t.zev"], CANNOT_WRITE, "has other things in it")
    if sorted(os.listdir(trial.path("by_hand"))) != ["data", "repro.c"]:
        sys.exit("somebody's own repro.c was taken for one of ours")


def names(trial):
    """Folders may have any name, and variables any value."""
    strange = dict(trial.environment, ZET_ENABLE_METRICS="it's | odd")
    trial.output(["record", "--driver", "software", "-o", "odd.zev", "--", trial.program], 0, environment=strange)
    for name in ("a b", "it's", "$(echo)", "x;y", "(z)", "über"):
        trial.output(["repro", "--verify", "--symptom", "none", "-o", name, "odd.zev"], 0, "verified: same calls")
        with open(trial.path(name) + "/README.md") as file:
            text = file.read()
        if "ZET_ENABLE_METRICS='it'\\''s | odd' ./repro" not in text or "| `it's \\| odd` |" not in text:
            sys.exit(f"a variable's value is not quoted:\n{text}")


def full_disk(trial):
    with open("/dev/full", "w") as full:
        done = subprocess.run([trial.zevent, "replay", trial.path("t.zev")], stdout=full, stderr=subprocess.PIPE)
    if done.returncode != CANNOT_WRITE or b"cannot write the output" not in done.stderr:
        sys.exit(f"output that cannot be written: status {done.returncode}, {done.stderr}")
    for words in (["replay", trial.path("t.zev")], ["replay", "nowhere.zev"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([trial.zevent, *words], stdout=full, stderr=full)
        if done.returncode != CANNOT_WRITE:
            sys.exit(f"neither output nor complaint can be written: status {done.returncode}")


def children_of(process_id):
    with open(f"/proc/{process_id}/task/{process_id}/children") as file:
        return file.read().split()


def makes_calls(process_id):
    """Whether the process has given the device something to do: another child only asks what there is."""
    try:
        tasks = os.listdir(f"/proc/{process_id}/task")
        names = [open(f"/proc/{process_id}/task/{each}/comm").read().strip() for each in tasks]
    except OSError:  # it has ended
        return False
    return "zevent-engine" in names


def interrupted(trial):
    lost = dict(trial.environment, ZEVENT_FAULTS="completion-lost:after=0")
    command = [trial.zevent, "replay", "--environment", "own", "--timeout", "1000s", trial.path("t.zev")]
    process = subprocess.Popen(command, env=lost, stdout=subprocess.PIPE)
    seen = []
    while not seen:
        if process.poll() is not None:
            sys.exit("it did not hang")
        seen = [each for each in children_of(process.pid) if makes_calls(each)]
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait()
    if process.returncode != -signal.SIGINT:
        sys.exit(f"Ctrl-C ended it with {process.returncode}")
    for each in seen:
        while os.path.exists(f"/proc/{each}") and " Z " not in open(f"/proc/{each}/stat").read():
            time.sleep(0.01)


def reproducer(trial):
    # A call that is not made in a run that fails has no time in it.
    shown = ["repro", "--verify", "--symptom", "zeEventHostSynchronize>1ns", "-o", "shown", "t.zev"]
    trial.run(shown, 0, "verified: same symptom")
    repeated = ["--", "shown/repro", "--repeat", "3"]
    trial.run(["run", *repeated], 1, "shown in 3 of 3 runs", ", min ", ", median ", ", max ")
    done = trial.output(["run", "--fault", "event-create-fails", *repeated], COULD_NOT_RUN)
    if ", never made" not in done or "3 runs could not be run" not in done or "min" in done:
        sys.exit(f"runs that failed:\n{done}")
    # What waits for ever here did not in the recording, and ends all the same.
    lost = ["run", "--fault", "completion-lost:0", "--", "shown/repro", "--timeout", "2"]
    trial.output(lost, COULD_NOT_RUN, "the calls were not over in 2 s")
    trial.output(["run", "--", "shown/repro", "--repeat", "often"], USAGE, "usage: ")
    nowhere = ["repro", "--verify", "--driver", "/nowhere.so", "--symptom", "none", "-o", "no", "t.zev"]
    trial.output(nowhere, COULD_NOT_RUN, "there is no driver /nowhere.so")
    missed = ["repro", "--verify", "--symptom", "zeEventHostSynchronize>1000s", "-o", "missed", "t.zev"]
    trial.run(missed, 1, "not verified: the symptom was not shown")
    with open(trial.path("shown/README.md")) as file:
        text = file.read()
    if "devices, parts of devices included" in text:
        sys.exit("the README.md asks for more devices than one")
    if not re.search(r"loader of API 1\.0 or later\n- Level Zero headers of API 1\.[1-9]", text):
        sys.exit(f"the README.md does not say of which API loader and headers have to be:\n{text}")
    many = dict(trial.environment, ZEVENT_DEVICES="3")
    trial.run(["record", "--driver", "software", "-o", "many.zev", "--", trial.asks_devices], 0, environment=many)
    trial.run(["repro", "--symptom", "none", "-o", "many", "many.zev"], 0)
    with open(trial.path("many/README.md")) as file:
        if "- 3 devices, parts of devices included" not in file.read():
            sys.exit("the README.md does not say that it needs three devices")


def memory(trial):
    results = "'zevent record --memory=results' keeps"
    unknown = "whether memory differs is not known"
    nothing = ("no memory was compared", results)
    trial.output(["replay", "--symptom", "memory", "t.zev"], COULD_NOT_RUN, *nothing, unknown)
    trial.output(["replay", "--compare", "memory", "t.zev"], COULD_NOT_RUN, *nothing)
    # A reproducer that could never show its symptom is not written.
    trial.run(["repro", "--symptom", "memory", "-o", "unseen", "t.zev"], COULD_NOT_RUN, "no memory to compare")
    if os.path.exists(trial.path("unseen")):
        sys.exit("a reproducer was written that compares nothing")
    # Whoever has asked for it is not told to: here the device writes to its own memory, and to a stack. A
    # replay sees what the device has, a reproducer does not.
    record = ["record", "--driver", "software", "--memory=results", "-o", "results.zev", "--", trial.program]
    trial.run(record, 0)
    trial.run(["replay", "--compare", "memory", "results.zev"], 0, "in 1 allocation have the recorded contents")
    wanted = ["repro", "--symptom", "memory", "-o", "unseen", "results.zev"]
    trial.run(wanted, COULD_NOT_RUN, "no memory to compare", "only in memory of the device")


def main():
    zevent, program, asks_devices = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(zevent, folder)
        trial.program, trial.asks_devices = program, asks_devices
        open(trial.path("empty"), "w").close()
        os.mkdir(trial.path("nothing"))
        trial.run(["record", "--driver", "software", "-o", "t.zev", "--", program], 0)
        for part in (wrong_words, symptoms, memory, folders, names, full_disk, interrupted, reproducer):
            part(trial)
        verified = ["repro", "--verify", "--symptom", "none", "-o", "verified", "t.zev"]
        trial.run(verified, 0, "verified: same calls")
        if os.listdir(trial.temporary):
            sys.exit(f"left behind: {os.listdir(trial.temporary)}")


main()
