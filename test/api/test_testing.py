# SPDX-License-Identifier: MIT
"""What tests ask of a daemon that was started with --testing: the log of requests, faults, and to be empty again."""

import resource
import threading
import time

import pytest
import requests
from support.accounts import RM_VERSION as STORAGE_VERSION
from support.accounts import account_body, account_name
from support.batch_rm import RM_VERSION as BATCH_VERSION
from support.refusals import refused
from support.small_disk import LOG_THROUGH_PIPE, fill, let_write
from support.storage import StorageDaemon
from support.testing import Testing
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.two_parts import TwoParts
from support.vaults import ALL, Safe, Vaults, policy, vault_body
from support.waiting import wait_for
from support.world import Place, cluster_body, fresh, job_body


# --- who may --------------------------------------------------------------------------------------


def test_without_the_switch_nothing_of_it_is_there(daemon):
    assert "BATCHAID_TESTING_KEY" not in daemon.env
    for method, path in (("GET", "/requests"), ("POST", "/reset")):
        reply = daemon.call(method, f"/batchaid/testing{path}", headers={"x-batchaid-testing-key": "x"}, validate=False)
        refused(reply, 404, "TestingIsOff", words=["--testing"])


def test_only_who_has_the_key_may(tested, t):
    for key in ("", "wrong", t.key[:-1], t.key + "0"):
        refused(t.call("POST", "/reset", key=key), 401, "TestingKeyNeeded", words=["BATCHAID_TESTING_KEY"])
    assert tested.call("GET", "/batchaid/testing/requests", validate=False).status == 401  # a token is no key


def test_the_environment_can_give_the_key(own_daemon):
    d = own_daemon(arguments=["--testing"], environment={"BATCHAID_TESTING_KEY": "a key of mine"})
    assert d.env["BATCHAID_TESTING_KEY"] == "a key of mine"
    assert Testing(d).reset() == 0


@pytest.mark.parametrize(
    "method, path, known",
    [
        ("GET", "/requests?statuss=429", "operation, path, subscription, status"),
        ("DELETE", "/requests?subscripton=x", "subscription"),
        ("DELETE", "/faults?resourceGroup=x", "subscription"),
        ("GET", "/dump?group=x", "subscription, resourceGroup"),
        ("GET", "/events?since=3", "after, max, timeoutSeconds"),
        ("POST", "/reset?subscription=x", "in the body"),
    ],
)
def test_a_query_with_a_slip_does_not_fit_everything(t, method, path, known):
    kept = t.fault({"path": "/nowhere"}, hold=True)["id"]
    name = path.split("?")[1].split("=")[0]
    refused(t.call(method, path), 400, "InvalidQueryParameterValue", name, [f"'{name}'", known])
    assert kept in [f["id"] for f in t.get("/faults")["value"]]


# --- the log --------------------------------------------------------------------------------------


def test_the_log_tells_of_each_request(place, t):
    before = t.last()
    place.cluster(nodes=0, name="c1")
    (put,) = t.requests(after=before, operation="Clusters_Create")
    assert (put["method"], put["status"], put["service"]) == ("PUT", 202, "batchai")
    assert put["path"] == place.cluster_at("c1").path and put["subscription"] == place.daemon.subscription
    assert put["request"]["properties"]["vmSize"] == "Standard_D1" and put["milliseconds"] > 0
    (get, *_) = t.requests(after=before, path="*/CLUSTERS/c1", method="get", status=200)
    assert get["reply"]["name"] == "c1"
    assert [s["number"] for s in t.requests(after=before)] == sorted(s["number"] for s in t.requests(after=before))


def test_secrets_are_not_in_it(place, t):
    before = t.last()
    place.cluster(nodes=0)
    (put,) = t.requests(after=before, operation="Clusters_Create")
    text = str(put["request"])
    assert "pw-never-shown" not in text and "c2VjcmV0IGtleQ==" not in text
    assert put["request"]["properties"]["userAccountSettings"]["adminUserName"] == "demo"


