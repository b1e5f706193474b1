#!/usr/bin/env python3
"""Generates the parts of zevent that must know all of Level Zero, from its headers.

generate.py --include DIR --zex src/api/zex_api.h --recorded src/api/zex_recorded_api.h --output DIR
generate.py --include DIR --zex src/api/zex_api.h --recorded src/api/zex_recorded_api.h --dump-json

DIR of --include holds level_zero/ze_api.h and its like. docs/api-model.md says what is read and
what is written."""

import argparse
import os
import sys

from ddi_history import load_history, newer_functions
from driver_entries import driver_files
from headers import read_headers
from model import build_model
from model_cpp import model_file
from model_json import model_json
from recorder_hooks import recorder_files
from replay_calls import replay_files


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--include", required=True, help="folder that holds level_zero/")
    parser.add_argument("--zex", required=True, help="header of the functions no header declares")
    parser.add_argument("--recorded", required=True, help="header of those that our driver does not have")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--output", help="folder to write the C++ files to")
    wanted.add_argument("--dump-json", action="store_true", help="print the model")
    return parser.parse_args()


def write_if_changed(path, text):
    """Keeps the time stamp of a file that stays the same, so that nothing is compiled again."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def tell_what_is_not_understood(headers, model):
    """What newer headers have and the generator has no rule for. The build goes on without it."""
    for title, names in (
            ("functions that are passed through and not recorded", sorted(headers.left_out)),
            ("pointers that are recorded as an address", model.unknown),
            ("fields that are copied as bytes", model.opaque)):
        if names:
            print(f"generate.py: {title} (docs/api-model.md): {', '.join(names)}", file=sys.stderr)


def main():
    arguments = parse_arguments()
    history = load_history()
    headers = read_headers(arguments.include, arguments.zex, arguments.recorded)
    headers.newer = newer_functions(headers, history)
    model = build_model(headers, history)
    if arguments.dump_json:
        print(model_json(model, headers))
        return
    tell_what_is_not_understood(headers, model)
    os.makedirs(arguments.output, exist_ok=True)
    files = (driver_files(headers, history) | recorder_files(model, headers)
             | replay_files(model) | {"model.cpp": model_file(model, headers, history)})
    for name, text in files.items():
        write_if_changed(os.path.join(arguments.output, name), text)


if __name__ == "__main__":
    main()
