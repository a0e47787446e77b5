# SPDX-License-Identifier: MIT
"""What `make tidy-changed` looks at: sources that changed, and those that include what changed."""
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def git(tree, *words):
    config = ["-c", "user.name=Tests", "-c", "user.email=tests@localhost"]
    done = subprocess.run(["git", *config, *words], cwd=tree, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path):
    """Two sources, of which lib/b.c includes lib/b.h; both were clean at the only commit."""
    tools = tmp_path / "test/tools"
    tools.mkdir(parents=True)
    for name in ("changed.py", "rooms.py", "rooms.txt"):
        shutil.copy(TOOLS / name, tools)
    (tmp_path / "lib").mkdir()
    for name in ("a.c", "b.c", "b.h"):
        (tmp_path / "lib" / name).write_text("/* */\n")
    made = tmp_path / "build/obj/lib"
    made.mkdir(parents=True)
    (made / "a.d").write_text("build/obj/lib/a.o: lib/a.c\n")
    (made / "b.d").write_text("build/obj/lib/b.o: lib/b.c \\\n lib/b.h\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "lib: begin")
    (tools / "tidy_clean.txt").write_text(git(tmp_path, "rev-parse", "HEAD") + "\n")
    return tmp_path


def changed(tree):
    argv = ["/usr/bin/python3", "test/tools/changed.py", "build"]
    return subprocess.run(argv, cwd=tree, check=True, capture_output=True, text=True).stdout.split()


def test_nothing_has_changed(tree):
    assert changed(tree) == []


def test_a_source_that_changed_and_one_that_is_new(tree):
    (tree / "lib/a.c").write_text("int a;\n")
    (tree / "lib/c.c").write_text("int c;\n")
    assert changed(tree) == ["lib/a.c", "lib/c.c"]


def test_a_source_whose_header_changed(tree):
    (tree / "lib/b.h").write_text("int b;\n")
    assert changed(tree) == ["lib/b.c"]


def test_a_file_whose_comments_alone_changed_is_as_it_was(tree):
    for name, text in (("b.h", 'char *b = "/* b */"; /* was */\nint c;\n'), ("a.c", "int a; // NOLINT\n")):
        (tree / "lib" / name).write_text(text)
    git(tree, "commit", "-qam", "lib: say more")
    (tree / "test/tools/tidy_clean.txt").write_text(git(tree, "rev-parse", "HEAD") + "\n")
    (tree / "lib/b.h").write_text('// is\nchar *b = "/* b */";\n\nint c; /* is */\n')
    (tree / "lib/a.c").write_text("/* what it is */\nint a; // NOLINT\n")
    assert changed(tree) == []
    (tree / "lib/b.h").write_text('char *b = "/* c */";\nint c;\n')
    (tree / "lib/a.c").write_text("int a;\n")
    assert changed(tree) == ["lib/a.c", "lib/b.c"]
    (tree / "lib/a.c").write_text("  int a; // NOLINT\n")
    assert changed(tree) == ["lib/a.c", "lib/b.c"]


def test_other_rules_and_an_unknown_commit_mean_all(tree):
    (tree / ".clang-tidy").write_text("Checks: '*'\n")
    assert changed(tree) == ["lib/a.c", "lib/b.c"]
    (tree / ".clang-tidy").unlink()
    (tree / "test/tools/tidy_clean.txt").write_text("0" * 40 + "\n")
    assert changed(tree) == ["lib/a.c", "lib/b.c"]


def test_what_is_recorded_is_the_commit(tree):
    (tree / "lib/a.c").write_text("int a;\n")
    git(tree, "commit", "-qam", "lib: change a")
    subprocess.run(["/usr/bin/python3", "test/tools/changed.py", "--record"], cwd=tree, check=True)
    assert changed(tree) == []
