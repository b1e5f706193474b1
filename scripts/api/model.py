"""The description of the API that everything else walks: what the headers declare, with the
meaning of every pointer resolved."""

import fnmatch
import os
import re
from dataclasses import dataclass, field

from clang.cindex import CursorKind, TypeKind

import extents
from ddi_history import version_of_slot
from extents import ADDRESS, SINGLE, STRING, Extent, elements


@dataclass
class Type:
    kind: str       # void unsigned signed floating boolean character enumeration flags handle
                    # record pointer function
    name: str
    size: int
    of: str = ""    # name of the enumeration, handle class, record, or of the type pointed to


@dataclass
class Variable:
    """A parameter or a field."""
    name: str
    type: str
    direction: str      # in, out, inout
    optional: bool
    role: str           # used, created, returned, released
    extent: Extent      # None for what is no pointer or has no known extent
    offset: int = 0
    array: int = 0      # length of a fixed array, 0 for none


@dataclass
class Function:
    name: str
    api: str
    result: str
    parameters: list
    table: str = ""
    slot: int = 0
    version: int = 0    # the API version it came in; 0 for what is in no table
    is_newer: bool = False  # than all that was looked at: recorded, and nothing more is known of it


@dataclass
class Record:
    name: str
    api: str
    is_union: bool
    size: int
    stypes: list        # values of stype that name this record
    fields: list


@dataclass
class Enumeration:
    name: str
    is_flags: bool
    values: list        # (full name, short name, value)


@dataclass
class Model:
    version: int
    types: dict = field(default_factory=dict)
    handles: list = field(default_factory=list)
    enumerations: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    functions: dict = field(default_factory=dict)
    unknown: list = field(default_factory=list)  # pointers without a known extent
    opaque: list = field(default_factory=list)   # fields that are copied as bytes


def build_model(headers, history):
    return _Builder(headers, history).build()


