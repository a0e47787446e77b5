# SPDX-License-Identifier: MIT
"""What runs the checks must not lose a failure: made-up jobs that pass, fail, die, hang and are lucky."""
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from checks import job as jobs  # noqa: E402
from checks import stages  # noqa: E402
from checks.processes import forks  # noqa: E402
from checks.runner import CLAIMS, MOST, Cores, Runner  # noqa: E402
from checks.stages import DEEP, STAGES, chosen  # noqa: E402
from support.waiting import wait_for  # noqa: E402


def shell(text, kind=jobs.Command, name="a", **more):
    return kind("made up", name, ["bash", "-c", text], **more)


def run(*made, **more):
    said = []
    runner = Runner(list(made), out=said.append, **more)
    runner.run()
    runner.said = "\n".join(said)
    return runner


def only(runner):
    ((_, outcome),) = runner.outcomes
    return outcome


# --- one job --------------------------------------------------------------------------------------


def test_a_command_that_fails_is_shown_whole_and_stays_failed():
    runner = run(shell("echo the reason; exit 3"))
    assert only(runner).failed == ["a"] and "the reason" in runner.said
    assert runner.flaky == []


def test_a_command_that_passes_alone_is_flaky(tmp_path):
    runner = run(shell(f"[ -e {tmp_path}/x ] || {{ touch {tmp_path}/x; exit 1; }}"))
    assert (only(runner).failed, only(runner).passed, runner.flaky) == ([], 1, ["a"])


def test_a_second_try_is_not_made_for_a_sanitizer_or_with_once(tmp_path):
    lucky = f"[ -e {tmp_path}/x ] || {{ touch {tmp_path}/x; echo $SAYS; exit 1; }}"
    found = run(shell(lucky, env={"SAYS": "==1==ERROR: AddressSanitizer: heap-use-after-free"}))
    assert only(found).failed == ["a"]
    (tmp_path / "x").unlink()
    assert only(run(shell(lucky, env={"SAYS": ""}), once=True)).failed == ["a"]


def has_ended(pid):
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def test_a_command_that_hangs_is_stopped_with_all_it_started():
    begin = time.monotonic()
    runner = run(shell("sleep 63 & echo $!; wait", limit=0.5), once=True)
    assert only(runner).failed == ["a"] and "stopped after 0.5 s" in runner.said
    assert time.monotonic() - begin < 30
    child = next(line for line in runner.said.splitlines() if line.isdigit())
    wait_for(lambda: has_ended(child))  # it was killed; a busy machine takes its time


def test_a_job_that_cannot_be_run_is_a_failure():
    runner = run(jobs.Command("made up", "none", ["/no/such/program"]))
    assert only(runner).failed == ["none"]


# --- unit test programs ---------------------------------------------------------------------------

PROGRAM = r"""
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "test/unit/support/skip.h"
static void good(void **s) { (void)s; }
static void bad(void **s) { (void)s; assert_null(getenv("BAD")); }
static void lucky(void **s) { (void)s; if (getenv("LUCKY") && !getenv("UNIT_TEST")) fail(); }
static void skipped(void **s) { (void)s; skip_because("needs %s", "a moon"); }
static void dies(void **s) { (void)s; if (getenv("DIES")) _exit(1); }
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good), cmocka_unit_test(bad), cmocka_unit_test(lucky),
                                       cmocka_unit_test(skipped), cmocka_unit_test(dies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run(["cc", "-I", jobs.ROOT, "-o", folder / "p", folder / "p.c",
                    f"{jobs.ROOT}/test/unit/support/filter.c", "-lcmocka"], check=True)
    return lambda **env: jobs.Cmocka("unit", "p", [str(folder / "p")], env)


def test_a_program_is_counted_by_its_tests(program):
    o = only(run(program()))
    assert (o.passed, o.failed, o.skipped) == (4, [], [("p: skipped", "needs a moon")])


def test_a_failed_test_of_a_program_is_the_only_one_run_again(program):
    runner = run(program(BAD="1", LUCKY="1"))
    assert only(runner).failed == ["p: bad"] and only(runner).passed == 3
    assert runner.flaky == ["p: lucky"]


def test_a_program_that_dies_has_failed(program):
    assert only(run(program(DIES="1"))).failed == ["p: dies"]
    assert only(run(shell("exit 0", jobs.Cmocka))).failed != []


# --- pytest ---------------------------------------------------------------------------------------

TESTS = """
import os, pytest
def test_good(): pass
def test_bad(): assert "BAD" not in os.environ
def test_lucky(): assert "LUCKY" not in os.environ or len(os.environ["PYTEST_CURRENT_TEST"]) and _second()
def _second():
    import pathlib
    mark = pathlib.Path(os.environ["LUCKY"])
    seen, _ = mark.exists(), mark.touch()
    return seen
@pytest.fixture
def torn():
    yield
    assert "TORN" not in os.environ, "torn down badly"
