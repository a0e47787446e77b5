# SPDX-License-Identifier: MIT
"""The machines of a site: our own paths beside the Azure API, and `batchaid nodes`, their client.
Replies are validated against docs/admin-api.json as all others are against the published spec."""

import json
import os
import pty
import re
import subprocess
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

import pytest
from support.daemon import BATCHAID
from support.ports import free_port
from support.waiting import wait_for
from support.world import Place, wait_flag

HEADINGS = "NAME STATE CLUSTER JOB VMSIZE SLOTS CPUS MEMORY FREE DISK GPUS USE RUNTIMES AGENT CONTACT REASON".split()


@pytest.fixture
def site(own_daemon):
    """A daemon with two machines that nobody has reached yet: no cluster asks for them."""
    port = free_port()
    hosts = f"127.0.0.[2-3]:{port}"
    group = {"hosts": hosts, "user": "nobody", "identity": "/dev/null", "vm_sizes": ["STANDARD_NC6"]}
    d = own_daemon(start=False, config={"inventory": [group]})
    key = d.dir / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    group["identity"] = str(key)
    d.machines = [f"127.0.0.{i}:{port}" for i in (2, 3)]
    return d.start()


def call(d, method, name="", verb="", body=None, **more):
    path = "/batchaid/nodes" + (f"/{quote(name, safe='')}" if name else "") + (f"/{verb}" if verb else "")
    return d.call(method, path, body, api_version=None, **more)


def table(text):
    """The rows of `batchaid nodes`, each by its headings. Columns begin where the headings do or, if
    aligned to the right, end there."""
    lines = text.splitlines()
    assert lines[0].split() == HEADINGS
    return [dict(zip(HEADINGS, re.split(r" {2,}", line.strip()))) for line in lines[1:]]


# --- over HTTPS ----------------------------------------------------------------------------------


def test_local_nodes_are_machines_too(place, shared_cluster, daemon):
    cluster = shared_cluster.properties
    listed = call(daemon, "GET", expect=200).json["value"]
    mine = [n for n in listed if n.get("cluster") and "shared" in n["cluster"]]
    assert len(mine) == cluster["currentNodeCount"] == 2
    for node in mine:
        assert node["local"] is True and node["drained"] is False
        assert node["state"] == "idle"
        seen = datetime.fromisoformat(node["lastContactTime"])
        assert timedelta(0) <= datetime.now(timezone.utc) - seen < timedelta(hours=2)
        facts = node["facts"]
        assert facts["cpus"] == len(os.sched_getaffinity(0)) and facts["memoryBytes"] > 0
        assert call(daemon, "GET", node["name"], expect=200).json["name"] == node["name"]


def test_machines_of_the_inventory_in_its_order(site):
    listed = call(site, "GET", expect=200).json["value"]
    assert [n["name"] for n in listed] == site.machines
    for node in listed:
        assert node["state"] == "unknown" and node["local"] is False
        assert node["vmSizes"] == ["STANDARD_NC6"] and node["vmPriority"] == "dedicated"
        assert "facts" not in node and "lastContactTime" not in node


def test_drain_and_undrain(site):
    name = site.machines[1]
    drained = call(site, "POST", name, "drain", {"reason": "fan broken"}, expect=200).json
    assert drained["drained"] is True and drained["reason"] == "fan broken"
    again = call(site, "POST", name, "drain", expect=200).json  # without a body, and twice
    assert again["drained"] is True
    site.restart()
    assert call(site, "GET", name, expect=200).json["drained"] is True, "it outlives the daemon"
    assert call(site, "GET", site.machines[0], expect=200).json["drained"] is False
    back = call(site, "POST", name, "undrain", expect=200).json
    assert back["drained"] is False and "reason" not in back
    call(site, "POST", name, "undrain", expect=200)


