# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch on machines whose agents are root: real accounts, and several machines to a task."""

import subprocess

import pytest
from support.batch import BatchGround, V
from support.batch_jobs import Jobs, add_pool, resize
from support.batch_store import Store
from support.racked import VM_SIZE
from support.waiting import wait_for

ACCOUNTS = [
    {"name": "worker", "password": "pa55word-1", "elevationLevel": "nonadmin"},
    {"name": "chief", "password": "pa55word-2", "elevationLevel": "admin"},
]


class Work:
    """A pool of some machines, with one job. `plane`: of an account that is there."""

    def __init__(self, site, nodes, plane=None, **more):
        self.ground = None if plane else BatchGround(site.daemon)
        self.plane = plane or self.ground.plane
        wanted = {"vmSize": VM_SIZE.lower(), "targetDedicatedNodes": nodes, "userAccounts": ACCOUNTS}
        add_pool(self.plane, "machines", **{**wanted, **more})
        self.jobs = Jobs(self.plane, "machines")
        self.job = self.jobs()

    def said(self, command, **more):
        task = self.job.add(command, **more)
        done = lambda: self.job.task(task)["state"] == "completed"
        wait_for(done, 60, f"{command} completed")
        info = self.job.task(task)["executionInfo"]
        assert info["result"] == "success", info
        out = f"{self.job.url}/tasks/{task}/files/stdout.txt"
        return self.plane.call("GET", out, expect=200).content.decode().split()

    def end(self):
        self.jobs.remove()
        self.plane.remove_pool("machines")
        if self.ground:
            self.ground.remove()


def named(name):
    return {"userIdentity": {"username": name}}


def auto(scope, elevation):
    return {"userIdentity": {"autoUser": {"scope": scope, "elevationLevel": elevation}}}


def test_user_accounts_of_a_pool_are_the_machines(racked):
    work = Work(racked(), 1)
    writes = "/bin/sh -ec 'id -un; touch $AZ_BATCH_TASK_WORKING_DIR/file'"
    assert work.said(writes, **named("worker")) == ["worker"]
    assert work.said("/bin/sh -c 'sudo id -un'", **named("chief")) == ["chief"]
    own, pool = work.said("id -u", **auto("task", "nonadmin")), work.said("id -u", **auto("pool", "nonadmin"))
    assert own != pool and int(own[0]) > 65535 and int(pool[0]) > 65535
    work.end()


def test_a_task_keeps_the_machine_that_it_ran_on(racked, rack):
    """For explain and for the record of use, when its node is gone, too."""
    site = racked()
    work = Work(site, 1)
    work.job.wait(work.job.add("/bin/true", id="t"))
    (node,) = work.plane.all("/pools/machines/nodes")
    name = f"{work.ground.accounts.group}/{work.ground.name}/{work.job.id}/t"
    on = f"began on {node['id']} (machine {rack.at(node['ipAddress']).address})"
    assert on in site.daemon.tool("explain", name).stdout
    resize(work.plane, "machines", 0)
    assert on in site.daemon.tool("explain", name).stdout
    (part,) = site.daemon.get(f"/batchaid/usage/{name}")["allocations"]
    assert on == f"began on {part['node']} (machine {part['machine']})"
    work.end()


def test_accounts_have_the_numbers_and_keys_that_they_were_given(racked, rack, tmp_path):
    """With its key a user account gets from one machine to the other by the machines' own ssh and sshd."""
    pair = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", pair], check=True)
    linux = {"uid": 23456, "gid": 34567, "sshPrivateKey": pair.read_text()}
    site = racked()
    mates = [{"name": "mate", "password": "pa55word-3", "linuxUserConfiguration": linux}, *ACCOUNTS]
    work = Work(site, 2, userAccounts=mates, enableInterNodeCommunication=True)
    assert work.said("/bin/sh -c 'id -u; id -g; id -un'", **named("mate")) == ["23456", "34567", "mate"]
    hosts = [n["ipAddress"] for n in work.plane.all("/pools/machines/nodes")]
    options = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o LogLevel=ERROR"
    each = " ".join(f"ssh {options} {host} id -u;" for host in hosts)
    assert work.said(f"/bin/sh -ec '{each}'", **named("mate")) == ["23456", "23456"]
    work.said(f"/bin/sh -c '! ssh {options} mate@{hosts[0]} true'", **named("worker"))
    groups = lambda: [m.run("getent group batchaid-34567", check=False).stdout for m in rack]
    assert "".join(groups())
    newest = work.plane.at(V["20.0"])
    mates[0]["linuxUserConfiguration"] = {"uid": 23457, "gid": 34567}
    resize(work.plane, "machines", 0)
    newest.call("PATCH", "/pools/machines", {"userAccounts": mates}, expect=200)
    resize(work.plane, "machines", 2)
    wait_for(lambda: [n["state"] for n in work.plane.all("/pools/machines/nodes")] == ["idle"] * 2, 60, "machines that are ready")
    assert work.said("/bin/sh -c 'id -u; ls -A .ssh ~/.ssh 2>/dev/null | grep -c id_rsa || true'", **named("mate")) == ["23457", "0"]
    work.end()
    assert not "".join(groups())


