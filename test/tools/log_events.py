#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares lib/log_events.txt with the calls of the log, and writes docs/log.md from it.

    log_events.py            lists whether docs/log.md is stale; exit code 1 if it is
    log_events.py --write    brings it up to date
check_source.py calls check(), which compares each call with its row.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE, PAGE = "lib/log_events.txt", "docs/log.md"
MARKS = ("<!-- begin events -->\n", "<!-- end events -->\n")
LEVELS = ("debug", "info", "warn", "error")
WORDS = r"[a-z0-9]+(?:_[a-z0-9]+)*"
NAME, KEY = re.compile(rf"{WORDS}\.{WORDS}"), re.compile(WORDS)
HEAD = re.compile(r"(\S+) (\w+(?:\|\w+)*):(.*)$")
FIELD, OVERRIDE = re.compile(r"field (\S+)  (.+)$"), re.compile(r"(\w+) = (.+)$")
CALL = re.compile(r"(?<!define )\bLOG_(DEBUG|INFO|WARN|ERROR|AT)\(")
LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')
LEVEL_NAME = re.compile(r"LOG_LVL_(\w+)")
LOG_FILES = ("lib/log.h", "lib/log.c")  # which define the macros


class Event:
    def __init__(self, head, section):
        self.name, levels, fields = head.groups()
        self.section, self.text, self.action, self.meaning = section, [], [], {}
        self.levels = levels.split("|")
        self.fields = [f.rstrip("?") for f in fields.split()]
        self.optional = {f[:-1] for f in fields.split() if f.endswith("?")}

    def add(self, line):
        override = OVERRIDE.match(line)
        if line.startswith("-> "):
            self.action.append(line[3:])
        elif override and override[1] in self.fields:
            self.meaning[override[1]] = override[2]
        else:
            (self.action or self.text).append(line)


class Table:
    """fields: what each means; events by name; wrong: what breaks a rule of the table itself."""

    def __init__(self, text):
        self.fields, self.events, self.wrong = {}, {}, []
        section, event = None, None
        for line in text.splitlines():
            field, head = FIELD.match(line), HEAD.match(line)
            if not line or line.startswith("#"):
                event = None
            elif line.startswith("== "):
                section = line[3:]
            elif field:
                self.fields[field[1]] = field[2]
            elif line.startswith("  ") and event:
                event.add(line.strip())
            elif head:
                event = Event(head, section)
                if event.name in self.events:
                    self.wrong.append(f"{event.name} has two rows")
                self.events[event.name] = event
            else:
                self.wrong.append(f"'{line}' is not a row")
        for event in self.events.values():
            self.wrong += self.judge(event)
        used = {key for event in self.events.values() for key in event.fields}
        self.wrong += [f"no event has the field {key}" for key in self.fields if key not in used]

    def judge(self, event):
        if not NAME.fullmatch(event.name):
            yield f"{event.name} is not spelt noun.verb, with lower case, digits and underscores"
        if not set(event.levels) <= set(LEVELS):
            yield f"{event.name} has a level that is not {', '.join(LEVELS)}"
        if not event.text:
            yield f"{event.name} lacks its text"
        for key in event.fields:
            if not KEY.fullmatch(key):
                yield f"{event.name}: the field {key} is not spelt with lower case, digits and underscores"
            if key not in self.fields and key not in event.meaning:
                yield f"{event.name}: the field {key} lacks its meaning"


def arguments(text, at):
    """The arguments of the call whose parenthesis ends at `at`."""
    depth, args, start = 1, [], at
    while depth:
        c = text[at]
        if c == '"':
            at = LITERAL.match(text, at).end()
            continue
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 or (depth == 1 and c == ","):
            args.append(text[start:at].strip())
            start = at + 1
        at += 1
    return args


class Call:
    def __init__(self, where, kind, args):
        self.where, self.keys, self.wrong = where, [], []
        self.levels = [kind.lower()]
        if kind == "AT":
            self.levels = [name.lower() for name in LEVEL_NAME.findall(args.pop(1))]
        event = LITERAL.fullmatch(args[1]) if len(args) > 1 else None
        self.event = event and event[1]
        for field in args[2:]:
            key = re.match(r'LF_(?:STR|INT)\(\s*"(\w+)",', field)
            if key:
                self.keys.append(key[1])
            else:
                self.wrong.append(f"the key of {' '.join(field.split())} is not a literal")

    def judge(self, table):
        row = table.events.get(self.event)
        if not self.event:
            yield "the event is not a literal"
        elif not row:
            yield f"the event {self.event} has no row in {TABLE}"
        if not row:
            return
        yield from self.wrong
        if not set(self.levels) <= set(row.levels) or not self.levels:
            yield f"{self.event} is logged as {'|'.join(self.levels) or 'nothing'}, its row says {'|'.join(row.levels)}"
        for key in self.keys:
            if key not in row.fields:
                yield f"{self.event} has the field {key}, which its row has not"
        for key in row.fields:
            if key not in self.keys and key not in row.optional:
                yield f"{self.event} lacks the field {key} of its row"


def calls(name, text):
    for m in CALL.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        yield Call(f"{name}:{line}", m[1], arguments(text, m.end()))


def check(root, files):
    """What breaks a rule. files: (name, text) of all C files but those of tests."""
    path = root / TABLE
    table = Table(path.read_text() if path.exists() else "")
    complaints = [f"{TABLE}: {wrong}" for wrong in table.wrong]
    logged, keys, levels = set(), {}, {}
    for name, text in files:
        for call in () if name in LOG_FILES else calls(name, text):
            complaints += [f"{call.where}: {wrong}" for wrong in call.judge(table)]
            logged.add(call.event)
            keys.setdefault(call.event, set()).update(call.keys)
            levels.setdefault(call.event, set()).update(call.levels)
    for event in table.events.values():
        if event.name not in logged:
            complaints.append(f"{TABLE}: nothing logs {event.name}")
            continue
        complaints += [f"{TABLE}: no call of {event.name} has the field {key}"
                       for key in event.fields if key not in keys[event.name]]
        complaints += [f"{TABLE}: nothing logs {event.name} as {level}"
                       for level in event.levels if level not in levels[event.name]]
    return complaints


def shown_event(event):
    own = "; ".join(f"`{key}`: {meaning}" for key, meaning in event.meaning.items())
    fields = " ".join(f"`{key}`" for key in event.fields)
    about = " ".join(event.text)
    about += f" {own[0]}{own[1:]}." if own else ""
    about += f" **Do:** {' '.join(event.action)}" if event.action else ""
    return f"| `{event.name}` | {', '.join(event.levels)} | {fields} | {about} |"


def shown(table):
    lines = []
    for section in dict.fromkeys(e.section for e in table.events.values()):
        lines += [f"## {section}", "", "| event | level | fields | what has happened |", "|---|---|---|---|"]
        lines += [shown_event(e) for e in table.events.values() if e.section == section] + [""]
    lines += ["## Fields", "", "| field | meaning, where the event says nothing else |", "|---|---|"]
    return "\n".join(lines + [f"| `{key}` | {meaning} |" for key, meaning in sorted(table.fields.items())]) + "\n"


def main(write):
    page, table = ROOT / PAGE, Table((ROOT / TABLE).read_text())
    text = page.read_text()
    before, rest = text.split(MARKS[0])
    current = before + MARKS[0] + "\n" + shown(table) + "\n" + MARKS[1] + rest.split(MARKS[1])[1]
    if current == text:
        return 0
    if write:
        page.write_text(current)
        return 0
    print(f"stale: {PAGE}; run make docs-update")
    return 1


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
