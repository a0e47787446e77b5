#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may include whom (rooms.txt), kept over every #include of the tree.

    check_layers.py [ROOT]     lists each line that breaks a rule; exit code 1 if there is one

Includes that break a rule today stand in ROOT/test/tools/layers_frozen.txt, as "FILE TARGET"; one that
is there no more must be taken out of it, so that the list only shrinks.
"""
import re
import sys
from pathlib import Path

import rooms

BELOW = rooms.load()
# A system header and the only rooms or files that may include it.
ONLY_IN = {
    "microhttpd.h": {"api/http"},
    "sqlite3.h": {"storage"},
    "jansson.h": {"lib", "model", "nodeagent-proto", "api", "daemon"},
    "expat.h": {"api/http", "scheduler/fleet/transfer"},
    "gnutls/gnutls.h": {"api/http", "api/plane/batch", "daemon/certs"},
    "gnutls/x509.h": {"api/plane/batch", "daemon/certs"},
    "yaml.h": {"lib/yaml.c"},
    "cyaml/cyaml.h": set(),
    "curl/curl.h": {"daemon", "scheduler/fleet/transfer"},
}
# The folders at the top: rooms, and what is no code of the programs.
TOPS = {room.split("/")[0] for room in BELOW} | {"migrations", "test", "etc", "docs"}
FROZEN = "test/tools/layers_frozen.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def who(header):
    return f"only {', '.join(sorted(ONLY_IN[header]))}" if ONLY_IN[header] else "nobody"


def verdict(path, quote, target):
    """What is wrong with `path` (relative to the tree) including `target`, or None."""
    room = rooms.room_of(path, BELOW)
    if quote == "<":
        if ONLY_IN.get(target, {room}).isdisjoint({room, room.split("/")[0], str(path)}):
            return f"{who(target)} may include <{target}>"
        return None
    other = rooms.room_of(Path(target), BELOW)
    if "/" not in target or other is None:
        return None if target.endswith(".inc") else f'"{target}" must be written from the root'
    if other not in BELOW[room]:
        return f"{room}/ may not include {other}/"
    if target.endswith("_priv.h") and other != room:
        return f"{target} is private to {other}/"
    if target.endswith(".c"):
        return "a .c file is not for including"
    return None


def load_frozen(root):
    file = root / FROZEN
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(line.split()) for line in lines if line and not line.startswith("#")}


def files_of(root):
    tops = sorted({room.split("/")[0] for room in BELOW})
    return [file for top in tops for file in sorted((root / top).rglob("*.[ch]"))]


def more_at_the_top(root):
    """Complaints about folders that nobody planned; hidden ones and what is built do not count."""
    names = sorted(d.name for d in root.iterdir() if d.is_dir() and not d.name.startswith((".", "build", "__")))
    return [f"{name}/ is not one of the folders at the top" for name in names if name not in TOPS]


def check(root):
    found, frozen, seen = more_at_the_top(root), load_frozen(root), set()
    for file in files_of(root):
        path = file.relative_to(root)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = match and verdict(path, *match.groups())
            if wrong and (str(path), match.group(2)) in frozen:
                seen.add((str(path), match.group(2)))
            elif wrong:
                found.append(f"{path}:{number}: {wrong}")
    for file, target in sorted(frozen - seen):
        found.append(f"{FROZEN}: {file} does not include {target} any more: take the line out")
    return found


if __name__ == "__main__":
    complaints = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(complaints) if complaints else "check-layers: ok")
    sys.exit(1 if complaints else 0)