@pytest.mark.parametrize("verb", ["drain", "undrain", "reboot"])
def test_a_machine_that_nobody_knows(site, verb):
    for name in ("gpu7", "a/../b", "%2f", "[::1]:22"):
        error = call(site, "POST", name, verb, expect=404).error
        assert error["code"] == "MachineNotFound" and name in error["message"]
    assert call(site, "GET", "gpu7", expect=404).code == "MachineNotFound"


@pytest.mark.parametrize("verb", ["drain", "undrain", "reboot"])
def test_local_nodes_are_only_listed(daemon, shared_cluster, verb):
    (name, *_) = [n["name"] for n in call(daemon, "GET").json["value"] if n["local"]]
    error = call(daemon, "POST", name, verb, expect=400).error
    assert error["code"] == "FeatureNotSupported" and "local node" in error["message"]


def test_a_machine_without_a_link_cannot_be_restarted(site):
    error = call(site, "POST", site.machines[0], "reboot", expect=503).error
    site.expect_log("request.failed.*reboot")
    assert error["code"] == "ServiceUnavailable" and "ssh" in error["message"]


@pytest.mark.parametrize(
    "body, target, words",
    [
        ({"reason": 7}, "reason", ["reason is 7", "a string"]),
        ({"why": "x"}, "why", ["why", "reason"]),
        ({"reason": "x" * 501}, "reason", ["xxx", "at most 500 bytes"]),
    ],
)
def test_bad_reasons(site, body, target, words):
    error = call(site, "POST", site.machines[0], "drain", body, expect=400).error
    assert error["code"] == "InvalidParameter" and error["target"] == target
    assert all(w in error["message"] for w in words), error
    assert call(site, "GET", site.machines[0]).json["drained"] is False


def test_a_token_is_needed(site):
    for method, name, verb in (("GET", "", ""), ("POST", site.machines[0], "drain")):
        assert call(site, method, name, verb, token=None).status == 401
    assert call(site, "GET", site.machines[0]).json["drained"] is False


def test_other_methods(site):
    assert call(site, "DELETE", site.machines[0], expect=405).headers["Allow"] == "GET"


# --- the command line ----------------------------------------------------------------------------


def test_the_table_of_local_nodes(daemon, place, shared_cluster):
    rows = [r for r in table(daemon.tool("nodes").stdout) if "shared" in r["CLUSTER"]]
    assert len(rows) == 2
    for row in rows:
        assert row["STATE"] == "idle" and row["JOB"] == "-" and row["REASON"] == "-"
        assert row["CPUS"] == str(len(os.sched_getaffinity(0))) and row["MEMORY"][-1] in "MGT"
        assert re.fullmatch(r"\d+[smhd] ago", row["CONTACT"])
    alone = table(daemon.tool("nodes", rows[1]["NAME"]).stdout)
    assert [r["NAME"] for r in alone] == [rows[1]["NAME"]]


def test_a_node_at_work_shows_its_job(daemon, place, shared_cluster):
    marker, inside = place.flag("nodes-may-go-on")
    job = place.job(shared_cluster, wait_flag(inside), name="shown-in-nodes").running()
    wait_for(lambda: "shown-in-nodes" in daemon.tool("nodes").stdout, 20, "the job in the table")
    (row,) = [r for r in table(daemon.tool("nodes").stdout) if "shown-in-nodes" in r["JOB"]]
    assert row["STATE"] == "running"
    marker.touch()
    job.succeed()


def test_without_an_inventory_it_says_how_one_is_written(daemon, shared_cluster, own_daemon):
    done = daemon.tool("nodes")
    assert "these are local nodes" in done.stderr and "hosts: gpu[01-16].rack1" in done.stderr
    done = own_daemon().tool("nodes")
    assert done.stdout == "" and "no cluster has local nodes now" in done.stderr


def test_json_is_the_reply(daemon, shared_cluster, site):
    names = [n["name"] for n in json.loads(daemon.tool("nodes", "--json").stdout)["value"]]
    assert names == [n["name"] for n in call(daemon, "GET").json["value"]]
    done = site.tool("nodes", "--json", site.machines[1])
    assert json.loads(done.stdout) == {"value": [call(site, "GET", site.machines[1]).json]}
    assert done.stderr == ""


