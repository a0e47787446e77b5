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

import log_events
import plain_words
import rooms

C_ROOMS = sorted({room.split("/")[0] for room in rooms.load()} | {"test"})
FILE_LINES = 600
FUNCTION_LINES, FUNCTION_LIMIT = 60, 100
# A source file with more lines has a head comment, below the line of its licence, that says in so many words what it is.
HEAD_LINES, HEAD_WORDS = 100, 8
HEAD = re.compile(r"/\* SPDX-License-Identifier: MIT\n( \*.*?)\*/", re.S)
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
SQL_FILES, SQL_CALL = ("storage/sql.c", "storage/query.c", "storage/history/file.c"), re.compile(r"(?<![\w.>])(sqlite3_\w+)\s*\(")
# Statements stand in storage/sql/; these make SQL at run time, or run it where no statement can be prepared.
SQL_TEXT = re.compile(r"\b(SELECT|INSERT (?:OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM) ")
SQL_TEXT_FILES = {"storage/changes.c": "triggers, made of a table of kinds",
                  "storage/check.c": "rows without the row that they refer to, by the schema; a mark in a copy",
                  "storage/db.c": "the epoch of a start, before the first turn",
                  "storage/history/file.c": "the history of samples, a file of its own",
                  "storage/key.c": "what proves the key of a copy",
                  "storage/sql.c": "the term of a database that may be damaged or old"}
# The constants of the usual hash functions and generators.
HASH_FILE, HASH = "lib/hash.c", re.compile(r"2166136261|16777619|0x9e3779b9|0xbf58476d|0xcbf29ce4", re.I)
# From a part back to its struct by CONTAINER_OF() alone, which checks the part's type.
CONTAINER_CAST = re.compile(r"\(struct \w+ \*\)\s*\(void \*\)\w")
# Bodies are accepted in one place.
ACCEPT_FILE, ACCEPT = "api/http/accept.c", re.compile(r"(?<![\w.>])(schema_accept(?:_partial|_as)?)\s*\(")
# The reader of bodies that the tables have replaced.
OLD_READER = re.compile(r"\bmembers_read\s*\(|\bstruct member members\[\]|json_members")
# Lists end with the way to the next page in these files, the forms of api/http/page.h.
PAGE_FORMS, NEXT_PAGE = {"api/http/page.c", "api/plane/batch/list.c", "api/plane/storage/listing.c",
                         "api/arm/storage/share_list.c", "api/graph/objects.c"}, re.compile(r"nextLink|NextMarker>?$|\$skip_?token", re.I)
# JSON becomes text by lib/jsontext.h; these files indent it for people, or have no room for all of it.
WRITERS, WRITER = {"lib/jsontext.c", "daemon/cli/nodes_common.c", "daemon/config/state_files.c",
                   "nodeagent-proto/agent/names.c"}, re.compile(r"(?<![\w.>])(json_dumps|json_dumpb|json_dump_callback)\s*\(")
# Handlers are declared by the tables of routes (make_routes.py); these headers have handlers that several rooms use, or
# that other handlers call.
HANDLER_FILES, HANDLER = {"api/arm/kind.h", "api/arm/operation.h", "api/plane/blob/handlers.h",
                          "api/plane/file/handlers.h", "api/plane/storage/cors.h",
                          "api/plane/storage/service_level.h"}, re.compile(
                              r"^struct replied \*(\w+)\(struct request \*r\);")
# Values of JSON belong to the request (request_own()) or to a scope (json_auto_t). How often each file below api/ frees
# one by hand: no other file does, and a number may only become smaller.
JSON_FREE = re.compile(r"(?<![\w.>])json_(?:decrefp?|delete)\s*\(")
JSON_FREES = {
    "api/admin/story.c": 1, "api/http/reply.c": 1,
    "api/http/request_life.c": 1, "api/plane/batch/certificate_rows.c": 1, "api/plane/storage/service_settings.c": 1,
    "api/testing/log.c": 1, "api/testing/seed/apply.c": 1, "api/testing/seed/dump.c": 2,
    "api/testing/seed/files.c": 3, "api/testing/seed/request.c": 2,
    "api/testing/seed/seed_doc.c": 1, "api/testing/seed/seed_error.c": 1,
}
# A line that a trailing comment has cut after the type, a parenthesis or an equals sign, and the next line.
BROKEN = re.compile(r"^\s+(?:(?:const )?(?:(?:struct|enum) \w+|bool|char|int|unsigned|size_t|u?int\d+_t|json_t)(?: \*+)?"
                    r"|[^/*\"]*[(=])$")
