"""Records two processes that share an event by IPC, replays them, and writes them as C.

    ipc_pair_test.py ZEVENT PRODUCER CONSUMER

Expected: both are replayed together with the recorded results, and the C program has both and makes
the same calls. Of one alone: the one that opens the other's handle is not replayed or written as C
before it is said which call cannot be made, why, and how to go on; which then works. The other one is
replayed, and it is said what is left out. Where the producer's signal is lost, it is said which call of
which process would have had to signal the event.
"""

import os
import re
import subprocess
import sys
import tempfile


def run(command, expected):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print("$ " + " ".join(command))
    print(done.stdout)
    if done.returncode != expected:
        sys.exit(f"exit status {done.returncode}, expected was {expected}")
    return done.stdout


def expect(text, pattern):
    found = re.search(pattern, text)
    if found is None:
        sys.exit(f"'{pattern}' was not said")
    return found


def main():
    zevent, producer, consumer = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.zev")
        socket = os.path.join(folder, "socket")
        both = f"'{producer}' {socket} & '{consumer}' {socket} && wait"
        run([zevent, "record", "--driver", "software", "-o", trace, "--", "sh", "-c", both], 0)
        said = run([zevent, "replay", trace], 0)
        opener = expect(said, r"process (\d+) \(\S*ipc_consumer")[1]
        owner = expect(said, r"process (\d+) \(\S*ipc_producer")[1]
        # One number for one process, whichever verb prints or takes it.
        expect(run([zevent, "show", trace, f"process {opener}"], 0), "OpenIpcHandle")
        expect(run([zevent, "summary", trace], 0), rf"P{owner} .*ipc_producer")
        reproducer = os.path.join(folder, "both")
        verified = [zevent, "repro", "--verify", "--symptom", "none", "-o", reproducer, trace]
        expect(run(verified, 0), "the reproducer makes the same calls in the same order")

        os.environ["ZEVENT_FAULTS"] = "completion-lost:after=0"
        lost = ["--environment", "own", "--timeout", "3s"]
        said = run([zevent, "replay", *lost, trace], 1)
        expect(said, rf"of process {opener} is stuck in call \d+ zeEventHostSynchronize")
        expect(said, rf"is signalled by call \d+ \S+MemoryFill of process {owner} \(made\)")
        del os.environ["ZEVENT_FAULTS"]

        hindrance = rf"call \d+ opens an IPC handle of process {owner} .* from its call \d+"
        for verb in (["replay"], ["repro", "-o", os.path.join(folder, "no")]):
            said = run([zevent, *verb, "--process", opener, trace], 125)
            expect(said, hindrance)
            until = expect(said, r"'--until (\d+)'")[1]
        chosen = ["--process", opener, "--until", until]
        run([zevent, "replay", *chosen, trace], 0)
        run([zevent, "repro", "-o", os.path.join(folder, "yes"), *chosen, trace], 0)
        said = run([zevent, "replay", "--anyway", "--process", opener, trace], 1)
        expect(said, r"IpcHandle: SUCCESS in the recording")

        said = run([zevent, "replay", "--process", owner, trace], 0)
        expect(said, rf"puts out an IPC handle that process {opener} .* is left out")


main()
