# SPDX-License-Identifier: MIT
"""What the page makes of answers that the test gives instead of the daemon."""

import json

import pytest
from support.chromium import By, Keys
from support.waiting import wait_for

# answers: by a part of the address, a value, or the text of a function of the URL that returns one. What is read every few
# seconds is read twice a second here.
FAKE = """const real = window.fetch, every = window.setInterval;
window.answers = {}; window.asked = [];
window.setInterval = (work, ms, ...rest) => every(work, ms > 500 && ms <= 15000 ? 500 : ms, ...rest);
window.fetch = async (path, options) => {
  const url = new URL(path, location.href);
  window.asked.push(url.pathname + url.search);
  const key = Object.keys(window.answers).find((part) => (url.pathname + url.search).includes(part));
  if (key === undefined) return real(path, options);
  const answer = window.answers[key];
  const value = typeof answer === 'function' ? await answer(url, options) : answer;
  return value instanceof Response ? value : new Response(JSON.stringify(value));
};"""


class Faked:
    def __init__(self, page):
        self.page = page
        page.driver.execute_script(FAKE)

    def answer(self, part, value):
        self.page.driver.execute_script("window.answers[arguments[0]] = JSON.parse(arguments[1])", part, json.dumps(value))
        return self

    def compute(self, part, function):
        self.page.driver.execute_script(f"window.answers[arguments[0]] = {function}", part)
        return self


@pytest.fixture
def faked(page):
    return Faked(page)


def scroll_to(page, row):
    """Scrolls to the end of the list until the row is there: each time the list reads its next part."""
    scroll = "document.querySelector('.list .scroll').scrollTop = 1e9"
    wait_for(lambda: (page.driver.execute_script(scroll), any(row in shown for shown in page.rows()))[1], 20, page.rows)


def test_free_gpus_of_drained_machines_are_for_no_job(page, faked):
    counts = {"free": 6, "used": 2, "busy": 0, "idle": 0, "outside": 0, "unusable": 0}
    faked.answer("/batchaid/gpus", {"counts": counts, "value": [
        {"node": "a", "state": "free", "cluster": "rack", "drained": True, "gpus": "ffuf"}, {"node": "b", "state": "free", "gpus": "fffu"}]})
    page.open("#/queue").see("Cluster by cluster").open("#/overview").see("3 free", "3 drained", "2 used")
    page.click("As a table", "summary").see("in no cluster")
    rows = page.driver.execute_script("return [...document.querySelectorAll('details[open] tr')].map(r => [...r.cells].map(c => c.innerText))")
    drained = rows[0].index("drained")
    assert {row[0]: row[drained] for row in rows[1:]} == {"rack": "3", "in no cluster": "0"}


# The files of a job that runs: window.names.
LOGS = """(url) => ({value: window.names.map((name) => ({name, path: name, isDirectory: false, size: 9, modifiedTime: '2026-01-01T00:00:00Z'}))})"""
TEXTS = """(url, {method}) => {
  const text = `text of ${url.searchParams.get('path')}\\n`;
  return new Response(method === 'HEAD' ? null : text, {headers: {'Content-Length': text.length}});
}"""


def test_a_log_that_is_shown_stays_while_other_ranks_begin(page, faked):
    def write(*names):
        page.driver.execute_script("window.names = arguments[0]", names)

    write("stderr.txt", "stdout-10.txt", "stdout-2.txt", "stdout-job_prep.txt")
    faked.compute("/files/content", TEXTS).compute("directory=stdouterr", LOGS)
    page.open("#/job/lab/work/exp/long/logs").see("text of stdout-2.txt")
    write("stdout-1.txt", "stdout-10.txt", "stdout-2.txt", "stdout-job_prep.txt")
    wait_for(lambda: page.field("File").find_elements(By.XPATH, ".//option[.='stdout-1.txt']"), 20)
    assert "text of stdout-2.txt" in page.text()
    write("stdout-1.txt", "stdout-2.txt", "stdout.txt")
    page.see("text of stdout.txt")


# Types a second letter when the address has just got the first, and says what the field has a little later.
LETTERS = """const done = arguments[0];
const field = [...document.querySelectorAll('label')].find((label) => label.innerText.startsWith('Name begins with')).querySelector('input');
const type = (text) => { field.value = text; field.dispatchEvent(new InputEvent('input', {bubbles: true})); };
addEventListener('hashchange', () => { type('lo'); setTimeout(() => done(field.value), 200); }, {once: true});
type('l');"""


