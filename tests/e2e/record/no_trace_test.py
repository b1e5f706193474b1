"""Without a trace, `zevent record` and what is built on it do not end with 0.

    no_trace_test.py CASE ZEVENT PROGRAM RULE_PROGRAMS

PROGRAM makes calls and prints; RULE_PROGRAMS makes none when it lists its programs.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

zevent, program, rule_programs = "", "", ""


def expect(holds, what, *shown):
    if not holds:
        print(*shown, sep="\n")
        sys.exit(f"FAILED: {what}")


def run(folder, *words, status, environment=None):
    done = subprocess.run(
        [zevent, *map(str, words)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
    )
    expect(done.returncode == status, f"{words} ended with {done.returncode}, expected {status}",
           done.stdout, done.stderr)
    return done


def case_refused():
    """What cannot be recorded is not started, and an older trace stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        old = pathlib.Path(folder, "old.zev")
        old.write_bytes(b"older")
        for words, said in (
            (["-o", "absent/t.zev"], "absent/t.zev.parts: No such file or directory"),
            (["-o", "/proc/t.zev"], "/proc/t.zev.parts"),
            (["-o", "old.zev", "--driver", "/absent.so"], "/absent.so"),
            (["-o", "old.zev", "--driver", "./old.zev"], "cannot load the driver ./old.zev"),
            (["-o", "old.zev", "--driver", "libm.so.6"], "not a Level Zero driver"),
        ):
            for verb in ("record", "profile"):
                done = run(folder, verb, *words, "--", program, status=2)
                expect(done.stdout == "", f"{verb} {words}: the program ran", done.stdout)
                expect(said in done.stderr, f"{verb} {words}: {said!r} is not said", done.stderr)
                expect(len(done.stderr.splitlines()) == 1, "one line", done.stderr)
        expect(old.read_bytes() == b"older", "the older trace was touched")
        expect(os.listdir(folder) == ["old.zev"], "something was left behind", os.listdir(folder))
        missing = {"ZEVENT_DRIVER": "/absent.so"}
        for words in (["record", "-o", "t.zev"], ["profile"], ["check"]):
            done = run(folder, *words, "--", program, status=2, environment=missing)
            expect(done.stdout == "" and "/absent.so" in done.stderr, f"{words}", done)


def case_or_run():
    """--or-run runs the program all the same, and its status is the program's."""
    with tempfile.TemporaryDirectory() as folder:
        for verb in ("record", "profile"):
            done = run(folder, verb, "--or-run", "-o", "absent/t.zev", "--", program, status=0)
            expect("came back" in done.stdout, f"{verb}: the program did not run", done.stdout)
            expect("nothing is recorded" in done.stderr, f"{verb}: it is not said", done.stderr)
            done = run(folder, verb, "--or-run", "-o", "t.zev", "--", "true", status=0)
            expect("no call was recorded" in done.stderr, f"{verb}: it is not said", done.stderr)


def case_no_call():
    """A program without calls is an error, and no older trace is left to be taken for its own."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "t.zev")
        for words in (["record", "-o", "t.zev"], ["profile", "-o", "t.zev"]):
            run(folder, "record", "-q", "-o", "t.zev", "--", program, status=0)
            done = run(folder, *words, "--", "true", status=2)
            expect("no call was recorded" in done.stderr, f"{words}", done.stderr)
            expect(not trace.exists(), f"{words}: the older trace is still there")
            expect("earlier run" in done.stderr, "its removal is said", done.stderr)
            run(folder, "check", "t.zev", status=2)
            run(folder, *words, "--", "sh", "-c", "exit 5", status=5)
        run(folder, "check", "--", "true", status=2)
        run(folder, "run", "--check", "--", "true", status=2)
        run(folder, "run", "--check", "--", "sh", "-c", "exit 5", status=5)
        expect(not os.listdir(folder), "something was left behind", os.listdir(folder))
        # A run that is recorded replaces it.
        trace.write_bytes(b"older")
        run(folder, "record", "-q", "-o", "t.zev", "--", program, status=0)
        run(folder, "show", "t.zev", status=0)


def static_program():
    """A program for x86-64 that ends with 0, linked to nothing: exit(0) and the headers around it."""
    code = bytes.fromhex("31ff" "b83c000000" "0f05")  # xor edi, edi; mov eax, 60; syscall
    header, segment = 64, 56
    start = 0x400000 + header + segment
    size = header + segment + len(code)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    elf = ident + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, start, header, 0, 0, header, segment, 1, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 0x1000)
    return elf + load + code


def case_hints():
    """The message says what kind of program it is."""
    with tempfile.TemporaryDirectory() as folder:
        def make(name, content, mode=0o755):
            path = pathlib.Path(folder, name)
            path.write_bytes(content)
            path.chmod(mode)
            return f"./{name}"

        def hint(*command, status=2):
            return run(folder, "record", "--", *command, status=status).stderr

        for command, said in (
            (["true"], "neither true nor a library that it is linked to uses libze_loader.so.1"),
            ([make("script", b"#! /bin/sh\ntrue\n")], "./script is a script (/bin/sh)"),
            ([make("static", static_program())], "./static is statically linked"),
            ([rule_programs, "--list"], "but ended before its first call"),
        ):
            told = hint(*command)
            expect(f"zevent: record: no call was recorded: " in told, f"{command}", told)
            expect(said in told, f"{command}: {said!r} is not said", told)
        if os.geteuid() == 0:
            shutil.copy(shutil.which("true"), os.path.join(folder, "privileged"))
            os.chown(os.path.join(folder, "privileged"), 12345, 0)
            os.chmod(os.path.join(folder, "privileged"), 0o4755)
            os.chmod(folder, 0o755)
            told = hint("./privileged")
            expect("runs with other rights (set-uid)" in told, "a set-uid program", told)


if __name__ == "__main__":
    case, zevent, program, rule_programs = sys.argv[1:5]
    globals()[f"case_{case}"]()
