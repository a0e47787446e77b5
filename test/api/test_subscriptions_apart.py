# SPDX-License-Identifier: MIT
"""Two tests in subscriptions of one daemon: what one asks for, holds, sees and resets is none of the other's."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from support.accounts import Accounts, account_body, account_name
from support.batch import Plane
from support.batch_jobs import Jobs, add_pool
from support.batch_rm import BatchAccounts
from support.waiting import wait_for
from support.world import In, Place, file_share, fresh

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)
RM = "2019-10-01"


class Own:
    """A subscription, and what a test does in it."""

    def __init__(self, daemon, t, id=None):
        body = {"subscriptionId": id} if id else None
        self.id = daemon.call("POST", "/batchaid/subscriptions", body, expect=201).json["subscriptionId"]
        self.daemon, self.t = daemon, t

    def path(self, tail=""):
        return f"/subscriptions/{self.id}{tail}"

    def call(self, method, tail, body=None, **more):
        return self.daemon.call(method, self.path(tail), body, api_version=RM, **more)

    def group(self, name="g"):
        self.call("PUT", f"/resourceGroups/{name}", {"location": "here"}, expect=(200, 201))
        return name

    def groups(self):
        return [g["name"] for g in self.call("GET", "/resourceGroups", expect=200).json["value"]]

    def place(self):
        return Place(In(self.daemon, self.id), fresh("group"), "ws").make()

    def fault(self, **what):
        return self.t.fault({"subscription": self.id, **what.pop("match", {})}, **what)

    def reset(self, **more):
        return self.t.reset(subscription=self.id, **more)

    def events(self, after=0):
        reply = self.t.call("GET", f"/events?subscription={self.id}&after={after}&max=200", expect=200)
        return reply.text

    def remove(self):
        self.t.call("DELETE", f"/faults?subscription={self.id}", expect=204)
        self.t.call("DELETE", f"/rules?subscription={self.id}", expect=204)
        self.reset()
        self.daemon.call("DELETE", f"/batchaid/subscriptions/{self.id}")


@pytest.fixture
def two(tested, t, temporary):
    return [temporary(Own(tested, t)) for _ in range(2)]


# --- what is seen ---------------------------------------------------------------------------------


def test_what_is_not_served_is_counted_for_each(two, tested, t):
    a, b = two
    for one, times in ((a, 2), (b, 1)):
        for _ in range(times):
            one.call("GET", "/providers/Microsoft.Nothing/things", expect=404)
    counts = {one.id: t.get(f"/unknown?subscription={one.id.upper()}")["value"] for one in two}
    assert [[(u["count"], u["subscription"]) for u in counts[one.id]] for one in two] == [[(2, a.id)], [(1, b.id)]]
    a.reset()
    assert t.get(f"/unknown?subscription={a.id}")["value"] == []
    assert len(t.get(f"/unknown?subscription={b.id}")["value"]) == 1
    t.call("DELETE", f"/unknown?subscription={b.id}", expect=204)
    assert t.get(f"/unknown?subscription={b.id}")["value"] == []


def test_unknown_requests_of_thousands_hide_nobodys(two, tested, t):
    """The list is bounded; what a reset empties makes room for those that follow."""
    a, b = two
    for i in range(1000):
        a.call("GET", f"/providers/Microsoft.Nothing/things{i}", expect=404)
    a.reset()
    b.call("GET", "/providers/Microsoft.Nothing/mine", expect=404)
    assert [u["count"] for u in t.get(f"/unknown?subscription={b.id}")["value"]] == [1]


def test_one_forgets_its_requests_and_the_other_keeps_its_own(two, t):
    a, b = two
    a.group()
    b.group()
    t.call("DELETE", f"/requests?subscription={a.id}", expect=204)
    assert t.requests(subscription=a.id) == []
    assert [r["operation"] for r in t.requests(subscription=b.id)] == ["ResourceGroups_CreateOrUpdate"]
    a.group()
    numbers = [r["number"] for r in t.requests()]
    assert numbers == sorted(numbers) and len(t.requests(subscription=a.id)) == 1


def test_each_waits_for_requests_of_its_own(two, t):
    a, b = two
    after = t.last()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(lambda: t.expect(1, after=after, subscription=a.id.upper(), operation="ResourceGroups_Get"))
        b.group()
        b.call("GET", "/resourceGroups/g", expect=200)
        b.reset()
        a.group()
        assert not waits.done()
        a.call("GET", "/resourceGroups/g", expect=200)
        (seen,) = waits.result().json["value"]
    assert seen["subscription"] == a.id


def test_a_reset_leaves_who_waits_elsewhere(two, t):
    a, b = two
    after = t.last()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(lambda: t.expect(1, after=after, subscription=a.id, operation="ResourceGroups_Get"))
        a.reset()
        b.reset()
        a.group()
        a.call("GET", "/resourceGroups/g", expect=200)
        assert len(waits.result().json["value"]) == 1


def test_events_of_another_subscription_or_group_are_not_told_nor_forgotten(two):
    a, b = two
    for one in two:
        one.group("lab")
        one.group("lab2")
    assert b.id not in a.events() and a.id in a.events()
    a.reset(resourceGroup="lab")
    assert "/resourceGroups/lab2" in a.events() and '/resourceGroups/lab"' not in a.events()
    assert '/resourceGroups/lab"' in b.events()
    a.reset()
    assert a.events() == "" and "/resourceGroups/lab2" in b.events()


def test_a_dump_and_a_seed_are_of_one(two, t):
    a, b = two
    a.group("mine")
    b.group("others")
    assert set(t.dump(subscription=a.id)["groups"]) == {"mine"}
    t.seed(t.dump(subscription=a.id), subscription=b.id)
    assert sorted(b.groups()) == ["mine", "others"] and a.groups() == ["mine"]


def test_the_operations_of_an_account_cannot_either(two, tested):
    a, b = two
    accounts = Accounts(In(tested, a.id)).make()
    name = account_name()
    place = accounts.put(name, account_body(), expect=202).headers["location"].removeprefix(tested.endpoint)
    accounts.call("GET", place, expect=200)
    assert accounts.call("GET", place.replace(a.id, b.id)).status == 404


def test_the_operations_of_one_cannot_be_asked_for_in_the_other(two, tested):
    a, b = two
    place = a.place()
    reply = tested.call("PUT", place.cluster_at("c").path, {"properties": {"vmSize": "FAKE", "scaleSettings": {"manual": {"targetNodeCount": 0}}, "userAccountSettings": {"adminUserName": "a", "adminUserPassword": "b"}}}, expect=(200, 202))  # fmt: skip
    url = (reply.headers.get("azure-asyncoperation") or reply.headers["location"]).removeprefix(tested.endpoint)
    path, _, query = url.partition("?")
    version = query.partition("api-version=")[2].partition("&")[0]
    assert tested.call("GET", path, api_version=version).status in (200, 202, 204)
    assert tested.call("GET", path.replace(a.id, b.id), api_version=version).status == 404


# --- what is held ---------------------------------------------------------------------------------


def test_what_a_fault_holds_goes_on_with_its_own_reset_only(two, t):
    a, b = two
    for one in two:
        one.group()
        one.fault(hold=True, match={"operation": "ResourceGroups_Get"})
    held = lambda one: t.get(f"/faults?subscription={one.id}")["value"][0]["held"]
    with ThreadPoolExecutor(2) as pool:
        gets = [pool.submit(one.call, "GET", "/resourceGroups/g") for one in two]
        wait_for(lambda: [held(one) for one in two] == [1, 1], what="both held")
        b.reset()
        assert gets[1].result().status == 404
        assert held(a) == 1 and not gets[0].done()
        t.call("DELETE", f"/faults?subscription={a.id.upper()}", expect=204)
        assert gets[0].result().status == 200


def test_a_held_process_is_let_go_by_its_own_reset_only(two, t):
    a, b = two
    t.rules(*({"match": {"subscription": one.id}, "hold": True} for one in two))
    jobs = []
    for one in two:
        place = one.place()
        jobs.append(place.job(place.cluster(1), name="train"))
    for job in jobs:
        job.wait("running")
    b.reset()
    (rule,) = t.get("/rules")["value"]
    assert (rule["match"]["subscription"], rule["held"]) == (a.id, 1)
    assert jobs[0].state == "running" and jobs[1].gone()


def test_strict_mode_is_of_one(two, t, tested):
    a, b = two
    t.call("POST", "/strict", {"subscription": a.id.upper(), "writesPerHour": 1}, expect=200)
    a.group()
    assert a.call("PUT", "/resourceGroups/h", {"location": "here"}).status == 429
    assert b.call("PUT", "/resourceGroups/h", {"location": "here"}).status == 201
    b.reset()
    assert a.call("PUT", "/resourceGroups/h", {"location": "here"}).status == 429
    a.reset()
    assert a.call("PUT", "/resourceGroups/h", {"location": "here"}).status == 201
    assert t.get("/strict")["value"] == [] or all(s.get("subscription") != a.id for s in t.get("/strict")["value"])


# --- accounts, whose names are everybody's --------------------------------------------------------


class Batch:
    def __init__(self, own):
        self.accounts = BatchAccounts(In(own.daemon, own.id)).make()
        self.name = self.accounts.account()
        self.plane = Plane(own.daemon, self.name, self.accounts.keys(self.name)[0])


def test_requests_for_data_hit_the_faults_of_their_account(two, t):
    a, b = two
    planes = [Batch(one).plane for one in two]
    after = t.last()
    a.fault(match={"operation": "Pool_List"}, times=0, reply={"status": 503})
    assert planes[0].call("GET", "/pools").status == 503
    assert planes[1].call("GET", "/pools").status == 200
    assert [r["status"] for r in t.requests(after=after, subscription=b.id)] == [200]


def test_pools_and_tasks_of_one_name_follow_their_own_rules(two, t):
    t.rules(*({"match": {"subscription": one.id, "name": "job/task"}, "exitCode": code} for one, code in zip(two, (3, 4), strict=True)))
    for one, code in zip(two, (3, 4), strict=True):
        plane = Batch(one).plane
        add_pool(plane, "pool", vmSize="fake", targetDedicatedNodes=1)
        job = Jobs(plane, "pool")(id="job")
        assert job.done("work", id="task")["executionInfo"]["exitCode"] == code


def test_node_faults_of_one_leave_the_others_nodes(two, t):
    a, b = two
    a.fault(match={"pool": "*"}, times=0, node={"effect": "failPreparation", "message": "no disk"})
    bad, good = a.place(), b.place()
    good.cluster(2, name="c")
    cluster = bad.cluster(2, name="c", steady=False)
    wait_for(lambda: cluster.counts()["unusableNodeCount"] == 2, what="both unusable")


def test_a_subscription_in_another_case_is_the_same(tested, t, temporary):
    own = temporary(Own(tested, t, id="ABCDEF01-2345-6789-abcd-EF0123456789"))
    own.fault(match={"operation": "ResourceGroups_List"}, reply={"status": 429})
    low = own.id.lower()
    assert tested.call("GET", f"/subscriptions/{low}/resourcegroups", api_version=RM).status == 429
    assert len(t.requests(subscription=own.id.upper())) == len(t.requests(subscription=low)) == 1
    own.group()
    assert t.reset(subscription=low) == 1
    assert t.get(f"/faults?subscription={own.id.upper()}")["value"] == []


@pytest.mark.parametrize("id", ["abcdef01", "abcdef01-2345-6789-abcd-ef01234567890", "abcdef01-2345-6789-abcd-ef012345678", "*", ""])
def test_what_is_no_whole_id_is_no_subscription(tested, t, id):
    """So none is the beginning of another."""
    assert tested.call("POST", "/batchaid/subscriptions", {"subscriptionId": id}).status == 400
    body = {"match": {"subscription": id}, "reply": {"status": 500}}
    assert t.call("POST", "/faults", body).status == 404
    assert t.call("POST", "/reset", {"subscription": id}).status == 404
    assert t.call("GET", f"/events?subscription={quote(id)}").status == 404


def job_that_writes(own, text, **share):
    own.t.rules({"match": {"subscription": own.id}, "files": [{"path": "$AZ_BATCHAI_MOUNT_ROOT/out/said", "text": text}]})
    place = own.place()
    volumes = {"mountVolumes": {"azureFileShares": [file_share(**share)]}}
    place.job(place.cluster(1, nodeSetup=volumes)).succeed()


def test_a_share_of_nobodys_account_is_everybodys_and_stays(two, tested):
    for one in two:
        job_that_writes(one, "x", account="nobodys")
        one.reset()
    assert Path(tested.share("nobodys", "out"), "said").read_text() == "xx"


def test_a_share_of_an_own_account_goes_with_it(two, tested):
    a, b = two
    name = account_name()
    for one in two:
        accounts = Accounts(In(tested, one.id)).make()
        accounts.account(name)
        accounts.share(name, "out")
        job_that_writes(one, "x", account=name, credentials={"accountKey": accounts.keys(name)[0]})
        assert Path(tested.share(name, "out"), "said").read_text() == "x"
        one.reset()


# --- over time ------------------------------------------------------------------------------------


def test_a_subscription_that_is_removed_leaves_nothing_of_what_tests_asked_for(tested, t):
    own = Own(tested, t)
    own.fault(reply={"status": 500}, match={"operation": "ResourceGroups_List"})
    t.rules({"match": {"subscription": own.id}, "exitCode": 1})
    t.call("POST", "/strict", {"subscription": own.id}, expect=200)
    tested.call("DELETE", f"/batchaid/subscriptions/{own.id}", expect=204)
    assert t.get("/faults")["value"] == [] and t.get("/rules")["value"] == []
    assert [s for s in t.get("/strict")["value"] if s.get("subscription") == own.id] == []
