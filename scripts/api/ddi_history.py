"""How the dispatch tables grew from version to version (table_history.json)."""

import json
import os


def load_history():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table_history.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def parse_version(text):
    major, minor = text.split(".")
    return int(major) << 16 | int(minor)


def table_sizes(table, history, current):
    """[(version, slots)], sorted. The history tells for each version; what the headers have beyond
    the history came with the headers' own version."""
    known = sorted((parse_version(v), n) for v, n in history.get(table.name, {}).items())
    sizes = [(v, min(n, len(table.slots))) for v, n in known if v <= current]
    if not sizes or sizes[-1][1] < len(table.slots):
        sizes = [s for s in sizes if s[0] < current] + [(current, len(table.slots))]
    return sizes


def newer_functions(headers, history):
    """Functions that came after the last version that the history knows, and their like: it is not
    known what they do."""
    out = set()
    for table in headers.tables.values():
        known = max(history.get(table.name, {}).values(), default=0)
        out |= {slot.function for slot in table.slots[known:]}
    return out & set(headers.functions)


def version_of_slot(table, slot, history, current):
    """The first version whose table has the slot."""
    return min(v for v, slots in table_sizes(table, history, current) if slots > slot)
