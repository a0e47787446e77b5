# SPDX-License-Identifier: MIT
"""The check of calls must find what it is for: small trees, compiled, each with one fault."""
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FROZEN = "test/tools/calls_frozen.txt"


class Tree:
    def __init__(self, folder):
        self.folder = folder

    def put(self, file, uses=""):
        """A file with a function of its name that calls those of other files."""
        names = [name_of(other) for other in uses.split()]
        text = "".join(f"int {n}(void);\n" for n in names)
        calls = " + ".join(f"{n}()" for n in names) or "0"
        text += f"int {name_of(file)}(void) {{ return {calls}; }}\n"
        self.source(file, text)

    def source(self, file, text, build=True):
        source = self.folder / file
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        object_file = self.folder / "build/obj" / Path(file).with_suffix(".o")
        object_file.parent.mkdir(parents=True, exist_ok=True)
        if build:
            subprocess.run(["cc", "-c", source, "-o", object_file], check=True)

    def freeze(self, *lines):
        path = self.folder / FROZEN
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# why\n" + "".join(line + "\n" for line in lines))

    def check(self, *arguments):
        done = subprocess.run(["/usr/bin/python3", ROOT / "test/tools/check_calls.py", *arguments, self.folder],
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout


def name_of(file):
    return "".join(c if c.isalnum() else "_" for c in file.removesuffix(".c"))


@pytest.fixture
def tree(tmp_path):
    t = Tree(tmp_path)
    t.put("lib/a.c", "lib/b.c")
    t.put("lib/b.c")
    t.put("storage/s.c", "lib/a.c")
    return t


def test_a_good_tree(tree):
    assert tree.check() == (0, "check-calls: ok\n")


def test_a_call_upwards(tree):
    tree.put("lib/b.c", "storage/s.c")
    code, said = tree.check()
    assert code == 1 and "lib/b.c uses storage/s.c: a room above its own" in said


def test_a_table_of_another_room_counts_as_a_call(tree):
    tree.source("storage/t.c", "const int table[] = {1};\n")
    tree.source("lib/b.c", "extern const int table[];\nint lib_b(void);\nint lib_b(void) { return table[0]; }\n")
    assert "lib/b.c uses storage/t.c" in tree.check()[1]


def test_a_symbol_of_two_files_of_a_program(tree):
    """Neither room uses the other; the daemon uses both."""
    tree.source("api/browse/a.c", "int shares_list(void) { return 0; }\n")
    tree.source("api/arm/storage/b.c", "int shares_list(void) { return 1; }\n")
    code, said = tree.check()
    assert code == 1 and "both define shares_list" in said


def test_a_symbol_of_two_programs_or_a_weak_symbol_may_be_in_two_files(tree):
    tree.source("api/admin/users.c", "int users_add(void) { return 0; }\n")
    tree.source("nodeagent-proto/agent/users.c", "int users_add(void) { return 1; }\n")
    for file in ("lib/w.c", "storage/w.c"):
        tree.source(file, "__attribute__((weak)) int shared = 1;\n")
    assert tree.check() == (0, "check-calls: ok\n")


def test_a_cycle_in_a_room(tree):
    tree.put("lib/b.c", "lib/c.c")
    tree.put("lib/c.c", "lib/a.c")
    code, said = tree.check()
    assert code == 1 and "lib/a.c lib/b.c lib/c.c" in said


def test_a_frozen_cycle_may_stay_but_not_grow(tree):
    tree.put("lib/b.c", "lib/a.c")
    tree.freeze("cycle lib/a.c lib/b.c")
    assert tree.check()[0] == 0
    tree.put("lib/b.c", "lib/c.c")
    tree.put("lib/c.c", "lib/a.c")
    code, said = tree.check()
    assert code == 1 and "new in it: lib/c.c" in said
    code, said = tree.check("--write")
    assert code == 1 and "may not grow" in said


def test_two_frozen_cycles_may_not_become_one(tree):
    tree.freeze("cycle lib/a.c lib/b.c", "cycle lib/c.c lib/d.c")
    tree.put("lib/a.c", "lib/b.c")
    tree.put("lib/b.c", "lib/c.c")
    tree.put("lib/c.c", "lib/d.c")
    tree.put("lib/d.c", "lib/a.c")
    assert tree.check()[0] == 1


@pytest.mark.parametrize("line, words", [
    ("cycle lib/a.c lib/b.c", "lib/a.c is in no cycle any more"),
    ("up lib/a.c storage/s.c", "lib/a.c does not use storage/s.c any more"),
])
def test_what_is_no_longer_so_is_taken_out(tree, line, words):
    tree.freeze(line)
    code, said = tree.check()
    assert code == 1 and words in said
    assert tree.check("--write")[0] == 0
    assert line not in (tree.folder / FROZEN).read_text()
    assert tree.check()[0] == 0


def test_a_frozen_call_upwards_follows_a_file_that_moved(tree):
    tree.put("lib/new/b.c", "storage/s.c")
    tree.freeze("up lib/b.c storage/s.c")
    assert tree.check()[0] == 1
    assert tree.check("--write")[0] == 0 and tree.check()[0] == 0


def test_a_name_that_two_programs_have_is_the_nearest(tree):
    tree.source("nodeagent-proto/agent/x.c", "int helper(void);\nint helper(void) { return 1; }\n")
    tree.source("daemon/x.c", "int helper(void);\nint helper(void) { return 1; }\n")
    tree.source("daemon/y.c", "int helper(void);\nint y(void);\nint y(void) { return helper(); }\n")
    assert tree.check()[0] == 0


def test_a_source_without_an_object_is_said(tree):
    tree.source("lib/new.c", "int n;\n", build=False)
    code, said = tree.check()
    assert code == 1 and "lib/new.c has not been built" in said
