# SPDX-License-Identifier: MIT
"""Each view and each action of the page, by role: what is shown, which buttons there are, and what the daemon carries out or
refuses when a request is made by hand in the page, with its cookie. Who sees or may more than the table says makes it fail,
as does who sees or may less."""

from pathlib import Path

import pytest
from support.chromium import By
from support.people import Person
from support.world import Place, fresh

# sees: VIEWS; buttons, may: ACTIONS. "Reader at side" has the role at the resource group `side` alone, in which nothing but a
# job waits. A submitter may end and delete jobs of his own, which these are not: buttons are there, and the daemon refuses.
# "none" has no role.
TABLE = """
role                                | sees                                                  | buttons                         | may
Owner                               | jobs side machines people batch accounts shares blobs | jobs side machines people batch | jobs side machines people batch
Contributor                         | jobs side machines people batch accounts shares blobs | jobs side machines batch        | jobs side machines batch
Reader                              | jobs side machines people batch accounts              |                                 |
User Access Administrator           | jobs side machines people batch accounts              | people                          | people
Batch AI Job Submitter              | jobs side machines people batch accounts              | jobs side                       |
Batch AI Job Operator               | jobs side machines people batch accounts              |                                 |
Azure Batch Account Contributor     | people batch                                          | batch                           | batch
Azure Batch Data Contributor        | people batch                                          | batch                           | batch
Azure Batch Account Reader          | batch                                                 |                                 |
Azure Batch Job Submitter           | batch                                                 | batch                           | batch
Storage Account Contributor         | people accounts shares blobs                          |                                 |
Reader and Data Access              | accounts shares blobs                                 |                                 |
Storage Blob Data Reader            | accounts blobs                                        |                                 |
Storage File Data Privileged Reader | accounts shares                                       |                                 |
Key Vault Secrets User              |                                                       |                                 |
Owner at lab                        | jobs                                                  | jobs                            | jobs
Reader at lab                       | jobs                                                  |                                 |
Owner at side                       | side                                                  | side                            | side
Reader at side                      | side                                                  |                                 |
none                                |                                                       |                                 |
"""

