"""What a driver hands out: the entries of its dispatch tables, and its functions by name.

    dispatch_tables.py LIBRARY [NAMES_OF]

Prints one line for each table and version (its result, and of each entry whether it is null) and for
each function name (its result, and whether it is null). The names are all that occur in NAMES_OF, by
default LIBRARY. Two libraries that hand out the same print the same. Entries that the table did not
have in that version are left out: Intel's driver writes some of them behind the end of the table.
"""

import ctypes
import json
import pathlib
import re
import sys

MAX_ENTRIES = 128
UNTOUCHED = 0x5A5A5A5A5A5A5A5A
MINOR_VERSIONS = range(0, 18)
HISTORY = json.loads((pathlib.Path(__file__).parents[2] / "scripts/api/table_history.json").read_text())


def names_in(path, pattern):
    with open(path, "rb") as file:
        return sorted({each.decode() for each in re.findall(pattern, file.read())})


def entries_of(getter, minor):
    """How many entries the table has in version 1.minor; as many as there may be where that is not known."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+", getter.removesuffix("ProcAddrTable"))
    name = "_".join([getter.partition("Get")[0], *(word.lower() for word in words[1:]), "dditable_t"])
    sizes = {int(version.partition(".")[2]): size for version, size in HISTORY.get(name, {"1.0": MAX_ENTRIES}).items()}
    return max([(version, size) for version, size in sizes.items() if version <= minor], default=(0, 0))[1]


def print_tables(library, names):
    for name in names:
        if (function := getattr(library, name, None)) is None:
            print(f"table {name}: not exported")
            continue
        for minor in MINOR_VERSIONS:
            table = (ctypes.c_uint64 * MAX_ENTRIES)(*([UNTOUCHED] * MAX_ENTRIES))
            result = function(ctypes.c_uint32((1 << 16) | minor), table) & 0xFFFFFFFF
            entries = "".join("-" if each == UNTOUCHED else "0" if each == 0 else "1" for each in table)
            print(f"table {name} 1.{minor}: {result:#x} {entries[:entries_of(name, minor)].rstrip('-')}")


def first_driver(library):
    count = ctypes.c_uint32(1)
    driver = ctypes.c_void_p()
    if library.zeInit(0) != 0 or library.zeDriverGet(ctypes.byref(count), ctypes.byref(driver)) != 0:
        sys.exit("zeInit or zeDriverGet failed")
    return driver


def print_functions(library, names):
    driver = first_driver(library)
    for name in names:
        address = ctypes.c_void_p()
        result = library.zeDriverGetExtensionFunctionAddress(driver, name.encode(), ctypes.byref(address))
        print(f"function {name}: {result & 0xFFFFFFFF:#x} {'null' if address.value is None else 'handed out'}")


def main():
    path, names_of = sys.argv[1], sys.argv[-1]
    library = ctypes.CDLL(path)
    print_tables(library, names_in(names_of, rb"\bze[rst]?Get[A-Za-z]*ProcAddrTable\b"))
    print_functions(library, names_in(names_of, rb"\bze[rstx]?[A-Z][A-Za-z0-9]{3,60}\b"))


main()