def test_a_filter_keeps_what_is_typed_while_the_address_changes(page):
    page.open("#/jobs").see("well", "long")
    assert page.driver.execute_async_script(LETTERS) == "lo"
    page.see_none("well").see("long")
    wait_for(lambda: page.driver.current_url.endswith("begins=lo"), 10)
    page.driver.back()
    wait_for(lambda: page.field("Name begins with").get_attribute("value") == "l", 10)


# A progress bar without line breaks, of 100 characters more for each reading; the longest text that is a key of a map.
BAR = """window.longest = 0; window.bar = 'x'.repeat(5000);
const set = Map.prototype.set;
Map.prototype.set = function (key, value) {
  if (typeof key === 'string' && key.includes('\\r')) window.longest = Math.max(window.longest, key.length);
  return set.call(this, key, value);
};
const timer = window.setTimeout;
window.setTimeout = (work, ms, ...rest) => timer(work, Math.min(ms, 200), ...rest);"""
BYTES = """(url, {method, headers}) => {
  if (method === 'HEAD') return new Response(null, {headers: {'Content-Length': window.bar.length}});
  const [, from, to] = /bytes=(\\d*)-(\\d*)/.exec(headers.Range);
  const begin = from ? Number(from) : Math.max(0, window.bar.length - to);
  window.bar += `\\r${window.bar.length} %`.padEnd(100, '.');
  const range = `bytes ${begin}-${window.bar.length - 1}/${window.bar.length}`;
  return new Response(window.bar.slice(begin), {status: 206, headers: {'Content-Range': range}});
}"""


def test_a_search_in_a_progress_bar_keeps_no_line_of_each_reading(page, faked):
    page.driver.execute_script(BAR)
    page.driver.execute_script("window.names = ['stdout.txt']")
    faked.compute("/files/content", BYTES).compute("directory=stdouterr", LOGS)
    page.open("#/job/lab/work/exp/long/logs").see(" %....").type("Find", "%").see("1 of 1 lines")
    wait_for(lambda: page.driver.execute_script("return window.bar.length") > 8000, 20)
    page.see("1 of 1 lines")
    assert page.driver.execute_script("return window.longest") <= 1000


def batch_jobs(*names, **more):
    return {"value": [{"account": "acc", "name": name, "state": "active"} for name in names], "count": len(names), **more}


def test_the_keyboard_goes_on_in_the_list_that_a_row_has_left(page, faked):
    faked.answer("/batchaid/batch/jobs", batch_jobs("n0", "n1", "n2"))
    page.open("#/batch").see("n2")
    page.driver.execute_script("document.querySelector('tr[data-index=\"1\"]').focus()")
    faked.answer("/batchaid/batch/jobs", batch_jobs("n0", "n2"))
    page.see_none("n1")
    wait_for(lambda: "n0" in page.focused().text and page.focused().tag_name == "tr", 10, lambda: page.focused().tag_name)
    page.driver.execute_script("document.activeElement.blur()")
    faked.answer("/batchaid/batch/jobs", batch_jobs("n2", "n3"))
    page.see("n3").see_none("n0")
    assert page.focused().tag_name == "body"


def test_a_screen_reader_is_told_of_rows_and_of_what_is_chosen(page, faked):
    def statuses():
        return page.driver.execute_script("return [...document.querySelectorAll('[role=status]')].map((node) => node.innerText)")

    faked.answer("/batchaid/batch/jobs", batch_jobs("n0", "n1"))
    page.open("#/batch").see("n1")
    assert page.driver.find_element(By.CSS_SELECTOR, ".list table").get_attribute("aria-rowcount") == "3"
    wait_for(lambda: "2 jobs" in statuses(), 10, statuses)
    page.driver.find_element(By.CSS_SELECTOR, "input[aria-label='Choose n1']").click()
    wait_for(lambda: "1 chosen:" in statuses(), 10, statuses)


# Two pages of jobs: n59, the last of the first, is also the first of the second.
PAGES = """(url) => {
  if (window.broken) return new Response(JSON.stringify({error: {code: 'Broken', message: 'It is broken.'}}), {status: 500});
  const [from, to] = url.searchParams.get('after') ? [59, 70] : [0, 60];
  const value = Array.from({length: to - from}, (_, n) => ({account: 'acc', name: `n${from + n}`, state: 'active'}));
  return {value, next: from ? undefined : 1};
}"""


