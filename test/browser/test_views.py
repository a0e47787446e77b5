# SPDX-License-Identifier: MIT
"""What each view shows, and what can be done there, by role."""

import shlex
from pathlib import Path

import pytest
from support.chromium import By
from support.waiting import wait_for
from support.world import In, Place, fresh, wait_flag

VIEWS = ("overview", "queue", "jobs", "machines", "use", "storage", "people")


def test_each_view_has_an_address_and_a_command(page):
    for view in VIEWS:
        page.open(f"#/{view}").see("The same as a command:")
        assert page.driver.title.endswith("– batchaid") and page.find("a", "Overview")
        assert page.driver.current_url.endswith(f"#/{view}")


@pytest.mark.parametrize("address", [
    "overview", "queue", "queue?cluster=rack&mine=true", "jobs", "jobs?state=failed&cluster=rack&begins=ba&mine=true&experiment=exp",
    "machines", "machines?state=running&begins=t&sort=-name", "use", "use?by=cluster&from=2026-11-01&to=2026-11-02", "people",
    "job/lab/work/exp/well", "job/lab/work/exp/well/logs", "job/lab/work/exp/well/use", "machine/spare.rack"])
def test_the_command_for_the_same_is_understood(page, served, address):
    page.open(f"#/{address}").see("The same as a command:")
    command = wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".command code"), 20)[-1].text
    program, *words = shlex.split(command)
    assert program == "batchaid" and "batchaid:" not in served.tool(*words).stderr


def test_the_command_has_odd_words_as_they_are(page):
    page.open("#/jobs?begins=%3Dx&user=-x").see("batchaid jobs --user=-x --begins '=x'")


# Changes the address as soon as there is something to click on.
HASTE = """new MutationObserver((_, observer) => {
  if (!document.querySelector("header nav")) return;
  observer.disconnect();
  location.hash = "#/jobs";
}).observe(document, {childList: true, subtree: true});"""


def test_a_link_that_is_followed_before_the_first_picture(page):
    script = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HASTE})
    try:
        page.open(page.origin + "/").see("batchaid jobs")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_an_unknown_view_is_refused_by_name(page):
    page.open("#/nothing").see("The page has no view 'nothing'.")
    page.open("#/__proto__").see("The page has no view '__proto__'.")


@pytest.mark.parametrize("address", ["machine/..", "job/lab/work/exp/.."])
def test_a_name_that_no_address_can_have_is_refused_and_the_page_goes_on(page, address):
    page.open(f"#/{address}").see("A name cannot be '.' or '..'.")
    page.open("#/machines").see("spare.rack")


def test_the_overview_counts_each_gpu(page):
    page.open("#/overview").see("4 used", "4 free", "0 unusable")
    canvas = page.driver.find_element(By.CSS_SELECTOR, ".gpus canvas")
    assert canvas.size["height"] > 20 and canvas.get_attribute("aria-label").startswith("GPUs of 2 machines;")
    page.click("As a table", "summary").see("rack")
    page.driver.execute_script("arguments[0].click()", page.find("a", "long"))
    page.see("allocated")


def test_a_board_that_has_not_changed_is_not_sent_again(page):
    sizes = "return performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/batchaid/gpus')).map((one) => one.transferSize)"
    page.open("#/overview").see("4 free")
    first = len(page.driver.execute_script(sizes))
    page.open("#/queue").see("Cluster by cluster").open("#/overview").see("4 free")
    sent = wait_for(lambda: page.driver.execute_script(sizes)[first:], 10)
    assert sent[-1] == 300, "what the standard says of a reply that was 304"


def test_a_square_opens_its_machine(page):
    page.open("#/overview").see("4 free")
    canvas = page.driver.find_element(By.CSS_SELECTOR, ".gpus canvas")
    page.driver.execute_script("""const box = arguments[0].getBoundingClientRect();
        arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + 4, clientY: box.top + 22}))""", canvas)
    page.see("What it did", "Free disk")