AFTER_BREAK = re.compile(r"^\s+[^/\"]*[;,]\s+/\*")
# The core knows pools and runs; jobs and clusters are of services. Its fronts, the names of our programs and of
# variables on nodes are no words of it; nor are a few texts, each in one file:
CORE, NOT_CORE = "scheduler/", re.compile(r"scheduler/front/\w+/")
SERVICE_WORD = re.compile(r"\w*(?:job|cluster|batch|azure)\w*", re.I)
NO_SERVICE_WORD = re.compile(r"\bbatchaid\b|\bBATCHAID?_\w+|BATCHAI-VARIABLES|\bbatchai-(?:node\b|%|\")")
SERVICE_TEXTS = {
    "scheduler/fleet/node/node.h": ('RUNS_DIR "jobs"',),  # the directory on nodes
    "scheduler/fleet/node/account.c": ("job_user; jobs.uids",),  # settings
    "scheduler/fleet/container/programs/start.sh": ("jobs.uids",),
    "scheduler/run/shared_dir.c": ("jobs.shared_directory",),
    "scheduler/run/programs/share.sh": ("jobs.shared_directory",),
    "scheduler/fleet/mount/types.c": ("BatchMode",),  # an option of ssh
    "scheduler/fleet/mount/own.c": ("BatchMode",),
    "scheduler/run/launch/tensorflow.c": ('\\"cluster\\"',),  # TF_CONFIG, which TensorFlow reads
}
# The words that the glossary has for what is not in code: the last cell of a noun's row.
GLOSSARY, NOUN_ROW = "docs/glossary.md", re.compile(r"^\| ([^|]+) \|(?:[^|]*\|){3} (`[^|]+`) \|$", re.M)
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|//.*|/\*.*?\*/')
COMMENT_LINE = re.compile(r"^\s*(/\*|\*)")
# Texts of these rooms have the words of fronts in braces, and placeholders of the site's rules: where each is listed.
WORD_ROOMS, WORD = ("model", "scheduler"), re.compile(r"(?<!\$)\{(\w+)\}")
WORD_LISTS = {"model/front_words.c": re.compile(r"^ +WORD\((\w+)\),$", re.M),
              "scheduler/fleet/mount/command.c": re.compile(r'\{"\{(\w+)\}", w->')}


# Where a tag is defined: each in one file, of tests too, so that a search for it finds one thing.
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")


# A package that users install: help() shows its texts.
PYTHON_OF_USERS = "etc/wheel"


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


def check_head(name, lines):
    head = HEAD.match("\n".join(lines))
    if len(lines) > HEAD_LINES and len(re.findall(r"\w{2,}", head[1] if head else "")) < HEAD_WORDS:
        yield (f"{name}:1: {len(lines)} lines without a head comment that says what the file is: "
               "its states, rules, owner, thread")


def check_c(name, lines):
    for number, line in enumerate(lines, 1):
        match = not COMMENT_LINE.match(line) and BANNED_CALL.search(LITERAL.sub("", line))
        if match:
            yield f"{name}:{number}: {match[1]}() is banned; use {BANNED[match[1]]}"
        sql = not COMMENT_LINE.match(line) and SQL_CALL.search(LITERAL.sub("", line))
        if sql and str(name) not in SQL_FILES and not str(name).startswith("test/"):
            yield f"{name}:{number}: {sql[1]}() is called; only {' and '.join(SQL_FILES)} call SQLite"
        texts = [] if COMMENT_LINE.match(line) else [m[0] for m in LITERAL.finditer(line) if m[0][0] == '"']
        if str(name).startswith("storage/") and name not in SQL_TEXT_FILES and any(map(SQL_TEXT.search, texts)):
            yield f"{name}:{number}: SQL stands in storage/sql/"
        if CONTAINER_CAST.search(line) and not str(name).startswith("test/"):
            yield f"{name}:{number}: a cast to a struct that holds another; use CONTAINER_OF() of lib/container.h"
        if HASH.search(line) and str(name) != HASH_FILE and not str(name).startswith("test/"):
            yield f"{name}:{number}: a hash of its own; use lib/hash.h"
    for function, start, length in functions(lines):
        if length > FUNCTION_LIMIT:
            yield f"{name}:{start}: {function}() has {length} lines; {FUNCTION_LIMIT} are the limit"