def test_secrets_of_vaults_and_jobs_are_not_in_it(place, t, temporary):
    d, before = place.daemon, t.last()
    vaults = temporary(Vaults(d).make())
    safe = Safe(d, vaults.vault(policy(d.env["AZURE_CLIENT_ID"], **ALL)))
    tags, attributes = {"of": "mine"}, {"enabled": True}
    for more in ({}, {"contentType": "text/plain"}, {"tags": tags}, {"contentType": "x", "tags": tags}, {"attributes": attributes}):
        safe.set("s", "never-shown", **more)
    secrets = [{"name": "KEY", "value": "never-shown"}]
    setup = {"commandLine": "true", "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out", "secrets": secrets}
    place.cluster(nodes=0, name="c1", nodeSetup={"setupTask": setup})
    place.job(place.cluster_at("c1"), "true", secrets=secrets, environmentVariables=[{"name": "SHOWN", "value": "shown"}])
    text = str(t.requests(after=before))
    assert "never-shown" not in text and "{'name': 'SHOWN', 'value': 'shown'}" in text


def test_it_can_be_forgotten(place, t):
    assert t.requests()
    t.call("DELETE", "/requests", expect=204)
    assert t.requests() == []
    place.daemon.get(place.path)
    assert [s["operation"] for s in t.requests()] == ["Workspaces_Get"]


def test_what_is_not_served_is_counted(tested, t):
    path = f"/subscriptions/{tested.subscription}/providers/Microsoft.Nothing/things"
    for _ in range(3):
        tested.call("GET", path, validate=False)
    counted = {"method": "GET", "path": path, "count": 3, "subscription": tested.subscription}
    assert counted in t.get("/unknown")["value"]


def test_requests_are_waited_for(place, t):
    after = t.last()
    found = []
    match = {"operation": "Workspaces_Get", "path": place.path}
    thread = threading.Thread(target=lambda: found.append(t.expect(3, after, 30, **match)))
    thread.start()
    for _ in range(3):
        place.daemon.call("GET", place.path)
    thread.join()
    assert found[0].status == 200 and len(found[0].json["value"]) == 3
    assert t.expect(3, after, 0, **match).status == 200  # they have come
    reply = t.expect(4, after, 0, **match)
    refused(reply, 408, "RequestNotSeen", words=["3 of the 4", '"operation":"' + match["operation"], "others"])


@pytest.mark.parametrize("given, like", [("Blob_Downlod", "Blob_Download"), ("Clusters_Make", "Clusters_"), ("Blob_Get", "Blob")])
def test_an_operation_that_no_service_has_is_refused_with_a_similar_one(t, given, like):
    for path, body in (("/faults", {"match": {"operation": given}, "hold": True}), ("/requests/expect", {"match": {"operation": given}})):
        refused(t.call("POST", path, body), 400, "InvalidParameter", "match.operation", [f"'{given}'", like])


@pytest.mark.parametrize("name", ["pool", "name"])
def test_what_fits_no_request_is_not_waited_for(t, name):
    refused(t.expect(1, **{name: "x"}), 400, "InvalidParameter", f"match.{name}", ["are not for requests"])


def test_a_daemon_that_stops_waits_for_none(own_daemon):
    d = own_daemon(arguments=["--testing"])
    t, replies = Testing(d), []
    t.fault({"operation": "ResourceGroups_List"}, hold=True)
    asks = [
        lambda: t.expect(1, 0, 600, operation="Jobs_Create"),
        lambda: d.call("GET", f"/subscriptions/{d.subscription}/resourcegroups"),
    ]
    threads = [threading.Thread(target=lambda ask=ask: replies.append(ask().status)) for ask in asks]
    for thread in threads:
        thread.start()
    wait_for(lambda: t.get("/faults")["value"][0]["held"] == 1, 10, "the request to be held")
    assert d.stop() == 0
    for thread in threads:
        thread.join()
    assert sorted(replies) == [200, 408]


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status, code", [(429, "TooManyRequests"), (500, "InternalServerError"), (503, "ServerBusy")])
def test_the_next_calls_are_answered_so(place, t, status, code):
    t.fault({"operation": "Workspaces_Get", "path": place.path}, times=2, reply={"status": status, "retryAfter": 7})
    for _ in range(2):
        reply = place.daemon.call("GET", place.path, validate=False)
        assert (reply.status, reply.code, reply.headers["Retry-After"]) == (status, code, "7")
    place.daemon.get(place.path)
    assert [f["hits"] for f in t.get("/faults")["value"]] == [2]


