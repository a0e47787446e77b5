# SPDX-License-Identifier: MIT
"""Storage accounts, shares and containers that exist because a cluster or job names them; and what becomes of
shares when the daemon is killed."""

import concurrent.futures

import pytest
import requests
from support.accounts import Accounts, account_body, account_name
from support.people import CONTRIBUTOR, Person
from support.waiting import wait_for
from support.world import Place, cluster_body, fresh, job_body, merge

IMPLICIT = "batchaid-implicit"


def share_of(account, name, key="a2V5", at="data"):
    return {
        "accountName": account,
        "azureFileUrl": f"https://{account}.file.core.windows.net/{name}",
        "credentials": {"accountKey": key},
        "relativeMountPath": at,
    }


def box_of(account, name, key="a2V5", at="box"):
    return {
        "accountName": account,
        "containerName": name,
        "credentials": {"accountKey": key},
        "relativeMountPath": at,
    }


def mounts(files=(), blobs=()):
    return {"azureFileShares": list(files), "azureBlobFileSystems": list(blobs)}


def put_cluster(place, body_mounts, expect):
    path = place.cluster_at(fresh("named")).path
    body = cluster_body(0, nodeSetup={"mountVolumes": body_mounts})
    return place.daemon.call("PUT", path, body, expect=expect), path


@pytest.mark.parametrize("name", ["NotThere_X", "Upper", "two--hyphens", "ab"])
def test_a_container_that_can_have_no_such_name_is_not_made_under_another(place, name):
    account = account_name()
    reply, _ = put_cluster(place, mounts(blobs=[box_of(account, name)]), 400)
    assert "cannot be created" in reply.error["message"] and name in reply.error["message"]
    place.daemon.call("GET", Accounts(place.daemon, IMPLICIT).path + f"/{account}", expect=404)


def test_what_a_cluster_and_its_job_mount_is_there(own_place):
    d = own_place.daemon
    account, other = account_name(), account_name()
    cluster = own_place.cluster(1, nodeSetup={"mountVolumes": mounts([share_of(account.upper(), "Data")], [box_of(account, "box")])})
    implicit = Accounts(d, IMPLICIT)
    assert implicit.get(account)["tags"] == {}
    wait_for(lambda: [s["name"] for s in implicit.shares(account)["value"]] == ["data"], 10, "the share")
    wait_for(lambda: [s["name"] for s in implicit.shares(account, "blobs")["value"]] == ["box"], 10, "the container")
    job = own_place.job(
        cluster,
        "echo hello > $AZ_BATCHAI_JOB_MOUNT_ROOT/more/file",
        mountVolumes=mounts([share_of(other, "more", at="more")]),
    ).succeeded()
    assert implicit.folder(other, "more").joinpath("file").read_text() == "hello\n"
    assert [s["name"] for s in implicit.shares(other)["value"]] == ["more"]
    assert len(set(implicit.keys(account) + implicit.keys(other))) == 4


def test_what_was_made_by_being_named_is_said(own_place):
    d = own_place.daemon
    account, other = account_name(), account_name()
    cluster = own_place.cluster(1, nodeSetup={"mountVolumes": mounts([share_of(account, "data")], [box_of(account, "box")])})
    why = f"made share data of account {account}, container box of account {account}, because cluster {cluster.name} names them"
    assert f'why="{why}"' in "\n".join(d.log())
    events = d.call("GET", "/batchaid/events", api_version=None).json["value"]
    assert [e["reason"] for e in events if e.get("kind") == "cluster" and "names them" in e.get("reason", "")] == [why]
    job = own_place.job(cluster, "true", mountVolumes=mounts([share_of(other, "more", at="more"), share_of(account, "data", at="d")]))
    job.succeed()
    story = d.tool("explain", job.name).stdout.splitlines()
    assert story[1].endswith(why) and story[3].endswith(f"made share more of account {other}, because job {job.name} names it")
    quiet = own_place.cluster(0, nodeSetup={"mountVolumes": mounts([share_of(account, "data")])})
    assert f"because cluster {quiet.name} names" not in "\n".join(d.log())


def test_a_size_that_nobody_knows_is_said(own_place):
    d = own_place.daemon
    cluster = own_place.cluster(1, vmSize="Standrd_NC6")
    job = own_place.job(cluster, "true").succeeded()
    said = f"cluster {cluster.name} is served by local nodes: no size is known by the name"
    assert said in d.tool("explain", job.name).stdout
    known = own_place.job(own_place.cluster(1, vmSize="Standard_NC6"), "true").succeeded()
    assert "no size is known" not in d.tool("explain", known.name).stdout


