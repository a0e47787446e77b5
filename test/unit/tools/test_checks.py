# SPDX-License-Identifier: MIT
"""The checks of the source must find what they are for: each gets a tree that breaks one rule."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "test" / "tools"
sys.path.insert(0, str(TOOLS))
import check_source  # noqa: E402
import rooms  # noqa: E402

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
    ("storage/x.c", '"nodeagent-proto/link/node.h"', "storage/ may not include nodeagent-proto/"),
    ("nodeagent-proto/wire/x.c", '"nodeagent-proto/link/node.h"', "may not include nodeagent-proto/link/"),
    ("nodeagent-proto/wire/x.c", '"model/spec.h"', "nodeagent-proto/wire/ may not include model/"),
    ("nodeagent-proto/link/x.c", '"storage/storage.h"', "nodeagent-proto/link/ may not include storage/"),
    ("nodeagent-proto/link/ssh/x.c", '"nodeagent-proto/agent/agent.h"', "may not include nodeagent-proto/agent/"),
    ("scheduler/x.c", '"nodeagent-proto/link/link_priv.h"', "private to nodeagent-proto/link/"),
    ("scheduler/x.c", '"nodeagent-proto/agent/agent.h"', "scheduler/ may not include nodeagent-proto/agent/"),
    ("scheduler/run/launch/x.c", '"api/http/http.h"', "scheduler/run/ may not include api/http/"),
    ("scheduler/run/x.c", '"scheduler/scheduler.h"', "scheduler/run/ may not include scheduler/"),
    ("scheduler/fleet/x.c", '"scheduler/run/launch/env.h"', "scheduler/fleet/ may not include scheduler/run/"),
    ("scheduler/run/x.c", '"scheduler/fleet/node/node_priv.h"', "private to scheduler/fleet/"),
    ("scheduler/fleet/script/x.c", '"scheduler/fleet/node/node.h"', "scheduler/fleet/script/ may not include scheduler/fleet/"),
    ("scheduler/fleet/x.c", '"scheduler/front/batch/batch.h"', "may not include scheduler/front/batch/"),
    ("daemon/config/x.c", '"daemon/serve/serve.h"', "daemon/config/ may not include daemon/serve/"),
    ("api/arm/x.c", '"daemon/config/config.h"', "api/arm/ may not include daemon/"),
    ("api/arm/x.c", '"api/arm/batchai/render.h"', "api/arm/ may not include api/arm/batchai/"),
    ("api/http/x.c", '"api/arm/lookup.h"', "api/http/ may not include api/arm/"),
    ("api/http/x.c", '"api/routes.h"', "api/http/ may not include api/"),
    ("api/login/x.c", '"api/http/http_priv.h"', "private to api/http/"),
    ("api/arm/batchai/x.c", "<microhttpd.h>", "only api/http may include"),
    ("api/x.c", '"scheduler/sched_priv.h"', "private to scheduler/"),
    ("nodeagent-proto/agent/x.c", '"model/resource.h"', "nodeagent-proto/agent/ may not include model/"),
    ("nodeagent-proto/agent/x.c", '"scheduler/scheduler.h"', "may not include scheduler/"),
    ("storage/x.c", "<jansson.h>", "may include <jansson.h>"),
    ("scheduler/x.c", "<jansson.h>", "may include <jansson.h>"),
    ("scheduler/x.c", "<microhttpd.h>", "only api/http may include"),
    ("daemon/x.c", "<microhttpd.h>", "only api/http may include"),
    ("api/x.c", "<sqlite3.h>", "only storage may include"),
    ("lib/x.c", "<yaml.h>", "only lib/yaml.c may include"),
    ("api/testing/seed/x.c", "<yaml.h>", "only lib/yaml.c may include"),
    ("daemon/config/x.c", "<cyaml/cyaml.h>", "nobody may include <cyaml/cyaml.h>"),
    ("api/x.c", '"api.h"', "written from the root"),
    ("api/x.c", '"../daemon/config.h"', "written from the root"),
    ("api/x.c", '"lib/a.c"', "not for including"),
])
def test_layers_of_a_bad_tree(tree, file, include, words):
    put(tree, file, f"{SPDX}\n #  include {include}\n")
    done = tool("check_layers.py", tree)
    assert done.returncode == 1
    assert f"{file}:3: " in done.stdout and words in done.stdout


def test_a_new_folder_at_the_top_is_found(tree):
    put(tree, "more/x.txt", "")
    done = tool("check_layers.py", tree)
    assert done.returncode == 1 and "more/ is not one of the folders at the top" in done.stdout


def test_the_map_has_each_room_and_no_other():
    table = (ROOT / "docs/architecture.md").read_text().split("## Rooms")[1].split("\n\nA service is")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in first for name in re.findall(r"`([^`]+)/`", cell)}
    assert named - {"migrations", "test", "etc", "docs"} == set(rooms.load())


FROZEN = "test/tools/layers_frozen.txt"


def test_layers_frozen_today(tree):
    put(tree, "lib/x.c", f'{SPDX}#include "model/enums.h"\n')
    put(tree, FROZEN, "# why\nlib/x.c model/enums.h\n")
    assert tool("check_layers.py", tree).returncode == 0
    put(tree, "lib/x.c", f'{SPDX}#include "model/enums.h"\n#include "model/spec.h"\n')
    done = tool("check_layers.py", tree)
    assert done.returncode == 1 and "lib/x.c:3: lib/ may not include model/" in done.stdout


def test_layers_frozen_once(tree):
    put(tree, FROZEN, "lib/a.h model/enums.h\n")
    done = tool("check_layers.py", tree)
    assert done.returncode == 1 and "take the line out" in done.stdout


def test_frozen_includes_only_become_fewer():
    """Whoever takes one away lowers the number; nobody raises it."""
    lines = [line for line in (ROOT / FROZEN).read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 0


# --- source ---------------------------------------------------------------------------------------


def test_source_of_a_good_tree(tree):
    body = "    a(); /* not system(1) */\n" * 50
    put(tree, "lib/a.c", SPDX + "int f(void)\n{\n" + body + '    return sizeof "gets(";\n}\n')
    done = tool("check_source.py", tree)
    assert (done.returncode, done.stdout) == (0, "check-source: ok\n")


def function(lines):
    return "int f(int n)\n{\n" + "    n++;\n" * (lines - 3) + "    return n;\n}\n"


def says(text):
    return f'{SPDX}const char *f(void)\n{{\n    return "{text}"; /* not {{a}} */\n}}\n'


@pytest.mark.parametrize("name, text, words", [
    ("lib/b.c", "int b;\n", "lib/b.c:1: the first lines lack SPDX"),
    ("test/t.py", "x = 1\n", "test/t.py:1: the first lines lack SPDX"),
    ("lib/b.c", SPDX + "int b;\t\n", "lib/b.c:2: a tab"),
    ("test/t.sh", "# SPDX-License-Identifier: MIT\ntrue \n", "test/t.sh:2: a blank at the end"),
    ("lib/b.c", SPDX + "int b;\n" * 600, "601 lines; 600 are the limit"),
    ("storage/b.c", f"{SPDX}int f(void *s)\n{{\n    return sqlite3_step(s);\n}}\n",
     "storage/b.c:4: sqlite3_step() is called; only storage/sql.c and storage/query.c and storage/history/file.c call SQLite"),
    ("lib/b.c", f"{SPDX}unsigned h = 2166136261u;\n", "lib/b.c:2: a hash of its own; use lib/hash.h"),
    ("lib/b.c", f"{SPDX}int f(struct a *p)\n{{\n    return ((struct b *)(void *)p)->n;\n}}\n",
     "lib/b.c:4: a cast to a struct that holds another; use CONTAINER_OF()"),
    ("storage/b.c", SPDX + 'const char *all = "SELECT id FROM job";\n', "storage/b.c:2: SQL stands in storage/sql/"),
    ("storage/sql/b.sql", "-- st_b() -> i64*\nSELECT id FROM job;\n", "storage/sql/b.sql:1: the first lines lack SPDX"),
    ("lib/b.c", SPDX + function(101), "f() has 101 lines; 100 are the limit"),
    ("lib/b.c", SPDX + "int   b;\n", "lib/b.c:2:4: error: code should be clang-formatted"),
    ("api/arm/kind.c", f"{SPDX}void f(json_t *v)\n{{\n    json_decref(v);\n}}\n",
     "api/arm/kind.c: frees a JSON value in 1 places, not in 0: use request_own() or json_auto_t"),
    ("api/arm/batchai/b.c", f"{SPDX}void f(json_t **v)\n{{\n    json_decrefp(v);\n}}\n", "in 1 places, not in 0"),
    ("api/graph/b.c", f"{SPDX}int f(void)\n{{\n    return schema_accept_as(0, 0, 0);\n}}\n",
     "api/graph/b.c:4: schema_accept_as() is called; request_accept() of api/http/accept.h accepts bodies"),
    ("api/graph/b.c", SPDX + 'const char *next = "nextLink";\n', "api/graph/b.c:2: a list with pages of its own"),
    ("model/b.c", f"{SPDX}char *f(json_t *v)\n{{\n    return json_dumps(v, 0);\n}}\n",
     "model/b.c:4: json_dumps() is called; lib/jsontext.h writes JSON"),
    ("lib/b.h", SPDX + "struct b {\n    bool\n        a; /* why */\n};\n", "b.h:3: a comment behind the line breaks it"),
    ("api/graph/b.h", SPDX + "struct replied *get(struct request *r);\n", "b.h:2: get() is declared by its row"),
    ("api/plane/blob/b.c", SPDX + 'const char *next = "<NextMarker>";\n', "b.c:2: a list with pages of its own"),
    ("lib/b.c", says("'%s' is no number"), "lib/b.c:4: 'is no' in a message; plainer: is not a valid X"),
    ("lib/b.c", says("The file cannot be had."), "lib/b.c:4: 'cannot be had' in a message"),
    ("lib/b.c", says("%s goes on"), "lib/b.c:4: 'goes on' in a message; plainer: continue"),
    ("lib/b.c", says("its state, and that of the run"), "lib/b.c:4: 'that of' in a message; plainer: the noun once more"),
    ("lib/b.c", says("It waits. What ends first counts"), "lib/b.c:4: 'What' in a message; plainer: a noun"),
    ("etc/wheel/x/a.py", '# SPDX-License-Identifier: MIT\n"""A file,\nbesides the other."""\n',
     "etc/wheel/x/a.py:3: 'besides' in a message; plainer: in addition to"),
    ("scheduler/plan.c", SPDX + "int job_id;\n", "scheduler/plan.c:2: job_id is a word of a front"),
    ("scheduler/run/a.h", SPDX + "/* of Azure */\n", "Azure is a word of a front; the core has pools and runs"),
    ("scheduler/fleet/a.c", SPDX + 'const char *a = "batchai-x";\n', "batchai is a word of a front"),
    ("scheduler/front/front.h", SPDX + "int clusters;\n", "clusters is a word of a front"),
    ("api/http/reply.c", SPDX + "int json_decref;\n", "in 0 places: let JSON_FREES of check_source.py say that"),
] + [
    ("lib/b.c", f"{SPDX}int f(char *s)\n{{\n    return {name}(s);\n}}\n", f"lib/b.c:4: {name}() is banned")
    for name in ("strcpy", "strcat", "sprintf", "gets", "system", "popen", "strtok", "alloca")
])
def test_source_of_a_bad_tree(tree, name, text, words):
    put(tree, name, text)
    done = tool("check_source.py", tree)
    assert done.returncode == 1
    assert words in done.stdout


def test_json_values_are_freed_by_hand_in_fewer_and_fewer_places():
    """Whoever takes one away lowers the numbers; nobody raises them."""
    frees = check_source.JSON_FREES
    assert sum(frees.values()) == 16
    assert all((ROOT / name).exists() and count > 0 for name, count in frees.items())


def test_comments_and_questions_are_no_messages(tree):
    put(tree, "lib/b.c", SPDX + "/* told anew, that of others */\nint told, besides; /* goes on */\n")
    put(tree, "lib/c.c", says("There is no file, and it is no longer wanted."))
    put(tree, "etc/wheel/x/a.py", "# SPDX-License-Identifier: MIT\na = 1  # that of the other\n# besides\n")
    put(tree, "test/unit/lib/test_c.c", says("it goes on"))
    assert tool("check_source.py", tree).stdout == "check-source: ok\n"


def with_head(text, lines=101):
    return f"/* SPDX-License-Identifier: MIT\n *\n * {text}\n */\n" + "int f(void);\n" * (lines - 4)


def test_a_long_file_without_a_head_that_says_what_it_is_is_found(tree):
    put(tree, "lib/b.c", with_head("The texts of times: they are read, written and compared."))
    put(tree, "lib/c.c", SPDX + "int f(void);\n" * 99)
    put(tree, "test/unit/lib/test_c.c", with_head("Tests."))
    assert tool("check_source.py", tree).stdout == "check-source: ok\n"
    put(tree, "lib/d.c", with_head("Times."))
    put(tree, "lib/e.c", SPDX + "/* The texts of times: they are read, written and compared. */\n" + "int f(void);\n" * 99)
    done = tool("check_source.py", tree)
    said = "101 lines without a head comment that says what the file is"
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if said in line] == [
        f"lib/{n}.c:1: {said}: its states, rules, owner, thread" for n in "de"]


def test_a_tag_in_two_files_is_found(tree):
    row, uses = "struct row {\n    int n;\n};\n", "/* struct row { */\nint f(const struct row *r);\n"
    put(tree, "lib/b.c", SPDX + row + "enum kind { ONE };\n")
    put(tree, "lib/b.h", SPDX + uses)
    assert tool("check_source.py", tree).stdout == "check-source: ok\n"
    put(tree, "test/unit/lib/test_c.c", SPDX + row)
    put(tree, "model/b.c", SPDX + "static const struct row {\n    int m;\n} rows[] = {{1}};\n")
    put(tree, "storage/b.h", SPDX + "\nunion kind {\n    int n;\n};\n")
    done = tool("check_source.py", tree)
    said = "too; give each a name of its own"
    assert done.returncode == 1
    for place in ("model/b.c:2", "test/unit/lib/test_c.c:2"):
        assert f"{place}: the tag row is defined in lib/b.c, {said}\n" in done.stdout
    assert f"storage/b.h:3: the tag kind is defined in lib/b.c, {said}\n" in done.stdout


def test_texts_have_words_that_fronts_know(tree):
    words = "{\n    const char *const words[] = {\n        WORD(run),\n    };\n}\n"
    put(tree, "model/front_words.c", f"{SPDX}// clang-format off\nvoid f(void)\n{words}")
    put(tree, "scheduler/a.c", says("the {run}, {Run}s, ${HOME}, { run } and {}"))
    put(tree, "lib/c.c", says("{anything}"))
    assert tool("check_source.py", tree).stdout == "check-source: ok\n"
    put(tree, "scheduler/b.c", says("the {run} and its {node}"))
    done = tool("check_source.py", tree)
    assert done.returncode == 1
    assert "scheduler/b.c:4: {node} is no word of model/front_words.c or" in done.stdout and "{run}" not in done.stdout


def test_a_row_of_properties_without_a_macro_is_found(tree):
    kinds = "    f->kind = FIELD_INT;\n    f[0].kind = FIELD_INT;\n    g(f).kind = FIELD_INT;\n    e.kind = FIELD_INT;\n"
    put(tree, "model/a.c", SPDX + "void f(struct field *f)\n{\n" + kinds + "}\n")
    put(tree, "model/schema_rows.h", SPDX + "// clang-format off\n#define INT(...) {.kind = FIELD_INT, .name = __VA_ARGS__}\n")
    assert tool("check_source.py", tree).stdout == "check-source: ok\n"
    put(tree, "model/schema/b.c", SPDX + 'const struct field f[] = {{.name = "a", .kind = FIELD_INT}};\n')
    put(tree, "api/b.h", SPDX + "#define ROW(label) .name = (label), .kind = FIELD_INT\n")
    put(tree, "api/c.h", SPDX + "#define SHOWN(label) .name = (label), .kind = OVER_TEXT\n")
    done = tool("check_source.py", tree)
    words = "a property's row without a macro; those of model/schema_rows.h write rows"
    assert done.returncode == 1
    assert f"model/schema/b.c:2: {words}\n" in done.stdout and f"api/b.h:2: {words}\n" in done.stdout
    assert f"api/c.h:2: {words.replace('schema_rows.h', 'schema.h')}\n" in done.stdout
    assert "model/a.c" not in done.stdout


def test_a_name_with_a_word_that_the_glossary_replaces_is_found(tree):
    put(tree, "docs/glossary.md", "| noun | meaning here | Azure | Slurm | not in code |\n| --- | --- | --- | --- | --- |\n"
        "| run | one scheduled unit | job | job step | `job_run`, `errand` |\n| share | a folder | file share | - | |\n")
    put(tree, "lib/b.c", SPDX + "/* an errand */\nint errands; /* errand */\nint my_job, run_errands;\n")
    assert tool("check_source.py", tree).stdout == "check-source: ok\n"
    put(tree, "lib/c.c", SPDX + "int last_job_run;\nenum { ERRAND_MAX = 4 };\n")
    put(tree, "lib/errand.h", SPDX + "int c;\n")
    done = tool("check_source.py", tree)
    assert done.returncode == 1
    words = "a name with {!r}; docs/glossary.md calls that run\n"
    assert "lib/c.c:2: " + words.format("job_run") in done.stdout and "lib/c.c:3: " + words.format("ERRAND") in done.stdout
    assert "lib/errand.h:1: " + words.format("errand") in done.stdout and "lib/b.c" not in done.stdout


def test_the_glossary_replaces_words():
    words = check_source.avoided_words(ROOT)
    assert {"job_run": "run", "cordon": "drain", "strays": "task"}.items() <= words.items()
    assert all(word == word.lower() for word in words)


def test_long_functions_are_listed(tree):
    put(tree, "lib/b.c", SPDX + function(61))
    put(tree, "lib/c.c", SPDX + function(60).replace("f(", "g("))
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


def test_tidy_remembers_what_is_clean_until_a_header_changes(tmp_path):
    shutil.copytree(TOOLS, tmp_path / "test/tools")
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    put(tmp_path, "lib/b.h", SPDX + "int f(void);\n")
    put(tmp_path, "lib/b.c", SPDX + '#include "lib/b.h"\nint f(void)\n{\n    return 1;\n}\n')
    put(tmp_path, "build/obj/lib/b.d", "build/obj/lib/b.o: lib/b.c \\\n lib/b.h\nlib/b.h:\n")
    env = {"CFLAGS": "-std=c11 -I. -Wall -Werror", "XDG_CACHE_HOME": str(tmp_path / "cache"), "BUILD": "build"}
    tidy = tmp_path / "test/tools/tidy.sh"
    seen = tmp_path / "cache/batchaid/tidy"
    for _ in range(2):
        assert run(tidy, "lib/b.c", env=env).returncode == 0
        assert len(list(seen.iterdir())) == 1
    put(tmp_path, "lib/b.h", SPDX + "int f(void);\nint f(void);\n")
    assert run(tidy, "lib/b.c", env=env).returncode == 1
    assert len(list(seen.iterdir())) == 1


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
        # -c PROGRAM: is there the module? -m pip --version; -m pip install ...
        "python": f'case "$1 $3" in -c*) exit ${{NO_MODULE:-0}};; *install) echo "$*" >> {tmp_path}/apt-log;; esac',
    }
    for name, text in fakes.items():
        put(bin_dir, name, f"#!/bin/bash\n{text}\n")
        (bin_dir / name).chmod(0o755)
    for name in ("bash", "env", "dirname", "grep", "sed", "cat", "tr"):
        (bin_dir / name).symlink_to(shutil.which(name))
    put(tmp_path, "list", "# comment\n[build]\nours\nalso-ours\n\n[moon]\n# why\nrocket\npypi sky.moon sky-moon==1\n")

    def deps(*sections, **env):
        done = run(TOOLS / "deps.sh", *(sections or ["build"]), env={"PATH": str(bin_dir), "DEPS_LIST": str(tmp_path / "list"), "PYTHON": str(bin_dir / "python"), **env})
        log = tmp_path / "apt-log"
        return done, log.read_text().splitlines() if log.exists() else []

    return deps


def test_deps_installs_only_what_is_missing(debian):
    done, log = debian()
    assert (done.returncode, done.stdout) == (0, "deps: installing also-ours\n")
    assert log == ["-q install -y --no-install-recommends also-ours"]


def test_deps_takes_sections(debian):
    assert debian("moon")[1] == ["-q install -y --no-install-recommends rocket"]
    assert debian("build", "moon")[1][-1] == "-q install -y --no-install-recommends also-ours rocket"
    done, _ = debian("mars")
    assert done.returncode == 2 and "no section 'mars'; there are: build moon" in done.stderr


def test_deps_takes_from_pypi_what_no_package_has_brought(debian):
    done, log = debian("moon", NO_MODULE="1")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "deps: installing sky-moon==1 of PyPI"
    assert log[1:] == ["-m pip install --break-system-packages --no-deps -q sky-moon==1"]
    done, _ = debian("moon", NO_MODULE="1", FAKE_UID="1000")
    assert done.returncode == 1


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


# --- building where something is missing -----------------------------------------------------------


@pytest.fixture
def bare(tmp_path):
    """make_in(without=NAMES) -> the end of a build on a system that lacks these programs or packages"""

    def make(*without, **env):
        bin_dir = tmp_path / "bin"
        bin_dir.mkdir()
        for name in "sh make mkdir cc gcc as ld touch find sort uname nproc env rm mv printf mktemp pkg-config".split():
            if name not in without:
                (bin_dir / name).symlink_to(shutil.which(name))
        if "python3" not in without:
            (bin_dir / "python3").symlink_to("/usr/bin/python3")
        done = run("make", "CC=cc", f"BUILD={tmp_path}/build", f"PYTHON={bin_dir}/python3", f"{tmp_path}/build/obj/lib/fs.o",
                   env={"PATH": str(bin_dir), "MAKEFLAGS": "", "MAKELEVEL": "0", **env})
        return done

    return make


def test_a_build_with_all_it_needs_says_what_it_does(bare):
    done = bare()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "  CC     lib/fs.c"


@pytest.mark.parametrize("without", ["cc", "pkg-config", "python3"])
def test_a_build_without_a_program_names_it_and_make_deps(bare, without):
    done = bare(without)
    assert done.returncode == 2
    assert without in done.stderr and "make deps" in done.stderr


def test_a_build_without_a_package_names_it_and_make_deps(bare):
    done = bare(PKG_CONFIG_LIBDIR="/nowhere")
    assert done.returncode == 2
    assert "libmicrohttpd" in done.stderr and "sqlite3" in done.stderr and "make deps" in done.stderr


# --- installation and manual ----------------------------------------------------------------------

BUILD = os.environ.get("BUILD_DIR", "build")


def test_install_and_uninstall(tmp_path):
    make = ["make", "-s", f"BUILD={BUILD}", f"DESTDIR={tmp_path}", "PREFIX=/opt/b"]
    done = run(*make, "install")
    assert done.returncode == 0, done.stderr
    files = {str(p.relative_to(tmp_path)): p for p in tmp_path.rglob("*") if p.is_file()}
    if (ROOT / BUILD / "batchai-node-aarch64").exists():  # needs a cross compiler
        for program in ("batchai-node", "batchai-cmd"):
            assert files.pop(f"opt/b/bin/{program}-aarch64").stat().st_mode & 0o777 == 0o755
    assert set(files) == {"opt/b/" + name for name in (
        "bin/batchaid", "bin/batchai-node", "bin/batchai-cmd", "etc/batchaid/batchaid.yaml.example",
        "lib/systemd/system/batchaid.service", "lib/sysusers.d/batchaid.conf",
        "share/bash-completion/completions/batchaid", "share/man/man1/batchaid.1",
        "share/man/man1/batchai-node.1", "share/man/man1/batchai-cmd.1", "share/man/man5/batchaid.yaml.5",
        "share/doc/batchaid/batchaid.rules.yml", "share/doc/batchaid/batchaid.json",
        *(f"share/doc/batchaid/{page.name}" for page in (ROOT / "docs").glob("*.md")),
        *(f"share/doc/batchaid/images/{picture.name}" for picture in (ROOT / "docs/images").iterdir()))}
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
    for command in re.findall(r"^  ([a-z-]+) ", help_text, re.M):
        assert f".It Cm {command}\n" in page, command
        for option in re.findall(r"^  --(\S+)", run(ROOT / BUILD / "batchaid", "help", command).stdout, re.M):
            assert re.search(rf"^\.It Fl -{option}( |$)", page, re.M), (command, option)


def test_manual_has_the_tables_of_commands_and_options():
    done = run(ROOT / "test/tools/man_docs.py", env={"BATCHAID": str(ROOT / BUILD / "batchaid")})
    assert done.returncode == 0, done.stdout + done.stderr


# --- fuzzing --------------------------------------------------------------------------------------


def test_a_target_that_breaks_fails_and_leaves_the_input(tmp_path):
    """A made-up target that does not stand an input with "no" in it: as a seed, and found by searching."""
    put(tmp_path, "t.c", """
        #include <stdint.h>
        #include <stdlib.h>
        int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)
        {
            if (n > 1 && d[0] == 'n' && d[1] == 'o')
                abort();
            return 0;
        }
        """)
    (tmp_path / "fuzz").mkdir()
    assert run("clang", "-fsanitize=fuzzer", "-o", tmp_path / "fuzz/fuzz_frame", tmp_path / "t.c").returncode == 0
    done = run(TOOLS / "fuzz.sh", "frame", "60", env={"FUZZ_BUILD": str(tmp_path)})
    assert done.returncode == 1 and "deadly signal" in done.stdout
    assert [f.read_bytes()[:2] for f in (tmp_path / "found").glob("frame-crash-*")] == [b"no"]


def test_every_target_has_seeds():
    targets = {f.stem.removeprefix("fuzz_") for f in (ROOT / "test/fuzz").glob("fuzz_*.c")}
    assert targets >= {"body", "config", "filter", "frame", "request"}
    assert {f.name for f in (ROOT / "test/fuzz/corpus").iterdir() if any(f.iterdir())} == targets