def test_torn(torn): pass
def test_skipped(): pytest.skip("needs a moon")
def test_dies():
    if "DIES" in os.environ: os._exit(3)
def test_hangs():
    if "HANGS" in os.environ: os.system("sleep 63 & echo $! >$HANGS; wait")
"""


@pytest.fixture(scope="module", params=["executed", "forked"])
def started(request):
    """How a run of pytest gets its process."""
    if request.param == "executed":
        yield {}
    else:
        with forks() as f:
            yield {"forks": f}


@pytest.fixture
def folder(tmp_path):
    """A file of tests in the tree's own folder of tests, as its names are relative to it."""
    path = Path(jobs.ROOT) / "test" / f"made_up_{os.getpid()}"
    path.mkdir()
    (path / "test_it.py").write_text(TESTS)
    (path / "pytest.ini").write_text("[pytest]\n")
    yield lambda **env: jobs.Pytest("made up", "it", ["--noconftest", f"test/{path.name}/test_it.py"], env)
    shutil.rmtree(path)


def names(outcome):
    return [name.rpartition("::")[2] for name in outcome.failed]


def test_pytest_is_counted_by_its_tests(folder, started):
    o = only(run(folder(), **started))
    assert (o.passed, names(o), [why for _, why in o.skipped]) == (6, [], ["Skipped: needs a moon"])
    assert 0 < o.cpu < 60


def test_a_failed_test_of_pytest_is_the_only_one_run_again(folder, tmp_path, started):
    runner = run(folder(BAD="1", LUCKY=str(tmp_path / "x")), **started)
    assert names(only(runner)) == ["test_bad"] and only(runner).passed == 5
    assert [name.rpartition("::")[2] for name in runner.flaky] == ["test_lucky"]
    assert 'assert "BAD" not in os.environ' in runner.said


def test_what_fails_when_fixtures_are_taken_down_is_a_failure(folder, started):
    assert names(only(run(folder(TORN="1"), **started))) == ["test_torn"]


def test_a_pytest_that_dies_has_failed(folder, started):
    assert len(only(run(folder(DIES="1"), once=True, **started)).failed) == 1


def test_what_is_only_reported_decides_nothing_but_for_its_fixtures(folder, started):
    job = folder(BAD="1")
    runner = run(jobs.Reported(**vars(job)), **started)
    assert (only(runner).failed, only(runner).passed) == ([], 5)
    assert [(name.rpartition("::")[2], why) for name, why in only(runner).skipped if "nothing" in why] == [
        ("test_bad", "it fails, and decides nothing")
    ]
    torn = folder(TORN="1")
    assert names(only(run(jobs.Reported(**vars(torn)), **started))) == ["test_torn"]


def test_a_pytest_that_is_stopped_takes_along_all_that_it_started(folder, tmp_path, started):
    pid = tmp_path / "pid"
    runner = Runner([folder(HANGS=str(pid))], out=lambda _: None, **started)
    running = threading.Thread(target=runner.run)
    running.start()
    wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"))
    runner.stop()
    running.join(60)
    assert only(runner).failed
    wait_for(lambda: has_ended(pid.read_text().strip()))


# --- side by side ---------------------------------------------------------------------------------


def test_jobs_run_side_by_side_and_in_order_where_it_matters(tmp_path):
    meet = "touch {0}/{1}; for i in $(seq 200); do [ -e {0}/{2} ] && exit 0; sleep 0.05; done; exit 1"
    runner = run(shell(meet.format(tmp_path, "a", "b"), name="a", load=0.1),
                 shell(meet.format(tmp_path, "b", "a"), name="b", load=0.1),
                 shell(f"[ -e {tmp_path}/a ] && [ -e {tmp_path}/b ]", name="c", cost=99,
                       after=("made up: a", "made up: b")), once=True)
    assert [o.failed for _, o in runner.outcomes] == [[], [], []]


def test_a_claimed_thing_is_used_by_as_many_as_may(tmp_path):
    one = f"mkdir {tmp_path}/in || exit 1; sleep 0.1; rmdir {tmp_path}/in"
    assert CLAIMS["docker"] == 1
    runner = run(*(shell(one, name=n, claims=("docker",), load=0) for n in "abc"), once=True)
    assert all(not o.failed for _, o in runner.outcomes)


class Machine:
    """Whose cores idle for that share of each second."""

    def __init__(self, share):
        self.share = share

    def idle(self):
        return self.share


def meeting(folder, names, **more):
    """Jobs that pass if all of them run at the same time at some moment."""
    there = " && ".join(f"[ -e {folder}/{n} ]" for n in names)
    text = f"touch {folder}/NAME; for i in $(seq 40); do {there} && exit 0; sleep 0.05; done; exit 1"
    return [shell(text.replace("NAME", n), name=n, **more) for n in names]