def check_writers(name, lines):
    for number, line in enumerate(lines, 1):
        match = not COMMENT_LINE.match(line) and WRITER.search(LITERAL.sub("", line))
        if match and name not in WRITERS and not name.startswith("test/"):
            yield f"{name}:{number}: {match[1]}() is called; lib/jsontext.h writes JSON"


# Rows of tables of properties, and members that are rendered, are written by the macros of one header each.
BARE_ROWS = {"model/schema_rows.h": re.compile(r"(?<![\w\])])\.kind\s*=\s*FIELD_"),
             "model/schema.h": re.compile(r"(?<![\w\])])\.kind\s*=\s*OVER_")}
BARE_ROW_FILES = {*BARE_ROWS, "model/schema_render.c"}


def check_rows(name, lines):
    for number, line in enumerate(lines, 1):
        for file, bare in BARE_ROWS.items():
            if name not in BARE_ROW_FILES and not COMMENT_LINE.match(line) and bare.search(LITERAL.sub("", line)):
                yield f"{name}:{number}: a property's row without a macro; those of {file} write rows"


def check_accepts(name, lines):
    for number, line in enumerate(lines, 1):
        match = not COMMENT_LINE.match(line) and ACCEPT.search(LITERAL.sub("", line))
        if match and name != ACCEPT_FILE:
            yield f"{name}:{number}: {match[1]}() is called; request_accept() of api/http/accept.h accepts bodies"
        if OLD_READER.search(line):
            yield f"{name}:{number}: a reader of members of its own; request_read_body() of api/http/accept.h reads bodies"


def check_pages(name, lines):
    for number, line in enumerate(lines, 1):
        literals = [] if COMMENT_LINE.match(line) else LITERAL.finditer(line)
        if name not in PAGE_FORMS and any(m[0][0] == '"' and NEXT_PAGE.search(m[0].strip('"')) for m in literals):
            yield f"{name}:{number}: a list with pages of its own; api/http/page.h has pages"


def check_trailing_comments(name, lines):
    """clang-format breaks a declaration or a call before its comment rather than the comment."""
    for number, (line, following) in enumerate(zip(lines, lines[1:]), 1):
        if BROKEN.match(line) and AFTER_BREAK.match(following):
            yield f"{name}:{number}: a comment behind the line breaks it: put the comment above"


def check_handlers(name, lines):
    for number, line in enumerate(lines, 1):
        match = name not in HANDLER_FILES and HANDLER.match(line)
        if match:
            yield f"{name}:{number}: {match[1]}() is declared by its row: include the room's routes.h"


def check_json_frees(name, lines):
    frees = sum(len(JSON_FREE.findall(LITERAL.sub("", line))) for line in lines if not COMMENT_LINE.match(line))
    known = JSON_FREES.get(name, 0)
    if frees > known:
        yield f"{name}: frees a JSON value in {frees} places, not in {known}: use request_own() or json_auto_t"
    elif frees < known:
        yield f"{name}: frees a JSON value in {frees} places: let JSON_FREES of check_source.py say that"


def known_words(root):
    texts = {pattern: root / name for name, pattern in WORD_LISTS.items()}
    return {word for pattern, file in texts.items() if file.exists() for word in pattern.findall(file.read_text())}


def texts_of(name, line):
    """What users read of a line: literals of C; of Python the whole line, as texts there span lines."""
    if name.endswith(".py"):
        return [re.split(r"(?:^|\s)#", line)[0]]
    return [] if COMMENT_LINE.match(line) else [m[0] for m in LITERAL.finditer(line) if m[0][0] == '"']


def check_wording(name, lines):
    for number, line in enumerate(lines, 1):
        for text in texts_of(name, line):
            for phrase, better in plain_words.unclear(text, plain_words.FOR_MESSAGES):
                yield f"{name}:{number}: {phrase!r} in a message; plainer: {better}"


