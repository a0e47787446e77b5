# SPDX-License-Identifier: MIT
"""The events of the log are in one table: docs/log.md has what it says, and a call that differs from its row is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "tools"))
import check_source  # noqa: E402
import log_events  # noqa: E402

TABLE = """
# a comment
field node  name of the node
== Nodes
node.idle info: node why?
  A node is ready.
  why = the reason
node.lost warn|debug: node
  A node is lost.
  -> Look at it.
"""
GOOD = """
LOG_INFO(log, "node.idle", LF_STR("node", name(a, ")")));
LOG_INFO(fleet->log, "node.idle", LF_STR("node", n),
         LF_STR("why", w));
LOG_AT(log, known ? LOG_LVL_DEBUG : LOG_LVL_WARN, "node.lost", LF_STR("node", n));
"""


def check(tmp_path, table=TABLE, text=GOOD):
    path = tmp_path / log_events.TABLE
    path.parent.mkdir(exist_ok=True)
    path.write_text(table)
    return log_events.check(tmp_path, [("lib/a.c", text)])


def test_the_page_is_not_stale():
    done = subprocess.run([ROOT / "test/tools/log_events.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_calls_that_are_as_their_rows(tmp_path):
    assert check(tmp_path) == []


@pytest.mark.parametrize("call, words", [
    ('LOG_INFO(log, "node.gone", LF_STR("node", n));', "the event node.gone has no row in lib/log_events.txt"),
    ('LOG_INFO(log, good ? "node.idle" : "node.lost", LF_STR("node", n));', "the event is not a literal"),
    ('LOG_WARN(log, "node.idle", LF_STR("node", n));', "node.idle is logged as warn, its row says info"),
    ('LOG_AT(log, level, "node.idle", LF_STR("node", n));', "node.idle is logged as nothing"),
    ('LOG_INFO(log, "node.idle");', "node.idle lacks the field node of its row"),
    ('LOG_INFO(log, "node.idle", LF_STR("node", n), LF_INT("ms", 1));', "node.idle has the field ms, which its row has not"),
    ('LOG_INFO(log, "node.idle", LF_STR(w->pool, n));', "the key of LF_STR(w->pool, n) is not a literal"),
])
def test_a_call_that_differs_from_its_row(tmp_path, call, words):
    complaints = check(tmp_path, text=GOOD + call)
    assert any(c.startswith("lib/a.c:6: " + words) for c in complaints), complaints


@pytest.mark.parametrize("rows, words", [
    ("node.gone info:\n  A node.", "nothing logs node.gone"),
    ("node.left-out info:\n  A node.", "node.left-out is not spelt noun.verb"),
    ("node.lost warn: node\n  A node.", "node.lost has two rows"),
    ("node.gone loud:\n  A node.", "node.gone has a level that is not debug, info, warn, error"),
    ("node.gone info:", "node.gone lacks its text"),
    ("node.gone info: wing\n  A node.", "node.gone: the field wing lacks its meaning"),
    ("node.gone info: vmSize\n  A node.\n  vmSize = size", "node.gone: the field vmSize is not spelt with"),
    ("field wing  part of a bird", "no event has the field wing"),
    ("node gone", "'node gone' is not a row"),
])
def test_a_table_that_breaks_a_rule(tmp_path, rows, words):
    complaints = check(tmp_path, table=TABLE + rows + "\n")
    assert any(words in c for c in complaints), complaints


@pytest.mark.parametrize("was, is_now, words", [
    ("node why?", "node why? ms?", "no call of node.idle has the field ms"),
    ("warn|debug", "warn|debug|error", "nothing logs node.lost as error"),
])
def test_a_row_that_says_more_than_its_calls(tmp_path, was, is_now, words):
    complaints = check(tmp_path, table=TABLE.replace(was, is_now) + "field ms  milliseconds\n")
    assert f"lib/log_events.txt: {words}" in complaints, complaints


def test_check_source_compares_calls(tmp_path):
    """The tool that `make check-source` runs gives log_events.check() all sources, and fails with it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.c").write_text('/* SPDX-License-Identifier: MIT */\nvoid f(void)\n{\n    LOG_INFO(log, "x.y");\n}\n')
    (tmp_path / ".clang-format").write_bytes((ROOT / ".clang-format").read_bytes())
    done = subprocess.run([sys.executable, ROOT / "test/tools/check_source.py", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert "lib/a.c:4: the event x.y has no row in lib/log_events.txt" in done.stdout


def test_an_event_that_is_computed_does_not_compile(tmp_path):
    source = '#include "lib/log.h"\nvoid f(const struct log *log, const char *event)\n{\n    LOG_INFO(log, event);\n}\n'
    build = ["gcc", "-std=c11", "-I", str(ROOT), "-fsyntax-only", "-x", "c", "-"]
    assert subprocess.run(build, input=source.replace(", event)", ', "x.y")'), text=True, capture_output=True).returncode == 0
    assert subprocess.run(build, input=source, text=True, capture_output=True).returncode != 0


def test_all_sources_are_compared():
    """A tree whose calls were not found would pass."""
    files = [(str(f.relative_to(ROOT)), f.read_text()) for f in check_source.sources(ROOT, ".c", ".h")]
    found = [call for name, text in files if not name.startswith("test/") and name not in log_events.LOG_FILES
             for call in log_events.calls(name, text)]
    assert len(found) > 250
