# SPDX-License-Identifier: MIT
"""`batchaid nodes` for people who look after the machines."""

import json
import re
import subprocess

from support.daemon import BATCHAID
from support.racked import NODE_ROOT, VM_SIZE, group
from support.waiting import wait_for
from support.world import MOUNT, wait_flag


def check(site, *names):
    """(exit code, what `nodes check` says of each machine)"""
    done = site.daemon.tool("nodes", "check", "--json", *names, check=False)
    assert done.stdout, done.stderr
    return done.returncode, {told["name"]: told for told in json.loads(done.stdout)["value"]}


def test_nodes_tells_what_each_machine_is_and_does(site, rack):
    assert {told["state"] for told in site.nodes().values()} == {"unknown"}
    cluster = site.cluster(nodes=2)
    flag, path = site.flag("go")
    job = site.job(cluster, wait_flag(path), name="busy").running()
    (on,) = site.machines_of(job)
    told = site.node_of(on)
    assert told["state"] == "running" and told["job"].endswith("busy") and told["vmSizes"] == [VM_SIZE]
    facts = told["facts"]
    assert facts["hostname"] == on.name and facts["isRoot"] is True
    assert facts["cpus"] == int(on.run("nproc").stdout)
    kib = int(re.search(r"MemTotal: +(\d+)", on.path("/proc/meminfo").read_text())[1])
    assert facts["memoryBytes"] == kib * 1024
    assert 0 < facts["diskFreeBytes"] <= 48 << 20, "of the disk that its node root is on"
    table = site.daemon.tool("nodes").stdout
    (line,) = [line for line in table.splitlines() if line.startswith(on.address)]
    assert "running" in line and "busy" in line
    flag.touch()
    job.succeed()


def test_check_finds_nothing_wrong_with_good_machines_and_leaves_nothing_there(site, rack):
    code, told = check(site)
    assert code == 0 and set(told) == {m.address for m in rack}
    for machine in rack:
        checks = told[machine.address]["checks"]
        assert told[machine.address]["usable"] and told[machine.address]["problems"] == []
        good = ("tcp", "hostKey", "login", "become", "shell", "agent", "disk", "clock")
        assert all(checks[item] for item in good), checks
        assert abs(told[machine.address]["clockSkewMilliseconds"]) < 1000
        assert not machine.path(NODE_ROOT).exists() or not machine.run(f"find {NODE_ROOT} -type f").stdout


def test_check_tells_what_is_wrong_with_each_machine_and_what_to_do(racked, rack):
    site = racked([group(rack, hosts=[*[m.address for m in rack], "nowhere.invalid"])])
    mute, no_sudo, wrong_key, changed = rack
    site.cluster(nodes=4).delete()  # host keys are recorded when they are first seen by the daemon
    before = changed.fingerprint()
    mute.mute_sshd()
    no_sudo.allow_sudo(False)
    wrong_key.authorize("")
    changed.change_host_key()
    code, told = check(site)
    assert code == 1 and not any(t["usable"] for t in told.values())
    wanted = {
        mute.address: "answer|handshake",
        no_sudo.address: "sudo",
        wrong_key.address: "authorized_keys|key",
        changed.address: f"{re.escape(before)}.*{re.escape(changed.fingerprint())}",
        "nowhere.invalid": "name|resolve|look",
    }
    for name, pattern in wanted.items():
        text = "\n".join(told[name]["problems"])
        assert re.search(pattern, text, re.I | re.S), f"{name}: {text}"
    text = site.daemon.tool("nodes", "check", mute.address, check=False).stdout
    assert mute.address in text and no_sudo.address not in text


def test_check_needs_no_daemon(site, rack):
    site.daemon.stop()
    argv = ["nodes", "check", "--config", str(site.daemon.dir / "batchaid.yaml"), rack[0].address]
    assert site.daemon.tool(*argv).returncode == 0
    site.daemon.start()


def test_a_drained_machine_finishes_its_job_and_gets_nothing_new(site, rack):
    cluster = site.cluster(nodes=2)
    flag, path = site.flag("go")
    job = site.job(cluster, wait_flag(path), name="old").running()
    (drained,) = site.machines_of(job)
    (other,) = set(site.machines_of(cluster)) - {drained}
    site.daemon.tool("nodes", "drain", drained.address, "--reason", "fan broken")
    told = site.node_of(drained)
    assert told["drained"] and told["reason"] == "fan broken" and job.state == "running"
    flag.touch()
    job.succeed()
    for name in "one", "two":
        site.job(cluster, f"hostname >>{MOUNT}/ran", name=name).succeed()
    assert (site.share() / "ran").read_text().split() == [other.name] * 2
    (told,) = json.loads(site.daemon.tool("nodes", "undrain", "--json", drained.address).stdout)["value"]
    assert (told["name"], told["drained"]) == (drained.address, False)
    site.job(cluster, "true", nodes=2).succeed()


