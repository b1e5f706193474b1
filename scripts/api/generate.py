#!/usr/bin/env python3
"""Generates the parts of zevent that must know all of Level Zero, from its headers.

generate.py --include DIR --zex src/api/zex_api.h --output DIR

DIR of --include holds level_zero/ze_api.h and its like. docs/api-model.md says what is read and
what is written."""

import argparse
import json
import os

from driver_entries import driver_files
from headers import read_headers

HERE = os.path.dirname(os.path.abspath(__file__))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--include", required=True, help="folder that holds level_zero/")
    parser.add_argument("--zex", required=True, help="header of the functions no header declares")
    parser.add_argument("--output", required=True, help="folder to write to")
    return parser.parse_args()


def write_if_changed(path, text):
    """Keeps the time stamp of a file that stays the same, so that nothing is compiled again."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    arguments = parse_arguments()
    with open(os.path.join(HERE, "table_history.json"), encoding="utf-8") as file:
        history = json.load(file)
    headers = read_headers(arguments.include, arguments.zex)
    os.makedirs(arguments.output, exist_ok=True)
    for name, text in driver_files(headers, history).items():
        write_if_changed(os.path.join(arguments.output, name), text)


if __name__ == "__main__":
    main()