def test_a_list_has_more_after_a_failure_and_no_row_twice(page, faked):
    faked.compute("/batchaid/batch/jobs", PAGES)
    page.open("#/batch").see("60 jobs, and more below")
    page.driver.execute_script("window.broken = true")
    page.see("It is broken.", "60 jobs, and more below")
    page.driver.execute_script("window.broken = false")
    page.click("Try again").see_none("It is broken.")
    scroll_to(page, "n69")
    assert "70 jobs" in page.text() and sum("n59" in row for row in page.rows()) == 1


def test_pools_are_read_page_by_page(page, faked):
    faked.compute("/batchaid/batch/pools", """(url) => {
      const from = Number(url.searchParams.get('after') ?? 0), to = from + Number(url.searchParams.get('max'));
      const value = Array.from({length: to - from}, (_, n) => ({account: 'acc', group: 'g', name: `p${from + n}`, state: 'active'}));
      return {value, next: to < 700 ? String(to) : undefined, count: from || url.searchParams.get('count') !== 'true' ? undefined : 700};
    }""")
    page.open("#/batch/pools").see("p0", "100 of 700 pools", "No command does the same: each lists the pools of one account; choose an account.")
    scroll = "document.querySelector('.list .scroll').scrollTop = 1e9"
    wait_for(lambda: (page.driver.execute_script(scroll), any("p699" in row for row in page.rows()))[1], 20, page.rows)
    page.see("700 pools", "az batch account login --resource-group g --name acc && az batch pool list")


def test_an_answer_that_is_too_late_changes_nothing(page, faked):
    faked.compute("/batchaid/queue", """async (url) => {
        const row = (name) => ({value: [{name, resourceGroup: 'g', workspace: 'w', experiment: 'e', state: 'queued'}]});
        if (url.searchParams.get('cluster')) return row('wanted');
        await new Promise((resolve) => { window.release = resolve; });
        setTimeout(() => { window.over = true; }, 100);
        return row('late');
    }""")
    page.open("#/queue").see("Reading…").open("#/queue?cluster=b").see("wanted")
    page.driver.execute_script("window.release()")
    wait_for(lambda: page.driver.execute_script("return window.over"), 10)
    assert "wanted" in page.text() and "late" not in page.text()


# The queue: 1,005 runs in pages as they are asked for.
QUEUE = """(url) => {
  const from = Number(url.searchParams.get('after') ?? 0), to = Math.min(1005, from + Number(url.searchParams.get('rows')));
  const value = Array.from({length: to - from}, (_, n) => ({name: `q${from + n}`, resourceGroup: 'g', workspace: 'w', experiment: 'e', state: 'queued', cluster: 'rack', place: from + n + 1}));
  return {value, leftOut: [], next: to < 1005 ? String(to) : undefined};
}"""


def test_the_end_of_a_long_queue_is_reached(page, faked):
    faked.compute("/batchaid/queue", QUEUE)
    page.open("#/queue").see("q0", "100 runs, and more below")
    scroll_to(page, "q1004")
    page.see("1,005 runs")


# One file of a job that runs: window.file has its text, and its size.
FILES = """() => ({value: [{name: window.file.name, path: window.file.name, isDirectory: false, size: window.file.size ?? window.file.text.length,
                         modifiedTime: '2026-01-01T00:00:00Z'}]})"""


def show_file(page, faked, name):
    faked.compute("/files/content", "() => new Response(window.file.text)").compute("directory=ALL", FILES)
    page.open(f"#/job/lab/work/exp/long/files?directory=ALL&path={name}&file=1")


def write_file(page, name, text, **more):
    page.driver.execute_script("window.file = arguments[0]", {"name": name, "text": text, **more})


def test_a_row_that_is_cut_is_no_row(page, faked):
    write_file(page, "t.csv", "head\nfirst\nsecond,34567", size=300000)
    show_file(page, faked, "t.csv")
    page.see("first", "These are the first 1 rows").see_none("second")
    write_file(page, "t.csv", "long,cell", size=300000)
    page.open("#/jobs").see("well").driver.back()
    page.see("The first row is longer than 256 KiB")