def test_who_creates_such_an_account_takes_it_over(place, temporary):
    d = place.daemon
    account = account_name()
    put_cluster(place, mounts([share_of(account, "data")]), 202)
    implicit, mine = Accounts(d, IMPLICIT), temporary(Accounts(d).make())
    wait_for(lambda: implicit.shares(account)["value"], 10, "the share")
    keys = implicit.keys(account)
    (implicit.folder(account, "data") / "file").write_text("kept")
    available = mine.call("POST", f"{mine.above}/checkNameAvailability", {"name": account, "type": "Microsoft.Storage/storageAccounts"})
    assert available.json["nameAvailable"] is True
    mine.wait(mine.put(account, account_body(location="westus", tags={"a": "b"})))
    implicit.get(account, expect=404)
    assert (mine.get(account)["location"], mine.get(account)["tags"]) == ("westus", {"a": "b"})
    assert mine.keys(account) == keys and [s["name"] for s in mine.shares(account)["value"]] == ["data"]
    assert (mine.folder(account, "data") / "file").read_text() == "kept"


def test_a_repeated_put_makes_nothing_again(place):
    account = account_name()
    _, path = put_cluster(place, mounts([share_of(account, "data")]), 202)
    implicit = Accounts(place.daemon, IMPLICIT)
    wait_for(lambda: implicit.shares(account)["value"], 10, "the share")
    implicit.share(account, "data", "DELETE", expect=200)
    place.daemon.call("PUT", path, cluster_body(0, nodeSetup={"mountVolumes": mounts([share_of(account, "data")])}), expect=200)
    assert implicit.shares(account)["value"] == []


def test_strict_makes_nothing(own_daemon):
    d = own_daemon(config={"storage": {"strict": True}})
    place = Place(d, fresh("strict"), "ws").make()
    mine = Accounts(d).make()
    account = account_name()
    reply, _ = put_cluster(place, mounts([share_of(account, "data")]), 400)
    assert f"az storage account create -n {account}" in reply.error["message"]
    mine.account(account)
    key = mine.keys(account)[1]
    reply, _ = put_cluster(place, mounts([share_of(account, "data", key)]), 400)
    assert f"az storage share create -n data --account-name {account}" in reply.error["message"]
    reply, _ = put_cluster(place, mounts(blobs=[box_of(account, "box", key)]), 400)
    assert f"az storage container create -n box --account-name {account}" in reply.error["message"]
    mine.share(account, "data")
    reply, _ = put_cluster(place, mounts([share_of(account, "data")]), 400)
    assert "accountKey is not a key" in reply.error["message"] and key not in reply.text
    _, path = put_cluster(place, mounts([share_of(account, "data", key)]), 202)
    place.experiment("exp")
    job = job_body(path, mountVolumes=mounts(blobs=[box_of(account, "box", key)]))
    d.call("PUT", place.job_at(fresh("job")).path, merge(job, {"properties": {"stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/data"}}), expect=400)
    assert [g["name"] for g in d.get(f"/subscriptions/{d.subscription}/resourcegroups")["value"] if g["name"] == IMPLICIT] == []


def test_folders_of_before_get_rows_at_the_start(own_daemon):
    d = own_daemon()
    folder = d.share("oldaccount", "olddata")
    (folder / "file").write_text("kept")
    d.stop()
    d.start()
    implicit = Accounts(d, IMPLICIT)
    wait_for(lambda: implicit.call("GET", "/oldaccount").status == 200 and implicit.shares("oldaccount")["value"], 10, "the row")
    assert [s["name"] for s in implicit.shares("oldaccount")["value"]] == ["olddata"]
    assert (folder / "file").read_text() == "kept"
    implicit.share("oldaccount", "olddata", "DELETE", expect=200)
    d.stop()
    d.start()
    assert implicit.shares("oldaccount")["value"] == []


@pytest.mark.parametrize("round", range(3))
def test_what_was_acknowledged_is_there_after_a_kill(own_daemon, round):
    """Rows and folders agree, and nothing is left half made or half deleted."""
    d = own_daemon()
    mine = Accounts(d).make()
    account = mine.account()
    names = [f"share{i:03}" for i in range(60)]
    made, gone = set(), set()

    def work(name):
        try:
            if mine.share(account, name).status == 201:
                made.add(name)
            if int(name[-1]) % 2 and mine.share(account, name, "DELETE", expect=200).status == 200:
                gone.add(name)
        except requests.RequestException:
            return  # killed

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for name in names:
            pool.submit(work, name)
        wait_for(lambda: len(made) > 10 + 10 * round, 30, "some of them", every=0.001)
        d.kill9()
    d.start()

    def settled():
        return d.rows("SELECT count(*) FROM share WHERE state IN (1, 3)") == [(0,)]

    wait_for(settled, 30, "all rows to be settled")
    listed = {s["name"] for s in mine.shares(account)["value"]}
    folders = {p.name for p in (d.state_dir / "storage" / account / "files").iterdir()}
    assert made - gone - {n for n in names if int(n[-1]) % 2} <= listed
    assert not gone & listed
    assert folders == listed


