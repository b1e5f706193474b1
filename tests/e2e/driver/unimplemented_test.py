"""Prints which functions of the API the driver does not implement: they return UNSUPPORTED_FEATURE.

Usage: unimplemented_test.py <driver_entry.hpp> <archive of the driver's objects>
Fails when a function that the driver promises to have is among them.
"""

import re
import subprocess
import sys

# What no Level Zero program can do without; the rest is reported.
PROMISED = re.compile(
    r"ze(Init|Driver|Context|CommandQueue|Fence|Event|Mem(Alloc|Free|Get(Alloc|Address|Ipc\w*Handle$))|"
    r"VirtualMem|PhysicalMem|DeviceGet(Properties|Global|Command|Memory|Compute|Module|SubDev)|"
    r"CommandList(Create$|CreateImm|Destroy|Close|Reset|Host|Get(Dev|Con|Ord|Flags|Next)|Immediate|Is(Imm|Mut)|"
    r"UpdateMutable|CreateClone|Append(Barrier|Mem|Signal(Event)|Wait(On)|Event|Write|Query|Host)))")
NOT_PROMISED = re.compile(r"RTAS|Graph|Image|FromFileDescriptor|AtomicAccess|WithProperties")


def main():
    header, archive = sys.argv[1:]
    with open(header) as file:
        declared = re.findall(r"^\S.*? (ze[a-z]?[A-Z]\w+)\(", file.read(), re.M)
    symbols = subprocess.run(["nm", "--demangle", "--defined-only", archive], check=True,
                             capture_output=True, text=True).stdout
    # As an entry, or the exported function itself.
    defined = set(re.findall(r" T (?:zevent::driver::entry::)?(ze\w+)(?:\(|$)", symbols, re.M))
    missing = [name for name in declared if name not in defined]
    print(f"{len(declared) - len(missing)} of {len(declared)} functions are implemented; not:")
    for prefix, title in (("ze", "core"), ("zer", "runtime"), ("zex", "experimental"),
                          ("zet", "tools"), ("zes", "system management")):
        names = [n for n in missing if re.match(prefix + "[A-Z]", n)]
        print(f"\n{title} ({len(names)}):")
        for name in names:
            print(f"  {name}")
    broken = [n for n in missing if PROMISED.match(n) and not NOT_PROMISED.search(n)]
    if broken:
        sys.exit("promised but not implemented: " + ", ".join(broken))


if __name__ == "__main__":
    main()
