#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes C and a table of text of nodeagent-proto/wire/requests.txt, which says how it is written.

    make_requests.py OUT           writes OUT/nodeagent-proto/wire/requests.h, OUT/requests.inc and OUT/replies.inc
    make_requests.py --doc         lists whether PROTOCOL.md is stale; exit code 1 if it is
    make_requests.py --doc --write brings it up to date
"""
import re
import sys
from pathlib import Path
from textwrap import fill

WIRE = Path(__file__).resolve().parents[2] / "nodeagent-proto" / "wire"
TABLE, PAGE = WIRE / "requests.txt", WIRE.parent / "PROTOCOL.md"
MARKS = ("<!-- begin requests -->\n", "<!-- end requests -->\n")
HEAD = re.compile(r"(\w+): (looks|changes), (in order|any time|by task)(, beside)?$")
MEMBER = re.compile(r"  (->)? ?(\w+)(\[\])? (\w+)(?:=(\w+))?(?: (\w+))?(\?)?(?: \((.*)\))?$")
PART = re.compile(r"= (\w+): struct (\w+), (.+)$")
PART_MEMBER, PART_KINDS = re.compile(r"  (\w+) (\w+)(\?)?$"), ("text", "int", "number", "bool", "state", "count")
# kind: how its members stand in a struct; {0} and {1} are their names
TEXT, INT, NUMBER = "const char *{0};", "int {0};", "int64_t {0};"
FIELDS = {"text": TEXT, "path": TEXT, "job": TEXT, "int": INT, "mode": INT, "version": INT, "number": NUMBER,
          "start": NUMBER, "bool": "bool {0};", "paths": "const char *const *{0};\n    size_t n_{0};",
          "base64": "const void *{0};\n    size_t n_{0};", "ids": "int {0}, {1};", "range": "int64_t {0}, {1};",
          "part": "int64_t {0}, {1};", "epoch": "struct node_epoch {0};", "task": "const struct task_spec *{0};"}
PAIRS = ("ids", "range", "part")
# kind: what PROTOCOL.md calls it; else as it is
SHOWN = {"text": "", "job": "", "epoch": "", "task": "", "int": "number", "version": "number", "start": "number from 0 on",
         "mode": "number", "paths": "list of paths", "ids": "numbers", "range": "numbers", "part": "numbers"}
COUNTED = ("paths", "base64")
# The first member of a reply says how it is read.
ANSWERS = {None: "NOTHING", "facts": "FACTS", "status": "STATUS", "status[]": "STATUSES", "entry[]": "ENTRIES",
           "text[]": "TEXTS", "health": "HEALTH", "usage": "USAGE", "sample": "SAMPLE", "bytes": "BYTES"}


def fail(where, text):
    sys.exit(f"{TABLE}: {where}: {text}")


class Member:
    def __init__(self, line):
        found = MEMBER.match(line) or fail(line, "is not a member")
        self.answers, self.kind, many, self.name, field, self.second, mark, self.note = found.groups()
        self.field = field or self.name
        self.kind += many or ""
        self.optional = bool(mark)
        if not self.answers and (self.kind not in FIELDS or (self.kind in PAIRS) != bool(self.second)):
            fail(line, "has no such kind")

    def row(self, request):
        also = self.second or (f"n_{self.field}" if self.kind in COUNTED else self.field)
        second = f'"{self.second}"' if self.second else "NULL"
        place = f"offsetof(struct node_request, {request}"
        return (f'    {{"{self.name}", {second}, MEMBER_{self.kind.upper()}, {str(self.optional).lower()},\n'
                f"     {place}.{self.field}), {place}.{also})}},")

    def about(self):
        about = "; ".join(x for x in ("optional" if self.optional else "", self.note) if x)
        return f" /* {about} */" if about else ""

    def shown(self):
        kind = "" if self.kind == self.name else SHOWN.get(self.kind, self.kind.replace("[]", " list"))
        about = ", ".join(x for x in (kind, "optional" if self.optional else "", self.note) if x)
        names = f"`{self.name}`" + (f" and `{self.second}`" if self.second else "")
        return names + (f" ({about})" if about else "")


class Request:
    def __init__(self, paragraph):
        head, *rest = paragraph.splitlines()
        found = HEAD.match(head) or fail(head, "does not begin a request")
        self.name, self.what, self.when, self.beside = found.groups()
        members = [Member(line) for line in rest if line.startswith("  ")]
        self.members = [m for m in members if not m.answers]
        self.answers = [m for m in members if m.answers]
        self.text = " ".join(line for line in rest if not line.startswith("  "))
        self.answer = self.answers[0].kind if self.answers else None
        if self.answer not in ANSWERS or not self.text or "*/" in self.text or "|" in self.text:
            fail(self.name, "needs a text, and an answer of a known kind")

    def struct(self):
        about = fill(self.text[0].upper() + self.text[1:] + ".", 96, subsequent_indent=" * ", initial_indent="/* ")
        lines = [f"    {FIELDS[m.kind].format(m.field, m.second)}{m.about()}" for m in self.members]
        return "\n".join([f"{about} */", f"struct request_{self.name} {{", *lines, "};"])

    def form(self):
        members = f"members_of_{self.name}, {len(self.members)}" if self.members else "NULL, 0"
        answer = f'"{self.answers[0].name}"' if self.answers else "NULL"
        return (f'    [REQUEST_{self.name}] = {{"{self.name}", {str(self.what == "looks").lower()}, '
                f'REQUEST_{self.when.upper().replace(" ", "_")}, {str(bool(self.beside)).lower()},\n'
                f"        ANSWER_{ANSWERS[self.answer]}, {answer}, {members}}},")

    def shown(self):
        members, answers = (", ".join(m.shown() for m in some) for some in (self.members, self.answers))
        return "| " + " | ".join((f"`{self.name}`", members, answers, self.text)).replace("|  |", "| |").replace("|  |", "| |") + " |\n"


class Part:
    """A struct that replies have."""

    def __init__(self, paragraph):
        head, *rest = paragraph.splitlines()
        found = PART.match(head) or fail(head, "does not begin a struct of replies")
        self.name, self.tag, self.about = found.groups()
        self.members = []
        for line in rest:
            member = PART_MEMBER.match(line) or fail(line, "is not a member")
            if member[1] not in PART_KINDS or member[3] and member[1] not in ("text", "bool", "count"):
                fail(line, "has no such kind")
            self.members.append(member)

    def rows(self):
        rows = [f'    {{"{name}", PART_{kind.upper()}, {str(bool(optional)).lower()}, offsetof(struct {self.tag}, {name})}},'
                for kind, name, optional in (m.groups() for m in self.members)]
        return "\n".join([f"static const struct part_member members_of_{self.name}[] = {{", *rows, "};",
                          f"static const struct reply_part {self.name}_part = {{", f'    "{self.about}", members_of_{self.name},',
                          f"    {len(rows)}, sizeof(struct {self.tag})}};"])


def paragraphs():
    text = "\n".join(line for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    return re.split(r"\n{2,}", text.strip())


def load():
    return [Request(paragraph) for paragraph in paragraphs() if not paragraph.startswith("= ")]


def load_parts():
    return [Part(paragraph) for paragraph in paragraphs() if paragraph.startswith("= ")]


def header(requests):
    carrying = [r for r in requests if r.members]
    return "\n".join([
        "/* SPDX-License-Identifier: MIT", " *",
        " * The requests to a node's agent, made of nodeagent-proto/wire/requests.txt. A request of the daemon borrows",
        " * its texts and lists; one that was read lives as long as its message and its arena.", " */",
        "#ifndef NODEAGENT_PROTO_WIRE_REQUESTS_H", "#define NODEAGENT_PROTO_WIRE_REQUESTS_H", "",
        "#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", "",
        '#include "nodeagent-proto/wire/task.h"', "",
        "#define REQUESTS(X) \\", " \\\n".join(f"    X({r.name})" for r in requests), "",
        *(f"{r.struct()}\n" for r in carrying),
        "enum request_op {", *(f"    REQUEST_{r.name}," for r in requests), "    N_REQUESTS", "};", "",
        "struct node_request {", "    enum request_op op;", "    union {",
        *(f"        struct request_{r.name} {r.name};" for r in carrying), "    };", "};", "",
        "/* A request with these members: REQUEST(remove_tree, .path = path). */",
        "#define REQUEST(name, ...) \\",
        "    (&(const struct node_request){.op = REQUEST_##name, .name = {__VA_ARGS__}})",
        "/* One whose members are in a struct already; and one that has none. */",
        "#define REQUEST_OF(name, members) \\",
        "    (&(const struct node_request){.op = REQUEST_##name, .name = (members)})",
        "#define BARE_REQUEST(name) (&(const struct node_request){.op = REQUEST_##name})", "", "#endif", ""])


def rows(requests):
    return "\n".join([
        "/* Rows of nodeagent-proto/wire/requests.txt. */",
        *(f"static const struct request_member members_of_{r.name}[] = {{\n"
          + "\n".join(m.row(r.name) for m in r.members) + "\n};" for r in requests if r.members),
        "static const struct request_form forms[N_REQUESTS] = {", *(r.form() for r in requests), "};", ""])


def write(path, text):
    """What would be as before stays as it is, so what includes it is not built anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def page(requests):
    before, rest = PAGE.read_text().split(MARKS[0])
    table = "| op | members | reply | |\n| --- | --- | --- | --- |\n" + "".join(r.shown() for r in requests)
    return before + MARKS[0] + table + MARKS[1] + rest.split(MARKS[1])[1]


def main(args):
    requests = load()
    if args[0] != "--doc":
        write(Path(args[0]) / "nodeagent-proto/wire/requests.h", header(requests))
        write(Path(args[0]) / "requests.inc", rows(requests))
        write(Path(args[0]) / "replies.inc", "\n".join(["/* Structs of nodeagent-proto/wire/requests.txt. */",
                                                        *(part.rows() for part in load_parts()), ""]))
        return 0
    if "--write" in args:
        write(PAGE, page(requests))
    elif PAGE.read_text() != page(requests):
        print(f"stale: {PAGE}; run make docs-update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
