#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The declarations of handlers, made of the tables of routes: for each room of api/ with a table, the header routes.h.

    make_routes.py OUT SERVICE.c...    writes OUT/ROOM/routes.h of the tables of each room
A row is {"METHOD", path, ..., handler, "Operation", &data}, or X("METHOD", ...) or PLANE_READS(X, ...) of a list of
rows; what data is a kind of resources (api/arm/kind.h) is declared too.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

ROW = re.compile(r'(?:["{(,]\s*"(?:GET|HEAD|PUT|POST|PATCH|DELETE|OPTIONS)"|\bPLANE_READS\(X),.*?\b([a-z]\w+),\s*"\w+"'
                 r'(?:,\s*&(\w+_kind))?', re.S)
# Handlers of more than one room; a header of their own declares them.
SHARED = {"rm_put", "rm_patch", "rm_get", "rm_delete", "rm_list", "rm_list_by_group", "rm_check_name",
          "operation_results", "operation_statuses", "plane_preflight", "plane_account", "plane_service",
          "plane_set_service", "plane_delegate"}


def handlers(text):
    """([handler], [kind]) of the rows, each once."""
    text = re.sub(r"\\\n", "\n", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    own = set(re.findall(r"^static struct replied \*(\w+)\(", text, re.M))
    rows = [(handler, kind) for handler, kind in ROW.findall(text) if handler not in own]
    return list(dict.fromkeys(h for h, _ in rows)), list(dict.fromkeys(k for _, k in rows if k))


def header(room, names, kinds):
    guard = re.sub(r"\W", "_", room).upper() + "_ROUTES_H"
    lines = ["/* SPDX-License-Identifier: MIT", " *", f" * Made of the routes of {room}/. */",
             f"#ifndef {guard}", f"#define {guard}", "", "struct replied;", "struct request;", "struct rm_kind;", ""]
    lines += [f"struct replied *{name}(struct request *r);" for name in names if name not in SHARED]
    lines += [f"extern const struct rm_kind {kind};" for kind in kinds]
    return "\n".join([*lines, "", "#endif", ""])


def main(out, files):
    rooms = defaultdict(lambda: ([], []))
    for file in files:
        for have, found in zip(rooms[str(Path(file).parent)], handlers(Path(file).read_text())):
            have += [name for name in found if name not in have]
    for room, (names, kinds) in rooms.items():
        path, text = Path(out) / room / "routes.h", header(room, names, kinds)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
