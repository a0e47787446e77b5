# SPDX-License-Identifier: MIT
"""Seeds and resets that end in the middle, or beside others: nothing half is left."""

import base64
import json
import os
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.daemon import BATCHAID, processes_of
from support.ports import free_port
from support.refusals import refused
from support.seeds import ROLE_GUID, full, mounted, role, roles_at, stored, t, with_vaults  # noqa: F401 (a fixture among them)
from support.small_disk import LOG_THROUGH_PIPE
from support.sshd import Sshd
from support.testing import Clock, Testing
from support.waiting import wait_for
from support.world import Place, cluster_body, job_body

# --- what a seed and a reset leave ------------------------------------------------------------------


def folders(d):
    return sorted(p.name for p in (d.state_dir / "storage").iterdir() if p.name != ".deleted")


def subscriptions(d):
    return {s["subscriptionId"] for s in d.get("/subscriptions")["value"]}


def test_the_same_names_may_be_seeded_while_the_old_ones_go(tested, t):
    for i in range(5):
        t.seed(stored(containers={"box": {"blobs": {"f": f"life {i}"}}}, shares={"out": {"files": {"f": f"life {i}"}}}))
        if i < 4:
            t.reset(subscription=tested.subscription)
    wait_for(lambda: not [f for f in folders(tested) if "#" in f], what="the old folders to go")
    wait_for(lambda: not list((tested.state_dir / "storage" / ".deleted").iterdir()), what="what was in them to go")
    account = t.dump()["subscriptions"][tested.subscription]["groups"]["lab"]["storageAccounts"]["seednotes"]
    assert account["containers"]["box"]["blobs"] == {"f": "life 4"} and account["shares"]["out"]["files"] == {"f": "life 4"}


def test_a_daemon_killed_while_it_seeds_has_nothing_of_it(own_daemon):
    d = own_daemon(arguments=["--testing"])
    d.expect_log("testing.seed_unfinished")
    t = Testing(d)
    at = f"/subscriptions/{d.subscription}"
    seed = stored(containers={"box": {"blobs": {f"d{i // 100}/f{i}": "x" * 100 for i in range(30000)}}})
    seed["groups"]["past"] = with_vaults(d)["groups"]["past"]
    seed["roles"] = {ROLE_GUID: role()}
    seed["subscriptions"] = {str(uuid.uuid4()): {"groups": {"other": {"location": "eastus"}}}}
    before = subscriptions(d)

    def being_seeded():
        found = d.call("GET", f"{at}/resourceGroups/lab", validate=False)
        return found.status == 200 and found.json["properties"]["provisioningState"] != "Succeeded"

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: t.call("POST", "/seed", data=json.dumps(seed).encode()))
        wait_for(lambda: being_seeded() or asked.done(), what="the seed to be half there")
        d.kill9()
        assert asked.exception() is not None, asked.result()
    d.start()
    t = Testing(d)
    assert d.get(f"{at}/resourcegroups")["value"] == []
    assert roles_at(d, at) == {}
    assert subscriptions(d) == before
    assert t.dump() == {"subscriptions": {d.subscription: {}}}
    wait_for(lambda: folders(d) == [], what="the folders to go")
    t.seed(stored(containers={"box": {"blobs": {"f": "again"}}}))
    assert t.dump()["subscriptions"][d.subscription]["groups"]["lab"]["storageAccounts"]["seednotes"]["containers"]["box"]["blobs"] == {"f": "again"}
    d.restart()
    t = Testing(d)
    assert t.dump()["subscriptions"][d.subscription]["groups"]["lab"]["storageAccounts"]["seednotes"]["containers"]["box"]["blobs"] == {"f": "again"}


def test_a_disk_that_is_full_in_the_middle_leaves_nothing(small_disk, own_daemon):
    d = own_daemon(state_dir=small_disk, prefix=LOG_THROUGH_PIPE, arguments=["--testing"])
    d.expect_log(r"testing\.|db\.|storage|request|share\.")
    t = Testing(d)
    big = {"base64": base64.b64encode(b"\0" * (4 << 20)).decode()}
    seed = stored(containers={"box": {"blobs": {"1": big, "2": big, "3": big, "4": big}}})
    reply = t.call("POST", "/seed", data=json.dumps(seed).encode())
    assert reply.status == 500, reply
    assert d.get(f"/subscriptions/{d.subscription}/resourcegroups")["value"] == []
    wait_for(lambda: folders(d) == [], what="what was written to go")
    t.seed(stored(containers={"box": {"blobs": {"1": "small"}}}))


def test_a_seed_that_fails_in_its_folders_leaves_no_subscription_that_it_made(tested, t):
    before, guid = subscriptions(tested), str(uuid.uuid4())
    seed = {"subscriptions": {guid: stored(shares={"out": {"files": {"f": "text"}}, "NO_NAME": {}})}}
    t.seed(seed, expect=400)
    assert subscriptions(tested) == before
    t.seed({"subscriptions": {guid: stored(shares={"out": {"files": {"f": "text"}}})}})
    shown = tested.get(f"/subscriptions/{guid}")
    assert shown["displayName"] == guid and subscriptions(tested) == before | {guid}
    t.reset(subscription=guid)
    tested.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=204, validate=False)


