"""The driver has every function that the installed loader exports, so that it can stand in for it.

Usage: loader_names_test.py <loader> <driver>
"""

import re
import subprocess
import sys

# What the loader's own libraries say to each other.
INTERNAL = re.compile(r"zelLoader(DriverCheck|\w+Internal)|zeLoader(Init|GetTracingHandle)")


def exports(library):
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    return set(re.findall(r" [TW] (ze[a-z]?[A-Z]\w+)", symbols))


def main():
    loader, driver = (exports(library) for library in sys.argv[1:])
    missing = sorted(n for n in loader - driver if not INTERNAL.match(n))
    print(f"{len(loader)} functions in the loader, {len(driver)} in the driver")
    if missing or not loader:
        sys.exit("the driver lacks: " + ", ".join(missing))


if __name__ == "__main__":
    main()