def test_a_code_can_be_chosen_and_some_calls_pass_first(place, t):
    t.fault({"operation": "Clusters_Create"}, skip=1, reply={"status": 409, "code": "QuotaExceeded", "message": "No more."})
    place.cluster(nodes=0, name="first")
    reply = place.daemon.call("PUT", f"{place.path}/clusters/second", cluster_body(0), validate=False)
    refused(reply, 409, "QuotaExceeded", words=["No more."])
    assert place.daemon.call("GET", f"{place.path}/clusters/second").status == 404  # it was not carried out
    place.cluster(nodes=0, name="third")


def test_other_services_answer_in_their_own_form(tested, t):
    t.fault({"operation": "Users_List"}, reply={"status": 503})
    assert tested.call("GET", "/batchaid/users", validate=False).code == "ServerBusy"


def test_a_call_is_delayed(place, t):
    t.fault({"operation": "Workspaces_Get", "path": place.path}, delayMilliseconds=300)
    begun = time.monotonic()
    place.daemon.get(place.path)
    assert time.monotonic() - begun >= 0.3


def test_a_call_is_held_and_let_go(place, t):
    fault = t.fault({"operation": "Workspaces_Get", "path": place.path}, hold=True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(place.daemon.get(place.path)["name"]))
    thread.start()
    wait_for(lambda: t.get("/faults")["value"][0]["held"] == 1, 10, "the request to be held")
    assert seen == []
    assert t.call("POST", f"/faults/{fault['id']}/release", expect=200).json == {"released": 1}
    thread.join()
    assert seen == ["ws"]


def test_what_a_removed_fault_holds_goes_on(place, t):
    fault = t.fault({"path": place.path}, hold=True, reply={"status": 503})
    seen = []
    thread = threading.Thread(target=lambda: seen.append(place.daemon.call("GET", place.path, validate=False).status))
    thread.start()
    wait_for(lambda: t.get("/faults")["value"][0]["held"] == 1, 10, "the request to be held")
    t.call("DELETE", f"/faults/{fault['id']}", expect=204)
    thread.join()
    assert seen == [503]


@pytest.mark.parametrize("when, done", [("before", False), ("after", True)])
def test_the_connection_breaks_in_the_answer(place, t, when, done):
    path = f"{place.path}/clusters/cut"
    t.fault({"operation": "Clusters_Create", "path": path}, cut=when)
    with pytest.raises(requests.RequestException):
        place.daemon.call("PUT", path, cluster_body(0), validate=False)
    place.daemon.session().close()  # it does not know that its connection is gone
    assert place.daemon.call("GET", path).status == (200 if done else 404)


def test_requests_for_data_are_in_the_subscription_of_their_account():
    d = StorageDaemon(arguments=["--testing"])
    d.start()
    t, other = Testing(d), d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    first = t.last()
    t.fault({"operation": "Container_Create", "subscription": other}, reply={"status": 503})
    assert d.blob.call("PUT", "/box?restype=container").status == 201
    t.fault({"operation": "Container_Create", "subscription": d.subscription}, reply={"status": 503})
    assert d.blob.call("PUT", "/other?restype=container").status == 503
    asked = t.requests(after=first, subscription=d.subscription, operation="Container_Create")
    assert [r["status"] for r in asked] == [201, 503] and {r["subscription"] for r in asked} == {d.subscription}
    assert t.requests(after=first, subscription=other, operation="Container_Create") == []
    assert d.close() == []


def test_uploads_are_hit_too():
    d = StorageDaemon(arguments=["--testing"])
    d.start()
    t, upload = Testing(d), {"operation": "BlockBlob_Upload"}
    assert d.blob.call("PUT", "/box?restype=container").status == 201

    def put(name, body=b"1" * 100000):
        return d.blob.call("PUT", f"/box/{name}", body, x_ms_blob_type="BlockBlob").status

    t.fault(upload, delayMilliseconds=100)
    t.fault(upload, reply={"status": 503})
    t.fault(upload, delayMilliseconds=50, reply={"status": 500})
    assert [put("one"), put("two"), put("three"), put("four", b"")] == [201, 503, 500, 201]
    t.fault(upload, delayMilliseconds=50)
    assert put("five", b"") == 201
    found = [d.blob.call("GET", f"/box/{name}").status for name in ("one", "two", "three", "four", "five")]
    assert found == [200, 404, 404, 200, 200]
    assert d.close() == []


