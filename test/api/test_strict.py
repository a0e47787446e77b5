# SPDX-License-Identifier: MIT
"""Strict mode: limits and headers, operations, states and waiting times as the service had them, by the daemon's clock."""

import re
from email.utils import formatdate

import pytest
from support.accounts import Accounts
from support.daemon import ROOT
from support.refusals import INVALID, refused
from support.storage import sign
from support.testing import Strict
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.vaults import ALL, Safe, Vaults, policy
from support.waiting import wait_for
from support.world import cluster_body, file_server_body, fresh, instant

ARGUMENTS = ("--ephemeral", "--fake-nodes")
EXPECTS = ("short_of_nodes", "node.link", "run.failed", "leftover_killed", "blocked")
CLOCK = {"rate": 0}
RATE = "x-ms-ratelimit-remaining-subscription-"
HSTS = "Strict-Transport-Security"


def put_cluster(place, nodes=1, **properties):
    """The cluster, and the 202 of its creation."""
    cluster = place.cluster_at(fresh("c"))
    return cluster, cluster.call("PUT", body=cluster_body(nodes, **properties), expect=202)


def left(reply, kind):
    return int(reply.headers[RATE + kind])


# --- what is asked for ------------------------------------------------------------------------------


def test_it_is_off_unless_a_subscription_asks_for_it(place, strict):
    (general,) = strict.all()
    assert general["strict"] is False and "subscription" not in general
    mine = strict.set(allocation="PT3M", writesPerHour=10)
    assert (mine["allocation"], mine["writesPerHour"], mine["readsPerHour"]) == ("PT3M", 10, 12000)
    assert strict.all() == [mine, general]
    assert strict.get(f"/strict?subscription={place.daemon.subscription}")["value"] == [mine]
    assert strict.set(strict=False)["strict"] is False
    strict.off()
    assert strict.all() == [general]


def test_a_reset_forgets_what_the_subscription_asked_for(place, strict):
    strict.set()
    strict.reset(subscription=place.daemon.subscription)
    assert [p["strict"] for p in strict.all()] == [False]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"allocatoin": "PT3M"}, ["allocatoin", "allocation", "writesPerHour"]),
        ({"allocation": "3 minutes"}, ["allocation", "3 minutes", "PT1M30S"]),
        ({"allocation": 3}, ["allocation", "PT1M30S"]),
        ({"allocation": "P8D"}, ["allocation", "7 days"]),
        ({"writesPerHour": "many"}, ["writesPerHour", "number"]),
        ({"writesPerHour": -1}, ["writesPerHour", "0"]),
        ({"strict": "yes"}, ["strict", "true"]),
        ({"subscription": 7}, ["subscription"]),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(strict, body, words):
    refused(strict.call("POST", "/strict", body, validate=False), 400, INVALID, words=words)
    assert len(strict.all()) == 1


def test_there_must_be_such_a_subscription(strict):
    body = {"subscription": "00000000-0000-0000-0000-00000000000a"}
    refused(strict.call("POST", "/strict", body), 404, "SubscriptionNotFound", words=[body["subscription"]])
    refused(strict.call("DELETE", "/strict?subscription=x"), 404, "SubscriptionNotFound")


def test_the_page_names_every_number(strict):
    page = (ROOT / "docs" / "testing.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([\w.]+)`? \|", page, flags=re.M))
    usual = {k: str(v) for k, v in strict.all()[0].items() if k != "strict"}
    assert {name: rows.get(name) for name in usual} == usual


