"""The dependency rule: which part of src/ may include which.

    base <- api <- trace <- model <- {check, replay <- repro <- reduce, report}

driver, recorder, events and launch stand on base and api, and never include each other. The public
headers include only each other, Level Zero and the standard library. tools/ holds no logic: it may
include any part, and no part includes it.
"""

import pathlib
import re
import sys

FOUNDATION = {"base", "api"}
TRACE = FOUNDATION | {"trace"}
MODEL = TRACE | {"model"}
ALLOWED = {
    "base": set(),
    "api": {"base"},
    "launch": FOUNDATION,
    "driver": FOUNDATION,
    "recorder": FOUNDATION,
    "events": FOUNDATION,
    "trace": FOUNDATION,
    "model": TRACE,
    "check": MODEL,
    "replay": MODEL,
    "repro": MODEL | {"replay", "launch"},
    "reduce": MODEL | {"replay", "repro"},
    "report": MODEL,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def sources(folder):
    return (p for p in sorted(folder.rglob("*")) if p.suffix in {".cpp", ".hpp", ".h", ".c"})


def violations(root):
    src = root / "src"
    for part_folder in sorted(p for p in src.iterdir() if p.is_dir()):
        part = part_folder.name
        if part not in ALLOWED:
            yield f"src/{part} is not named in the dependency rule; add it to {__file__}"
            continue
        for path in sources(part_folder):
            for _, target in INCLUDE.findall(path.read_text()):
                other = target.split("/")[0]
                if "/" in target and other in ALLOWED and other != part:
                    if other not in ALLOWED[part]:
                        yield f"{path.relative_to(root)} includes {target}: {part} may not know {other}"
    for path in sources(root / "include"):
        for quote, target in INCLUDE.findall(path.read_text()):
            folder = target.split("/")[0]
            if (quote == '"' and folder != "zevent") or folder in {"fmt", "tl"} | set(ALLOWED):
                yield f"{path.relative_to(root)} includes {target}: public headers stand alone"


def self_test():
    """A rule that could not be broken would prove nothing."""
    assert INCLUDE.findall('#include "trace/reader.hpp"\n') == [('"', "trace/reader.hpp")]
    assert "recorder" not in ALLOWED["driver"] and "driver" not in ALLOWED["recorder"]
    assert "trace" not in ALLOWED["recorder"] and "model" not in ALLOWED["trace"]


def main():
    self_test()
    found = list(violations(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line)
    print(f"dependency rule: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
