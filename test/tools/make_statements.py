#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes C of storage/sql/*.sql: ids and texts of all statements, and for most a function that binds, runs and reads.

    make_statements.py OUT FILE.sql...     run at the root of the tree; writes only what has changed

OUT gets storage/sql/NAME.h (prototypes for everybody) and NAME.c for each NAME.sql, storage/sql/private_priv.h
(prototypes for the room), storage/sql/columns.h (columns.sql as macros), storage/sql/rows.h (lists of rows) and statement_ids.inc, statement_texts.inc.
A statement is a line that declares its function, and below it the SQL, which ends with ";":

    -- private st_account_list_group(i64 group_id, st_page page) -> account*
    $account_select WHERE s.group_id = :group_id AND s.id > :page.after ORDER BY s.id LIMIT :page.limit;

Comment lines directly above become the comment of the prototype. private: only the room sees the function. A declaration
continues in lines with five blanks or more after "--".

Parameters: i64, int, bool, text (NULL: null), id (0: null), sealed (a text to seal), the name of an enum, or of a struct,
which is passed as a pointer; filter. unused in front: only related functions need the parameter.

In the SQL:
    :name, :m.scale.target   a parameter, a member of a parameter. A member x beside a member has_x is null if has_x is
                             false. A member bytes is a blob of the length in the member n or size.
    {RES_JOB}                the number of an enumerator in model/ or storage/. A literal number that is compared with a
                             column of an enum is refused.
    {GROUPS_DETACHED}          the text of a macro
    {job}, {+job}            the columns of a row (storage/rows.h) in a SELECT and in an INSERT
    $job_select              a fragment, declared by "-- $job_select" and used in all files; "-- $mark(table, which)" has
                             arguments. A fragment of columns.sql is for C too, as SQL_NAME.
    {?job}                   the comparisons of the parameter of type filter; "-- filter job[PROPERTIES]" maps each
                             property to SQL

Results, after " -> "; unless this list says otherwise a function returns 0 or -1:
    (none)                   runs the statement
    new id                   inserts; *id is the id of the new row, unless id is NULL
    changed "job"            changes one row, the parameter or member id; ERR_RESOURCE_NOT_FOUND without such a row.
                             changed "task" x.y: the message names that id
    count gone               *gone is the number of changed rows
    moved "Job" exec_state by st_job_state
                             a guarded move from `from` (or `state`) to `to`; ERR_CONFLICT names the state that the second
                             statement reads
    i64 n, bool any          reads one number; without a row *n does not change
    i64? id, kind? k, text? name, (text a, text b)?
                             a getter: 1, 0 (no row) or -1
    job?, job                a getter of a row; without ? the row always exists, and the function returns 0
    known job?               the same, cached until one of its tables changes (storage/row_cache.c)
    job*, i64*               a list of rows, or of ids; with a parameter of type st_page, st_names or st_paths
                             (storage/page.h) a part of a list, as a struct job_rows
    sealed? value            a getter that unseals the column
    state, by hand, control  no function: read by another statement's "moved"; used by code written by hand; begins or
                             ends transactions