def test_jobs_are_filtered_by_the_address_and_by_hand(page):
    page.open("#/jobs").see("well", "badly", "long")
    page.choose("State", "failed").see_none("well").see("badly")
    assert page.driver.current_url.endswith("#/jobs?state=failed")
    page.driver.back()
    page.see("well", "badly", "long")
    page.type("Name begins with", "lo").see_none("badly").see("long")


def test_the_story_of_a_job(page):
    page.open("#/job/lab/work/exp/badly").see("failed", "exit code 7", "Exit code", "batchaid explain lab/work/exp/badly")


def test_the_logs_of_a_job_come_before_those_of_its_preparation(page, shown):
    job = shown.job("echo trained", jobPreparation={"commandLine": "echo prepared"})
    job.succeed()
    page.open(f"#/job/lab/work/exp/{job.name}/logs").see("trained").choose("File", "stdout-job_prep.txt").see("prepared")


def test_the_logs_of_a_job_follow_it(page, shown):
    job = shown.job("for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.5; done; echo the last").running()
    page.open(f"#/job/lab/work/exp/{job.name}/logs").see("line 1").see("the last", limit=40)
    job.succeed()


def test_files_are_browsed_shown_and_downloaded(page, shown):
    job = shown.job("""cd $AZ_BATCHAI_OUTPUT_MODEL && mkdir -p deep && printf 'a,b\\n1,"x, y"\\n3" disk,z\\n' > t.csv &&
                       echo '{"k":[1,9007199254740993],"k":[]}' > deep/t.json; echo > $AZ_BATCHAI_OUTPUT_REST/of.rest""",
                    outputDirectories=[{"id": name, "pathPrefix": f"$AZ_BATCHAI_MOUNT_ROOT/out/{name}"} for name in ("MODEL", "REST")])
    job.succeed()
    page.open(f"#/job/lab/work/exp/{job.name}/files?directory=MODEL").click("t.csv").see("x, y", '3" disk')
    page.open(f"#/job/lab/work/exp/{job.name}/files?directory=MODEL").click("deep/").click("t.json").see('"k": [', "9007199254740993", '"k": []')
    page.choose("Output directory", "REST").see("of.rest")
    page.driver.back()
    page.see("9007199254740993").click("MODEL").see("t.csv", "deep/")


def test_a_log_that_is_replaced_is_shown_as_it_is(page, shown):
    host, flag = shown.place.flag(fresh("go"))
    job = shown.job(f"f=$AZ_BATCHAI_OUTPUT_MODEL/f.txt; seq -f 'first %g' 50 > $f; while ! [ -e {flag} ]; do sleep 0.1; done; echo second > $f; sleep 1000",
                    outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}]).running()
    page.expected.append("416")  # the answer to a range behind the new end
    page.open(f"#/job/lab/work/exp/{job.name}/files?directory=MODEL").click("f.txt").see("first 50")
    host.touch()
    page.see("second").see_none("first")
    job.terminate()


def test_a_job_of_another_subscription(page, served):
    guid = served.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    place = Place(In(served, guid), "other", "ws").make()
    job = place.job(place.cluster(name="there"), "echo begun; sleep 1000", name="elsewhere").running()
    page.open("#/jobs").click("elsewhere").see("running", "▶").click("logs").see("begun").click("use").see("Each part of a node that it had")
    page.click("story").click("Cancel").click("Cancel 1 job").see("1 job will end.")
    job.wait("failed")
    place.remove()
    served.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=204)


def test_colours_of_a_log_continue_in_the_next_line(page, shown):
    job = shown.job(r"printf '\033[32mgreen\033[>4;1m\033[?4m\nstill\n10%%\r\033[31mred\n\033(B\033[0;48:2::1:31:0;58;5;31mplain\n'")
    job.succeed()
    page.open(f"#/job/lab/work/exp/{job.name}/logs").see("plain")
    colours = page.driver.execute_script("return [...document.querySelectorAll('.line')].map(l => l.innerText.trim() + ' ' + (l.querySelector('span')?.className ?? ''))")
    assert [one.strip() for one in colours] == ["green c-green", "still c-green", "red c-red", "plain"]


