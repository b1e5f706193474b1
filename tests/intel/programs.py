"""The programs that are tried: every example, every small program of the tests, every rule program."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e" / "faults"))

from sweep_every_program import examples, other_programs, rule_programs, small_programs  # noqa: E402

# Two processes that share an event, each recorded.
IPC_PAIR = 'rm -f socket; "$0" socket & "$1" socket; status=$?; wait $!; exit $((status + $?))'


def ipc_pair(build):
    yield ["sh", "-c", IPC_PAIR] + [str(build / "examples" / name) for name in ("ipc_producer", "ipc_consumer")]


def name_of(command):
    if command[0] == "sh":
        return "ipc_producer+ipc_consumer"
    return " ".join([pathlib.Path(command[0]).name] + command[1:])


def all_programs(build):
    """Pairs of a name and a command."""
    for group in (examples, ipc_pair, small_programs, other_programs, rule_programs):
        for command in group(build):
            if not command[0].startswith(sys.executable):
                yield name_of(command), command