"""
import json
import re
import sys
from pathlib import Path
from textwrap import fill

HEADERS = [*sorted(Path("model").rglob("*.h")), *sorted(Path("storage").glob("*.h"))]
NAME = re.compile(r"(?<![:\w]):([a-z]\w*(?:\.\w+)*)")
FRAGMENT = re.compile(r"\$([a-z]\w*)")
# Of a statement, a fragment or a filter; a declaration goes on in lines that are indented.
HEAD = re.compile(r"-- (?:(?:private )?st_\w+\([^)]*(?:\)(?: -> .*)?)?|\$\w+(?:\([\w, ]*\))?|filter \w+\[\w+\].*)")
FILTER = re.compile(r"\{\?(\w+)\}")
CONSTANT = re.compile(r"\{([A-Z]\w*)\}")
# Columns that hold enums: a bare number beside one of them is refused.
ENUM_COLUMNS = ("state|was|prov_state|exec_state|alloc_state|phase|stop|held|owner_kind|awaited_kind|kind|wanted|ended|"
                "fate|files|result|status|vm_priority|wish|how|lease_state|type")
BARE = re.compile(rf"\b(?:\w+\.)?(?:{ENUM_COLUMNS})\s*(?:=|<>|<=|>=|<|>|(?:NOT )?IN \(|WHEN)\s*[0-9]")
BUILTIN = {"i64": "int64_t ", "id": "int64_t ", "int": "int ", "bool": "bool ", "text": "const char *",
           "sealed": "const char *", "filter": "const struct filter *"}
BIND = {"i64": "q_int", "id": "q_id", "int": "q_int", "bool": "q_int", "text": "q_text", "sealed": "q_sealed"}

# The structs by which a statement gives a part of a list (storage/page.h).
PARTS = ("st_page", "st_names", "st_paths")


def fail(where, text):
    sys.exit(f"{where}: {text}")


def split(text):
    """At the commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        parts += [""] if c == "," and depth == 0 else []
        parts[-1] += "" if c == "," and depth == 0 else c
    return [p.strip() for p in parts if p.strip()]


def block(text, at):
    """What stands between the bracket at `at` and the one that closes it."""
    depth, end = 0, at
    while depth or end == at:
        depth += (text[end] in "({") - (text[end] in ")}")
        end += 1
    return text[at + 1:end - 1]


class World:
    """What the headers say: numbers and headers of enumerators, texts of macros, members of structs, lists of rows."""

    def __init__(self):
        self.numbers, self.texts, self.enums, self.structs, self.rows, self.at = {}, set(), set(), {}, {}, {}
        for path in HEADERS:
            code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
            for m in re.finditer(r"^enum (\w+) (?=\{)", code, re.M):
                self.read_enum(m[1], block(code, m.end()), str(path))
            for m in re.finditer(r"^struct (\w+) (?=\{)", code, re.M):
                self.structs[m[1]] = self.members(block(code, m.end()))
                self.at["struct " + m[1]] = str(path)
            for m in re.finditer(r'^#define (\w+)\s+"', code, re.M):
                self.texts.add(m[1])
                self.at[m[1]] = str(path)
        for path in sorted(Path("storage").glob("*.c")):
            for m in re.finditer(r"^ROW_OF\((\w+),\s*struct (\w+),\s*(\w+),", path.read_text(), re.M):
                secret = "SECRET(" in path.read_text().split(f" {m[3]}_columns[]")[1].split("};")[0]
                self.rows[m[3]] = (m[1], m[2], secret)

    def read_enum(self, name, body, path):
        value = -1
        self.enums.add(name)
        self.at["enum " + name] = path
        for item in split(body):
            m = re.fullmatch(r"(\w+)(?:\s*=\s*(-?\d+))?", item)
            value = None if not m or value is None and not m[2] else int(m[2]) if m[2] else value + 1
            if value is not None:
                self.numbers[m[1]], self.at[m[1]] = value, path

    @staticmethod
    def members(body):
        found = {}
        for line in body.split(";"):
            m = re.fullmatch(r"\s*((?:const |struct |enum )*\w+)\s+([^()]+)", line, re.S)
            for name in split(m[2]) if m else []:
                found[re.sub(r"[*\s]|\[.*", "", name)] = m[1] + (" *" if "*" in name else "")
        return found


class Statement:
    def __init__(self, where, head, text, comment):
        m = re.fullmatch(r"(private )?(st_\w+)\((.*)\)(?: -> (.+))?", head)
        if not m:
            fail(where, f"not a declaration: {head}")
        self.where, self.name, self.comment, self.text = where, m[2], comment, text
        self.private, self.result = bool(m[1]), m[4] or ""
        self.id = self.name.upper()
        self.unused = [p.split()[-1] for p in split(m[3]) if p.startswith("unused ")]
        self.params = [tuple(p.removeprefix("unused ").split()) for p in split(m[3])]
        self.writes = False

    def has_function(self):
        return self.result not in ("control", "by hand", "state")

    def in_parts(self):
        """A list of which it gives a part (storage/page.h)."""
        return any(p[0] in PARTS for p in self.params)