def test_a_log_is_searched(page, shown):
    job = shown.job(r"for i in $(seq 300); do echo line $i; done; printf '\033[31mr\033[1med\033[m\n'; echo '\u0130\u0130 a.b (NEEDLE)'; echo needle")
    job.succeed()
    page.open(f"#/job/lab/work/exp/{job.name}/logs").see("needle").type("Find", "needle").see("1 of 2 lines")
    def marks():
        return page.driver.execute_script("return [...document.querySelectorAll('mark')].map(m => m.innerText)")

    assert marks() == ["NEEDLE", "needle"]
    page.press("ENTER").see("2 of 2 lines")
    # What is seen is searched: a word in two colours, and not the colours.
    page.type("Find", "red").see("1 of 1 lines")
    assert marks() == ["r", "ed"]
    page.type("Find", "31m").see("in no line that is loaded")
    page.type("Find", "a.b (").see("1 of 1 lines").type("Find", "a1b").see("in no line that is loaded")


def test_a_wide_table_says_what_is_left_out(page, shown):
    job = shown.job("seq -s, 60 > $AZ_BATCHAI_OUTPUT_MODEL/wide.csv", outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}])
    job.succeed()
    page.open(f"#/job/lab/work/exp/{job.name}/files?directory=MODEL").click("wide.csv").see("These are the first 50 of 60 columns")


# One red pixel, and two.
PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
       "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4z8AARAAI/gH/xp559wAAAABJRU5ErkJggg==")


def test_a_picture_is_shown_and_followed(page, shown):
    def width():
        return page.driver.execute_script("return document.querySelector('img.picture')?.naturalWidth")

    host, flag = shown.place.flag(fresh("go"))
    job = shown.job(f"f=$AZ_BATCHAI_OUTPUT_MODEL/red.png; echo {PNG[0]} | base64 -d > $f; {wait_flag(flag)}; echo {PNG[1]} | base64 -d > $f; sleep 1000",
                    outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}]).running()
    page.open(f"#/job/lab/work/exp/{job.name}/files?directory=MODEL").click("red.png")
    wait_for(lambda: width() == 1, 20)
    host.touch()
    wait_for(lambda: width() == 2, 20)
    job.terminate()


def test_the_use_of_a_job_and_of_all(page):
    page.open("#/job/lab/work/exp/well/use").see("Each part of a node that it had", "Waited")
    page.open("#/use").see("Node hours", "batchaid")
    page.choose("By", "cluster").see("rack")


def test_a_machine_shows_what_it_is(page):
    page.open("#/machines").see("rack", "running")
    page.click(next(row for row in page.rows() if "running" in row).split("\t")[1].strip()).see("What it did", "Containers", "Last contact")


def test_shares_are_browsed(page, shown):
    (shown.place.share() / "notes").mkdir(exist_ok=True)
    (shown.place.share() / "notes/read.me").write_text("the text of a file\n")
    page.open("#/storage").see("acct").click("out").click("notes/").see("az storage file list --share-name out --path notes --account-name acct")
    page.click("read.me").see("the text of a file", "az storage file download --share-name out --path notes/read.me --account-name acct")
    page.click("notes").see("read.me").click("out").see("notes/")


def test_containers_are_browsed(page, shown):
    folder = Path(shown.daemon.tool("share-path", "acct", "models", "--container").stdout.strip())
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/weights.txt").write_text("0.5\n")
    page.open("#/storage").see("acct").click("models").click("a/").click("b/").see("az storage blob list --container-name models --prefix a/b/ --delimiter / --account-name acct")
    page.click("weights.txt").see("0.5", "az storage blob download --container-name models --name a/b/weights.txt --file ./weights.txt")
    page.click("a").see("b/").click("acct").see("Containers of acct", "az storage container list --account-name acct").click("models").see("a/")


def test_pools_and_tasks_of_azure_batch(page, batch):
    page.open("#/batch").click("pools").see("pool1", "steady", "1 pool", f"--name {batch.name} && az batch pool list")
    page.click("jobs").see(f"--name {batch.name} && az batch job list").click("job1").see("task1", "completed")
    page.choose("State", "active").see("No task fits these filters.", f"--name {batch.name} && az batch task list --job-id job1 --filter")


