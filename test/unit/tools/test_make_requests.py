# SPDX-License-Identifier: MIT
"""The requests to nodes are in one table: PROTOCOL.md has what it says, and what it cannot say is refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "tools"))
import make_requests  # noqa: E402


def test_the_page_is_not_stale():
    done = subprocess.run([ROOT / "test/tools/make_requests.py", "--doc"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_kind_of_the_table_is_explained():
    text = make_requests.TABLE.read_text()
    explained = re.findall(r"^# ([a-z0-9]+)  +\S.*  ", text.split("# KIND ")[1], re.M)
    assert sorted(explained) == sorted(make_requests.FIELDS)


def test_every_member_of_replies_is_explained():
    page = make_requests.PAGE.read_text()
    for part in make_requests.load_parts():
        names = [member[2] for member in part.members]
        assert not [name for name in names if f"`{name}`" not in page and f'"{name}"' not in page], part.name


@pytest.mark.parametrize("paragraph, words", [
    ("= wing", "does not begin a struct of replies"),
    ("= wing: struct wing, a wing\n  feather f", "has no such kind"),
    ("= wing: struct wing, a wing\n  int length?", "has no such kind"),
    ("= wing: struct wing, a wing\n  int", "is not a member"),
])
def test_refuses_a_struct(paragraph, words):
    with pytest.raises(SystemExit) as refusal:
        make_requests.Part(paragraph)
    assert words in str(refusal.value)


def test_handlers_are_those_of_the_table():
    names = {request.name for request in make_requests.load()}
    agent = "".join(path.read_text() for path in (ROOT / "nodeagent-proto/agent").glob("ops*.c"))
    assert set(re.findall(r"^enum outcome serve_(\w+)\(", agent, re.M)) == names


# How requests are not packed, read and passed on by hand, where they once were.
BY_HAND = {
    "nodeagent-proto/wire/[!m]*.c": re.compile(r"json_unpack"),
    "nodeagent-proto/link/[!f]*.c": re.compile(r'json_pack\((?!"{s:o}", "epoch")|link_ask\(link, "'),
    "nodeagent-proto/link/fake_[ad]*.c": re.compile(r'json_(\w+_value|is_true)\(json_object_get\((req|w->req|q->msg), "(?!id"|op")'),
    "nodeagent-proto/agent/ops*.c": re.compile(r'json_(\w+_value|is_true)\(json_object_get\((req|q->msg), "(?!id"|op")'),
    "scheduler/fleet/script/*.c": re.compile(r"\bscript_\w+\([^;]*\)\s*\{\s*node_ask\("),
}


@pytest.mark.parametrize("where", BY_HAND)
def test_nobody_else_names_members(where):
    files = list(ROOT.glob(where))
    assert files and not [path.name for path in files if BY_HAND[where].search(path.read_text())]


@pytest.mark.parametrize("text", [
    'msg = json_pack("{s:s}", "path", path);',
    'json_unpack_ex(j, &je, 0, "{s:I}", "size", &size)',
    'const char *name = json_string_value(json_object_get(req, "as"));',
    "void script_forget(struct script *sc, const char *id)\n{\n    node_ask(sc->link, id);",
])
def test_what_is_by_hand_is_seen(text):
    assert [where for where, pattern in BY_HAND.items() if pattern.search(text)]


@pytest.mark.parametrize("paragraph, words", [
    ("fly", "does not begin a request"),
    ("fly: changes, sometimes\nflies", "does not begin a request"),
    ("fly: changes, in order\n  wing left\nflies", "has no such kind"),
    ("fly: changes, in order\n  ids uid\nflies", "has no such kind"),
    ("fly: changes, in order\n  text a b\nflies", "has no such kind"),
    ("fly: changes, in order\n  text\nflies", "is not a member"),
    ("fly: changes, in order\n  text a", "needs a text"),
    ("fly: changes, in order\n  -> wing left\nflies", "needs a text, and an answer of a known kind"),
])
def test_refuses(paragraph, words):
    with pytest.raises(SystemExit) as refusal:
        make_requests.Request(paragraph)
    assert words in str(refusal.value)