class File:
    """One .sql: statements, fragments and filters, in the order in which they stand there."""

    def __init__(self, path):
        self.name, self.statements, self.fragments, self.filters = Path(path).stem, [], {}, {}
        comment, lines, number = [], Path(path).read_text("ascii").splitlines(), 0
        while number < len(lines):
            line, number = lines[number], number + 1
            where = f"{path}:{number}"
            if not line.startswith("-- "):
                comment = []
                if line not in ("", "--"):
                    fail(where, f"no declaration above: {line}")
            elif not HEAD.fullmatch(line):
                comment.append(line[3:])
            else:
                declared = line[3:]
                while lines[number].startswith("--     "):
                    declared, number = declared + lines[number][6:], number + 1
                text = []
                while not text or not text[-1].endswith(";"):
                    if number == len(lines) or not lines[number].strip():
                        fail(where, "the statement does not end with ;")
                    text, number = text + [lines[number].strip()], number + 1
                self.add(where, declared, "\n".join(text)[:-1], " ".join(comment))
                comment = []

    def add(self, where, head, text, comment):
        if m := re.fullmatch(r"\$(\w+)(?:\((.*)\))?", head):
            self.fragments[m[1]] = (split(m[2] or ""), text)
        elif m := re.fullmatch(r"filter (\w+)\[(\w+)\](?::.*)?", head):
            self.filters[m[1]] = (m[2], [item.partition(" = ")[::2] for item in split(text.replace("\n", " "))])
        else:
            self.statements.append(Statement(where, head, text, comment))