@pytest.mark.parametrize("name, words", [("t.csv", ("epoch,loss\n1,0.9", "epoch,loss\n1,0.9\n2,0.7")), ("t.json", ('{"loss": 0.9}', '{"loss": 0.7}, '))])
def test_a_file_that_is_written_to_is_read_again(page, faked, name, words):
    write_file(page, name, "")
    show_file(page, faked, name)
    page.see("The file is empty.")
    for text, seen in zip(words, ("0.9", "0.7")):
        write_file(page, name, text)
        page.see(seen)


def test_the_square_that_is_pointed_at_says_what_it_is_now(page, shown, faked):
    def gpus(letters):
        faked.answer("/batchaid/gpus", {"counts": {"free": 0}, "value": [{"node": "a", "state": "free", "cluster": "rack", "gpus": letters}]})

    gpus("f")
    page.open("#/queue").see("Cluster by cluster").open("#/overview").see("Point at a square")
    page.driver.execute_script("""const canvas = document.querySelector('.gpus canvas'), box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: box.left + 4, clientY: box.top + 22}))""")
    page.see("a, GPU 0: free")
    gpus("x")
    shown.job("true").succeeded()
    page.see("a, GPU 0: unusable")


def test_a_reading_ends_when_the_reader_goes_on(page, faked):
    faked.compute("/batchaid/queue", "(url, {signal}) => new Promise(() => signal.addEventListener('abort', () => { window.ended = true; }))")
    page.open("#/queue").see("Reading…").open("#/jobs").see("well")
    assert page.driver.execute_script("return window.ended")


# Accounts of storage: a00, a01, ... up to 450; the first has more containers than are shown.
ACCOUNTS = """(url) => {
  const from = Number(url.searchParams.get('after') ?? 0), to = Math.min(450, from + Number(url.searchParams.get('max')));
  const more = {more: {files: 0, blobs: 1234}, cut: true};
  const value = Array.from({length: to - from}, (_, n) => ({name: `a${from + n}`, group: 'g', location: 'eastus', files: [], blobs: ['box'], ...(from + n ? {} : more)}));
  return {value, next: to < 450 ? String(to) : undefined, count: from ? undefined : 450};
}"""
NAMES = """(url) => {
  const from = Number(url.searchParams.get('after') ?? 0), to = Math.min(1235, from + Number(url.searchParams.get('max')));
  return {value: Array.from({length: to - from}, (_, n) => ({name: `c${from + n}`, isDirectory: true})), next: to < 1235 ? String(to) : undefined};
}"""


def test_all_accounts_and_all_their_containers_are_reached(page, faked):
    faked.compute("/batchaid/storage/accounts", ACCOUNTS).compute("/batchaid/storage/items", NAMES)
    page.open("#/storage").see("a199", "These are 200 of 450 accounts.").see_none("a200")
    page.click("Show more").see("a399", "These are 400 of 450 accounts.").click("Show more").see("a449").see_none("Show more")
    page.click("1,234 more").see("Containers of a0", "200 containers, and more below", "az storage container list --account-name a0")
    scroll_to(page, "c1234")
    page.see("1,235 containers")


# A folder of a task with the files f0000 to f9999; what was asked for.
MANY_FILES = """(url) => {
  const all = Array.from({length: 10000}, (_, n) => `f${String(n).padStart(4, '0')}`);
  const path = url.searchParams.get('path'), after = url.searchParams.get('after') ?? '';
  (window.afters ??= []).push(after);
  const value = all.filter((name) => name > after).slice(0, 10).map((name) => ({name, path: `${path}/${name}`, isDirectory: false, size: 4}));
  return {value, next: value.at(-1).name === 'f9999' ? undefined : value.at(-1).name};
}"""


def test_a_file_of_a_task_is_found_in_its_folder_without_the_others(page, faked):
    task = {"resourceGroup": "g", "workspace": "acct", "experiment": "j", "name": "t", "state": "succeeded", "priority": 0, "nodeCount": 1, "createdTime": "2026-01-01T00:00:00Z"}
    faked.answer("/batchaid/jobs/g/acct/j/t", {"kind": "task", "job": task, "text": "", "events": [], "lines": []})
    faked.compute("/files/content", TEXTS).compute("/batchaid/batch/acct/jobs/j/tasks/t/files", MANY_FILES)
    page.open("#/job/g/acct/j/t/files?path=wd&directory=stdouterr").see("f0000")
    page.open("#/job/g/acct/j/t/files?path=wd%2Ff7654&file=1&directory=stdouterr").see("text of wd/f7654")
    asked = page.driver.execute_script("return window.afters")
    assert "f765" in asked and not [one for one in asked if "f1" < one < "f765"]


