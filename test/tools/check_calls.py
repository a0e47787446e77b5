#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who calls whom, read out of the symbols of the built objects: a declaration copied by hand, or a header
that hides a knot, escapes a look at includes.

    check_calls.py [--write] [ROOT [BUILD]]     lists what breaks a rule; exit code 1 if anything does

The rules: a file uses symbols of its own room and of those below it (rooms.txt); so no cycle of calls
goes through two rooms. Files of one room that call each other in a cycle stand in ROOT/test/tools/calls_frozen.txt
("cycle FILE FILE ..."), as do calls upwards that there still are ("up FILE FILE"). What is no longer so must
be taken out of it: --write does that, and follows files that moved, but never lets the list grow.
Two files of one program do not define the same symbol: of two in libraries the linker takes either, and says nothing.
"""
import argparse
import itertools
import subprocess
import sys
from pathlib import Path

import rooms

FROZEN = "test/tools/calls_frozen.txt"
HEAD = """\
# Calls that should not be (test/tools/check_calls.py): `up` against the order of rooms.txt, `cycle` files of
# one room that call each other in a circle. It may only become shorter: test/tools/check_calls.py --write
"""
# Each program has its own.
IGNORED = {"main"}


def sources(root, below):
    tops = sorted({room.split("/")[0] for room in below})
    return [f.relative_to(root) for top in tops for f in sorted((root / top).rglob("*.c"))]


def read_symbols(root, build, files):
    """(file, kind, symbol) of all objects, as nm prints them."""
    objects = {root / build / "obj" / f.with_suffix(".o"): str(f) for f in files}
    paths = [str(path) for path in objects if path.exists()]
    out = subprocess.run(["nm", "-A", "-g", *paths], check=True, capture_output=True, text=True).stdout if paths else ""
    for line in out.splitlines():
        path, _, rest = line.partition(":")
        *_, kind, symbol = rest.split()
        if symbol not in IGNORED:
            yield objects[Path(path)], kind, symbol


def symbols(root, build, files):
    """(file -> symbols it defines, file -> symbols it uses), and the files that have no object."""
    missing = [str(f) for f in files if not (root / build / "obj" / f.with_suffix(".o")).exists()]
    defined, used = {}, {}
    for file, kind, symbol in read_symbols(root, build, files):
        where = used if kind in "Uw" else defined
        where.setdefault(file, set()).add(symbol)
    return defined, used, missing


def doubles(root, build, files, below):
    """(symbol, file, file): two files that a room may both use. Weak symbols are meant to be in many."""
    owners = {}
    for file, kind, symbol in read_symbols(root, build, files):
        if kind not in "UwVW":
            owners.setdefault(symbol, []).append(file)
    for symbol, found in sorted(owners.items()):
        for a, b in itertools.combinations(found, 2):
            if any({rooms.room_of(Path(a), below), rooms.room_of(Path(b), below)} <= seen for seen in below.values()):
                yield symbol, a, b


def calls(defined, used, below):
    """file -> files whose symbols it uses. Where two programs each have one of a name, the nearest counts."""
    owners = {}
    for file, names in defined.items():
        for name in names:
            owners.setdefault(name, []).append(file)
    room = {f: rooms.room_of(Path(f), below) for f in {*defined, *used}}

    def nearest(file, name):
        found = owners.get(name, [])
        return (next((f for f in found if room[f] == room[file]), None)
                or next((f for f in found if room[f] in below[room[file]]), None) or (found or [None])[0])

    graph = {}
    for file, names in used.items():
        targets = {nearest(file, name) for name in names - defined.get(file, set())}
        graph[file] = sorted(targets - {None, file})
    return graph, room


def cycles(graph):
    """The strongly connected components of more than one file (Tarjan), each sorted."""
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in graph.get(v, ()):
            if w not in number:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            at = stack.index(v)
            part, stack[at:] = sorted(stack[at:]), []
            if len(part) > 1:
                found.append(part)

    for v in sorted(graph):
        if v not in number:
            visit(v)
    return sorted(found)


def look(root, build):
    """(calls upwards, cycles inside rooms, files without an object)"""
    below = rooms.load()
    files = sources(root, below) + sources(root / build / "gen", below)
    defined, used, missing = symbols(root, build, files)
    graph, room = calls(defined, used, below)
    up = sorted((f, t) for f, targets in graph.items() for t in targets if room[t] not in below[room[f]])
    inside = {f: [t for t in targets if room[t] == room[f]] for f, targets in graph.items()}
    return up, cycles(inside), missing


def load_frozen(root):
    up, knots = [], []
    file = root / FROZEN
    for line in file.read_text().splitlines() if file.exists() else []:
        words = line.split()
        if words[:1] == ["up"]:
            up.append(tuple(words[1:]))
        elif words[:1] == ["cycle"]:
            knots.append(words[1:])
    return up, knots


def compare(up, knots, frozen_up, frozen_knots):
    for f, t in sorted(set(up) - set(frozen_up)):
        yield f"{f} uses {t}: a room above its own"
    for knot in knots:
        if not any(set(knot) <= set(old) for old in frozen_knots):
            new = set(knot) - {f for old in frozen_knots for f in old}
            yield f"a cycle of calls that is not in {FROZEN}: {' '.join(knot)}" + (
                f" (new in it: {' '.join(sorted(new))})" if new else "")
    for f, t in sorted(set(frozen_up) - set(up)):
        yield f"{FROZEN}: {f} does not use {t} any more: take the line out (check_calls.py --write)"
    gone = {f for old in frozen_knots for f in old} - {f for knot in knots for f in knot}
    for f in sorted(gone):
        yield f"{FROZEN}: {f} is in no cycle any more: take it out (check_calls.py --write)"


def size(knots):
    return sum(map(len, knots))


def write(root, up, knots, frozen_up, frozen_knots):
    if len(up) > len(frozen_up) or size(knots) > size(frozen_knots):
        return [f"{FROZEN} may not grow: {len(frozen_up)} calls upwards and {size(frozen_knots)} files in cycles"
                f" would become {len(up)} and {size(knots)}"]
    lines = [f"up {f} {t}" for f, t in up] + ["cycle " + " ".join(knot) for knot in knots]
    (root / FROZEN).write_text(HEAD + "".join(line + "\n" for line in lines))
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="take out of the list what is no longer so")
    parser.add_argument("root", nargs="?", default=".", type=Path)
    parser.add_argument("build", nargs="?", default="build")
    args = parser.parse_args()
    up, knots, missing = look(args.root, args.build)
    complaints = [f"{name} has not been built into {args.build}/obj: make all" for name in missing[:5]]
    if args.write and not missing:
        complaints = write(args.root, up, knots, *load_frozen(args.root))
    if not complaints:
        complaints = list(compare(up, knots, *load_frozen(args.root)))
        below = rooms.load()
        complaints += [f"{a} and {b} both define {symbol}: give one another name"
                       for symbol, a, b in doubles(args.root, args.build, sources(args.root, below), below)]
    print("\n".join(complaints) if complaints else "check-calls: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