class Maker:
    def __init__(self, files):
        self.world, self.files, self.fragments = World(), files, {}
        for file in files:
            for name in self.fragments.keys() & file.fragments.keys():
                fail(f"storage/sql/{file.name}.sql", f"${name} stands in another file too")
            self.fragments.update(file.fragments)
        for s in (s for file in files for s in file.statements):
            s.text = self.expand(s.where, s.text)
            s.writes = not s.text.startswith("SELECT")

    # --- SQL ------------------------------------------------------------------------------------

    def expand(self, where, text):
        """With every $fragment(...) written out."""
        while m := FRAGMENT.search(text):
            if m[1] not in self.fragments:
                fail(where, f"there is no fragment ${m[1]}")
            names, body = self.fragments[m[1]]
            end, args = m.end(), []
            if names:
                inside = block(text, end)
                args, end = split(inside), end + len(inside) + 2
            if len(args) != len(names):
                fail(where, f"${m[1]} takes {len(names)} arguments, not {len(args)}")
            for name, arg in zip(names, args):
                body = re.sub(rf"\${name}\b", lambda _, arg=arg: arg, body)
            text = text[:m.start()] + body + text[end:]
        return text

    def literal(self, where, text, used):
        """As C: a string a line; constants as they are called in C, or as numbers, which `used` gets."""
        if bare := BARE.search(text):
            fail(where, f"a number where the enum has a name: {bare[0]}")

        def constant(m):
            if m[1] in self.world.texts:
                used.add(m[1])
                return f"'\x01{m[1]}\x01'"
            if m[1] not in self.world.numbers:
                fail(where, f"no header says what {m[1]} is")
            used.add(m[1])
            return str(self.world.numbers[m[1]])
        lines = CONSTANT.sub(constant, text).split("\n")
        quoted = [json.dumps(line + (" " if i + 1 < len(lines) else "")) for i, line in enumerate(lines)]
        return "\n".join(re.sub(r"\\u0001(\w+)\\u0001", r'" \1 "', line) for line in quoted)

    def number(self, s):
        """The text with ?1, ?2 ... for its names, and the names in that order."""
        text = s.text
        order = [p[-1] for p in s.params] if s.result == "by hand" else []
        for m in NAME.finditer(text):
            if m[1] not in order:
                order.append(m[1])
        for name in order:
            if name.split(".")[0] not in {p[-1] for p in s.params}:
                fail(s.where, f"{s.name} has no parameter {name}")
        used = {name.split(".")[0] for name in order}
        for kind, name in s.params:
            if kind != "filter" and "{+" not in text and (name in s.unused) == (name in used):
                fail(s.where, f"{name} of {s.name} is not used, or is and says that it is not")
        return NAME.sub(lambda m: f"?{order.index(m[1]) + 1}", text), order

    # --- C --------------------------------------------------------------------------------------

    def c_type(self, s, kind):
        if kind in BUILTIN:
            return BUILTIN[kind]
        if kind in self.world.enums:
            return f"enum {kind} "
        if kind in self.world.structs:
            return f"const struct {kind} *"
        return fail(s.where, f"no header says what {kind} is")

    def result(self, s):
        """(kind of result, C parameters for it, whether it is in an arena)"""
        if m := re.fullmatch(r"(known )?(\w+)([?*]?)", s.result):
            if m[2] in self.world.rows:
                of = "struct " + self.world.rows[m[2]][1]
                if m[3] == "*" and s.in_parts():
                    return "part", [f"{of}_rows *rows"], True
                if m[3] == "*" and {"after", "limit"} <= {p[-1] for p in s.params}:
                    fail(s.where, f"the part of a list that {s.name} gives is an st_page, st_names or st_paths")
                outs = [f"{of} **rows", "size_t *n"] if m[3] == "*" else [f"{of} *out"]
                return (m[1] or "") + "row" + m[3], outs, True
            if s.result == "i64*":
                return "ids", ["int64_t **ids", "size_t *n"], True
        if m := re.fullmatch(r"(new|count) (\w+)", s.result):
            return m[1], [f"{'int64_t' if m[1] == 'new' else 'int'} *{m[2]}"], False
        if m := re.fullmatch(r"sealed\? (\w+)", s.result):
            return "sealed?", [f"const char **{m[1]}"], True
        if s.result.split(" ")[0] in ("changed", "moved"):
            return s.result.split(" ")[0], [], False
        if m := re.fullmatch(r"\((.*)\)\?|(\w+)(\??) (\w+)", s.result):
            fields = [tuple(f.split()) for f in split(m[1])] if m[1] else [(m[2], m[4])]
            outs = [f"{self.c_type(s, kind)}*{name}" for kind, name in fields]
            texts = any(kind == "text" for kind, _ in fields)
            return "fields?" if m[1] or texts else "value" + m[3], outs, texts
        if s.result or not s.writes:
            fail(s.where, f"not a result: {s.result}")
        return "", [], False

    def signature(self, s, named):
        _, outs, arena = self.result(s)
        st, a, e = ("struct storage *st", "struct arena *a", "struct err *e") if named else (
            "struct storage *", "struct arena *", "struct err *")
        params = [self.c_type(s, p[0]) + p[-1] for p in s.params]
        head = f"int {s.name}("
        whole = [p.replace(" ", "\x01") for p in [st] + [a] * arena + params + outs + [e]]
        return fill(head + ", ".join(whole) + ")", 99, subsequent_indent=" " * len(head),
                    break_long_words=False).replace("\x01", " ")

    def prototype(self, s):
        comment = fill(f"/* {s.comment} */", 99, subsequent_indent=" * ") + "\n" if s.comment else ""
        return f"{comment}{self.signature(s, False)}{' MUST_CHECK' if s.writes else ''};\n"

    def path(self, s, name):
        """(the C expression, its type) of a name like m.scale.target."""
        first, *members = name.split(".")
        kind = next(p[0] for p in s.params if p[-1] == first)
        if not members:
            return first, kind
        text, of = first, "const struct " + kind + " *"
        for i, member in enumerate(members):
            struct = re.sub(r"const |struct |[* ]", "", of)
            if member not in self.world.structs.get(struct, {}):
                fail(s.where, f"struct {struct} has no member {member}")
            text, of = text + ("->" if i == 0 else ".") + member, self.world.structs[struct][member]
        return text, of

    def bind(self, s, name):
        text, kind = self.path(s, name)
        if text == name:
            return [f"{BIND.get(kind, 'q_int')}(&q, {text});"]
        first, _, last = name.rpartition(".")
        if last == "bytes":
            size = self.find(s, "n") or self.find(s, "size")
            return [f"q_bytes(&q, {text}, (size_t){size});"]
        if "char *" in kind:
            return [f"q_text(&q, {text});"]
        struct = self.path(s, first)[1] if first else ""
        if "has_" + last in self.world.structs.get(re.sub(r"const |struct |[* ]", "", struct), {}):
            has = text[:-len(last)] + "has_" + last
            return [f"if ({has})", f"    q_int(&q, {text});", "else", "    q_null(&q);"]
        return [f"q_int(&q, {text});"]

    def find(self, s, name):
        """The C expression of the parameter, or member of one, that is called so."""
        for p in s.params:
            if p[-1] == name:
                return name
            if name in self.world.structs.get(p[0], {}):
                return f"{p[-1]}->{name}"
        return None

    def body(self, s, order):
        kind, outs, _ = self.result(s)
        row = self.world.rows.get(re.sub(r"known |[?*]", "", s.result), ("",))[0]
        if kind.startswith("known "):
            return self.known(s, order, row)
        ends = getattr(self, "end_" + re.sub(r"\W", "", kind.replace("?", "_maybe").replace("*", "s")))(s, outs, row)
        start = f"if (q_write(&q, st, {s.id}, e) < 0)\n    return -1;" if s.writes else f"q_read(&q, st, {s.id});"
        if m := FILTER.search(s.text):
            of = next(p[-1] for p in s.params if p[0] == "filter")
            start = f"q_read_filtered(&q, st, {s.id}, {of}, {m[1]}_filter);"
        binds = [line for name in order for line in self.bind(s, name)]
        if m := re.search(r"\{\+(\w+)\}", s.text):
            var, struct, secret = self.world.rows[m[1]]
            sealed = next((p[-1] for p in s.params if p[0] == "sealed"), "NULL")
            binds = [f"q_row(&q, &{var}, {next(p[-1] for p in s.params if p[0] == struct)}, {sealed});"]
            if secret != (sealed != "NULL"):
                fail(s.where, f"{m[1]} and the parameters of {s.name} differ in what is sealed")
        return [*(f"(void){name};" for name in s.unused), "struct q q;", *start.split("\n"), *binds, *ends]

    def known(self, s, order, row):
        lines, names = [], []
        for name in order:
            text, kind = self.path(s, name)
            if kind in ("text",) or "char *" in kind:
                names.append(text)
            else:
                names.append(name + "_text")
                lines += [f"char {name}_text[24];",
                          f'snprintf({name}_text, sizeof {name}_text, "%lld", (long long){text});']
        return [*lines, f"const char *const names[] = {{{', '.join(names)}, NULL}};",
                f"return q_known(st, &(struct known_row){{{s.id}, names, &{row}}}, a, out, e);"]

    # The ends of functions, by kind of result.

    def end_(self, s, outs, row):
        return ["return q_run(&q, e);"]

    def end_new(self, s, outs, row):
        return [f"return q_insert(&q, {outs[0].split('*')[1]}, e);"]

    def end_count(self, s, outs, row):
        return ["if (q_run(&q, e) < 0)", "    return -1;", f"*{outs[0].split('*')[1]} = q_changed(st);", "return 0;"]

    def end_changed(self, s, outs, row):
        m = re.fullmatch(r'changed ("[^"]+")(?: (\S+))?', s.result) or fail(s.where, f"not a result: {s.result}")
        at = self.path(s, m[2])[0] if m[2] else self.find(s, "id") or s.params[0][-1]
        return [f"return q_change(&q, {m[1]}, {at}, e);"]

    def end_moved(self, s, outs, row):
        m = re.fullmatch(r'moved ("[^"]+") (\w+) by (\w+)', s.result) or fail(s.where, f"not a result: {s.result}")
        at, was, to = (self.find(s, name) for name in ("id", "from", "to"))
        was = was or self.find(s, "state")
        return [f"assert({was} != 0 && {to} != 0 && {was} != {to});", "if (q_run(&q, e) < 0)", "    return -1;",
                f"static const struct moving moving = {{{m[3].upper()}, {m[1]}, {m[2]}_names}};",
                f"return q_moved(st, &moving, {at}, (int){was}, (int){to}, e);"]

    def end_row(self, s, outs, row):
        return [f"return q_one(&q, a, &{row}, out, e) < 0 ? -1 : 0;"]

    def end_row_maybe(self, s, outs, row):
        return [f"return q_one(&q, a, &{row}, out, e);"]

    def end_rows(self, s, outs, row):
        return ["void *items;", f"if (q_rows(&q, a, &{row}, &items, n, e) < 0)", "    return -1;",
                "*rows = items;", "return 0;"]

    def end_part(self, s, outs, row):
        return ["void *items;", f"if (q_rows(&q, a, &{row}, &items, &rows->n, e) < 0)", "    return -1;",
                "rows->items = items;", "return 0;"]

    def end_ids(self, s, outs, row):
        return ["return q_ids(&q, a, ids, n, e);"]

    def end_sealed_maybe(self, s, outs, row):
        return [f"return q_secret(&q, a, {outs[0].split('*')[-1]}, e);"]

    def end_value(self, s, outs, row):
        return self.end_value_maybe(s, outs, row, "rc < 0 ? -1 : 0")

    def end_value_maybe(self, s, outs, row, rc="rc"):
        of, name = outs[0].split(" *")
        if of == "int64_t":
            return [f"return q_one_int(&q, {name}, e){' < 0 ? -1 : 0' if rc != 'rc' else ''};"]
        value = "found != 0" if of == "bool" else f"({of})found"
        return ["int64_t found = 0;", "int rc = q_one_int(&q, &found, e);", f"*{name} = {value};", f"return {rc};"]

    def end_fields_maybe(self, s, outs, row):
        reads = [f"*{o.split('*')[-1]} = " + ("c_text(&q, a);" if "char" in o else "c_int(&q);") for o in outs]
        return ["int rc = q_step(&q, e);", "if (rc != 1)", "    return rc;", *reads, "q_end(&q);", "return 1;"]

    # --- files ----------------------------------------------------------------------------------

    def forward(self, statements):
        """Declarations of the structs that prototypes name, and the headers of their enums."""
        text = "\n".join(self.signature(s, False) for s in statements)
        structs = sorted({"arena", "err", "storage", *re.findall(r"struct (\w+)", text)})
        headers = {self.world.at["enum " + e] for e in re.findall(r"enum (\w+)", text)}
        if any(s.in_parts() for s in statements):
            headers |= {"storage/page.h", "storage/sql/rows.h"}
            structs = [x for x in structs if x not in PARTS and not x.endswith("_rows")]
        return ("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n" +
                "".join(f'#include "{h}"\n' for h in sorted({"lib/err.h", *headers})) + "\n" +
                "".join(f"struct {x};\n" for x in structs))

    def header(self, file):
        shown = [s for s in file.statements if s.has_function() and not s.private]
        guard = f"STORAGE_SQL_{file.name.upper()}_H"
        return (f"/* Made of storage/sql/{file.name}.sql. */\n#ifndef {guard}\n#define {guard}\n\n"
                f"{self.forward(shown)}\n" +
                "\n".join(self.prototype(s) for s in shown) + "\n#endif\n")

    def asserts(self, used):
        return "".join(f'static_assert({n} == {self.world.numbers[n]}, "{n} has another number");\n'
                       for n in sorted(used) if n in self.world.numbers)

    def source(self, file):
        used, functions, filters, headers = set(), [], "", {f"storage/sql/{file.name}.h"}
        for name, (size, items) in file.filters.items():
            rows = "".join(f'    [{k}] = "{v}",\n' for k, v in items)
            filters += f"static const char *const {name}_filter[{size}] = {{\n{rows}}};\n\n"
            headers.add(self.world.at[size])
        for s in file.statements:
            text, order = self.number(s)
            self.literal(s.where, text, used)
            if not s.has_function():
                continue
            body = "\n".join("    " + line for line in self.body(s, order))
            functions.append(f"{self.signature(s, True)}\n{{\n{body}\n}}\n")
            headers |= {self.world.at["struct " + x] for x in re.findall(r"struct (\w+)", self.signature(s, True))
                        if "struct " + x in self.world.at}
        headers |= {self.world.at[n] for n in used} | {"storage/storage_priv.h"}
        includes = "".join(f'#include "{h}"\n' for h in sorted(headers))
        return (f"/* Made of storage/sql/{file.name}.sql. */\n#include <assert.h>\n#include <stdio.h>\n\n{includes}\n"
                f"{self.asserts(used)}\n{filters}" + "\n".join(functions))

    def columns(self):
        used, macros = set(), ""
        for file in self.files:
            for name, (params, text) in file.fragments.items():
                if file.name != "columns" or params:
                    continue
                c = self.literal("columns.sql", self.expand("columns.sql", text), used).replace("\n", " \\\n    ")
                macros += f"#define SQL_{name.upper()} \\\n    {c}\n"
        includes = "".join(f'#include "{h}"\n' for h in sorted({self.world.at[n] for n in used}))
        return (f"/* Made of storage/sql/columns.sql. */\n#ifndef STORAGE_SQL_COLUMNS_H\n#define STORAGE_SQL_COLUMNS_H\n\n"
                f"#include <assert.h>\n\n{includes}\n{self.asserts(used)}\n{macros}\n#endif\n")

    def row_lists(self):
        """What functions give that list a part."""
        lists = {self.world.rows[s.result.strip("*")][1] for f in self.files for s in f.statements if s.in_parts()}
        text = "".join(f"struct {x}_rows {{\n    struct {x} *items;\n    size_t n;\n}};\n" for x in sorted(lists))
        return ("/* Made of storage/sql/. */\n#ifndef STORAGE_SQL_ROWS_H\n#define STORAGE_SQL_ROWS_H\n\n#include <stddef.h>\n\n"
                f"{text}\n#endif\n")

    def outputs(self):
        statements = sorted((s for f in self.files for s in f.statements), key=lambda s: s.result != "control")
        hidden = [s for s in statements if s.has_function() and s.private]
        texts = "".join(f'{{"{s.id}",\n{self.literal(s.where, FILTER.sub("{?}", self.number(s)[0]), set())}}},\n'
                        for s in statements)
        yield "statement_ids.inc", "".join(f"{s.id},\n" for s in statements)
        yield "statement_texts.inc", texts
        yield "storage/sql/columns.h", self.columns()
        yield "storage/sql/rows.h", self.row_lists()
        yield "storage/sql/private_priv.h", (
            "/* Made of storage/sql/: what only the room calls. */\n#ifndef STORAGE_SQL_PRIVATE_PRIV_H\n"
            f"#define STORAGE_SQL_PRIVATE_PRIV_H\n\n{self.forward(hidden)}\n" +
            "\n".join(self.prototype(s) for s in hidden) + "\n#endif\n")
        for file in self.files:
            if file.name != "columns":
                yield f"storage/sql/{file.name}.h", self.header(file)
                yield f"storage/sql/{file.name}.c", self.source(file)


def main(out, *paths):
    for name, text in Maker([File(p) for p in paths]).outputs():
        path = Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