def test_a_task_that_failed_has_its_story_and_its_use(page, batch):
    task = batch.job.ran("/bin/sh -c 'exit 3'", id=fresh("task"))[0]
    page.open("#/batch").click("job1").click(task).see("failed", "A task of Azure Batch, of the job job1", "Exit code\n3", "exit code 3")
    page.click("use").see("Each part of a node that it had")


def test_logs_and_files_of_a_task_of_azure_batch(page, batch):
    command = "/bin/sh -c 'mkdir -p deep; echo a,b > deep/t.csv; echo 1,cell >> deep/t.csv; echo trained; echo lines of stderr >&2'"
    task = batch.job.ran(command, id=fresh("task"))[0]
    of = f"--job-id job1 --task-id {task}"
    page.open("#/batch").click("job1").click(task).click("logs").see("trained", f"az batch task file download {of} --file-path stdout.txt")
    page.choose("File", "stderr.txt").see("lines of stderr", "--file-path stderr.txt")
    page.click("files").see("stdout.txt", f"az batch task file list {of}").click("wd/").click("deep/").see("t.csv", "startswith(name, '\\''wd/deep/'\\'')")
    page.click("t.csv").see("cell", f"{of} --file-path wd/deep/t.csv --destination t.csv").click("wd").see("deep/")
    page.driver.refresh()
    page.see("deep/")


def test_the_log_of_a_task_of_azure_batch_is_followed(page, batch, tmp_path):
    tmp_path.chmod(0o755)
    task = batch.job.begin(f"/bin/sh -c 'echo begun; {wait_flag(tmp_path / 'go')}; echo the last'", id=fresh("task"))
    page.open("#/batch").click("job1").click(task).click("logs").see("begun")
    assert "the last" not in page.text()
    (tmp_path / "go").touch()
    page.see("the last")


def test_tasks_and_jobs_of_azure_batch_are_changed_after_a_question(page, batch):
    from support.batch_jobs import Job

    job = Job(batch.plane, "pool1", id="job2")
    failed, stays = job.ran("/bin/sh -c 'exit 3'")[0], job.begin("sleep 1000")
    page.open("#/batch").click("job2").see(stays, "failed").choose_rows(stays, failed)
    page.click("Terminate (1)").see("Terminate 1 task?", "Their processes end now").click("Terminate 1 task").see("Terminate: 1 task.")
    job.wait(stays)
    page.choose_rows(failed).click("Run again").click("Run again 1 task").see("Run again: 1 task.")
    page.open("#/batch").see("job2").choose_rows("job2").click("Disable").choose("Running tasks", "wait").click("Disable 1 job")
    job.wait_state("disabled")
    page.see("disabled").choose_rows("job2").click("Delete").click("Delete 1 job").see_none("job2")


def test_a_task_of_azure_batch_in_the_queue_is_no_job_of_batch_ai(page, served, batch):
    task = batch.job.begin("sleep 1000", id=fresh("task"))
    page.open("#/queue").see(task).choose_rows(task).see("1 chosen")
    assert not page.find("button", "Cancel (0)").is_enabled() and not page.find("button", "Delete (0)").is_enabled()
    page.click(task).see("A task of Azure Batch, of the job job1", "began on tvm-")
    assert [tab.text for tab in page.driver.find_elements(By.CSS_SELECTOR, ".tabs a")] == ["story", "logs", "files", "use"]
    assert not page.find("button", "Cancel") and not page.find("button", "Delete")
    page.click("use").see("Each part of a node that it had").click("job1").see("Tasks of the job in the account", task)
    batch.job.plane.call("POST", f"{batch.job.url}/tasks/{task}/terminate", expect=204)