JOB = "job/lab/work/exp/well"
# What belongs together: (address, what it shows to those who may see it).
VIEWS = {
    "jobs": (("queue", "long"), ("jobs", "well"), (JOB, "exit code 0"), (f"{JOB}/logs", "trained"), (f"{JOB}/files", "stdout.txt"),
             (f"{JOB}/use", "Each part of a node that it had"), ("use?by=cluster", "rack")),
    "side": (("queue", "aside"), ("jobs", "aside"), ("job/side/work/exp/aside", "Cluster\nthere")),
    "machines": (("overview", "4 used"), ("machines", "spare.rack"), ("machine/spare.rack", "SPARE")),
    "people": (("people", "mallory@lab"),),
    "batch": (("batch/pools", "pool1"), ("batch", "job1"), ("tasks/{account}/job1", "task1"), ("job/{group}/{account}/job1/task1", "Exit code")),
    "accounts": (("storage", "acct"),),
    "shares": (("storage/acct/files/out", "of.share"), ("storage/acct/files/out?path=of.share&file=1", "in the share")),
    "blobs": (("storage/acct/blobs/models", "of.blob"), ("storage/acct/blobs/models?path=of.blob&file=1", "in the container")),
}
# The views that the page links, in their order: two by what they show, the others for everybody who has a role.
LINKS = ("overview", "queue", "jobs", "machines", "use", "batch", "storage", "people")
# (address, the row that is chosen, the buttons that can be pressed then.)
BUTTONS = {
    "jobs": (("queue", "long", ["Cancel", "Delete"]), ("jobs", "long", ["Cancel", "Delete"]), (JOB, None, ["Delete"]), (f"{JOB}/logs", None, ["Delete"]),
             (f"{JOB}/files", None, ["Delete"]), (f"{JOB}/use", None, ["Delete"]), ("job/lab/work/exp/long", None, ["Cancel", "Delete"])),
    "side": (("job/side/work/exp/aside", None, ["Cancel", "Delete"]),),
    "machines": (("machines", "spare.rack", ["Drain", "Reboot"]), ("machine/spare.rack", None, ["Drain", "Reboot"])),
    "people": (("people", "mallory@lab", ["Add a user", "New password", "Remove"]),),
    "batch": (("batch", "job1", ["Terminate", "Disable", "Delete"]), ("tasks/{account}/job1", "task1", ["Delete"])),
}
ARM = "/subscriptions/{subscription}/resourceGroups/{place}/providers/Microsoft.BatchAI/workspaces/work/experiments/exp/jobs/{job}"
ENDS = (("POST", ARM + "/terminate?api-version=2018-05-01"), ("DELETE", ARM + "?api-version=2018-05-01"))
BATCH = "/batchaid/batch/{account}/jobs/{job}"
# (method, path, body.) Those who may not try them on what is there, those who may on names that nothing has.
ACTIONS = {
    "jobs": tuple((method, path.replace("{place}", "lab"), None) for method, path in ENDS),
    "side": tuple((method, path.replace("{place}", "side").replace("{job}", "{aside}"), None) for method, path in ENDS),
    "machines": (("POST", "/batchaid/nodes/{machine}/drain", {"reason": "by hand"}), ("POST", "/batchaid/nodes/{machine}/undrain", None),
                 ("POST", "/batchaid/nodes/{machine}/reboot", None)),
    "people": (("POST", "/batchaid/users", {"name": "{new}", "role": "Owner"}), ("POST", "/batchaid/users/{user}/reset", None),
               ("DELETE", "/batchaid/users/{user}", None)),
    "batch": (("POST", BATCH + "/terminate", None), ("POST", BATCH + "/disable", {"disableTasks": "terminate"}), ("POST", BATCH + "/enable", None),
              ("DELETE", BATCH, None), ("POST", BATCH + "/tasks/task1/terminate", None), ("POST", BATCH + "/tasks/task1/reactivate", None),
              ("DELETE", BATCH + "/tasks/task1", None)),
}
THERE = {"job": "long", "aside": "aside", "machine": "spare.rack", "user": "mallory@lab", "new": "intruder@lab"}
VACANT = {"job": "nothing", "aside": "nothing", "machine": "nothing", "user": "nobody@lab", "new": ""}

# Counts the requests that have no answer yet.
COUNT = """window.open_requests = 0; { const real = window.fetch; window.fetch = (...given) => { window.open_requests++;
    return real(...given).finally(() => { window.open_requests--; }); }; }"""
# Ends when the view of this title was drawn several times without a request that has no answer.
SETTLED = """const [hash, done] = arguments; let quiet = 0;
location.hash = hash;
addEventListener('hashchange', look, {once: true});
function look() { quiet = window.open_requests ? 0 : quiet + 1; if (quiet > 10) done(); else requestAnimationFrame(look); }"""
BY_HAND = """const [method, path, body, done] = arguments;
fetch(path, {method, credentials: 'same-origin', body: body === null ? undefined : JSON.stringify(body),
             headers: body === null ? {} : {'Content-Type': 'application/json'}}).then((reply) => done(reply.status), (error) => done(String(error)));"""


def table():
    for line in TABLE.strip().splitlines()[1:]:
        role, *sets = (part.strip() for part in line.split("|"))
        yield pytest.param(role, *(set(words.split()) for words in sets), id=role)