def test_administrators_are_root_where_the_site_says_so(racked):
    work = Work(racked(batch={"admin_is_root": True}), 1)
    assert work.said("/bin/sh -c 'sudo id -un'", **named("chief")) == ["root"]
    assert work.said("id -un", **named("worker")) == ["worker"]
    assert work.said("/bin/sh -c 'sudo -H id -un'", **auto("pool", "admin")) == ["root"]
    assert work.said("id -un", **auto("pool", "nonadmin")) != ["root"]
    work.end()


START = "cat in.txt; id -un; sudo id -un 2>/dev/null || echo nobody; echo $AZ_BATCH_NODE_ID; until [ -e ../../shared/end ]; do sleep 0.1; done"


@pytest.mark.parametrize("level", ["nonadmin", "admin"])
def test_a_start_task_with_files_goes_on_beside_tasks_and_begins_anew_after_a_restart(racked, level):
    site = racked(batch={"admin_is_root": True})
    store = Store(site.daemon)
    (store.folder / "in.txt").write_text("from a blob\n")
    start = {
        "commandLine": f"/bin/sh -c '{START}'",
        "resourceFiles": [{"httpUrl": store.blob_url("in.txt"), "filePath": "in.txt"}],
        "waitForSuccess": False,
        **auto("task", level),
    }
    work = Work(site, 1, store.plane, startTask=start)
    plane, url = store.plane, "/pools/machines/nodes"
    wait_for(lambda: [n["state"] for n in plane.all(url)] == ["idle"], 60, "the node is idle")
    name = plane.all(url)[0]["id"]
    read = lambda path: plane.call("GET", f"{url}/{name}/files/startup/{path}").content.decode()
    said = lambda: wait_for(lambda: len(read("stdout.txt").split("\n")) > 3 and read("stdout.txt"), 60, "what it says")
    first, who, admin, node = said().splitlines()[:4]
    assert (first, node) == ("from a blob", name) and (who == admin == "root") == (level == "admin")
    began = plane.get(f"{url}/{name}")["startTaskInfo"]["startTime"]
    assert work.said("/bin/sh -c 'cat $AZ_BATCH_NODE_STARTUP_DIR/wd/in.txt; id -un'", **auto("pool", "nonadmin"))[:3] == ["from", "a", "blob"]
    info = plane.get(f"{url}/{name}")["startTaskInfo"]
    assert info["state"] == "running" and info["startTime"] == began

    plane.call("POST", f"{url}/{name}/reboot", {"nodeRebootOption": "requeue"}, expect=202)
    again = lambda: plane.get(f"{url}/{name}").get("startTaskInfo", {}).get("startTime", began) > began
    wait_for(again, 60, "it begins anew")
    wait_for(lambda: [n["state"] for n in plane.all(url)] == ["idle"], 60, "the node is back")
    assert said().splitlines()[0] == "from a blob"
    assert work.said("/bin/sh -c 'touch $AZ_BATCH_NODE_SHARED_DIR/end; echo done'") == ["done"]
    wait_for(lambda: plane.get(f"{url}/{name}")["startTaskInfo"]["state"] == "completed", 60, "it ends")
    assert plane.get(f"{url}/{name}")["startTaskInfo"]["exitCode"] == 0
    work.end()
    store.batch.remove()


METRICS = ("CPUPercent", "MemoryBytes", "DiskBytes", "DiskReadOps", "NetworkInBytes")


def test_formulas_see_what_machines_do(racked, rack, temporary):
    """Of machines that are reached by SSH; what is asked of their agents is what is asked of local ones."""
    ground = temporary(BatchGround(racked().daemon))
    formula = "p = $CPUPercent.GetSamplePercent(TimeInterval_Minute); $TargetDedicatedNodes = 2"
    add_pool(ground.plane, "machines", vmSize=VM_SIZE.lower(), enableAutoScale=True, autoScaleFormula=formula)

    def evaluated(text):
        return ground.plane.call("POST", "/pools/machines/evaluateautoscale", {"autoScaleFormula": text}, expect=200).json

    wait_for(lambda: ";n=0" not in evaluated("n = $CPUPercent.Count()")["results"], 120, "a sample of the machines")
    run = evaluated("; ".join(f"x{m} = ${m}.GetSample(1)" for m in METRICS))
    assert "error" not in run, run
    values = {name[1:]: float(v.strip("[]")) for name, v in (w.split("=") for w in run["results"].split(";")) if name[0] == "x"}
    assert set(values) == set(METRICS) and 0 <= values["CPUPercent"] <= 100
    assert values["MemoryBytes"] > 1 << 20 and values["DiskBytes"] >= 0
    assert values["DiskBytes"] < 48 << 20, "of the disk that the node root is on"
    ground.plane.remove_pool("machines")


def test_a_task_on_several_machines(racked, rack):
    work = Work(racked(), 3, enableInterNodeCommunication=True)
    settings = {
        "numberOfInstances": 3,
        "coordinationCommandLine": "/bin/sh -c 'hostname > $AZ_BATCH_TASK_SHARED_DIR/name; sleep 1000 &'",
    }
    each = "ssh $h cat $AZ_BATCH_TASK_SHARED_DIR/name"
    main = f'for h in $(echo $AZ_BATCH_HOST_LIST | tr , " "); do {each}; done'
    names = work.said(f"/bin/sh -c '{main}'", multiInstanceSettings=settings)
    assert len(set(names)) == 3 and set(names) <= {m.name for m in rack}
    left = lambda: [m.name for m in rack if "sleep 1000" in m.run("ps -eo args").stdout]
    wait_for(lambda: left() == [], 30, "what coordination left is ended")
    work.end()
