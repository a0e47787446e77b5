# SPDX-License-Identifier: MIT
"""The faults of test/seeded_faults/: each patch applies, says what it is, and changes product code alone."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "tools"))
import chosen  # noqa: E402
import rooms  # noqa: E402
import seeded_faults  # noqa: E402
from checks import stages  # noqa: E402

# In the clone that has one of the faults its patch does not apply once more.
pytestmark = pytest.mark.skipif("SEEDED_FAULT" in os.environ, reason="this tree has one of the faults")

ROOMS = rooms.load()
NOT_C = {"etc"}  # product without a room
FAULTS = seeded_faults.load()
SPECIAL = {"clients", "e2e", "valgrind", "fuzz", "sim", "tsan", "demo"}


def tool(*arguments):
    return subprocess.run([ROOT / "test/tools/seeded_faults.py", *arguments], capture_output=True, text=True, timeout=60)


def files_of(fault):
    return [Path(name) for name in re.findall(r"^\+\+\+ b/(.+)$", fault.patch.read_text(), re.M)]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_it_applies_and_is_small(fault):
    assert list(seeded_faults.complaints([fault])) == []
    changed = re.findall(r"^[+-](?![+-])", fault.patch.read_text(), re.M)
    assert 0 < len(changed) <= 20


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_it_changes_product_code_alone_in_the_room_that_it_names(fault):
    files = files_of(fault)
    assert files and fault.patch.read_text().count("\ndiff --git ") == len(files)
    for file in files:
        room = rooms.room_of(file, ROOMS) or file.parts[0]
        assert room in ROOMS or room in NOT_C, file
        assert fault.room == room


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_its_head_says_what_a_user_would_see_and_who_finds_it(fault):
    assert fault.text.endswith(".") and len(fault.text) > 30
    assert fault.stage in seeded_faults.STAGES


def test_there_are_thirty_and_ten_that_one_special_stage_alone_finds():
    alone = [f for f in FAULTS if "nowhere else" in f.expected]
    assert len(FAULTS) >= 30 and len(alone) >= 10
    assert {f.stage for f in alone if "when it was seeded" not in f.expected} <= SPECIAL


OF_CHECK = {"valgrind": chosen.computing, "tsan": chosen.threads_of_check}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_fault_says_why_only_the_deep_check_finds_it_and_no_other_does(fault):
    left_out = fault.job not in OF_CHECK[fault.stage]() if fault.stage in OF_CHECK else "deep" in stages.trait(fault.stage, fault.job)
    assert bool(fault.deep) == left_out
    assert not fault.deep or fault.deep.endswith(".") and len(fault.deep) > 30


def test_the_table_lists_all_and_aligns():
    lines = tool("--list").stdout.splitlines()
    deep = lines.index("found by make check-deep only:")
    assert lines[deep + 1:] == [f"  {f.name}: {f.deep}" for f in FAULTS if f.deep]
    lines = lines[:deep]
    assert [line.split()[0] for line in lines] == ["NAME", *(f.name for f in FAULTS)]
    room, found = lines[0].index("ROOM"), lines[0].index("FOUND BY")
    for line, fault in zip(lines[1:], FAULTS):
        assert line[room:].startswith(fault.room + " ") and line[found:] == fault.expected


def test_a_patch_that_does_not_apply_is_named(tmp_path):
    old = tmp_path / "old.patch"
    text = FAULTS[0].patch.read_text()
    old.write_text(re.sub(r"^-(?!--)", "-no such line ", text, count=1, flags=re.M))
    (said,) = seeded_faults.complaints([seeded_faults.read(old)])
    assert said.startswith("old: ") and "does not apply" in said
    assert tool("--check").stdout == f"all {len(FAULTS)} patches apply\n"


def test_a_patch_without_its_head_is_refused(tmp_path):
    bare = tmp_path / "bare.patch"
    bare.write_text("diff --git a/x b/x\n")
    with pytest.raises(SystemExit, match="bare.patch: it must begin with the lines"):
        seeded_faults.read(bare)


def test_unknown_names_are_refused():
    for arguments, what in ((["nosuch"], "unknown fault 'nosuch'"), (["--stages", "unit,no"], "unknown stage 'no'"),
                            (["--stages", "faults"], "unknown stage 'faults'")):
        done = tool(*arguments)
        assert done.returncode == 2 and what in done.stderr


# --- what the checks have printed -----------------------------------------------------------------


OUTPUT = """[  1/130] unit: lib/test_fs: 9 passed (1 s, 1 s of processor)
[  2/130] unit: lib/test_timefmt: 4 passed, 1 FAILED (1 s, 1 s of processor)
--- unit: lib/test_timefmt
---
[  3/130] unit: lib/test_loop: 0 passed, 1 FAILED (2 s, 1 s of processor)
failed:
  lib/test_loop: exit code -15
  lib/test_timefmt: test_wire