def test_a_job_of_a_seed_begins_once_its_files_are_there(own_daemon):
    d = own_daemon(arguments=["--testing"])
    t = Testing(d)
    files = {f"d{i // 100}/f{i}": "x" for i in range(5000)} | {"zz/last": "x"}
    seed = stored(shares={"out": {"files": files}})
    at = "/subscriptions/{subscription}/resourceGroups/lab/providers/Microsoft.BatchAI/workspaces/ws/clusters/c"
    seed["groups"]["lab"]["workspaces"] = {
        "ws": {
            "location": "eastus",
            "clusters": {"c": mounted(cluster_body(1), "seednotes")},
            "experiments": {"e": {"jobs": {"j": job_body(at, "test -e $AZ_BATCHAI_MOUNT_ROOT/out/zz/last")}}},
        }
    }
    t.seed(seed)
    job = f"/subscriptions/{d.subscription}/resourceGroups/lab/providers/Microsoft.BatchAI/workspaces/ws/experiments/e/jobs/j"
    ended = wait_for(lambda: (j := d.get(job)["properties"])["executionState"] in ("succeeded", "failed") and j, what="the job to end")
    assert ended["executionInfo"]["exitCode"] == 0


def test_two_seeds_at_once_in_two_subscriptions(tested, t):
    ids = [str(uuid.uuid4()) for _ in range(2)]

    def one(i):
        seed = json.loads(json.dumps(full(tested, account=f"seedtwo{i}")))
        return Testing(tested).seed(seed, subscription=ids[i])

    with ThreadPoolExecutor(2) as pool:
        assert [r["resourceGroups"] for r in pool.map(one, range(2))] == [2, 2]
    for i in range(2):
        group = t.dump(subscription=ids[i])["groups"]["data"]
        assert group["storageAccounts"][f"seedtwo{i}"]["containers"]["box"]["blobs"]["a/b.txt"] == "text\n"


def test_a_seed_while_the_clock_stands(own_daemon):
    d = own_daemon(arguments=["--testing"])
    Clock(d).change(rate=0)
    t = Testing(d)
    t.seed(full(d))
    t.seed_again(t.dump())


def test_a_daemon_is_not_ready_before_its_seed_is_there(own_daemon, tmp_path):
    pipe = tmp_path / "seed.yaml"
    os.mkfifo(pipe)
    d = own_daemon(start=False, arguments=["--testing", "--seed", str(pipe)])
    d.port = free_port()

    def missing():
        unverified = ssl._create_unverified_context()
        try:
            with urllib.request.urlopen(f"https://localhost:{d.port}/batchaid/ready", context=unverified) as reply:
                return reply.status, json.load(reply)["missing"]
        except urllib.error.HTTPError as e:
            return e.code, json.load(e)["missing"]
        except OSError:
            return None  # it does not listen yet

    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(d.start)
        wait_for(lambda: missing() == (503, ["seed"]) or started.done(), what="a daemon without its seed")
        assert not started.done(), started.result()
        told = d.tool("wait", "--state-dir", str(d.state_dir), "--timeout", "1", check=False)
        assert told.returncode != 0 and "seed" in told.stderr
        pipe.write_text(json.dumps(stored()))
        started.result()
    assert missing() == (200, [])
    assert [g["name"] for g in d.get(f"/subscriptions/{d.subscription}/resourcegroups")["value"]] == ["lab"]


def test_a_signal_to_a_daemon_whose_seed_has_failed(tmp_path):
    pipe, port, log = tmp_path / "seed.yaml", free_port(), tmp_path / "log"
    os.mkfifo(pipe)
    command = [str(BATCHAID), "serve", "--ephemeral", "--testing", "--listen", f"localhost:{port}", "--seed", str(pipe)]
    with log.open("wb") as err:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err)
    try:
        wait_for(lambda: "api.listening" in log.read_text(), what="a daemon that listens")
        raw = socket.create_connection(("localhost", port), timeout=10)
        with ssl._create_unverified_context().wrap_socket(raw) as slow:  # a stopping daemon waits for its body
            slow.sendall(b"POST /adfs/oauth2/token HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
            assert b" 100 " in slow.recv(1000)
            pipe.write_text("wrong")
            wait_for(lambda: "daemon.not_seeded" in log.read_text(), what="the seed to fail")
            process.terminate()
            wait_for(lambda: "daemon.stopping" in log.read_text(), what="the signal to arrive")
        wait_for(lambda: process.poll() is not None, what=log.read_text)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1 and f"the seed {pipe} is not applied" in log.read_text(), log.read_text()


def test_machines_that_work_are_not_taken_unless_forced(own_daemon):
    if os.geteuid() != 0:
        pytest.skip("a share is bound into a machine's node as root")
    d = own_daemon(start=False, arguments=["--testing"])
    with Sshd(d.dir / "machine") as machine:
        rule = {"match": "*/*", "type": "bind", "source": f"{d.state_dir}/storage/{{account}}/files/{{share}}"}
        d.config = {"inventory": [machine.group(vm_sizes=["STANDARD_NC6"])], "mounts": [rule], "local": {"nodes": 0}}
        d.expect_log("pool.short_of_nodes")
        d.start()
        t, place = Testing(d), Place(d).make()
        place.share().chmod(0o777)
        admin = {"vmSize": "STANDARD_NC6", "userAccountSettings": {"adminUserName": f"t{uuid.uuid4().hex[:12]}"}}
        job = place.job(place.cluster(**admin), "sleep 1000.25").running()
        group = {"subscription": d.subscription, "resourceGroup": place.group}
        for scope in ({}, {"subscription": d.subscription}, group):
            refused(t.call("POST", "/reset", scope), 409, "Conflict", "force", words=["1 machines", place.group])
        assert job.state == "running"
        t.reset(**group, force=True)
        assert d.call("GET", place.group_path, validate=False).status == 404
        wait_for(lambda: not [c for c in processes_of(machine.dir).values() if "1000.25" in c], what="the job to end")
        place.make()
        place.job(place.cluster(**admin), "true").succeed()
        t.reset(force=True)
        wait_for(lambda: not [n for n in d.get("/batchaid/nodes")["value"] if n.get("cluster")], what="the machine to be free")