@pytest.mark.parametrize("how", ["released", "removed"])
def test_an_upload_is_let_go_before_its_body_has_come(how):
    with StorageDaemon(arguments=["--testing"]) as d:
        t = Testing(d)
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        fault = t.fault({"operation": "BlockBlob_Upload"}, hold=True)["id"]
        late = TwoParts(d.blob, "PUT", "/box/late", 5, x_ms_blob_type="BlockBlob")
        assert t.get("/faults")["value"][0]["held"] == 1
        if how == "released":
            assert t.call("POST", f"/faults/{fault}/release", expect=200).json == {"released": 1}
        else:
            t.call("DELETE", f"/faults/{fault}", expect=204)
        assert late.send(b"bytes").status == 201 and d.blob.call("GET", "/box/late").body == b"bytes"


@pytest.mark.parametrize(
    "body, words",
    [
        ({"match": {"operation": "Jobs_Crate"}, "hold": True}, ["Jobs_Crate", "did you mean Jobs_Create?"]),
        ({"match": {"path": "jobs"}, "hold": True}, ["jobs", "begin with /"]),
        ({"match": {"paht": "/x"}, "hold": True}, ["paht"]),
        ({"match": {"status": 200}, "hold": True}, ["before the reply has a status"]),
        ({"match": {}}, ["does nothing"]),
        ({"reply": {"status": 200}}, ["reply.status is 200"]),
        ({"reply": {"code": "X"}}, ["status"]),
        ({"reply": {"status": 503, "retryAfter": -1}}, ["reply.retryAfter is -1"]),
        ({"delayMilliseconds": 600001}, ["600001"]),
        ({"hold": True, "times": -1}, ["times is -1"]),
        ({"cut": "middle"}, ["middle", "before", "after"]),
        ({"hodl": True}, ["hodl"]),
    ],
)
def test_a_fault_that_cannot_be_is_refused(t, body, words):
    reply = t.call("POST", "/faults", body)
    assert reply.status == 400, reply
    for word in words:
        assert word in reply.error["message"], reply
    assert t.get("/faults")["value"] == []


def test_a_fault_that_is_not_there_is_not_found(t):
    for method, path in (("DELETE", "/faults/99999"), ("POST", "/faults/x/release")):
        refused(t.call(method, path), 404, "ResourceNotFound")


# --- reset ----------------------------------------------------------------------------------------


def test_a_group_becomes_empty_and_its_names_are_free(place, t):
    job = place.job(place.cluster(name="c"), "sleep 1000", name="j").running()
    assert t.reset(subscription=place.daemon.subscription, resourceGroup=place.group.upper()) == 1
    assert place.daemon.call("GET", place.group_path, validate=False).status == 404
    assert place.daemon.call("GET", job.path).status == 404
    place.make()
    place.job(place.cluster(name="c"), "true", name="j").succeed()
    place.remove()


def test_a_subscription_becomes_empty_and_others_do_not(tested, place, t):
    guid = tested.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    other = f"/subscriptions/{guid}/resourceGroups/g"
    tested.call("PUT", other, {"location": "here"}, expect=201)
    t.fault({"subscription": guid}, hold=True)
    mine = t.fault({"subscription": tested.subscription, "operation": "Jobs_Create"}, reply={"status": 503})
    assert t.reset(subscription=guid) == 1
    assert [f["id"] for f in t.get("/faults")["value"]] == [mine["id"]]
    assert tested.call("GET", other).status == 404 and place.daemon.get(place.path)
    tested.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=204)


def test_all_becomes_empty(own_daemon):
    d = own_daemon(arguments=["--testing"])
    t = Testing(d)
    guid = d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    d.call("PUT", f"/subscriptions/{guid}/resourceGroups/g", {"location": "here"}, expect=201)
    place = Place(d, "g", "ws").make()
    place.job(place.cluster(), "sleep 1000").wait("running")
    d.call("POST", "/batchaid/users", {"name": "ada"}, expect=201)
    assert t.reset() == 3  # with the group of shares that jobs named
    assert d.get(f"/subscriptions/{d.subscription}/resourcegroups")["value"] == []
    (ada,) = [u for u in d.get("/batchaid/users")["value"] if u["name"].startswith("ada")]
    assert ada["roles"] == []
    assert t.reset() == 0