13 passed, 2 failed, 0 skipped
stopped before the end"""


def test_the_first_failure_counts_and_not_what_was_stopped_after_it():
    lines = OUTPUT.splitlines()
    assert seeded_faults.failed_test(lines) == "lib/test_timefmt: test_wire"
    assert seeded_faults.failed_test(lines[:2]) == "lib/test_timefmt"
    assert seeded_faults.failed_test(lines[:1]) == ""


def test_the_summary_names_what_no_stage_found_and_what_another_one_did():
    def result(name, expected, stage):
        return seeded_faults.Result(name, "lib", expected, stage, "t", 5)

    results = [result("a", "unit x", "unit"), result("b", "fuzz y", "api"), result("c", "sim", "")]
    text = "\n".join(seeded_faults.summary(results))
    assert text.startswith("2 of 3 faults were found\n")
    assert "another stage than expected: b (api, not fuzz)" in text and text.endswith("not found: c")
    assert seeded_faults.line_of(results[2]) == "c: not found (5 s)"


# --- a run, on a small tree of its own ------------------------------------------------------------

CHECKS = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("failed:\\n  test_a: test_it", flush=True), sys.exit(1)))
good = "good" in open("a.c").read()
print("[  1/2] %s: test_a: 1 passed%s (0 s, 0 s of processor)" % (sys.argv[2], "" if good else ", 1 FAILED"), flush=True)
if not good:
    time.sleep(60)
"""
MAKEFILE = """asan:
\t! grep -q unbuildable a.c
sim-bins:
"""


def commit(tree):
    tool = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*tool, *arguments], cwd=tree, check=True)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A source that is good, and checks that fail where it is not."""
    root = tmp_path / "here" / "tree"
    (root / "test").mkdir(parents=True)
    (root / "a.c").write_text("good\n")
    (root / "Makefile").write_text(MAKEFILE)
    (root / "test/run_checks.py").write_text(CHECKS)
    commit(root)
    monkeypatch.setattr(seeded_faults, "ROOT", root)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return root


def made_up(tmp_path, name, text):
    patch = tmp_path / f"{name}.patch"
    diff = f"diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-good\n+{text}\n"
    patch.write_text(f"Fault: It is bad.\nRoom: lib\nFound by: unit test_a\n\n{diff}")
    return seeded_faults.read(patch)


def test_a_run_tries_the_stages_in_turn_and_leaves_nothing_behind(tree, tmp_path, capsys):
    named = {"bad": "worse", "fine": "good enough", "unbuilt": "unbuildable"}
    faults = [made_up(tmp_path, name, text) for name, text in named.items()]
    before = set(tmp_path.iterdir())
    assert seeded_faults.run(faults, ["sim", "unit"], False, False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad: sim: test_a: test_it (")
    assert lines[1].startswith("fine: not found (") and lines[2].startswith("unbuilt: sim: test_a")
    assert seeded_faults.run(faults[2:], ["unit"], False, False) == 1
    assert "unbuilt: build: make asan" in capsys.readouterr().out
    assert set(tmp_path.iterdir()) == before and (tree / "a.c").read_text() == "good\n"


def test_the_expected_job_is_tried_before_the_stages(tree, tmp_path, capsys):
    fault = made_up(tmp_path, "bad", "worse")
    assert (fault.stage, fault.job) == ("unit", "test_a")
    assert seeded_faults.run([fault], ["sim"], False, False, expected=True) == 0
    assert capsys.readouterr().out.startswith("bad: unit: test_a: test_it (")


def test_the_results_can_be_had_as_json(tree, tmp_path, capsys):
    assert seeded_faults.run([made_up(tmp_path, "bad", "worse")], ["unit"], False, True) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert (result["name"], result["stage"], result["test"]) == ("bad", "unit", "test_a: test_it")


def test_a_sample_is_the_same_for_the_same_seed():
    samples = [[f.name for f in seeded_faults.sample(FAULTS, 4, seed)] for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    assert len(set(samples[0])) == 4 and samples[0] == sorted(samples[0])
    assert seeded_faults.sample(FAULTS, 1000, 1) == FAULTS


def test_a_sample_runs_the_expected_jobs_alone_and_names_its_seed(tree, tmp_path, capsys, monkeypatch):
    made_up(tmp_path, "bad", "worse")
    made_up(tmp_path, "fine", "good enough")
    monkeypatch.setattr(seeded_faults, "load", lambda: [seeded_faults.read(tmp_path / f"{n}.patch") for n in ("bad", "fine")])
    monkeypatch.setattr(sys, "argv", ["seeded_faults.py", "--sample", "2", "--seed", "7"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert seeded_faults.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 of 2 faults, seed 7"
    assert lines[1].startswith("bad: unit: test_a: test_it (") and lines[2].startswith("fine: not found (")


def test_the_deep_check_runs_a_sample_and_names_the_seed():
    (job,) = stages.STAGES["faults"]()
    assert job.deep and "whole machine" in job.claims
    assert f"--sample={stages.SAMPLE}" in job.argv and f"--seed={stages.commit_number()}" in job.argv
    assert job.name == f"{stages.SAMPLE} by seed {stages.commit_number()}"


def test_the_clone_begins_with_the_builds_of_a_tree_that_is_as_committed(tree, tmp_path):
    (tree / ".gitignore").write_text("build\n")
    commit(tree)
    for name in ("obj/a.o", "clients/downloaded"):
        (tree / "build" / name).parent.mkdir(parents=True)
        (tree / "build" / name).write_text("made")
    (tmp_path / "same").mkdir()
    cloned = seeded_faults.clone(tmp_path / "same")
    assert (cloned / "build/obj/a.o").read_text() == "made" and (cloned / "build/clients").is_symlink()
    assert (cloned / "a.c").stat().st_mtime == (tree / "a.c").stat().st_mtime
    (tree / "a.c").write_text("changed\n")
    (tmp_path / "changed").mkdir()
    assert not (seeded_faults.clone(tmp_path / "changed") / "build/obj").exists()
