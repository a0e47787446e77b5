# SPDX-License-Identifier: MIT
"""Subjects of commits: the check refuses each that is not `room: verb object`, since the base commit and not before."""
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "test" / "tools" / "check_subjects.py"
sys.path.insert(0, str(TOOL.parent))
import check_subjects  # noqa: E402

KNOWN = check_subjects.rooms_of(["api/http/server.c", "scheduler/run/steps.c", "docs/testing.md", "README.md"])


@pytest.mark.parametrize("subject", [
    "api: accept a body of 4 MiB",
    "api/http: close silent connections",
    "run: release the nodes of a failed run",
    "api, scheduler/run: rename job_run to live_run",
    "docs: add a glossary",
    "house: part the tree into eleven folders, one way for each thing",
])  # fmt: skip
def test_a_good_subject(subject):
    assert check_subjects.complaint(subject, KNOWN) is None


@pytest.mark.parametrize("subject, words", [
    ("A test waits until the node is there", "'room: verb object'"),
    ("docs:add a glossary", "'room: verb object'"),
    ("docs: Glossary of nouns", "'room: verb object'"),
    ("docs: glossary", "'room: verb object'"),
    ("parlour: add a chair", "names 'parlour'"),
    ("README.md: add a chair", "names 'README.md'"),
    ("api, parlour: add a chair", "names 'parlour'"),
    ("docs: add a glossary.", "full stop"),
    ("docs: " + "add a word " * 7, "72 are the limit"),
])  # fmt: skip
def test_a_bad_subject(subject, words):
    assert words in check_subjects.complaint(subject, KNOWN)


@pytest.fixture
def history(tmp_path):
    """Makes a repository whose commits have these subjects, the oldest first."""

    def git(*arguments):
        name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *name, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def make(*subjects):
        git("init", "-q")
        (tmp_path / "api").mkdir()
        (tmp_path / "api/a.c").touch()
        git("add", ".")
        for subject in subjects:
            git("commit", "-q", "--allow-empty", "-m", subject)
        return tmp_path

    return make


def check(root, *arguments):
    return subprocess.run([sys.executable, TOOL, *(arguments or [root])], cwd=root, capture_output=True, text=True, check=False)


def test_commits_since_the_base_are_checked(history):
    done = check(history("An old subject", check_subjects.BASE_SUBJECT, "api: add a row", "A new subject"))
    assert done.returncode == 1
    assert "'A new subject' is not of the form" in done.stdout and "old" not in done.stdout and "row" not in done.stdout


def test_a_history_of_good_subjects(history):
    done = check(history("An old subject", check_subjects.BASE_SUBJECT, "api: add a row"))
    assert (done.returncode, done.stdout) == (0, "check-subjects: ok (1 commits)\n")


def test_a_tree_without_the_base_is_skipped(history, tmp_path_factory):
    """A shallow clone has a part of the history; an archive has none."""
    for root in (history("A new subject"), tmp_path_factory.mktemp("archive")):
        done = check(root)
        assert done.returncode == 0 and "check-subjects: skipped: this tree does not have the commit" in done.stdout


def test_a_hook_checks_the_message(history):
    root = history(check_subjects.BASE_SUBJECT)
    for text, code in (("api: add a row\n\nWhy.\n", 0), ("More rows\n", 1)):
        (root / "message").write_text(text)
        assert check(root, "--message", root / "message").returncode == code


def test_this_history():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