def check_words(name, lines, known):
    """front_text() leaves a word that it does not know as it stands, for users to read."""
    for number, line in enumerate(lines, 1):
        literals = [] if COMMENT_LINE.match(line) else LITERAL.finditer(line)
        for word in (w for m in literals if m[0][0] == '"' for w in WORD.findall(m[0])):
            if word[0].lower() + word[1:] not in known:
                yield f"{name}:{number}: {{{word}}} is no word of {' or '.join(WORD_LISTS)}"


def avoided_words(root):
    """{word: noun} of the glossary."""
    page = root / GLOSSARY
    rows = NOUN_ROW.findall(page.read_text()) if page.exists() else []
    return {word: noun for noun, cell in rows for word in re.findall(r"`(\w+)`", cell)}


def check_names(name, lines, avoided):
    """A name, of a file too, contains no word that the glossary replaces by a noun; several words are joined by _."""
    part = re.compile(rf"(?<![^\W_])(?:{'|'.join(avoided)})(?![^\W_])", re.I)
    code = ["" if COMMENT_LINE.match(line) else LITERAL.sub("", line) for line in lines]
    for number, text in enumerate([name, *code] if avoided else ()):
        for word in part.findall(text):
            yield f"{name}:{number or 1}: a name with {word!r}; {GLOSSARY} calls that {avoided[word.lower()]}"


def check_core(name, lines):
    """The words of services in the core: in names, comments and texts."""
    if not name.startswith(CORE) or NOT_CORE.match(name):
        return
    for number, line in enumerate(lines, 1):
        for text in SERVICE_TEXTS.get(name, ()):
            line = line.replace(text, "")
        if found := SERVICE_WORD.search(NO_SERVICE_WORD.sub("", line)):
            yield f"{name}:{number}: {found[0]} is a word of a front; the core has pools and runs"


def tags(name, lines):
    """(tag, file, line) of each that is defined."""
    for number, line in enumerate(lines, 1):
        for tag in [] if COMMENT_LINE.match(line) else TAG.findall(LITERAL.sub("", line)):
            yield tag, name, number


def check_tags(defined):
    first = {}
    for tag, name, number in defined:
        if first.setdefault(tag, name) != name:
            yield f"{name}:{number}: the tag {tag} is defined in {first[tag]}, too; give each a name of its own"


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
    complaints, long_functions, words, avoided = [], [], known_words(root), avoided_words(root)
    defined = []
    for file in [*sources(root, ".c", ".h", ".py", ".sh"), *sorted((root / "storage").rglob("*.sql"))]:
        name, lines = str(file.relative_to(root)), file.read_text().splitlines()
        complaints += check_text(name, lines)
        complaints += check_core(name, lines)
        if file.suffix in (".c", ".h"):
            complaints += check_c(name, lines)
            complaints += check_rows(name, lines)
            complaints += check_trailing_comments(name, lines)
            defined += tags(name, lines)
            if not name.startswith("test/"):
                complaints += check_head(name, lines) if file.suffix == ".c" else []
                complaints += check_wording(name, lines)
                complaints += check_names(name, lines, avoided)
            complaints += check_writers(name, lines)
            if name.startswith("api/"):
                complaints += check_accepts(name, lines)
                complaints += check_json_frees(name, lines)
                complaints += check_pages(name, lines)
                complaints += check_handlers(name, lines)
            if name.split("/")[0] in WORD_ROOMS:
                complaints += check_words(name, lines, words)
            long_functions += [f"{name}:{start}: {function}() has {length} lines"
                               for function, start, length in functions(lines)
                               if FUNCTION_LINES < length <= FUNCTION_LIMIT]
    for file in sorted((root / PYTHON_OF_USERS).rglob("*.py")):
        complaints += check_wording(str(file.relative_to(root)), file.read_text().splitlines())
    complaints += log_events.check(root, [(name, text) for file in sources(root, ".c", ".h")
                                          if not (name := str(file.relative_to(root))).startswith("test/")
                                          and "LOG_" in (text := file.read_text())])
    complaints += check_tags(defined)
    complaints += check_format(root)
    if long_functions:
        print(f"over {FUNCTION_LINES} lines:", *long_functions, sep="\n  ")
    print("\n".join(complaints) if complaints else "check-source: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