def test_a_daemon_may_be_strict_from_the_start(own_daemon):
    d = own_daemon(arguments=["--ephemeral", "--testing", "--strict"])
    assert Strict(d).all()[0]["strict"] is True
    reply = d.call("GET", f"/subscriptions/{d.subscription}/resourcegroups", expect=200)
    assert left(reply, "reads") == 11999
    tenant = d.call("GET", "/subscriptions", api_version="2022-12-01", expect=200).headers
    assert tenant["x-ms-ratelimit-remaining-tenant-reads"] == "11999" and RATE + "reads" not in tenant
    Strict(d).call("POST", "/strict", {"tenantReadsPerHour": 1}, expect=200)
    refused(d.call("GET", "/subscriptions", validate=False), 429, "TenantRequestsThrottled", words=["tenant", "'1'"])
    Strict(d).set(strict=False)
    assert RATE + "reads" not in d.call("GET", f"/subscriptions/{d.subscription}/resourcegroups").headers


# --- limits and headers -------------------------------------------------------------------------------


def test_what_is_left_is_told_and_falls(place, strict):
    strict.set()
    first, second = (place.daemon.call("GET", place.path, expect=200) for _ in range(2))
    assert left(first, "reads") - left(second, "reads") == 1
    for reply in (first, place.daemon.call("GET", place.group_path, expect=200)):
        assert reply.headers[HSTS] == "max-age=31536000; includeSubDomains"
        assert left(reply, "reads") < 12000
    assert left(place.daemon.call("PUT", place.path, {"location": place.location}), "writes") < 1200


def test_too_many_writes_are_told_to_wait_until_the_hour_is_over(place, strict, clock):
    strict.set(writesPerHour=3)
    body = {"location": place.location}
    seen = [place.daemon.call("PUT", place.group_path, body, validate=False) for _ in range(4)]
    assert [r.status for r in seen] == [200, 200, 200, 429]
    assert [left(r, "writes") for r in seen] == [2, 1, 0, 0]
    refused(seen[3], 429, "SubscriptionRequestsThrottled", words=["write requests", "'3'", "01:00:00", "'3600' seconds"])
    assert seen[3].headers["Retry-After"] == "3600"
    place.daemon.call("GET", place.group_path, expect=200)  # reads have a limit of their own
    clock.advance("PT59M")
    again = place.daemon.call("PUT", place.group_path, body, validate=False)
    assert (again.status, again.headers["Retry-After"]) == (429, "60")
    clock.advance("PT1M")
    assert left(place.daemon.call("PUT", place.group_path, body, expect=200), "writes") == 2


def test_another_subscription_is_not_throttled(place, strict):
    other = strict.daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    strict.set(readsPerHour=1)
    path = "/subscriptions/{}/resourcegroups"
    statuses = [place.daemon.call("GET", path.format(id), validate=False).status for id in [place.daemon.subscription] * 2 + [other] * 3]
    assert statuses == [200, 429, 200, 200, 200]


