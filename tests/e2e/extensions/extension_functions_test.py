"""Records programs on a driver that hands functions out by name, some of which no header declares.

    extension_functions_test.py ZEVENT DRIVER PROGRAM

Expected: functions of our own header are recorded with their arguments, shown, understood by `check`,
replayed and written as C; functions that nothing declares are counted and named by `summary`, and rules
that would have to know what they did say nothing, and say that, once one was called.
"""

import json
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(__file__), "../replay"))
from commands import expect  # noqa: E402


def main():
    zevent, driver, program = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:

        def zev(words, status=0, texts=()):
            return expect(zevent, words, status, texts, folder, dict(os.environ))

        def record(case):
            trace = f"{case}.zev"
            zev(["record", "--driver", driver, "--memory=results", "-o", trace, "--", program, case])
            return trace

        trace = record("paused")
        zev(["show", trace], 0, [
            "zeCommandListBeginGraphCaptureExp(hCommandList=command_list_0, pNext=null) → SUCCESS",
            "zeGraphPauseCaptureExt(hGraph=graph_0) → SUCCESS",
            "desc={writeScope=DEVICE}, ptr=memory_0, data=42) → SUCCESS",
            "zexCommandListAppendWaitOnMemory64(hCommandList=command_list_0, desc={actionFlag=EQUAL, ",
            "srcptr=memory_0, size=4096, pNext=null, numWaitEvents=1, phWaitEvents=[event_1], hSignalEvent=event_2",
        ])
        if "not recorded" in zev(["summary", trace]):
            sys.exit("a function of our own header was passed through")
        zev(["check", trace], 0, ["nothing found"])
        zev(["replay", "--driver", driver, trace], 0, ["with the recorded result"])
        zev(["replay", "--driver", "software", trace], 125, ["the function zexCommandListAppendWriteToMemory"])
        repro = ["repro", "--verify", "--symptom", "none", "--driver", driver, "-o", "repro", trace]
        zev(repro, 0, ["the reproducer makes the same calls", "verified: same calls"])

        trace = record("paused_in_an_unknown_way")
        zev(["summary", trace], 0, [
            "not recorded: zeGraphContinueFuture, handed out and not called",
            "not recorded: zeGraphSuspendFuture, 1 call",
        ])
        # The warning that something was passed through stands before the object.
        text = zev(["summary", "--json", trace])
        passed = json.loads(text[text.index("{"):])["processes"][0]["not_recorded"]
        if {"function": "zeGraphSuspendFuture", "calls": 1} not in passed:
            sys.exit(f"'summary --json' says {passed}")
        checked = zev(["check", trace], 0, ["calls of zeGraphSuspendFuture did is not known", "EV-66"])
        if "The host waits for work" in checked:
            sys.exit("EV-66 is judged although an unknown function may have paused the capture")

        trace = record("captured")
        zev(["check", trace], 1, ["EV-66", "is capturing a graph since"])


if __name__ == "__main__":
    main()
