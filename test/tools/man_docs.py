#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Keeps what docs/man/batchaid.1 has from the tables of commands and options: the synopsis, and the options of all
commands but `serve`, whose options the page describes at length.

    man_docs.py            lists whether the page is stale; exit code 1 if it is
    man_docs.py --write    brings it up to date
`batchaid help COMMAND` is asked for the texts; $BATCHAID names the program.
"""
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/man/batchaid.1"
AT_LENGTH = "serve"
EVERYWHERE = 12  # an option of more commands than these is described without their names
OPTION = re.compile(r"^  --(\S+) +", re.M)


def ask(*arguments):
    program = os.environ.get("BATCHAID", str(ROOT / "build" / "batchaid"))
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def options_of(said):
    """(name, argument, help) of each option; arguments and helps begin in columns of their own."""
    lines = [line for line in said.splitlines() if OPTION.match(line)]
    column = min((OPTION.match(line).end() for line in lines), default=0)
    for line in lines:
        argument = line[column:].split(" ")[0]
        yield OPTION.match(line)[1], argument, line[column + len(argument):].strip()


def commands():
    """(name, arguments, options) of each command."""
    for name in re.findall(r"^  ([a-z-]+) ", ask("help"), re.M):
        said = ask("help", name)
        arguments = re.match(rf"usage: batchaid {name}(?: \[OPTIONS\])?(.*)\n", said)[1]
        yield name, arguments.strip(), list(options_of(said))


def escaped(text):
    return text.replace("-", r"\-")


def one_of(word):
    """A word of a usage line: LOCAL:, JOB..., bash, or several with bars."""
    if word == "--":
        return r"Fl \-"
    parts = [("Cm " if part.islower() else "Ar ") + escaped(part.lower()) for part in word.split("|")]
    return " | ".join(parts).replace("...", " ...").replace(":", " :")


def usage(arguments):
    """A usage line as a line of mdoc: "JOB [FILE...]" is ".Ar job Oo Ar file ... Oc"."""
    pieces, beside = [], True
    for token in re.findall(r"[\[\]]|\s+|[^\s\[\]]+", arguments):
        if token.isspace():
            beside = True
            continue
        if not beside and token != "]":
            pieces.append("Ns")
        pieces.append({"[": "Oo", "]": "Oc"}.get(token) or one_of(token))
        beside = token == "["
    return f".{' '.join(pieces)}\n" if pieces else ""


def titled(name, argument):
    return f"Fl {escaped('-' + name)}" + (f" Ar {escaped(argument.lower())}" if argument else "")


def synopsis(table):
    for name, arguments, options in table:
        yield f".Nm\n.Cm {escaped(name)}\n"
        yield from (f".Op {titled(option, argument)}\n" for option, argument, _ in options)
        yield usage(arguments)


def options(table):
    users = {}
    for name, _, listed in table:
        for one in listed:
            users.setdefault(one, []).append(name)
    at_length = {one[0] for one, names in users.items() if AT_LENGTH in names}
    names = list(dict.fromkeys(name for name, _, _ in users))
    for (name, argument, said), of in sorted(users.items(), key=lambda item: names.index(item[0][0])):
        if name in at_length:
            continue
        yield f".It {titled(name, argument)}\n"
        if len(of) > EVERYWHERE:
            said = said[0].upper() + said[1:]
        else:
            yield f"Of\n.Cm {escaped(' , '.join(of))} :\n"
        yield textwrap.fill(escaped(said) + ".", 110, break_on_hyphens=False, break_long_words=False) + "\n"


def with_current(text):
    table = list(commands())
    for mark, lines in ("synopsis", synopsis(table)), ("options", options(table)):
        pattern = re.compile(rf'(\.\\" begin {mark}\n).*?(\.\\" end {mark}\n)', re.DOTALL)
        assert len(pattern.findall(text)) == 1, mark
        made = "".join(lines)
        text = pattern.sub(lambda m, made=made: m[1] + made + m[2], text)
    return text


def main(write):
    path = ROOT / PAGE
    text = path.read_text()
    current = with_current(text)
    if write:
        path.write_text(current)
    elif current != text:
        print(f"stale: {PAGE}; run make docs-update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
