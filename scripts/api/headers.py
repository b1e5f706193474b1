"""Reads the Level Zero headers with libclang: functions, types and dispatch tables as declared,
each with the documentation that stands beside it."""

import ctypes
import glob
import os
import re
from dataclasses import dataclass, field

from clang import cindex
from clang.cindex import CursorKind, TypeKind

# The APIs in the order in which their headers include each other. Each has <name>_api.h and
# <name>_ddi.h; old header sets lack some.
APIS = ("ze", "zer", "zet", "zes")


@dataclass
class Parameter:
    name: str
    type: cindex.Type
    tags: list  # as written: "in", "optional", "range(0, numWaitEvents)", …
    text: str   # the rest of the comment


@dataclass
class Function:
    name: str
    api: str
    result: str         # spelling of the result type
    parameters: list
    documentation: list  # lines of the comment, without the comment marks


@dataclass
class Slot:
    field: str     # pfnCreate
    function: str  # zeEventCreate


@dataclass
class Table:
    name: str      # ze_event_dditable_t
    api: str
    slots: list
    getter: str = ""  # zeGetEventProcAddrTable


@dataclass
class Enumeration:
    name: str
    api: str
    values: list    # (name, value, comment), as declared


@dataclass
class Record:
    """A struct or a union."""
    name: str
    api: str
    is_union: bool
    type: cindex.Type
    fields: list    # of Parameter


@dataclass
class Headers:
    version: int = 0   # ZE_API_VERSION_CURRENT, major << 16 | minor
    functions: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    driver_tables: dict = field(default_factory=dict)  # ze_dditable_driver_t -> [(field, table)]
    enumerations: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    typedefs: dict = field(default_factory=dict)  # name -> cindex.Type, of those that are neither
    aliases: dict = field(default_factory=dict)   # second name of a struct or enum -> its first
    left_out: dict = field(default_factory=dict)  # function -> why: not expressible, passed through
    newer: set = field(default_factory=set)       # functions that table_history.json does not know
    recorded_only: set = field(default_factory=set)  # names of functions that our driver does not have

    def record_of(self, type_name):
        """The record that a type name stands for, or None."""
        return self.records.get(self.aliases.get(type_name, type_name))

    def enumeration_of(self, type_name):
        return self.enumerations.get(self.aliases.get(type_name, type_name))

    def leave_out(self, function, why):
        """The recorder hands out the driver's own function; the software driver has none."""
        self.functions.pop(function, None)
        self.left_out[function] = why


def load_libclang():
    """Points the binding at a libclang that it understands, the newest one that does: the numbers of the
    kinds of cursors change from version to version, and the binding does not say of which it is."""
    if cindex.Config.loaded or cindex.Config.library_file:
        return
    found = [path for path in glob.glob("/usr/lib/llvm-*/lib/libclang*.so*") + glob.glob("/usr/lib/*/libclang*.so*")
             if re.search(r"/libclang(-\d+)?\.so(\.\d+)*$", path)]
    found.sort(key=lambda path: [int(each) for each in re.findall(r"\d+", path)], reverse=True)
    for path in found:
        if understands(path):
            return
    raise SystemExit("generate.py: " + (
        f"the Python binding of libclang fits none of {', '.join(found)}; install the libclang1-N of the "
        "same version as python3-clang-N" if found else
        "no libclang found under /usr/lib/llvm-*/lib; install a package libclang1-N, such as libclang1-14"))


def understands(path):
    """Whether the binding, which uses that library from now on, reads a declaration with it."""
    cindex.Config.library_file = path
    cindex.Config.loaded = False
    cindex.conf = cindex.Config()
    try:
        unit = cindex.Index.create().parse("a.c", unsaved_files=[("a.c", "int f(const char* a);")])
        kinds = [each.kind for each in unit.cursor.walk_preorder()]
    except (OSError, ValueError, AttributeError, cindex.LibclangError, cindex.TranslationUnitLoadError):
        return False
    return kinds == [cindex.CursorKind.TRANSLATION_UNIT, cindex.CursorKind.FUNCTION_DECL,
                     cindex.CursorKind.PARM_DECL]


def read_headers(include_dir, zex_header, recorded_header):
    """Parses the headers of `include_dir` (which holds level_zero/) and our own two as one translation
    unit."""
    load_libclang()
    present = [api for api in APIS
               if os.path.exists(os.path.join(include_dir, "level_zero", f"{api}_api.h"))]
    if "ze" not in present:
        raise SystemExit(f"generate.py: no level_zero/ze_api.h under {include_dir}")
    lines = [f'#include <level_zero/{api}_{kind}.h>' for api in present for kind in ("api", "ddi")]
    lines += [f'#include "{os.path.abspath(each)}"' for each in (zex_header, recorded_header)]
    unit = cindex.Index.create().parse(
        "all.c", args=["-x", "c", "-std=c11", f"-I{include_dir}"] + builtin_includes(),
        unsaved_files=[("all.c", "\n".join(lines))])
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise SystemExit("generate.py: " + "\n".join(str(e) for e in errors))
    return _Reader(present, zex_header, recorded_header).read(unit)


def builtin_includes():
    """The folder of <stddef.h>: that of the library's own version if it is installed, else any compiler's."""
    version = re.search(r"libclang(?:-|\.so\.)(\d+)", cindex.Config.library_file)
    own = glob.glob(f"/usr/lib/llvm-{version[1]}/lib/clang/*/include") if version else []
    for folder in own + sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/include")) + sorted(
            glob.glob("/usr/lib/gcc/*/*/include")):
        if os.path.exists(os.path.join(folder, "stddef.h")):
            return [f"-I{folder}"]
    return []


