"""Writes the model as constant C++ data that needs no code to run when the library is loaded."""

import re

from ddi_history import table_sizes
from driver_entries import NOTICE

NO_INDEX = "no_index"
KINDS = {"void": "nothing", "unsigned": "unsigned_integer", "signed": "signed_integer"}


def model_file(model, headers, history):
    return _Writer(model, headers, history).text()


def short_handle_name(name):
    """ze_event_pool_handle_t -> event_pool"""
    return re.sub(r"^ze[a-z]*_|_handle_t$", "", name)


class _Writer:
    def __init__(self, model, headers, history):
        self.model = model
        self.headers = headers
        self.history = history
        self.index = {
            "type": numbered(model.types),
            "enumeration": numbered(model.enumerations),
            "flags": numbered(model.enumerations),
            "handle": numbered(model.handles),
            "record": numbered(model.records),
            "function": numbered(model.functions),
            "table": numbered(headers.tables),
        }
        self.externals = []
        self.variables = []

    def text(self):
        functions = [self.function(f) for f in self.model.functions.values()]
        records = [self.record(r) for r in self.model.records.values()]
        slots, sizes, tables = self.tables()
        enumerators, enumerations = self.enumerations()
        by_name = sorted(self.model.functions)
        return "\n".join([
            NOTICE, "#include <array>\n", '#include "api/model.hpp"\n', "namespace zevent::api {", "namespace {\n",
            array("type", "types", [self.type(t) for t in self.model.types.values()]),
            array("variable", "variables", self.variables),
            array("enumerator", "enumerators", enumerators),
            array("enumeration", "enumerations", enumerations),
            array("handle_class", "handles",
                  [f'"{h}", "{short_handle_name(h)}"' for h in self.model.handles]),
            array("record", "records", records),
            array("function", "functions", functions),
            array("uint16_t", "slots", slots, braces=False),
            array("table_size", "sizes", sizes),
            array("dispatch_table", "tables", tables),
            array("std::string_view", "externals", [f'"{e}"' for e in self.externals]),
            array("uint16_t", "functions_by_name",
                  [str(self.index["function"][n]) for n in by_name], braces=False),
            array("stype_meaning", "stypes", self.stypes()),
            f"constexpr model builtin = {{{self.model.version:#x}, types, enumerations, handles, "
            "records, functions, tables, externals, functions_by_name, stypes};\n",
            "}  // namespace\n",
            "const model& builtin_model() {\n  return builtin;\n}\n",
            "std::span<const std::string_view> not_understood() {",
            f"  static constexpr std::array<std::string_view, {len(self.not_understood())}> all = {{{{",
            *[f'      "{each}",' for each in self.not_understood()], "  }};", "  return all;", "}\n",
            "}  // namespace zevent::api\n"])

    def not_understood(self):
        """What newer headers have and the generator does not know: see docs/api-model.md."""
        return ([f"{name}: {why}" for name, why in self.headers.left_out.items()]
                + [f"{each}: copied as bytes" for each in self.model.opaque]
                + [f"{each}: recorded as an address" for each in self.model.unknown])

    def type(self, t):
        lists = {"pointer": "type"}
        index = self.index[lists.get(t.kind, t.kind)][t.of] if t.of else NO_INDEX
        return f'type_kind::{KINDS.get(t.kind, t.kind)}, {index}, {t.size}, "{t.name}"'

    def span_of(self, variables, owner):
        start = len(self.variables)
        siblings = numbered(v.name for v in variables)
        self.variables += [self.variable(v, siblings, owner) for v in variables]
        return f"{{variables + {start}, {len(variables)}}}"

    def variable(self, v, siblings, owner):
        return (f'"{v.name}", {self.index["type"][v.type]}, direction::{v.direction}, '
                f"{str(v.optional).lower()}, role::{v.role}, {self.extent(v.extent, siblings, owner)}, "
                f"{self.extent(v.extent and v.extent.inner, siblings, owner)}, {v.offset}, {v.array}")

    def extent(self, e, siblings, owner):
        if e is None:
            return "{}"
        if e.kind == "external":
            if e.length not in self.externals:
                self.externals.append(e.length)
            return f"{{extent_kind::external, {{}}, {self.externals.index(e.length)}}}"
        if e.kind != "elements":
            return f"{{extent_kind::{e.kind}}}"
        source, index = self.length(e.length, siblings, owner)
        return f"{{extent_kind::elements, length_source::{source}, {index}}}"

    def length(self, text, siblings, owner):
        if text.startswith("call.*"):
            return "call_pointee", self.parameter_of_callers(owner, text.removeprefix("call.*"))
        if text.startswith("*"):
            return "sibling_pointee", siblings[text[1:]]
        if text.endswith("[]"):
            return "sibling_element", siblings[text[:-2]]
        return "sibling", siblings[text]

    def parameter_of_callers(self, record, name):
        """The position of the parameter `name` in the functions that take the record: one."""
        positions = {i for f in self.model.functions.values()
                     if any(self.model.types[p.type].of == record for p in f.parameters)
                     for i, p in enumerate(f.parameters) if p.name == name}
        if len(positions) != 1:
            raise SystemExit(f"extents.py: '{name}' of the callers of {record}: {positions}")
        return positions.pop()

    def function(self, f):
        table = self.index["table"][f.table] if f.table else NO_INDEX
        return (f'"{f.name}", api_name::{f.api}, {self.index["type"][f.result]}, {table}, {f.slot}, '
                f"{f.version:#x}, {self.span_of(f.parameters, f.name)}")

    def record(self, r):
        return (f'"{r.name}", api_name::{r.api}, {str(r.is_union).lower()}, {r.size}, '
                f"{self.span_of(r.fields, r.name)}")

    def enumerations(self):
        enumerators, enumerations = [], []
        for e in self.model.enumerations.values():
            enumerations.append(f'"{e.name}", {str(e.is_flags).lower()}, '
                                f"{{enumerators + {len(enumerators)}, {len(e.values)}}}")
            enumerators += [f'"{name}", "{short}", {value & 0xffffffff:#x}'
                            for name, short, value in e.values]
        return enumerators, enumerations

    def tables(self):
        slots, sizes, tables = [], [], []
        for t in self.headers.tables.values():
            grown = table_sizes(t, self.history, self.model.version)
            tables.append(f'"{t.name}", "{t.getter}", {{slots + {len(slots)}, {len(t.slots)}}}, '
                          f"{{sizes + {len(sizes)}, {len(grown)}}}")
            slots += [str(self.index["function"].get(s.function, NO_INDEX)) for s in t.slots]
            sizes += [f"{version:#x}, {count}" for version, count in grown]
        return slots, sizes, tables

    def stypes(self):
        spaces = {"zet": 2, "zes": 3}
        entries = sorted((spaces.get(r.api, 0), r.api if r.api in spaces else "ze", stype, r.name)
                         for r in self.model.records.values() for stype in r.stypes)
        return [f"api_name::{space}, {stype:#x}, {self.index['record'][name]}"
                for _, space, stype, name in entries]


def numbered(names):
    return {name: i for i, name in enumerate(names)}


def array(type_, name, rows, braces=True):
    lines = [f"    {{{row}}},\n" if braces else f"    {row},\n" for row in rows]
    return f"constexpr {type_} {name}[] = {{\n{''.join(lines)}}};\n"