# --- with several people ------------------------------------------------------------------------------


@pytest.fixture
def two(daemon, temporary):
    """Two people with a group each, who may do anything there and nothing elsewhere."""
    places = [temporary(Place(daemon, fresh("lab"), "ws").make()) for _ in range(2)]
    return [(temporary(Person(daemon, CONTRIBUTOR, scope=place.group)), place) for place in places]


def mounts_as(person, place, volumes, expect):
    body = cluster_body(0, nodeSetup={"mountVolumes": volumes})
    return person.call("PUT", place.cluster_at(fresh("c")).path, body, expect=expect)


def test_nobody_mounts_what_is_anothers(daemon, two):
    (ada, adas), (bob, bobs) = two
    account, named = account_name(), account_name()
    mine = Accounts(daemon, adas.group)
    mine.account(account)
    mine.share(account, "data")
    right = mine.keys(account)[1]
    wrong = mounts_as(ada, adas, mounts([share_of(account, "data")]), 400)  # a key of an account that somebody made is checked
    assert f"az storage account keys list -n {account}" in wrong.error["message"]
    mounts_as(ada, adas, mounts([share_of(account, "data", mine.keys(account)[0])]), 202)
    reply = mounts_as(bob, bobs, mounts([share_of(account, "data")]), 400)
    assert "accountKey is not a key" in reply.error["message"]
    mounts_as(bob, bobs, mounts(blobs=[box_of(account, "box")]), 400)
    mounts_as(bob, bobs, mounts([share_of(account, "data", right)]), 202)
    mine.call("PATCH", f"/{account}", {"properties": {"allowSharedKeyAccess": False}}, expect=200)
    reply = mounts_as(bob, bobs, mounts([share_of(account, "data", right)]), 400)
    assert f"account {account} does not allow access with its keys (allowSharedKeyAccess)" in reply.error["message"]

    mounts_as(bob, bobs, mounts([share_of(named, "own")]), 202)
    mounts_as(bob, bobs, mounts([share_of(named, "own")]), 202)  # he has named it first
    mounts_as(ada, adas, mounts([share_of(named, "own")]), 400)
    mounts_as(daemon, adas, mounts([share_of(named, "own")]), 202)  # the first principal may anything


def test_nobody_takes_over_what_another_has_named(daemon, two):
    (ada, adas), (bob, bobs) = two
    named = account_name()
    mounts_as(bob, bobs, mounts([share_of(named, "own")]), 202)

    def create(person, place):
        path = f"{Accounts(daemon, place.group).path}/{named}"
        return person.call("PUT", path, account_body(), api_version="2022-09-01", validate=False)

    reply = create(ada, adas)
    assert (reply.status, reply.code) == (409, "StorageAccountAlreadyExists")
    assert create(bob, bobs).status == 202
    assert create(ada, adas).status == 409


SPARE = {"hosts": "spare.rack", "user": "nobody", "vm_sizes": ["SPARE"]}
RULE = {"match": "*/*", "type": "nfs", "source": "filer:/export/{account}/{share}"}


@pytest.mark.parametrize("rules", [[], [RULE]], ids=["the daemon serves it", "a rule mounts it"])
def test_machines_mount_what_is_anothers_only_with_its_key(own_daemon, rules):
    """Where no rule mounts it, machines reach the same folders as local nodes."""
    d = own_daemon(start=False, config={"inventory": [SPARE], "mounts": rules})
    d.tool("keygen")
    d.start()
    adas, bobs = Place(d, "adas", "ws").make(), Place(d, "bobs", "ws").make()
    bob = Person(d, CONTRIBUTOR, scope=bobs.group)
    account, unknown = account_name(), account_name()
    mine = Accounts(d, adas.group)
    mine.account(account)
    mine.share(account, "data")

    def put(volumes, expect):
        body = cluster_body(0, vmSize="SPARE", nodeSetup={"mountVolumes": volumes})
        return bob.call("PUT", bobs.cluster_at(fresh("c")).path, body, expect=expect)

    for wrong in (mounts([share_of(account, "data")]), mounts([share_of(account.upper(), "DATA")]), mounts(blobs=[box_of(account, "box")])):
        assert "accountKey is not a key" in put(wrong, 400).error["message"]
    put(mounts([share_of(account, "data", mine.keys(account)[0])]), 202)
    put(mounts([share_of(unknown, "data")]), 202)
    made = [a["name"] for a in Accounts(d, IMPLICIT).call("GET", "").json.get("value", [])]
    assert made == ([] if rules else [unknown])