class _Reader:
    def __init__(self, apis, zex_header, recorded_header):
        self.api_of_file = {f"{api}_{kind}.h": api for api in apis for kind in ("api", "ddi")}
        for each in (zex_header, recorded_header):
            self.api_of_file[os.path.basename(each)] = "zex"
        self.recorded_file = os.path.basename(recorded_header)
        self.lines = {}
        self.out = Headers()

    def read(self, unit):
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            api = self.api_of_file.get(os.path.basename(file.name)) if file else None
            if api is None:
                continue
            if cursor.kind == CursorKind.FUNCTION_DECL:
                self.function(cursor, api)
            elif cursor.kind == CursorKind.TYPEDEF_DECL:
                self.typedef(cursor, api)
        current = dict((n, v) for n, v, _ in self.out.enumerations["ze_api_version_t"].values)
        self.out.version = current["ZE_API_VERSION_CURRENT"]
        return self.out

    def function(self, cursor, api):
        parameters = self.documented(list(cursor.get_arguments()), cursor.extent.end.line)
        table = table_of_getter(cursor)
        if table:
            if table in self.out.tables:
                self.out.tables[table].getter = cursor.spelling
            return
        if cursor.type.is_function_variadic():
            self.out.left_out[cursor.spelling] = "it takes any number of arguments"
            return
        if cursor.spelling in self.out.functions:  # newer headers declare what ours did
            return
        if os.path.basename(cursor.location.file.name) == self.recorded_file:
            self.out.recorded_only.add(cursor.spelling)
        self.out.functions[cursor.spelling] = Function(
            cursor.spelling, api, cursor.result_type.spelling, parameters,
            documentation_lines(cursor.raw_comment))

    def typedef(self, cursor, api):
        name = cursor.spelling
        declaration = cursor.underlying_typedef_type.get_canonical().get_declaration()
        if declaration.kind not in (CursorKind.ENUM_DECL, CursorKind.STRUCT_DECL,
                                    CursorKind.UNION_DECL):
            self.out.typedefs[name] = cursor.underlying_typedef_type
        elif declaration.spelling.lstrip("_") != name:
            self.out.aliases[name] = declaration.spelling.lstrip("_")
        elif declaration.kind == CursorKind.ENUM_DECL:
            self.enumeration(name, declaration, api)
        elif (cursor.extent.start.line <= declaration.location.line <= cursor.extent.end.line
              and declaration.type.get_size() >= 0):
            # Not at a forward declaration, so that a struct comes after those it contains.
            self.record(name, declaration, api)

    def enumeration(self, name, declaration, api):
        values = [(v.spelling, v.enum_value, self.trailing_comment(v, v.extent.end.line + 1))
                  for v in declaration.get_children()
                  if v.kind == CursorKind.ENUM_CONSTANT_DECL]
        self.out.enumerations[name] = Enumeration(name, api, values)

    def record(self, name, declaration, api):
        fields = [c for c in declaration.get_children() if c.kind == CursorKind.FIELD_DECL]
        if name.endswith("_dditable_t"):
            if all(f.spelling.startswith("pfn") for f in fields):
                self.out.tables[name] = Table(
                    name, api, [Slot(f.spelling, function_of_slot(f)) for f in fields])
            return
        if name.endswith("_dditable_driver_t"):
            self.out.driver_tables[name] = [
                (f.spelling, f.type.get_pointee().spelling) for f in fields
                if f.type.kind == TypeKind.POINTER]
            return
        self.out.records[name] = Record(
            name, api, declaration.kind == CursorKind.UNION_DECL, declaration.type,
            self.documented(fields, declaration.extent.end.line))

    def documented(self, cursors, end_line):
        out = []
        for i, cursor in enumerate(cursors):
            stop = cursors[i + 1].location.line if i + 1 < len(cursors) else end_line
            tags, text = split_tags(self.trailing_comment(cursor, stop))
            out.append(Parameter(cursor.spelling or f"unnamed_{i}", cursor.type, tags, text))
        return out

    def trailing_comment(self, cursor, stop_line):
        """The `///<` comments from the cursor's line up to the line before `stop_line`."""
        path = cursor.location.file.name
        if path not in self.lines:
            with open(path, encoding="utf-8") as file:
                self.lines[path] = file.read().splitlines()
        first = cursor.location.line
        parts = []
        for number in range(first, max(first + 1, stop_line)):
            _, mark, comment = self.lines[path][number - 1].partition("///<")
            if mark:
                parts.append(comment.strip())
        return " ".join(parts)


def split_tags(comment):
    """'[in][range(0, n)] text' -> (['in', 'range(0, n)'], 'text')"""
    tags = []
    while match := re.match(r"\s*\[([^\]]*)\]", comment):
        tags.append(match[1].strip())
        comment = comment[match.end():]
    return tags, comment.strip()


def documentation_lines(comment):
    return [re.sub(r"^///? ?", "", line.strip()) for line in (comment or "").splitlines()]


def function_of_slot(cursor):
    """A slot of type ze_pfnEventCreate_t holds zeEventCreate. A slot of another type holds what is
    passed through."""
    match = re.fullmatch(r"(ze\w*?)_pfn(\w+)_t", cursor.type.spelling)
    return match[1] + match[2] if match else ""


def table_of_getter(cursor):
    """The table that a z*Get*ProcAddrTable function fills, or None for other functions."""
    if not cursor.spelling.endswith("ProcAddrTable"):
        return None
    parameters = list(cursor.get_arguments())
    return parameters[1].type.get_pointee().spelling if len(parameters) == 2 else None
