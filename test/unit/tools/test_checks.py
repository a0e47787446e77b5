# SPDX-License-Identifier: MIT
"""The checks of the source must find what they are for: each gets a tree that breaks one rule."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "test" / "tools"
SPDX = "/* SPDX-License-Identifier: MIT */\n"


def run(*command, cwd=ROOT, env=None):
    return subprocess.run([str(c) for c in command], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, env={**os.environ, **(env or {})}, timeout=120)


def tool(name, tree):
    return run("/usr/bin/python3", TOOLS / name, tree)


def put(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def tree(tmp_path):
    """A small tree without fault."""
    shutil.copy(ROOT / ".clang-format", tmp_path)
    put(tmp_path, "lib/a.h", SPDX + "int a(void);\n")
    put(tmp_path, "storage/s.c", SPDX + '#include <sqlite3.h>\n\n#include "lib/a.h"\n')
    return tmp_path


# --- layers ---------------------------------------------------------------------------------------


def test_layers_of_a_good_tree(tree):
    assert tool("check_layers.py", tree).returncode == 0


@pytest.mark.parametrize("file, include, words", [
    ("lib/x.c", '"model/enums.h"', "lib/ may not include model/"),
    ("model/x.h", '"storage/storage.h"', "model/ may not include storage/"),
    ("storage/x.c", '"nodeagent-proto/node.h"', "storage/ may not include nodeagent-proto/"),
    ("nodeagent-proto/x.c", '"storage/storage.h"', "nodeagent-proto/ may not include storage/"),
    ("scheduler/launch/x.c", '"api/api.h"', "scheduler/ may not include api/"),
    ("api/arm/x.c", '"daemon/config.h"', "api/ may not include daemon/"),
    ("api/x.c", '"scheduler/sched_priv.h"', "private to scheduler/"),
    ("nodeagent-proto/agent/x.c", '"model/resource.h"', "the agent may not include"),
    ("nodeagent-proto/agent/x.c", '"scheduler/scheduler.h"', "may not include scheduler/"),
    ("storage/x.c", "<jansson.h>", "may include <jansson.h>"),
    ("scheduler/x.c", "<jansson.h>", "may include <jansson.h>"),
    ("scheduler/x.c", "<microhttpd.h>", "only api may include"),
    ("daemon/x.c", "<microhttpd.h>", "only api may include"),
    ("api/x.c", "<sqlite3.h>", "only storage may include"),
    ("api/x.c", '"api.h"', "written from the root"),
    ("api/x.c", '"../daemon/config.h"', "written from the root"),
    ("api/x.c", '"lib/a.c"', "not for including"),
])
def test_layers_of_a_bad_tree(tree, file, include, words):
    put(tree, file, f"{SPDX}\n #  include {include}\n")
    done = tool("check_layers.py", tree)
    assert done.returncode == 1
    assert f"{file}:3: " in done.stdout and words in done.stdout


# --- source ---------------------------------------------------------------------------------------


def test_source_of_a_good_tree(tree):
    body = "    a(); /* not system(1) */\n" * 50
    put(tree, "lib/a.c", SPDX + "int f(void)\n{\n" + body + '    return sizeof "gets(";\n}\n')
    done = tool("check_source.py", tree)
    assert (done.returncode, done.stdout) == (0, "check-source: ok\n")


def function(lines):
    return "int f(int n)\n{\n" + "    n++;\n" * (lines - 3) + "    return n;\n}\n"


@pytest.mark.parametrize("name, text, words", [
    ("lib/b.c", "int b;\n", "lib/b.c:1: the first lines lack SPDX"),
    ("test/t.py", "x = 1\n", "test/t.py:1: the first lines lack SPDX"),
    ("lib/b.c", SPDX + "int b;\t\n", "lib/b.c:2: a tab"),
    ("test/t.sh", "# SPDX-License-Identifier: MIT\ntrue \n", "test/t.sh:2: a blank at the end"),
    ("lib/b.c", SPDX + "int b;\n" * 600, "601 lines; 600 are the limit"),
    ("lib/b.c", SPDX + function(101), "f() has 101 lines; 100 are the limit"),
    ("lib/b.c", SPDX + "int   b;\n", "lib/b.c:2:4: error: code should be clang-formatted"),
] + [
    ("lib/b.c", f"{SPDX}int f(char *s)\n{{\n    return {name}(s);\n}}\n", f"lib/b.c:4: {name}() is banned")
    for name in ("strcpy", "strcat", "sprintf", "gets", "system", "popen", "strtok", "alloca")
])
def test_source_of_a_bad_tree(tree, name, text, words):
    put(tree, name, text)
    done = tool("check_source.py", tree)
    assert done.returncode == 1
    assert words in done.stdout


def test_long_functions_are_listed(tree):
    put(tree, "lib/b.c", SPDX + function(61) + function(60).replace("f(", "g("))
    done = tool("check_source.py", tree)
    assert done.returncode == 0
    assert "f() has 61 lines" in done.stdout and "g()" not in done.stdout


def test_an_empty_tree_is_no_success(tmp_path):
    assert tool("check_source.py", tmp_path).returncode == 1


# --- static analysis ------------------------------------------------------------------------------


@pytest.mark.parametrize("body, words", [
    ("int f(int n)\n{\n    int *p = 0;\n    return n ? *p : 0;\n}\n", "clang-analyzer-core.NullDereference"),
    ("int f(int n)\n{\n    if (n)\n        return 1;\n    else\n        return 2;\n}\n", "else-after-return"),
    ("int f(int n)\n{\n    return (n > 1) || (n > 1);\n}\n", "duplicateExpression"),
    ("int f(void);\nint f(void)\n{\n    return g();\n}\n", "implicit-function-declaration"),
])
def test_tidy_finds(tmp_path, body, words):
    shutil.copytree(TOOLS, tmp_path / "test/tools")
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    put(tmp_path, "lib/b.c", SPDX + body)
    done = run(tmp_path / "test/tools/tidy.sh", "lib/b.c", env={"CFLAGS": "-std=c11 -I. -Wall -Werror"})
    assert done.returncode == 1, done.stdout + done.stderr
    assert words in done.stdout + done.stderr


def test_tidy_of_a_good_file(tmp_path):
    shutil.copytree(TOOLS, tmp_path / "test/tools")
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    put(tmp_path, "lib/b.c", SPDX + "int f(void);\nint f(void)\n{\n    return 1;\n}\n")
    done = run(tmp_path / "test/tools/tidy.sh", "lib/b.c", env={"CFLAGS": "-std=c11 -I. -Wall -Werror"})
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


# --- dependencies ---------------------------------------------------------------------------------


@pytest.fixture
def debian(tmp_path):
    """A pretended system: `ours` and `also-ours` are wanted, `ours` is installed."""
    bin_dir = tmp_path / "bin"
    fakes = {
        "dpkg-query": 'echo "installed ours"; echo "config-files also-ours"; exit 1',
        "apt-cache": "exit ${LISTS_ARE_EMPTY:-0}",
        "apt-get": f'echo "$*" >> {tmp_path}/apt-log; exit ${{APT_FAILS:-0}}',
        "id": "echo ${FAKE_UID:-0}",
    }
    for name, text in fakes.items():
        put(bin_dir, name, f"#!/bin/bash\n{text}\n")
        (bin_dir / name).chmod(0o755)
    for name in ("bash", "env", "dirname", "grep", "sed", "cat"):
        (bin_dir / name).symlink_to(shutil.which(name))
    put(tmp_path, "list", "# comment\nours\nalso-ours\n")

    def deps(**env):
        done = run(TOOLS / "deps.sh", env={"PATH": str(bin_dir), "DEPS_LIST": str(tmp_path / "list"), **env})
        log = tmp_path / "apt-log"
        return done, log.read_text().splitlines() if log.exists() else []

    return deps


def test_deps_installs_only_what_is_missing(debian):
    done, log = debian()
    assert (done.returncode, done.stdout) == (0, "deps: installing also-ours\n")
    assert log == ["-q install -y --no-install-recommends also-ours"]


def test_deps_gets_lists_where_there_are_none(debian):
    done, log = debian(LISTS_ARE_EMPTY="1")
    assert done.returncode == 0
    assert log == ["-q update", "-q install -y --no-install-recommends also-ours"]


def test_deps_refreshes_old_lists_and_fails_if_that_does_not_help(debian):
    done, log = debian(APT_FAILS="100")
    assert done.returncode == 100
    assert [line.split()[1] for line in log] == ["install", "update"]


def test_deps_without_root_says_the_command(debian):
    done, log = debian(FAKE_UID="1000")
    assert (done.returncode, log) == (1, [])
    assert "apt-get install -y --no-install-recommends also-ours" in done.stderr


# --- installation and manual ----------------------------------------------------------------------

BUILD = os.environ.get("BUILD_DIR", "build")


def test_install_and_uninstall(tmp_path):
    make = ["make", "-s", f"BUILD={BUILD}", f"DESTDIR={tmp_path}", "PREFIX=/opt/b"]
    done = run(*make, "install")
    assert done.returncode == 0, done.stderr
    files = {str(p.relative_to(tmp_path)): p for p in tmp_path.rglob("*") if p.is_file()}
    if (ROOT / BUILD / "batchai-node-aarch64").exists():  # needs a cross compiler
        assert files.pop("opt/b/bin/batchai-node-aarch64").stat().st_mode & 0o777 == 0o755
    assert set(files) == {"opt/b/" + name for name in (
        "bin/batchaid", "bin/batchai-node", "etc/batchaid/batchaid.yaml.example",
        "lib/systemd/system/batchaid.service", "lib/sysusers.d/batchaid.conf",
        "share/bash-completion/completions/batchaid", "share/man/man1/batchaid.1",
        "share/man/man1/batchai-node.1", "share/man/man5/batchaid.yaml.5")}
    unit = files["opt/b/lib/systemd/system/batchaid.service"].read_text()
    assert "/opt/b/bin/batchaid serve" in unit and "/opt/b/etc/batchaid/batchaid.yaml" in unit
    assert not re.search(r"@\w+@", unit.split("[Unit]")[1])
    done = run(files["opt/b/bin/batchaid"], "version")
    assert done.returncode == 0 and done.stdout.startswith("batchaid ")
    assert run(*make, "uninstall").returncode == 0
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs/man").iterdir()), ids=lambda p: p.name)
def test_manual_pages_are_clean(page):
    done = run("groff", "-mandoc", "-ww", "-z", "-Tutf8", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_manual_names_every_command_and_option():
    page = (ROOT / "docs/man/batchaid.1").read_text().replace("\\-", "-")
    help_text = run(ROOT / BUILD / "batchaid", "help").stdout
    serve = run(ROOT / BUILD / "batchaid", "help", "serve").stdout
    for command in re.findall(r"^  ([a-z-]+) ", help_text, re.M):
        assert f".It Cm {command}\n" in page, command
    for option in re.findall(r"^  --(\S+)", serve, re.M):
        assert f".It Fl -{option} " in page, option