def test_two_hundred_subscriptions_are_throttled_apart(strict):
    d = strict.daemon
    ids = [d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"] for _ in range(200)]
    for n, id in enumerate(ids):
        strict.call("POST", "/strict", {"subscription": id, "readsPerHour": 1 + n % 3}, expect=200)

    def look(id):
        reply = d.call("GET", f"/subscriptions/{id}/resourcegroups", validate=False)
        return reply.status, left(reply, "reads")

    seen = [[look(id) for _ in range(4)] for id in ids]
    for n, those in enumerate(seen):
        most = 1 + n % 3
        assert those == [(200, most - 1 - i) for i in range(most)] + [(429, 0)] * (4 - most), n
    strict.call("DELETE", f"/strict?subscription={ids[7]}", expect=204)
    strict.call("POST", "/strict", {"subscription": ids[7], "readsPerHour": 2}, expect=200)
    assert look(ids[7]) == (200, 1), "what it was counted is forgotten"
    assert look(ids[8])[0] == 429, "and of no other"


def test_lists_of_storage_accounts_have_a_limit_of_their_provider(place, strict):
    strict.set(storageAccountListsPer5Minutes=1)
    path = f"{place.group_path}/providers/Microsoft.Storage/storageAccounts"
    first, second = (place.daemon.call("GET", path, api_version="2022-09-01", validate=False) for _ in range(2))
    assert first.status == 200
    refused(second, 429, "TooManyRequests", words=["List_ObservationWindow_00:05:00"])
    assert int(second.headers["Retry-After"]) == 300


# --- operations ---------------------------------------------------------------------------------------


def test_a_cluster_is_being_created_for_a_while(place, strict, clock):
    strict.set()
    cluster, reply = put_cluster(place, 0)
    assert reply.headers["Retry-After"] == "15"
    url = reply.headers["Azure-AsyncOperation"]
    under_way = place.daemon.call("GET", url, expect=200)
    assert under_way.json["status"] == "InProgress" and "Retry-After" not in under_way.headers
    assert cluster.properties["provisioningState"] == "creating"
    assert place.daemon.call("GET", reply.headers["Location"]).status == 202
    clock.advance("PT2S")
    ended, made = place.daemon.get(url), cluster.properties
    assert ended["status"] == "Succeeded" and made["provisioningState"] == "succeeded"
    took = instant(made["provisioningStateTransitionTime"]) - instant(made["creationTime"])
    assert took.total_seconds() == 2
    assert (instant(ended["endTime"]) - instant(ended["startTime"])).total_seconds() == 2
    assert place.daemon.call("GET", reply.headers["Location"]).status == 204


def test_a_file_server_takes_minutes_and_says_no_address_before(place, strict, clock):
    strict.set()
    path = f"{place.path}/fileServers/f"
    reply = place.daemon.call("PUT", path, file_server_body(), expect=202)
    clock.advance("PT3M")
    seen = place.daemon.get(path)["properties"]
    assert seen["provisioningState"] == "creating" and "mountSettings" not in seen
    clock.advance("PT30S")
    assert place.daemon.get(path)["properties"]["provisioningState"] == "succeeded"
    assert place.daemon.get(reply.headers["Azure-AsyncOperation"])["status"] == "Succeeded"


def test_deletions_take_their_time(place, strict, clock):
    cluster = place.cluster(0)
    strict.set()
    for path, span in ((cluster.path, "PT30S"), (place.path, "PT3S")):
        reply = place.daemon.call("DELETE", path, expect=202)
        assert reply.headers["Retry-After"] == "15"
        assert place.daemon.get(path)["properties"]["provisioningState"] == "deleting"
        clock.advance(span)
        assert place.daemon.get(reply.headers["Azure-AsyncOperation"])["status"] == "Succeeded"
        assert place.daemon.call("GET", path).status == 404


def test_a_group_is_gone_after_some_polls(place, strict, clock):
    strict.set()
    reply = place.daemon.call("DELETE", place.group_path, expect=202)
    assert reply.headers["Retry-After"] == "15"
    polls = []
    while not polls or polls[-1] == 202:
        clock.advance("PT5S")
        polls.append(place.daemon.call("GET", reply.headers["Location"]).status)
    assert polls == [202, 202, 200]


def test_accounts_are_made_by_polling(place, strict, clock):
    strict.set()
    storage = f"{place.group_path}/providers/Microsoft.Storage/storageAccounts/{fresh('strictstore')}"
    batch = f"{place.group_path}/providers/Microsoft.Batch/batchAccounts/{fresh('strictbatch')}"
    for path, body, version, wait, span in (
        (storage, {"location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}, "2022-09-01", "17", "PT17S"),
        (batch, {"location": "eastus"}, "2022-10-01", "15", "PT15S"),
    ):
        def ask(url, version=version):
            return place.daemon.call("GET", url, api_version=version if url.startswith("/") else None)

        reply = place.daemon.call("PUT", path, body, api_version=version, expect=202)
        assert reply.headers["Retry-After"] == wait
        poll = ask(reply.headers["Location"])
        assert (poll.status, poll.headers["Location"], poll.headers["Retry-After"]) == (202, reply.headers["Location"], wait)
        assert ask(path).json["properties"]["provisioningState"] == "Creating"
        clock.advance(span)
        made = ask(reply.headers["Location"])
        assert made.status == 200 and made.json["properties"]["provisioningState"] == "Succeeded"


def test_a_vault_registers_its_name_first(place, strict, clock):
    strict.set()
    path = f"{place.group_path}/providers/Microsoft.KeyVault/vaults/{fresh('strictvault')}"
    properties = {"tenantId": place.daemon.env["AZURE_TENANT_ID"], "sku": {"family": "A", "name": "standard"}, "accessPolicies": []}
    made = place.daemon.call("PUT", path, {"location": "eastus", "properties": properties}, api_version="2022-07-01")
    assert made.json["properties"]["provisioningState"] == "RegisteringDns"
    clock.advance("PT5S")
    seen = place.daemon.call("GET", path, api_version="2022-07-01", expect=200).json
    assert seen["properties"]["provisioningState"] == "Succeeded"


# --- data planes ----------------------------------------------------------------------------------------


@pytest.fixture
def accounts(tested, hurried):
    return hurried(Accounts(tested).make())


def list_containers(daemon, account, key):
    host = f"{account}.blob.core.localhost:{daemon.port}"
    head = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-06-08"}
    head["Authorization"] = sign("GET", "/?comp=list", head, key, account)
    return daemon.call("GET", "/?comp=list", headers={"Host": host, **head}, token=None, api_version=None, validate=False)


def test_an_account_says_that_it_is_busy(accounts, strict, clock):
    first, second = accounts.account(), accounts.account()
    clock.advance("PT1M")
    strict.set(storageRequestsPerSecond=2)
    key = accounts.keys(first)[0]
    seen = [list_containers(strict.daemon, first, key) for _ in range(3)]
    assert [r.status for r in seen] == [200, 200, 503]
    assert (seen[2].headers["x-ms-error-code"], seen[2].headers["Retry-After"]) == ("ServerBusy", "1")
    assert list_containers(strict.daemon, second, accounts.keys(second)[0]).status == 200
    clock.advance("PT1S")
    assert list_containers(strict.daemon, first, key).status == 200


@pytest.mark.parametrize("kind", ["files", "blobs"])
def test_a_name_is_free_half_a_minute_after_its_deletion(accounts, strict, clock, kind):
    account = accounts.account()
    accounts.share(account, "one", kind=kind)
    clock.advance("PT1M")
    strict.set()
    accounts.share(account, "one", "DELETE", expect=200, kind=kind)
    assert accounts.shares(account, kind)["value"] == []
    clock.advance("PT29S")
    accounts.share(account, "one", expect=409, kind=kind)
    clock.advance("PT1S")
    wait_for(lambda: accounts.share(account, "one", expect=(201, 409), kind=kind).status == 201, what="it is free")


def test_vaults_are_throttled_and_their_secrets_deleted_by_and_by(tested, strict, clock, temporary):
    vaults = temporary(Vaults(tested).make())
    safe = Safe(tested, vaults.vault(policy(tested.env["AZURE_CLIENT_ID"], **ALL)))
    safe.set("s", "v")
    clock.advance("PT1M")
    strict.set(secretRequestsPer10Seconds=4)
    reply = safe.call("DELETE", "/secrets/s", expect=200)
    assert reply.headers["x-ms-keyvault-service-version"] and reply.headers[HSTS]
    safe.call("GET", "/deletedsecrets/s", expect=404)
    clock.advance("PT5S")
    safe.call("GET", "/deletedsecrets/s", expect=200)
    assert safe.call("GET", "/secrets/s/", judged=False).status == 404
    reply = safe.call("GET", "/secrets/s/", judged=False)
    assert reply.status == 429 and reply.code == "Throttled" and reply.headers["Retry-After"] == "5"
    clock.advance("PT5S")
    safe.call("GET", "/deletedsecrets/s", expect=200)
