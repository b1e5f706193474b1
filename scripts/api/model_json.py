"""The model as JSON, for tests and for people."""

import dataclasses
import json


def model_json(model, headers):
    return json.dumps({
        "version": f"{model.version >> 16}.{model.version & 0xffff}",
        "functions": {f.name: plain(f) for f in model.functions.values()},
        "records": {r.name: plain(r) for r in model.records.values()},
        "enumerations": {e.name: plain(e) for e in model.enumerations.values()},
        "types": {t.name: plain(t) for t in model.types.values()},
        "handles": model.handles,
        "tables": {t.name: {"getter": t.getter, "slots": [s.function for s in t.slots]}
                   for t in headers.tables.values()},
        "unknown_extents": model.unknown,
    }, indent=1)


def plain(thing):
    out = dataclasses.asdict(thing)
    for key in ("parameters", "fields"):
        for variable in out.get(key, []):
            variable["extent"] = extent_text(variable["extent"])
    return out


def extent_text(extent):
    """elements(count) of string"""
    if extent is None:
        return None
    text = extent["kind"] + (f"({extent['length']})" if extent["length"] else "")
    return f"{text} of {extent_text(extent['inner'])}" if extent["inner"] else text
