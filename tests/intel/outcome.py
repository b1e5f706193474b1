"""How one run of a command ended, and what it wrote."""

import os
import re
import shlex
import signal
import subprocess
import time

# What differs from run to run although nothing is different: addresses, times, process ids, and what
# zevent itself says.
VARYING = [
    (re.compile(r"^zevent: .*\n?", re.M), ""),
    (re.compile(r"0x[0-9a-f]{6,}"), "ADDRESS"),
    (re.compile(r"after \d+ us|at once"), "SOON"),  # how long blocking_query's query took
    (re.compile(r"\b\d+(\.\d+)? ?(ns|us|ms|s)\b"), "TIME"),
]


def without_varying(text):
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


class Outcome:
    """Of a process: its exit status (negative: the signal that ended it), or that it hung."""

    def __init__(self, command, environment, folder, label, timeout):
        self.command, self.environment = command, environment
        self.stdout, self.stderr = self.files = [
            os.path.join(folder, f"{label}.{stream}") for stream in ("out", "err")
        ]
        start = time.monotonic()
        with open(self.stdout, "wb") as out, open(self.stderr, "wb") as err:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                self.status, self.hung = process.wait(timeout), False
            except subprocess.TimeoutExpired:
                self.status, self.hung = 0, True
            try:
                os.killpg(process.pid, signal.SIGKILL)  # also what it left behind
            except ProcessLookupError:
                pass
            process.wait()
        self.seconds = time.monotonic() - start
        if self.status > 128:  # as a shell says it
            self.status = 128 - self.status
        self.out, self.err = (open(file, errors="replace").read() for file in self.files)

    @property
    def ending(self):
        if self.hung:
            return "hung"
        if self.status < 0:
            return signal.Signals(-self.status).name
        return f"status {self.status}"

    @property
    def text(self):
        return self.out + self.err

    def shell_line(self):
        keys = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return " ".join([*keys, shlex.join(self.command)])
