# SPDX-License-Identifier: MIT
"""make_statements.py makes readable C of statements, and refuses what would be wrong in a database."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "test" / "tools" / "make_statements.py"

HEADER = """\
/* Kinds. */
enum kind { KIND_JOB = 6, KIND_NODE };
enum job_state { JOB_NEW = 1, JOB_OVER = 4 };
struct size { int64_t high; };
struct job {
    int64_t id; /* its own */
    const char *name, *doc;
    bool has_exit_code;
    int exit_code;
    struct size size;
    const void *bytes;
    size_t n;
};
struct move { int64_t id; enum job_state from, to; };
#define NOBODY "nobody"
"""
PAGE = "struct st_page { int64_t after; int limit; };\n"
ROWS = """\
static const struct st_column job_columns[] = {
    OWN_ID("id", id), SECRET("secrets"),
};
ROW_OF(job_row, struct job, job, "job", "j");
"""
HEAD = "-- SPDX-License-Identifier: MIT\n\n"


def make(tree, sql, name="job"):
    for path, text in (("model/enums.h", HEADER), ("storage/page.h", PAGE), ("storage/rows.c", ROWS), (f"storage/sql/{name}.sql", HEAD + sql)):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    files = sorted(str(f.relative_to(tree)) for f in tree.glob("storage/sql/*.sql"))
    return subprocess.run([sys.executable, TOOL, "out", *files], cwd=tree, text=True, capture_output=True, timeout=60)


def made(tree, sql, name="storage/sql/job.c"):
    done = make(tree, sql)
    assert done.returncode == 0, done.stderr
    return (tree / "out" / name).read_text()


def body(tree, sql):
    """What the one function does, a line each."""
    return [line.strip() for line in re.search(r"\n\{\n(.*?)\n\}\n", made(tree, sql), re.S)[1].splitlines()]


def test_a_row_is_found(tree):
    sql = "-- By its name.\n-- st_job_get(kind of, text name) -> job?\nSELECT {job} FROM job j\n" \
          "WHERE j.kind = :of AND j.name = :name;\n"
    assert body(tree, sql) == ["struct q q;", "q_read(&q, st, ST_JOB_GET);", "q_int(&q, of);", "q_text(&q, name);",
                               "return q_one(&q, a, &job_row, out, e);"]
    assert ("/* By its name. */\nint st_job_get(struct storage *, struct arena *, enum kind of, const char *name,"
            in made(tree, sql, "storage/sql/job.h"))
    assert made(tree, sql, "statement_ids.inc") == "ST_JOB_GET,\n"
    assert made(tree, sql, "statement_texts.inc") == (
        '{"ST_JOB_GET",\n"SELECT {job} FROM job j "\n"WHERE j.kind = ?1 AND j.name = ?2"},\n')


def test_members_nulls_and_blobs_are_bound(tree):
    sql = "-- st_job_write(job j)\nUPDATE job SET a = :j.exit_code, b = :j.size.high, c = :j.bytes WHERE id = :j.id;\n"
    assert body(tree, sql) == ["struct q q;", "if (q_write(&q, st, ST_JOB_WRITE, e) < 0)", "return -1;",
                               "if (j->has_exit_code)", "q_int(&q, j->exit_code);", "else", "q_null(&q);",
                               "q_int(&q, j->size.high);", "q_bytes(&q, j->bytes, (size_t)j->n);",
                               "q_int(&q, j->id);", "return q_run(&q, e);"]


@pytest.mark.parametrize("declared, sql, end", [
    ("st_x(job j, sealed s) -> new id", "INSERT INTO {+job}", "return q_insert(&q, id, e);"),
    ('st_x(i64 id) -> changed "job"', "DELETE FROM job WHERE id = :id", 'return q_change(&q, "job", id, e);'),
    ("st_x(i64 id) -> count gone", "DELETE FROM job WHERE id = :id", "return 0;"),
    ('st_x(move m) -> moved "Job" job_state by st_y', "UPDATE job SET state = :m.to WHERE id = :m.id AND state = :m.from",
     'return q_moved(st, &moving, m->id, (int)m->from, (int)m->to, e);'),
    ("st_x() -> i64 n", "SELECT count(*) FROM job", "return q_one_int(&q, n, e) < 0 ? -1 : 0;"),
    ("st_x() -> i64? n", "SELECT id FROM job", "return q_one_int(&q, n, e);"),
    ("st_x() -> kind? k", "SELECT kind FROM job", "return rc;"),
    ("st_x() -> (text a, text b)?", "SELECT a, b FROM job", "return 1;"),
    ("st_x() -> sealed? s", "SELECT s FROM job", "return q_secret(&q, a, s, e);"),
    ("st_x() -> job*", "SELECT {job} FROM job j", "return 0;"),
    ("st_x() -> i64*", "SELECT id FROM job", "return q_ids(&q, a, ids, n, e);"),
    ("st_x(i64 id) -> known job?", "SELECT {job} FROM job j WHERE j.id = :id",
     "return q_known(st, &(struct known_row){ST_X, names, &job_row}, a, out, e);"),
])
def test_results(tree, declared, sql, end):
    assert body(tree, f"-- {declared}\n{sql};\n")[-1] == end


def test_a_part_of_a_list(tree):
    sql = "-- st_x(kind of, st_page page) -> job*\n" \
          "SELECT {job} FROM job j WHERE j.kind = :of AND j.id > :page.after ORDER BY j.id LIMIT :page.limit;\n"
    assert body(tree, sql) == ["struct q q;", "q_read(&q, st, ST_X);", "q_int(&q, of);", "q_int(&q, page->after);",
                               "q_int(&q, page->limit);", "void *items;",
                               "if (q_rows(&q, a, &job_row, &items, &rows->n, e) < 0)", "return -1;",
                               "rows->items = items;", "return 0;"]
    assert "struct job_rows *rows, struct err *);" in made(tree, sql, "storage/sql/job.h")
    assert "struct job_rows {\n    struct job *items;\n    size_t n;\n};\n" in made(tree, sql, "storage/sql/rows.h")


def test_enumerators_and_texts_stand_by_name(tree):
    sql = "-- st_x() -> i64*\nSELECT id FROM job WHERE kind IN ({KIND_JOB}, {KIND_NODE}) AND name = {NOBODY};\n"
    assert '"SELECT id FROM job WHERE kind IN (6, 7) AND name = \'" NOBODY "\'"' in made(tree, sql, "statement_texts.inc")
    assert 'static_assert(KIND_NODE == 7, "KIND_NODE has another number");' in made(tree, sql)


def test_fragments_have_arguments(tree):
    sql = "-- $below(column, path)\n($column > $path AND $column < upper($path));\n\n" \
          "-- st_x(text p) -> i64*\nSELECT id FROM job WHERE $below(name, lower(:p));\n"
    assert '"SELECT id FROM job WHERE (name > lower(?1) AND name < upper(lower(?1)))"' in made(tree, sql, "statement_texts.inc")


def test_fragments_are_for_c_too(tree):
    make(tree, "-- $over\nstate = {JOB_OVER};\n", "columns")
    assert '#define SQL_OVER \\\n    "state = 4"\n' in (tree / "out/storage/sql/columns.h").read_text()


def test_what_would_be_as_before_is_not_written(tree):
    made(tree, "-- st_x() -> i64*\nSELECT id FROM job;\n")
    out = tree / "out/storage/sql/job.c"
    os.utime(out, (1, 1))
    made(tree, "-- st_x() -> i64*\nSELECT id FROM job;\n")
    assert out.stat().st_mtime == 1


@pytest.mark.parametrize("sql, words", [
    ("-- st_x() -> i64*\nSELECT id FROM job WHERE state = 4;\n", "a number where the enum has a name: state = 4"),
    ("-- st_x() -> i64*\nSELECT id FROM job WHERE state IN (1, 4);\n", "a number where the enum has a name"),
    ("-- st_x() -> i64*\nSELECT id FROM job WHERE state = {JOB_GONE};\n", "no header says what JOB_GONE is"),
    ("-- st_x(i64 id) -> i64*\nSELECT id FROM job WHERE id = :ip;\n", "st_x has no parameter ip"),
    ("-- st_x(i64 id, text name) -> i64*\nSELECT id FROM job WHERE id = :id;\n", "name of st_x is not used"),
    ("-- st_x(job j) -> i64*\nSELECT id FROM job WHERE id = :j.ip;\n", "struct job has no member ip"),
    ("-- st_x(jab j) -> i64*\nSELECT id FROM job WHERE id = :j.id;\n", "no header says what jab is"),
    ("-- st_x() -> i64*\n$all_of_it;\n", "there is no fragment $all_of_it"),
    ("-- $of(a)\n$a;\n\n-- st_x() -> i64*\nSELECT id FROM $of(job, node);\n", "$of takes 1 arguments, not 2"),
    ("-- st_x() -> i64*\nSELECT id FROM job\n", "the statement does not end with ;"),
    ("-- st_x()\nSELECT id FROM job;\n", "not a result"),
    ("-- st_x() -> rows\nSELECT id FROM job;\n", "not a result"),
    ("-- st_x(job j)\nINSERT INTO {+job};\n", "differ in what is sealed"),
    ("-- st_x(i64 after, int limit) -> job*\nSELECT {job} FROM job j WHERE j.id > :after LIMIT :limit;\n",
     "the part of a list that st_x gives is an st_page"),
    ("SELECT id FROM job;\n", "no declaration above"),
])
def test_refusals(tree, sql, words):
    done = make(tree, sql)
    assert done.returncode != 0 and words in done.stderr and "storage/sql/job.sql:" in done.stderr


def test_a_fragment_stands_once(tree):
    make(tree, "-- $all\njob;\n", "node")
    done = make(tree, "-- $all\njob;\n")
    assert done.returncode != 0 and "$all stands in another file too" in done.stderr


@pytest.fixture
def tree(tmp_path):
    return tmp_path