def test_jobs_are_cancelled_after_a_question(page, shown):
    jobs = [shown.job("sleep 1000").running() for _ in range(1)] + [shown.job("sleep 1000")]
    page.open("#/jobs").see(*(job.name for job in jobs)).choose_rows(*(job.name for job in jobs))
    page.click("Cancel").see("Cancel 2 jobs?", "Their processes end now").click("No, go back")
    assert all(job.state in ("queued", "running") for job in jobs)
    page.click("Cancel").click("Cancel 2 jobs").see("2 jobs will end.")
    for job in jobs:
        job.wait("failed", "succeeded")


def test_a_job_is_deleted(page, shown):
    job = shown.job("true").succeeded()
    page.open(f"#/job/lab/work/exp/{job.name}").click("Delete").click("Delete 1 job").see("1 job will be deleted.")
    wait_for(job.gone, 20)


def test_a_machine_is_drained_with_a_reason_and_undrained(page):
    page.open("#/machines").see("rack").choose_rows("spare.rack")
    page.click("Drain").type("Reason", "a new disk").click("Drain 1 machine").see("Drain: 1 machine.", "unknown drained")
    page.open("#/machine/spare.rack").see("Drained: a new disk")
    page.click("Undrain").click("Undrain 1 machine").see_none("Drained:")


def test_people_are_added_given_passwords_and_removed(page, served):
    name = fresh("bob")
    page.open("#/people").click("Add a user").type("Name", name).choose("Role", "Reader").click("Add")
    page.see(f"The password of {name}", "It is shown once.").click("I have noted it")
    page.see(f"{name}@", "Reader at /subscriptions/")
    whole = next(row for row in page.rows() if name in row).split("\t")[1].strip()
    page.choose_rows(whole).click("New password").click("Give a new password").see("The password of")
    page.choose_rows(whole).click("Remove").click("Remove 1 user").see_none(f"{whole}\t")
    assert all(user["name"] != whole for user in served.get("/batchaid/users")["value"])


@pytest.mark.parametrize("role, sees, sees_not", [
    ("Reader", ("Machines", "People"), ("Add a user",)),
    ("Batch AI Job Submitter", ("Machines", "Jobs"), ("Add a user",)),
    ("Contributor", ("Machines", "People"), ("Add a user",)),
    ("Owner", ("Machines", "Add a user"), ()),
])
def test_a_role_is_shown_what_it_may(browser, shown, person, role, sees, sees_not):
    ada = person(role)
    browser.log_in(ada.name, ada.password)
    browser.open("#/people").see(*sees)
    for text in sees_not:
        assert text not in browser.text()
    browser.open("#/machines").see("rack")
    changes = role in ("Contributor", "Owner")
    assert bool(browser.driver.find_elements(By.CSS_SELECTOR, "td.pick")) == changes
    browser.open("#/job/lab/work/exp/well").see("exit code 0")
    assert bool(browser.find("button", "Delete")) == (role != "Reader")


def test_jobs_are_sorted_by_their_age(page):
    page.open("#/jobs").see("well").click("Submitted").see("▲")
    wait_for(lambda: "well" in page.rows()[0], 20, page.rows)
    assert page.driver.current_url.endswith("?sort=createdTime")
    page.click("Submitted ▲").see("▼")
    wait_for(lambda: "well" in page.rows()[-1], 20, page.rows)


def test_a_role_at_one_group_sees_that_group_alone(browser, shown, person):
    bob = person("Reader", scope=f"/subscriptions/{shown.daemon.subscription}/resourceGroups/elsewhere")
    browser.log_in(bob.name, bob.password).open("#/jobs").see("No job fits these filters.")
    assert not browser.find("a", "Machines")


def test_what_the_role_does_not_allow_is_refused_in_words(browser, shown, person):
    ada, job = person("Batch AI Job Submitter"), shown.job("sleep 1000").running()
    browser.expected.append("403")
    browser.log_in(ada.name, ada.password).open(f"#/job/lab/work/exp/{job.name}").click("Cancel").click("Cancel 1 job")
    browser.see("1 of 1 failed.", "does not have authorization to perform action").click("Close")
    browser.click("Delete").click("Delete 1 job").see("does not have authorization to perform action")
    assert job.state == "running" and job.name in browser.driver.current_url
    job.terminate()
