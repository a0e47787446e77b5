#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may include whom, kept over every #include of the tree.

    check_layers.py [ROOT]     lists each line that breaks a rule; exit code 1 if there is one
"""
import re
import sys
from pathlib import Path

BELOW = {
    "lib": {"lib"},
    "model": {"model", "lib"},
    "storage": {"storage", "model", "lib"},
    "nodeagent-proto": {"nodeagent-proto", "model", "lib"},
    "scheduler": {"scheduler", "storage", "nodeagent-proto", "model", "lib"},
    "api": {"api", "scheduler", "storage", "nodeagent-proto", "model", "lib"},
    "daemon": {"daemon", "api", "scheduler", "storage", "nodeagent-proto", "model", "lib"},
}
# A system header and the only rooms that may include it.
ONLY_IN = {
    "microhttpd.h": {"api"},
    "sqlite3.h": {"storage"},
    "jansson.h": {"lib", "model", "nodeagent-proto", "api", "daemon"},
    "cyaml/cyaml.h": {"daemon"},
    "yaml.h": {"daemon"},
    "curl/curl.h": {"daemon"},
}
# What the agent, a program of its own on a machine of its own, shares of the model: plain types.
AGENT_MODEL = {"model/spec.h", "model/enums.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def verdict(path, quote, target):
    """What is wrong with `path` (relative to the tree) including `target`, or None."""
    room = path.parts[0]
    if quote == "<":
        if room not in ONLY_IN.get(target, {room}):
            return f"only {', '.join(sorted(ONLY_IN[target]))} may include <{target}>"
        return None
    other = Path(target).parts[0]
    if "/" not in target or other not in BELOW:
        return None if target.endswith(".inc") else f'"{target}" must be written from the root'
    if other not in BELOW[room]:
        return f"{room}/ may not include {other}/"
    if target.endswith("_priv.h") and other != room:
        return f"{target} is private to {other}/"
    if path.parts[:2] == ("nodeagent-proto", "agent") and other == "model" and target not in AGENT_MODEL:
        return f"the agent may not include {target}"
    if target.endswith(".c"):
        return "a .c file is not for including"
    return None


def check(root):
    found = []
    for room in BELOW:
        for file in sorted((root / room).rglob("*.[ch]")):
            path = file.relative_to(root)
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                wrong = match and verdict(path, *match.groups())
                if wrong:
                    found.append(f"{path}:{number}: {wrong}")
    return found


if __name__ == "__main__":
    complaints = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(complaints) if complaints else "check-layers: ok")
    sys.exit(1 if complaints else 0)
