# SPDX-License-Identifier: MIT
"""The command that a view shows does what the view shows: it is run, by the real az too."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from support.chromium import By
from support.waiting import wait_for
from support.world import fresh

needs_az = pytest.mark.skipif(not shutil.which("az"), reason="az is not installed")


@pytest.fixture
def run(page, served, tmp_path):
    """run() -> what the view's command prints."""
    home = {"HOME": str(tmp_path), "AZURE_CORE_COLLECT_TELEMETRY": "no", "AZURE_CORE_NO_COLOR": "1"}

    def run():
        page.see("The same as a command:")
        shown = wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".command code"), 20)[-1].text
        for command in shown.split(" && "):
            program, *words = shlex.split(command)
            assert program in ("batchaid", "az")
            printed = served.tool(*(["az"] if program == "az" else []), *words, env=home).stdout
        return printed

    return run


@pytest.fixture(scope="module")
def written(shown):
    job = shown.job("echo trained; echo lines of stderr >&2; cd $AZ_BATCHAI_OUTPUT_MODEL && mkdir -p 'a dir' && echo 0.5 > 'a dir/loss.txt' && echo 1 > top.txt",
                    outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out/commands"}])
    job.succeed()
    return f"#/job/lab/work/exp/{job.name}"


def test_jobs_in_the_order_of_the_view(page, run):
    page.open("#/jobs?sort=createdTime").see("well", "▲")
    names = [row.split("\t")[1].strip() for row in page.rows()]
    listed = [line.split()[0].rsplit("/", 1)[-1] for line in run().splitlines()[1:]]
    assert [name for name in listed if name in names] == names and names.index("well") < names.index("long")


def test_the_use_that_the_view_adds_up(page, run):
    rows = "return [...document.querySelectorAll('.sheet tbody tr, .sheet tfoot tr')].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.innerText))"
    for by in ("cluster", "experiment"):
        page.open(f"#/use?by={by}").see("Runs", "all")
        page.see({"cluster": "rack", "experiment": "exp"}[by])
        shown = sorted(page.driver.execute_script(rows))
        printed = [line.split()[:2] for line in run().replace("total ", "all ").splitlines()[1:]]
        assert shown == sorted(printed) and int(dict(shown)["all"]) > 0


def test_the_use_of_a_task(page, run, batch):
    task = batch.job.ran("/bin/true", id=fresh("task"))[0]
    page.open(f"#/tasks/{batch.name}/job1").click(task).click("use").see("Each part of a node that it had")
    assert run().startswith(f"{task} in {batch.accounts.group}/{batch.name}/job1, succeeded")


@needs_az
def test_files_of_a_job(page, run, written):
    page.open(f"{written}/files?directory=MODEL").see("top.txt")
    assert {one["name"] for one in json.loads(run())} == {"a dir", "top.txt"}
    page.click("a dir/").see("loss.txt")
    assert [one["name"] for one in json.loads(run())] == ["loss.txt"]
    page.click("loss.txt").see("0.5")
    assert "0.5" in run()


@needs_az
def test_the_log_that_was_chosen(page, run, written):
    page.open(f"{written}/logs").see("trained")
    assert "trained" in run()
    page.choose("File", "stderr.txt").see("lines of stderr")
    printed = run()
    assert "lines of stderr" in printed and "trained" not in printed


@needs_az
def test_files_of_a_task(page, run, batch, tmp_path):
    task = batch.job.ran("/bin/sh -c 'mkdir deep; echo cell > deep/t.csv; echo trained'", id=fresh("task"))[0]
    page.open(f"#/tasks/{batch.name}/job1").click(task).click("files").see("wd/")
    assert {"stdout.txt", "stderr.txt", "wd"} <= {one["name"] for one in json.loads(run())}
    page.click("wd/").see("deep/")
    assert {one["name"] for one in json.loads(run())} == {"wd/deep", "wd/deep/t.csv"}


@needs_az
def test_pools_jobs_and_tasks_of_an_account(page, run, batch):
    task = batch.job.add("/bin/true", id=fresh("task"))
    page.open("#/batch/pools").see("pool1")
    assert [one["id"] for one in json.loads(run())] == ["pool1"]
    page.open("#/batch").see("job1")
    assert "job1" in [one["id"] for one in json.loads(run())]
    page.open(f"#/tasks/{batch.name}/job1?state=completed").see(task, "completed")
    assert task in [one["id"] for one in json.loads(run())]


@needs_az
def test_blobs_of_a_folder_alone(page, run, shown):
    folder = Path(shown.daemon.tool("share-path", "acct", "commands", "--container").stdout.strip())
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/deep.txt").write_text("1")
    (folder / "a/top.txt").write_text("2")
    page.open("#/storage/acct/blobs/commands?path=a/").see("top.txt", "b/")
    assert [one["name"] for one in json.loads(run())] == ["a/b/", "a/top.txt"]