class _Builder:
    def __init__(self, headers, history):
        self.headers = headers
        self.history = history
        self.model = Model(headers.version)
        self.released = set()  # handle classes that some function releases

    def build(self):
        for enumeration in self.headers.enumerations.values():
            self.enumeration(enumeration)
        for record in self.headers.records.values():
            # What tracing callbacks receive is never passed to a function.
            if self.is_passed(record):
                self.record(record)
        self.assign_stypes()
        for function in list(self.headers.functions.values()):
            try:
                self.function(function)
            except NotExpressible as problem:
                self.headers.leave_out(function.name, str(problem))
        self.check_lengths_of_callers()
        for function in self.model.functions.values():
            for parameter in function.parameters:
                parameter.role = self.role(function, parameter)
        self.place_functions()
        self.model.handles = sorted({t.of for t in self.model.types.values() if t.kind == "handle"})
        return self.model

    @staticmethod
    def is_passed(record):
        return not record.name.endswith("_params_t") or starts_with_stype(record)

    def enumeration(self, declared):
        values = [(n, v) for n, v, _ in declared.values if not n.endswith("_FORCE_UINT32")]
        prefix = common_prefix([n for n, _, _ in declared.values])
        seen, named = set(), []
        for name, value in values:
            if value not in seen or not name.endswith("_CURRENT"):
                named.append((name, name[len(prefix):], value))
            seen.add(value)
        self.model.enumerations[declared.name] = Enumeration(
            declared.name, self.flags_of(declared.name) in self.headers.typedefs, named)

    @staticmethod
    def flags_of(enumeration):
        return re.sub(r"_flag_t$", "_flags_t", enumeration)

    def record(self, declared):
        owner = declared.name
        fields = []
        for f in declared.fields:
            variable = self.field(owner, f, {x.name: x for x in declared.fields})
            if variable:
                variable.offset = declared.type.get_offset(f.name) // 8
                fields.append(variable)
        self.model.records[owner] = Record(owner, declared.api, declared.is_union,
                                           declared.type.get_size(), [], fields)

    def field(self, owner, declared, neighbours):
        """None where the field cannot even be copied."""
        try:
            return self.variable(owner, declared, neighbours)
        except NotExpressible:
            self.model.opaque.append(f"{owner}.{declared.name}")
        size = declared.type.get_canonical().get_size()
        if size <= 0 or declared.name.startswith("unnamed_"):
            return None
        byte = self.add(Type("unsigned", "uint8_t", 1))
        return Variable(declared.name, byte.name, direction_of(declared.tags), False, "used", None, 0,
                        size)

    def assign_stypes(self):
        """The header says beside each *_STRUCTURE_TYPE_* value which struct it names."""
        for name, declared in self.headers.enumerations.items():
            if not name.endswith("_structure_type_t"):
                continue
            for _, value, comment in declared.values:
                match = re.match(r"::(\w+)", comment)
                declared_record = match and self.headers.record_of(match[1])
                if declared_record and starts_with_stype(declared_record):
                    self.model.records[declared_record.name].stypes.append(value)

    def function(self, declared):
        neighbours = {p.name: p for p in declared.parameters}
        parameters = [self.variable(declared.name, p, neighbours) for p in declared.parameters]
        self.model.functions[declared.name] = Function(
            declared.name, declared.api, self.type_by_name(declared.result), parameters,
            is_newer=declared.name in self.headers.newer)
        handles = [p for p in parameters if self.model.types[p.type].kind == "handle"]
        if handles and "Destroy" in declared.name and all(p.role == "used" for p in handles):
            handles[-1].role = "released"
        self.released |= {self.model.types[p.type].of for p in handles if p.role == "released"}

    def place_functions(self):
        for table in self.headers.tables.values():
            for slot, entry in enumerate(table.slots):
                function = self.model.functions.get(entry.function)
                if function is None:
                    continue
                function.table, function.slot = table.name, slot
                function.version = version_of_slot(table, slot, self.history, self.model.version)

    def variable(self, owner, declared, neighbours):
        type_, array = self.declared_type(declared.type)
        extent = self.extent(owner, declared, type_)
        if extent and not self.has_its_lengths(extent, neighbours):
            self.note_unknown(owner, declared, type_)
            extent = ADDRESS
        out = Variable(declared.name, type_.name, direction_of(declared.tags),
                       "optional" in declared.tags, "used", extent, 0, array)
        out.direction = self.real_direction(f"{owner}.{declared.name}", out, type_)
        if "release" in declared.tags or f"{owner}.{declared.name}" in extents.RELEASES:
            out.role = "released"
        return out

    def declared_type(self, clang_type):
        array = 0
        if clang_type.kind == TypeKind.CONSTANTARRAY:
            array, clang_type = clang_type.element_count, clang_type.element_type
        return self.type(clang_type), array

    def type_by_name(self, name):
        """The result type of a function: always one that some declaration uses by name."""
        if name in self.headers.enumerations:
            return self.add(Type("enumeration", name, 4, name)).name
        if name.endswith("_handle_t"):
            return self.add(Type("handle", name, 8, name)).name
        if name not in ("uint32_t", "uint64_t"):
            raise NotExpressible(f"it returns {name}")
        return self.add(Type("unsigned", name, {"uint32_t": 4, "uint64_t": 8}[name])).name

    def add(self, type_):
        return self.model.types.setdefault(type_.name, type_)

    def type(self, clang_type):
        name = plain_name(clang_type)
        if name in self.model.types:
            return self.model.types[name]
        canonical = clang_type.get_canonical()
        size = max(canonical.get_size(), 0)
        flag = re.sub(r"_flags_t$", "_flag_t", name)
        if name == "ze_bool_t":
            return self.add(Type("boolean", name, size))
        if name.endswith("_flags_t") and flag in self.headers.enumerations:
            return self.add(Type("flags", name, size, flag))
        if canonical.kind == TypeKind.ENUM:
            return self.add(Type("enumeration", name, size, self.headers.aliases.get(name, name)))
        if canonical.kind == TypeKind.RECORD:
            record = self.headers.record_of(name)
            if record is None or not self.is_passed(record):
                raise NotExpressible(f"no struct {name} is known")
            return self.add(Type("record", name, size, record.name))
        if canonical.kind == TypeKind.POINTER:
            return self.pointer(name, clang_type, canonical)
        if canonical.kind == TypeKind.VOID:
            return self.add(Type("void", "void", 0))
        if canonical.kind not in SCALARS or size > 8:
            raise NotExpressible(f"it has the type {name}")
        return self.add(Type(SCALARS[canonical.kind], name, size))

    def pointer(self, name, clang_type, canonical):
        pointee = canonical.get_pointee()
        if pointee.kind == TypeKind.FUNCTIONPROTO:
            return self.add(Type("function", name, 8))
        declaration = pointee.get_declaration()
        if name.endswith("_handle_t") and declaration.kind == CursorKind.STRUCT_DECL:
            # zes_device_handle_t is another name of ze_device_handle_t.
            return self.add(Type("handle", name, 8, declaration.spelling.lstrip("_")))
        inner = clang_type if clang_type.kind == TypeKind.POINTER else canonical
        try:
            return self.add(Type("pointer", name, 8, self.type(inner.get_pointee()).name))
        except NotExpressible:
            return self.add(Type("pointer", name, 8, self.add(Type("void", "unknown", 0)).name))

    def extent(self, owner, declared, type_):
        """None for what is no pointer; an unknown extent is noted and becomes an address."""
        if type_.kind not in ("pointer", "function"):
            return None
        if type_.kind == "function":
            return ADDRESS
        key = f"{owner}.{declared.name}"
        for pattern, rule in extents.RULES:
            if fnmatch.fnmatchcase(key, pattern):
                return rule
        found = None if type_.of == "unknown" else self.extent_by_tag(declared, type_)
        if found is None:
            self.note_unknown(owner, declared, type_)
        return found or ADDRESS

    def note_unknown(self, owner, declared, type_):
        self.model.unknown.append(f"{owner}.{declared.name} ({type_.name})")

    def extent_by_tag(self, declared, type_):
        pointee = self.model.types[type_.of]
        for tag in declared.tags:
            if match := re.fullmatch(r"range\(\s*\d+\s*,\s*`?(\*?\w+)`?\s*\)|(\*\w+)", tag):
                # What an array of pointers points at takes a rule.
                return None if pointee.kind == "pointer" else elements(match[1] or match[2])
        is_output = "out" in direction_of(declared.tags)
        if pointee.kind == "character":
            return STRING if not is_output else None
        if pointee.kind == "pointer":
            return self.pointer_to_pointer(self.model.types[pointee.of], is_output)
        if pointee.kind in ("void", "function") or (pointee.size == 1 and pointee.kind == "unsigned"):
            return None
        # A pointer to one number that is only read is as likely an address in device memory.
        return SINGLE if is_output or pointee.kind == "record" else None

    @staticmethod
    def pointer_to_pointer(target, is_output):
        if not is_output:
            return None
        if target.kind == "character":
            return Extent("single", "", STRING)
        return Extent("single", "", ADDRESS) if target.kind == "void" else None

    def has_its_lengths(self, extent, neighbours):
        """Whether what the lengths are written in is there, and is a number."""
        if extent.kind == "elements" and not extent.length.startswith("call."):
            neighbour = neighbours.get(re.sub(r"^\*|\[\]$", "", extent.length))
            if neighbour is None:
                return False
            type_ = neighbour.type.get_canonical()
            if extent.length.startswith("*") or extent.length.endswith("[]"):
                type_ = type_.get_pointee().get_canonical()
            if SCALARS.get(type_.kind) != "unsigned":
                return False
        return not extent.inner or self.has_its_lengths(extent.inner, neighbours)

    def check_lengths_of_callers(self):
        """A field whose length a parameter of the call points at: all calls that take the struct have
        that parameter, in one place."""
        for record in self.model.records.values():
            for f in record.fields:
                if not f.extent or not f.extent.length.startswith("call.*"):
                    continue
                name = f.extent.length.removeprefix("call.*")
                callers = [g for g in self.model.functions.values()
                           if any(self.model.types[p.type].of == record.name for p in g.parameters)]
                places = {i for g in callers for i, p in enumerate(g.parameters) if p.name == name}
                if len(places) != 1:
                    self.model.unknown.append(f"{record.name}.{f.name} ({f.type})")
                    f.extent = ADDRESS

    def real_direction(self, key, variable, type_):
        """Resolves [in,out] where the headers use it for plain outputs, and [out] of structs whose
        stype and pNext are read first."""
        if type_.kind != "pointer" or key in extents.BOTH_WAYS:
            return variable.direction
        pointee = self.model.types[type_.of]
        if variable.direction == "inout":
            buffer = variable.extent.kind == "string" or variable.extent.length.startswith("*")
            if pointee.kind in ("handle", "pointer") or (buffer and pointee.kind != "record"):
                return "out"
        if variable.direction == "out" and pointee.kind == "record":
            return "inout" if starts_with_stype(self.headers.records[pointee.of]) else "out"
        return variable.direction

    def role(self, function, parameter):
        type_ = self.model.types[parameter.type]
        if parameter.role == "released" or parameter.direction == "in" or type_.kind != "pointer":
            return parameter.role
        pointee = self.model.types[type_.of]
        if pointee.kind == "handle":
            is_new = pointee.of in self.released and "Get" not in function.name
            return "created" if is_new else "returned"
        if pointee.kind == "pointer" and self.model.types[pointee.of].kind == "void":
            return "returned" if "Get" in function.name else "created"
        return "used"