@pytest.mark.parametrize("share, together", [(0.9, True), (0.0, False)])
def test_a_job_more_is_started_where_the_cores_idle(tmp_path, share, together):
    runner = run(*meeting(tmp_path, "ab", load=9), once=True, machine=Machine(share))
    # The second of two finds the file of the first in any case.
    assert [bool(o.failed) for _, o in runner.outcomes] == [not together, False]


def test_idle_cores_start_what_may_be_started_and_no_more_than_many(tmp_path):
    one = f"mkdir {tmp_path}/in || exit 1; sleep 0.1; rmdir {tmp_path}/in"
    apart = run(*(shell(one, name=n, claims=("docker",), load=9) for n in "abc"), once=True, machine=Machine(1.0))
    assert all(not o.failed for _, o in apart.outcomes)
    (tmp_path / "at-once").mkdir()
    count = f"cd {tmp_path}; touch at-once/NAME; ls at-once | wc -l >> counts; sleep 0.5; rm at-once/NAME"
    run(*(shell(count.replace("NAME", str(n)), name=str(n), load=9) for n in range(MOST + 2)),
        cores=1, once=True, machine=Machine(1.0))
    assert max(int(n) for n in (tmp_path / "counts").read_text().split()) == MOST


def test_the_idle_share_of_cores_is_that_of_the_last_second_or_more(tmp_path):
    stat = tmp_path / "stat"
    stat.write_text("cpu 100 0 100 500 100 0 0 0 0 0\ncpu0 1\n")
    cores = Cores(stat)
    stat.write_text("cpu 150 0 130 515 105 0 0 0 0 0\ncpu0 1\n")
    assert cores.idle() == 0
    share = wait_for(cores.idle)
    assert share == 0.2
    assert Cores(tmp_path / "none").idle() == 0


def test_stopping_ends_what_runs_and_begins_nothing_more():
    said = []
    runner = Runner([shell("sleep 61"), shell("sleep 62", load=9)], out=said.append, machine=Machine(0))
    threading.Timer(0.3, runner.stop).start()
    begin = time.monotonic()
    runner.run()
    assert time.monotonic() - begin < 30 and len(runner.outcomes) == 1 and only(runner).failed


# --- the real ones --------------------------------------------------------------------------------


def test_every_test_file_belongs_to_a_stage():
    """A new folder or file of tests cannot be forgotten."""
    root = Path(jobs.ROOT)
    all_jobs = [j for make in STAGES.values() for j in make()]
    run_files = {arg for j in all_jobs if isinstance(j, jobs.Pytest) for arg in j.argv if arg.endswith(".py")}
    there = {str(f.relative_to(root)) for f in (root / "test").rglob("test_*.py") if "made_up_" not in str(f)}
    assert there - run_files == set()


def test_what_is_frozen_only_becomes_less():
    """Whoever takes a call upwards or a file in a cycle away lowers the numbers; nobody raises them."""
    words = [line.split() for line in (Path(jobs.ROOT) / "test/tools/calls_frozen.txt").read_text().splitlines()]
    assert sum(line[0] == "up" for line in words) <= 28
    assert sum(len(line) - 1 for line in words if line[0] == "cycle") <= 58


def test_threaded_programs_are_found_by_what_they_call():
    found = chosen.threads()
    assert {"storage/folders/test_threads", "api/http/test_server", "lib/test_watchdog", "storage/shares/test_journal",
            "storage/test_commit", "scheduler/fleet/transfer/test_many"} <= set(found)  # fmt: skip
    assert not {"lib/test_base", "model/test_states", "scheduler/fleet/transfer/test_blobs"} & set(found)
    assert all(any(name.startswith(begin) for name in chosen.threads_of_check()) for begin in chosen.OF_CHECK)


def test_valgrind_runs_all_that_computes(monkeypatch):
    there = chosen.sources()
    monkeypatch.setattr(stages, "programs", lambda build: [(name, f"{build}/unit/{name}") for name in there])
    made = {j.name for j in STAGES["valgrind"]() if not j.deep}
    assert sorted(set(chosen.computing()) - made) == []
    assert sorted(set(stages.NOT_BY_VALGRIND) - set(there)) == []


def test_what_is_left_to_the_deep_check_is_there():
    names = [f"{j.stage}/{j.name}" for make in STAGES.values() for j in make()]
    stale = [start for start in DEEP if not any(name.startswith(start) for name in names)]
    assert stale == []


def test_the_check_runs_every_stage_but_those_that_are_deep_as_a_whole():
    jobs_of = {stage: list(make()) for stage, make in STAGES.items()}  # none where the programs are not built
    assert {stage for stage, made in jobs_of.items() if made and all(j.deep for j in made)} == {"faults", "fuzz", "newest", "threads"}


def test_with_sanitizers_once():
    for stage in ("api", "e2e", "fault", "cli"):
        assert all(j.env["BUILD_DIR"] == "build-asan" for j in STAGES[stage]())