def test_a_reload_takes_a_machine_away_after_its_job_and_adds_another(racked, rack):
    site = racked([group(rack, rack[:1])])
    cluster = site.cluster(nodes=1)
    flag, path = site.flag("go")
    job = site.job(cluster, wait_flag(path), name="old").running()
    site.daemon.config["inventory"] = [group(rack, rack[1:2])]
    site.daemon.write_config()
    said = site.daemon.tool("reload").stdout
    assert f"added: {rack[1].address}\n" in said and f"removed: {rack[0].address} (" in said
    waiting = site.job(cluster, f"hostname >>{MOUNT}/ran", name="new")
    told = site.wait_node(rack[0], reason=re.compile("not in the inventory any more"))
    assert told["job"] == "old" and job.state == "running"
    flag.touch()
    job.succeed()
    waiting.succeed()
    assert (site.share() / "ran").read_text().split() == [rack[1].name]
    wait_for(lambda: list(site.nodes()) == [rack[1].address], 30, site.nodes)


def test_a_drained_free_machine_is_not_claimed(site, rack):
    site.daemon.tool("nodes", "drain", rack[0].address, "--reason", "fan broken")
    cluster = site.cluster(nodes=4, steady=False)
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 3, 30, lambda: json.dumps(cluster.properties))
    assert "drained" in json.dumps(cluster.properties["errors"])
    site.daemon.tool("nodes", "undrain", rack[0].address)
    cluster.wait_steady(4)


def test_a_machine_whose_health_command_fails_is_drained_with_what_it_said(racked, rack):
    health = "if [ -e /etc/broken ]; then echo the fan is broken >&2; exit 1; fi"
    site = racked([group(rack, rack[:2], health_command=health, health_interval_s=1)])
    cluster = site.cluster(nodes=2)
    rack[0].run("touch /etc/broken")
    assert "the fan is broken" in site.wait_node(rack[0], drained=True)["reason"]
    for name in "one", "two":
        site.job(cluster, f"hostname >>{MOUNT}/ran", name=name).succeed()
    assert (site.share() / "ran").read_text().split() == [rack[1].name] * 2


def test_a_nearly_full_disk_is_reported(racked, rack):
    site = racked([group(rack, rack[:1])], machines={"min_free_disk_mb": 10})
    cluster = site.cluster(nodes=1)
    rack[0].fill_disk()
    told = site.wait_node(rack[0], reason=re.compile("disk|space", re.I))
    assert str(NODE_ROOT) in told["reason"] or "MiB" in told["reason"], told["reason"]
    rack[0].free_disk()
    site.wait_node(rack[0], reason=None)
    cluster.wait_steady(1)


def test_jobs_wait_for_a_machine_whose_disk_is_full_and_what_runs_there_goes_on(racked, rack):
    site = racked([group(rack, rack[:1])], machines={"min_free_disk_mb": 10})
    cluster = site.cluster(nodes=1)
    flag, path = site.flag("go")
    old = site.job(cluster, wait_flag(path), name="old").running()
    rack[0].fill_disk()
    site.wait_node(rack[0], reason=re.compile("nearly full|No space left"))
    waiting = [site.job(cluster, "true", name=name) for name in ("one", "two")]
    assert old.state == "running" and "NodeDiskUnusable" in json.dumps(cluster.properties["errors"])
    flag.touch()
    old.succeed()
    told = site.wait_node(rack[0], state="unusable")
    assert "nearly full" in told["reason"] or "No space left" in told["reason"]
    assert [job.state for job in waiting] == ["queued", "queued"]
    explained = site.daemon.tool("explain", "one").stdout
    assert "without room on the disk" in explained or "nearly full" in explained, explained
    rack[0].free_disk()
    for job in waiting:
        job.succeed()
    cluster.wait_steady(1)
    assert not cluster.properties.get("errors")


def test_explain_names_the_machine_what_a_job_said_last_and_where_its_output_is(site, rack):
    cluster = site.cluster(nodes=1)
    site.job(cluster, "echo the disk is on fire >&2; exit 3", name="bad").wait("failed")
    (on,) = site.machines_of(cluster)
    story = site.daemon.tool("explain", "bad").stdout
    assert f"(machine {on.address})" in story and "stderr: the disk is on fire" in story
    assert "its output is below $AZ_BATCHAI_MOUNT_ROOT" in story, story
    cluster.resized(0)
    assert f"(machine {on.address})" in site.daemon.tool("explain", "bad").stdout  # also when the node is gone


def test_a_machine_whose_node_root_has_become_read_only_gets_no_job_until_it_is_mended(racked, rack):
    site = racked([group(rack, rack[:1])])
    cluster = site.cluster(nodes=1)
    rack[0].run(f"mount -t tmpfs -o ro none {NODE_ROOT}")
    told = site.wait_node(rack[0], state="unusable")
    assert f"nothing can be written to {NODE_ROOT}: Read-only file system" in told["reason"]
    job = site.job(cluster, "true")
    rack[0].run(f"umount {NODE_ROOT}")
    job.succeed()


def test_an_unknown_machine_is_told_with_those_that_there_are(site, rack):
    done = site.daemon.tool("nodes", "drain", "gpu99", check=False)
    assert done.returncode != 0 and "gpu99" in done.stderr and "Traceback" not in done.stderr


def test_keygen_makes_an_identity_that_opens_machines(racked, rack, tmp_path):
    machine = rack[0]
    identity = tmp_path / "id_ed25519"
    made = subprocess.run([BATCHAID, "keygen", identity], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"ssh-ed25519 \S+ \S+\n", made.stdout)
    machine.authorize(made.stdout)
    racked([group(rack, [machine], identity=str(identity))]).cluster(nodes=1)