SCALARS = {
    TypeKind.UCHAR: "unsigned", TypeKind.USHORT: "unsigned", TypeKind.UINT: "unsigned",
    TypeKind.ULONG: "unsigned", TypeKind.ULONGLONG: "unsigned", TypeKind.SCHAR: "signed",
    TypeKind.SHORT: "signed", TypeKind.INT: "signed", TypeKind.LONG: "signed",
    TypeKind.LONGLONG: "signed", TypeKind.CHAR_S: "character", TypeKind.CHAR_U: "character",
    TypeKind.FLOAT: "floating", TypeKind.DOUBLE: "floating",
}


class NotExpressible(Exception):
    """A type that neither the recorder nor a replay can handle, and why."""


def starts_with_stype(record):
    return bool(record.fields) and record.fields[0].name == "stype"


def plain_name(clang_type):
    """The spelling without const, which says nothing the direction does not say."""
    return re.sub(r"\s*\*\s*", "*", re.sub(r"\bconst\b\s*", "", clang_type.spelling)).strip()


def direction_of(tags):
    ways = {way.strip() for tag in tags for way in tag.split(",")} & {"in", "out"}
    if ways == {"in"}:
        return "in"
    return "out" if ways == {"out"} else "inout"


def common_prefix(names):
    """The part that all enumerators of a type begin with, up to an underscore."""
    prefix = os.path.commonprefix(names)
    return prefix[:prefix.rfind("_") + 1] if len(names) > 1 else ""