def test_drain_and_undrain_several(site):
    hosts = re.sub(r"\.2:", ".[2-3]:", site.machines[0])
    done = site.tool("nodes", "drain", hosts, "--reason", "new\x1b[31m rack")
    assert done.stdout.splitlines() == [f"{m}: drained; running jobs continue" for m in site.machines]
    rows = table(site.tool("nodes", "list").stdout)
    assert [r["STATE"] for r in rows] == ["unknown,drained"] * 2
    assert [r["REASON"] for r in rows] == ["new?[31m rack"] * 2
    assert [r["VMSIZE"] for r in rows] == ["STANDARD_NC6"] * 2 and rows[0]["CONTACT"] == "never"
    site.tool("nodes", "undrain", *site.machines)
    assert [r["STATE"] for r in table(site.tool("nodes").stdout)] == ["unknown"] * 2


def test_undrain_says_what_is_still_wrong_with_a_machine(site):
    name = site.machines[0]
    cluster = Place(site).make().cluster(nodes=2, steady=False, vmSize="STANDARD_NC6")  # so that it tries to reach them
    wait_for(lambda: call(site, "GET", name).json.get("reason"), what="a reason")
    site.expect_log("machine.trouble|node.trouble|machine.silent|link|node.unusable")  # after a second without an answer
    site.tool("nodes", "drain", name)
    said = site.tool("nodes", "undrain", name).stdout.splitlines()
    assert said[0] == f"{name}: in use again" and "connection refused" in said[1] and f"nodes check {name}" in said[2]
    cluster.delete()


def test_one_machine_that_refuses_does_not_keep_the_others(site):
    done = site.tool("nodes", "drain", "gpu7", site.machines[0], check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{site.machines[0]}: drained")
    assert done.stderr.startswith("batchaid: gpu7: There is no machine gpu7")


def test_a_list_of_unknown_machines_names_those_there_are(site):
    done = site.tool("nodes", "gpu7", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"there is no machine 'gpu7'; there are {', '.join(site.machines)}" in done.stderr


def test_a_command_that_is_none_is_told_of_those_there_are(site):
    done = site.tool("nodes", "drian", site.machines[0], check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no command 'nodes drian' (there are list, check, drain, undrain, reboot" in done.stderr
    assert "there is no machine 'drian'" in done.stderr
    assert "command" not in site.tool("nodes", site.machines[0], "drain", check=False).stderr


def test_a_terminal_is_not_overrun(site):
    reason = "a reason that is far too long to be shown in so narrow a window as this one is"
    site.tool("nodes", "drain", site.machines[0], "--reason", reason)
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", "140"], stdin=theirs, check=True)
    command = [BATCHAID, "nodes", "--state-dir", site.state_dir]
    subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, check=True, env={"TERM": "dumb"})
    os.close(theirs)
    seen = os.read(ours, 65536).decode().splitlines()
    os.close(ours)
    assert max(len(line) for line in seen) == 140
    assert any(line.endswith("...") for line in seen)
    assert reason in site.tool("nodes").stdout, "elsewhere nothing is cut"


def test_the_daemon_is_told_from_another_in_its_place(site, tmp_path):
    """A certificate that the state directory's own authority has not signed is not trusted."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=other", "-days", "1"]
        + ["-keyout", tmp_path / "key", "-out", tmp_path / "ca.pem"],
        check=True,
        capture_output=True,
    )
    ca = site.state_dir / "ca.pem"
    ours = ca.read_text()
    ca.write_text((tmp_path / "ca.pem").read_text())
    done = site.tool("nodes", check=False)
    ca.write_text(ours)
    assert done.returncode == 1 and "does not answer" in done.stderr and "certificate" in done.stderr