# 1,005 principals in pages as they are asked for.
PEOPLE = """(url) => {
  const from = Number(url.searchParams.get('after') ?? 0), to = Math.min(1005, from + Number(url.searchParams.get('max')));
  const value = Array.from({length: to - from}, (_, n) => ({name: `p${from + n}@lab`, objectId: `id${from + n}`, kind: 'user', roles: []}));
  return {value, count: from ? undefined : 1005, next: to < 1005 ? String(to) : undefined};
}"""


def test_an_account_whose_names_were_not_all_looked_at_offers_the_others(page, faked):
    account = {"group": "lab", "location": "eastus", "files": [], "blobs": [f"b{n}" for n in range(100)], "more": {"files": 0, "blobs": 0, "isMinimum": True}}
    faked.answer("/batchaid/storage/accounts", {"value": [{**account, "name": "acct"}], "count": 1}).answer("/batchaid/storage/items", {"value": []})
    page.open("#/storage").see("None that you may read.", "These are the first 100.").click("There may be more").see("Containers of acct")


def test_the_last_of_many_people_is_reached(page, faked):
    faked.compute("/batchaid/users", PEOPLE)
    page.open("#/people").see("p0@lab", "100 of 1,005 principals")
    scroll_to(page, "p1004@lab")
    page.see("1,005 principals")


def commands(page):
    page.see("The same as a command:")
    return [one.text for one in page.driver.find_elements(By.CSS_SELECTOR, ".command code")]


def test_commands_name_the_subscription_that_is_shown(page, faked):
    account = {"location": "eastus", "group": "g", "files": ["share"], "blobs": []}
    faked.answer("/batchaid/storage/accounts", {"value": [{**account, "name": "here"}, {**account, "name": "there", "subscription": "other"}], "count": 2})
    faked.answer("/batchaid/storage/items", {"value": [{"name": "f.txt", "path": "f.txt", "isDirectory": False, "size": 3}]})
    faked.compute("/batchaid/storage/content", "() => new Response('abc', {headers: {'Content-Length': 3}})")
    page.open("#/storage").see("there")
    assert commands(page) == ["az storage account list", "az storage account list --subscription other"]
    page.driver.execute_script("arguments[0].click()", page.driver.find_elements(By.LINK_TEXT, "share")[1])
    page.see("f.txt")
    assert commands(page) == ["az storage file list --share-name share --account-name there --subscription other"]
    page.click("f.txt").see("az storage file download --share-name share --path f.txt --account-name there --subscription other")


def test_jobs_of_several_accounts_have_no_command(page, faked):
    rows = [{"account": name, "group": f"group-{name}", "name": "j", "state": "active"} for name in ("one", "two")]
    faked.answer("/batchaid/batch/tasks", {"value": []}).compute("/batchaid/batch/jobs", f"(url) => ({{value: {json.dumps(rows)}.filter((j) => (url.searchParams.get('account') ?? j.account) === j.account)}})")
    page.open("#/batch").see("No command does the same: each lists the jobs of one account")
    page.choose("Account", "two").see("az batch account login --resource-group group-two --name two && az batch job list")
    page.click("j").see("az batch account login --resource-group group-two --name two && az batch task list --job-id j")


def test_an_account_without_pools_is_not_said_to_be_all_accounts(page, faked):
    rows = [{"account": name, "group": f"group-{name}", "name": "p", "state": "active"} for name in ("one", "two")]
    faked.compute("/batchaid/batch/pools", f"(url) => ({{value: {json.dumps(rows)}.filter((p) => (url.searchParams.get('account') ?? p.account).toLowerCase() === p.account)}})")
    page.open("#/batch/pools?account=three").see("No command does the same: you see no pools of the account three.")
    page.open("#/batch/pools?account=TWO").see("az batch account login --resource-group group-two --name two && az batch pool list")


def test_nothing_is_said_of_accounts_before_they_are_read(page, faked):
    faked.compute("/batchaid/batch/pools", "() => new Response('{\"error\": {\"code\": \"Busy\", \"message\": \"Try again.\"}}', {status: 409})")
    page.open("#/batch/pools").see("Try again.").see_none("No command does the same")
    faked.answer("/batchaid/batch/pools", {"value": []})
    page.open("#/batch").open("#/batch/pools").see("No command does the same: there is no account of which you see pools.")