class Ground:
    """What the table speaks of, beside the jobs of `shown`."""

    def __init__(self, shown, batch, browser):
        self.shown, self.batch, self.browser, self.daemon = shown, batch, browser, shown.daemon
        self.side = Place(self.daemon, "side", "work").make()
        self.aside = self.side.job(self.side.cluster(nodes=0, name="there"), "true", name="aside")
        self.mallory = Person(self.daemon, "Reader", name="mallory@lab")
        (shown.place.share() / "of.share").write_text("in the share\n")
        folder = Path(self.daemon.tool("share-path", "acct", "models", "--container").stdout.strip())
        (folder / "of.blob").write_text("in the container\n")
        self.names = {"account": batch.name, "group": batch.accounts.group, "subscription": self.daemon.subscription}

    def remove(self):
        self.mallory.remove()
        self.side.remove()

    def person(self, role):
        name, _, group = role.partition(" at ")
        scope = {"scope": f"/subscriptions/{self.daemon.subscription}/resourceGroups/{group}"} if group else {}
        return Person(self.daemon, name, name=fresh("ada") + "@lab", **scope)

    def visit(self, address, row):
        """What the view shows once it has asked all it asks, and the buttons that can be pressed, with the row chosen."""
        self.browser.driver.execute_async_script(SETTLED, "#/" + address.format(**self.names))
        text, find = self.browser.text(), self.browser.driver.find_elements
        if row and row in text and find(By.CSS_SELECTOR, "td.pick"):
            self.browser.choose_rows(row).see("1 chosen")
        buttons = find(By.CSS_SELECTOR, "main .actions button, main h1 + p:not(.failed) button")
        return text, [button.text for button in buttons if button.is_enabled()]

    def walk(self):
        """{(address, fact)} that is seen, and {address: buttons}, of all views."""
        rows = {address: row for views in BUTTONS.values() for address, row, _ in views}
        facts = [fact for views in VIEWS.values() for fact in views]
        visits = {address: self.visit(address, rows.get(address)) for address in dict.fromkeys([address for address, _ in facts] + list(rows))}
        return {(address, fact) for address, fact in facts if fact in visits[address][0]}, {address: buttons for address, (_, buttons) in visits.items() if buttons}

    def links(self):
        """{link of the page: whether its view answers}"""
        find = self.browser.driver.find_elements
        links = [link.get_attribute("href").partition("#/")[2] for link in find(By.CSS_SELECTOR, "nav[aria-label=Views] a")]
        return {link: bool(self.visit(link, None)) and not find(By.CSS_SELECTOR, ".failed") for link in links}

    def by_hand(self, method, path, body, names):
        names = {**self.names, **names}
        body = body and {key: value.format(**names) for key, value in body.items()}
        return self.browser.driver.execute_async_script(BY_HAND, method, path.format(**names), body)

    def state(self):
        """What the actions would change."""
        users = self.daemon.get("/batchaid/users")["value"]
        return {"long": self.shown.jobs["long"].state, "aside": self.aside.state, "drained": self.daemon.get("/batchaid/nodes/spare.rack")["drained"],
                "users": sorted(user["name"] for user in users if not user["name"].startswith("ada")),
                "job1": self.batch.job.get()["state"], "tasks": self.batch.job.states()}


@pytest.fixture(scope="module")
def ground(shown, batch, chromium):
    counted = chromium.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNT})
    ground = Ground(shown, batch, chromium)
    yield ground
    ground.remove()
    chromium.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", counted)


@pytest.mark.parametrize("role, sees, buttons, may", table())
def test_a_role_sees_and_may_what_the_table_says(browser, ground, temporary, role, sees, buttons, may):
    ada = temporary(ground.person(role))
    browser.expected += ["40", "refused"]  # in the console: what this role may not, and what nothing has
    browser.log_in(ada.name, ada.password)
    seen, offered = ground.walk()
    assert seen == {fact for name in sees for fact in VIEWS[name]}
    assert offered == {address: names for name in buttons for address, _, names in BUTTONS[name]}
    assert ground.links() == dict.fromkeys([link for link in LINKS if role != "none" and link not in ("machines", "people") or link in sees], True)
    before = ground.state()
    for group, actions in ACTIONS.items():
        for method, path, body in actions:
            status = ground.by_hand(method, path, body, VACANT if group in may else THERE)
            assert status in (200, 202, 204, 400, 404) if group in may else status == 403, (method, path, status)
    assert ground.state() == before


def test_who_may_not_read_the_account_is_shown_no_command_that_reads_it(browser, ground, temporary):
    ada = temporary(ground.person("Azure Batch Job Submitter"))
    browser.log_in(ada.name, ada.password)
    for address, text in (("batch", "job1"), ("batch/pools", "pool1"), (f"tasks/{ground.batch.name}/job1", "task1")):
        browser.open(f"#/{address}").see(text, "No command does the same: az reads the Batch account first")