def test_the_record_of_use_becomes_empty_too(place, t):
    """Also of what was running: its nodes are released only afterwards."""

    def runs(group):
        lines = place.daemon.get("/batchaid/usage", api_version=None, params={"by": "group"})["value"]
        return [v["runs"] for v in lines if v["name"] == group]

    def use(p):
        cluster = p.cluster(name="c", nodes=2)
        p.job(cluster, "true", name="a").succeed()
        wait_for(lambda: runs(p.group) == [1], what="the use of its ended job")
        return p.job(cluster, "sleep 1000", name="b")

    other = Place(place.daemon).make()
    for p in (place, other):
        use(p).wait("running")
    t.reset(subscription=place.daemon.subscription, resourceGroup=place.group.upper())
    assert runs(place.group) == [] and runs(other.group) == [1]
    use(place.make())
    place.remove()
    other.remove()


def test_names_that_are_unique_over_all_are_free_at_once(tested, place, t):
    account, body = account_name(), account_body()
    at = f"{place.group_path}/providers/Microsoft.Storage/storageAccounts/{account}"
    batch = f"{place.group_path}/providers/Microsoft.Batch/batchAccounts/{account}"

    def make():
        for path, version, what in ((at, STORAGE_VERSION, body), (batch, BATCH_VERSION, {"location": "eastus"})):
            reply = tested.call("PUT", path, what, api_version=version, validate=False)
            assert reply.status in (200, 201, 202), reply
        box = f"{at}/blobServices/default/containers/box"
        assert tested.call("PUT", box, {}, api_version=STORAGE_VERSION, validate=False).status == 201

    make()
    folder = tested.state_dir / "storage" / account / "blobs" / "box"
    (folder / "old").write_text("old")
    t.reset(subscription=tested.subscription, resourceGroup=place.group)
    place.make()
    make()
    assert list(folder.iterdir()) == []


def test_a_group_of_many_vaults_leaves_none_of_their_names(tested, place, t):
    names = [fresh("vault") for _ in range(120)]
    t.seed({"groups": {"vaulted": {"location": "eastus", "vaults": {name: vault_body() for name in names}}}})
    t.reset(subscription=tested.subscription, resourceGroup="vaulted")
    t.seed({"groups": {"vaulted": {"location": "eastus", "vaults": {name: vault_body() for name in names}}}})
    t.reset(subscription=tested.subscription, resourceGroup="vaulted")


def test_on_a_full_disk_a_reset_says_so_and_leaves_all_as_it_was(small_disk, own_daemon):  # noqa: F811
    d = own_daemon(state_dir=small_disk, prefix=LOG_THROUGH_PIPE, arguments=["--testing"])
    d.expect_log(r"db\.|storage|request")
    t = Testing(d)
    box = {"blobs": {"kept": "kept"}}
    account = {"location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "containers": {"box": box}}
    t.seed({"groups": {"g": {"location": "eastus", "storageAccounts": {"full": account}}}})
    before = t.dump()
    t.fault({"operation": "Jobs_Create"}, hold=True)
    filler = d.state_dir / "filler"
    fill(filler)
    let_write(d, 0)
    refused(t.call("POST", "/reset"), 500, "StorageFailure")
    assert t.dump() == before and len(t.get("/faults")["value"]) == 1
    filler.unlink()
    let_write(d, resource.RLIM_INFINITY)
    assert t.reset() == 1 and t.get("/faults")["value"] == []


def test_a_thousand_resources_are_gone_in_a_moment(place, t):
    place.experiment()
    cluster = place.cluster(nodes=0)
    for i in range(1000):
        place.daemon.call("PUT", f"{place.experiment_path()}/jobs/j{i}", job_body(cluster.path), expect=202)
    t.reset(subscription=place.daemon.subscription, resourceGroup=place.group)
    assert place.daemon.call("GET", place.group_path, validate=False).status == 404


@pytest.mark.parametrize("body", [{"subscription": "x"}, {"subscription": "11111111-2222-4333-8444-555555555555"}])
def test_a_subscription_that_is_not_there_is_refused(t, body):
    refused(t.call("POST", "/reset", body), 404, "SubscriptionNotFound", "subscription")
