"""Installs zevent into a temporary prefix, and verifies a reproducer from there.

    installed_test.py CMAKE BUILD PROGRAM

The compiler that it calls is told of the installed headers and of nothing in the build tree: a cc that
comes first in PATH notes what it was given.
"""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

COMPILER = """#!/bin/sh
echo "$@" >> "$COMPILER_LOG"
exec "$REAL_COMPILER" "$@"
"""


def main():
    cmake, build, program = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        zevent = prefix / "bin" / "zevent"
        headers = prefix / "include" / "zevent-level-zero"
        if "MIT License" not in (headers / "LICENSE").read_text():
            sys.exit("the headers were installed without their licence")

        (folder / "bin").mkdir()
        compiler = folder / "bin" / "cc"
        compiler.write_text(COMPILER)
        compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
        shutil.copy(program, folder / "program")
        log = folder / "compiler.log"
        environment = dict(
            os.environ,
            PATH=f"{folder}/bin:{os.environ['PATH']}",
            COMPILER_LOG=str(log),
            REAL_COMPILER=shutil.which("cc"),
        )

        def run(*words):
            done = subprocess.run(
                [zevent, *words], cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
            print("$ zevent", *words, "\n" + done.stdout)
            return done

        if run("record", "--driver", "software", "-o", "t.zev", "--", "./program").returncode != 0:
            sys.exit("it does not record")
        done = run("repro", "--verify", "--symptom", "none", "-o", "repro", "t.zev")
        if done.returncode != 0 or "verified: same calls" not in done.stdout:
            sys.exit(f"status {done.returncode}")
        called = log.read_text()
        if f'-isystem {headers}' not in called:
            sys.exit(f"the compiler was not given the installed headers:\n{called}")
        if build in called:
            sys.exit(f"the compiler was given the build tree:\n{called}")


main()
