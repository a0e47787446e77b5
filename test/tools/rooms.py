#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of rooms (rooms.txt): which there are, and which each may use.

    rooms.py --make     prints it as variables of make: ROOMS, and below_ROOM for each, highest first
"""
import sys
from pathlib import Path

TABLE = Path(__file__).with_name("rooms.txt")


def load(table=TABLE):
    """{room: set of the rooms that it may use, itself included}, lowest room first."""
    below = {}
    for number, line in enumerate(table.read_text().splitlines(), 1):
        room, colon, used = line.partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        unknown = [name for name in used.split() if name not in below]
        if not colon or unknown:
            raise ValueError(f"{table.name}:{number}: {', '.join(unknown) or room} must stand above")
        below[room] = {room}.union(*(below[name] for name in used.split()))
    return below


def room_of(path, rooms):
    """The room that `path`, relative to the tree, lies in: the innermost; None: in none."""
    names = ["/".join(path.parts[:n]) for n in range(len(path.parts), 0, -1)]
    return next((name for name in names if name in rooms), None)


def print_for_make(below):
    order = list(below)
    print("ROOMS :=", *order)
    for room in order:
        print(f"below_{room} :=", *(name for name in reversed(order) if name in below[room]))


if __name__ == "__main__":
    if sys.argv[1:] != ["--make"]:
        sys.exit(__doc__)
    print_for_make(load())
