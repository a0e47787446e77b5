#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""House rules that a compiler does not keep: format, banned functions, licence lines, sizes.

    check_source.py [ROOT]     lists what breaks a rule; exit code 1 if anything does
Functions over 60 lines are listed as well, without failing: each wants a reason.
"""
import re
import subprocess
import sys
from pathlib import Path

import rooms

C_ROOMS = sorted({room.split("/")[0] for room in rooms.load()} | {"test"})
FILE_LINES = 600
FUNCTION_LINES, FUNCTION_LIMIT = 60, 100
# function: what to use instead
BANNED = {
    "strcpy": "strbuf or memcpy",
    "strcat": "strbuf",
    "sprintf": "strbuf or snprintf",
    "vsprintf": "vsnprintf",
    "gets": "fgets",
    "strtok": "strcspn",
    "system": "posix_spawn",
    "popen": "posix_spawn or uv_spawn",
    "alloca": "an arena",
    "tmpnam": "mkstemp",
}
BANNED_CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(BANNED))
# SQLite is called in two files; tests may look for themselves.
SQL_FILES, SQL_CALL = ("storage/sql.c", "storage/query.c"), re.compile(r"(?<![\w.>])(sqlite3_\w+)\s*\(")
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|//.*|/\*.*?\*/')
COMMENT_LINE = re.compile(r"^\s*(/\*|\*)")
# Texts of these rooms have the words of fronts in braces, and placeholders of the site's rules: where each is listed.
WORD_ROOMS, WORD = ("model", "scheduler", "front"), re.compile(r"(?<!\$)\{(\w+)\}")
WORD_LISTS = {"model/front_words.c": re.compile(r"^ +WORD\((\w+)\),$", re.M),
              "scheduler/fleet/mount_command.c": re.compile(r'\{"\{(\w+)\}", w->')}


# What tests make beside the sources while others look.
PASSING = re.compile(r"__pycache__|made_up_\d+")


def sources(root, *suffixes):
    for room in C_ROOMS:
        for file in sorted((root / room).rglob("*")):
            if file.suffix in suffixes and not any(PASSING.match(part) for part in file.parts):
                yield file


def functions(lines):
    """(name, first line, length) of each function body: from a lone { to the lone } that ends it."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            name = next((m[1] for back in range(start - 2, max(start - 8, -1), -1)
                         if (m := re.search(r"^\w.*?(\w+)\(", lines[back]))), "?")
            yield name, start, number - start + 1
            start = None


def check_text(name, lines):
    if not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
        yield f"{name}:1: the first lines lack SPDX-License-Identifier: MIT"
    if len(lines) > FILE_LINES:
        yield f"{name}: {len(lines)} lines; {FILE_LINES} are the limit"
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield f"{name}:{number}: a tab"
        if line != line.rstrip():
            yield f"{name}:{number}: a blank at the end of the line"


def check_c(name, lines):
    for number, line in enumerate(lines, 1):
        match = not COMMENT_LINE.match(line) and BANNED_CALL.search(LITERAL.sub("", line))
        if match:
            yield f"{name}:{number}: {match[1]}() is banned; use {BANNED[match[1]]}"
        sql = not COMMENT_LINE.match(line) and SQL_CALL.search(LITERAL.sub("", line))
        if sql and str(name) not in SQL_FILES and not str(name).startswith("test/"):
            yield f"{name}:{number}: {sql[1]}() is called; only {' and '.join(SQL_FILES)} call SQLite"
    for function, start, length in functions(lines):
        if length > FUNCTION_LIMIT:
            yield f"{name}:{start}: {function}() has {length} lines; {FUNCTION_LIMIT} are the limit"


def known_words(root):
    texts = {pattern: root / name for name, pattern in WORD_LISTS.items()}
    return {word for pattern, file in texts.items() if file.exists() for word in pattern.findall(file.read_text())}


def check_words(name, lines, known):
    """front_text() leaves a word that it does not know as it stands, for users to read."""
    for number, line in enumerate(lines, 1):
        literals = [] if COMMENT_LINE.match(line) else LITERAL.finditer(line)
        for word in (w for m in literals if m[0][0] == '"' for w in WORD.findall(m[0])):
            if word[0].lower() + word[1:] not in known:
                yield f"{name}:{number}: {{{word}}} is no word of {' or '.join(WORD_LISTS)}"


def check_format(root):
    files = [str(f.relative_to(root)) for f in sources(root, ".c", ".h")]
    if not files:
        return ["no C source found: nothing was checked"]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=root,
                          capture_output=True, text=True)
    if done.returncode == 0:
        return []
    return [line for line in done.stderr.splitlines() if ": error:" in line] or [done.stderr[-500:]]


def main(root):
    complaints, long_functions, words = [], [], known_words(root)
    for file in sources(root, ".c", ".h", ".py", ".sh"):
        name, lines = str(file.relative_to(root)), file.read_text().splitlines()
        complaints += check_text(name, lines)
        if file.suffix in (".c", ".h"):
            complaints += check_c(name, lines)
            if name.split("/")[0] in WORD_ROOMS:
                complaints += check_words(name, lines, words)
            long_functions += [f"{name}:{start}: {function}() has {length} lines"
                               for function, start, length in functions(lines)
                               if FUNCTION_LINES < length <= FUNCTION_LIMIT]
    complaints += check_format(root)
    if long_functions:
        print(f"over {FUNCTION_LINES} lines:", *long_functions, sep="\n  ")
    print("\n".join(complaints) if complaints else "check-source: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
