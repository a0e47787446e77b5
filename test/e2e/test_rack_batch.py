# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch on machines whose agents are root: real accounts, and several machines to a task."""

import subprocess

from support.batch import BatchGround, V
from support.batch_jobs import Jobs, add_pool
from support.racked import VM_SIZE
from support.waiting import wait_for

ACCOUNTS = [
    {"name": "worker", "password": "pa55word-1", "elevationLevel": "nonadmin"},
    {"name": "chief", "password": "pa55word-2", "elevationLevel": "admin"},
]


class Work:
    """A pool of some machines, with one job."""

    def __init__(self, site, nodes, **more):
        self.ground = BatchGround(site.daemon)
        self.plane = self.ground.plane
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
        self.plane.call("DELETE", "/pools/machines", expect=202)
        wait_for(lambda: self.plane.call("GET", "/pools/machines").status == 404, 60, "the pool gone")
        self.ground.remove()


def named(name):
    return {"userIdentity": {"username": name}}


def auto(scope, elevation):
    return {"userIdentity": {"autoUser": {"scope": scope, "elevationLevel": elevation}}}


def test_user_accounts_of_a_pool_are_the_machines(racked):
    site = racked()
    work = Work(site, 1)
    writes = "/bin/sh -ec 'id -un; touch $AZ_BATCH_TASK_WORKING_DIR/file'"
    assert work.said(writes, **named("worker")) == ["worker"]
    assert work.said("/bin/sh -c 'sudo id -un'", **named("chief")) == ["chief"]
    own, pool = work.said("id -u", **auto("task", "nonadmin")), work.said("id -u", **auto("pool", "nonadmin"))
    assert own != pool and int(own[0]) > 65535 and int(pool[0]) > 65535
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
    newest.call("PATCH", "/pools/machines", {"userAccounts": mates}, expect=200)
    nodes = lambda: work.plane.all("/pools/machines/nodes")
    for node in nodes():
        newest.call("POST", f"/pools/machines/nodes/{node['id']}/reimage", expect=202)
    wait_for(lambda: "idle" not in [n["state"] for n in nodes()], what="machines that are made anew")
    wait_for(lambda: [n["state"] for n in nodes()] == ["idle"] * 2, 60, "machines that are ready")
    assert work.said("/bin/sh -c 'id -u; ls -A .ssh ~/.ssh 2>/dev/null | grep -c id_rsa || true'", **named("mate")) == ["23457", "0"]
    work.end()
    assert not "".join(groups())


def test_administrators_are_root_where_the_site_says_so(racked):
    site = racked(batch={"admin_is_root": True})
    work = Work(site, 1)
    assert work.said("/bin/sh -c 'sudo id -un'", **named("chief")) == ["root"]
    assert work.said("id -un", **named("worker")) == ["worker"]
    assert work.said("/bin/sh -c 'sudo -H id -un'", **auto("pool", "admin")) == ["root"]
    assert work.said("id -un", **auto("pool", "nonadmin")) != ["root"]
    work.end()


def test_a_task_on_several_machines(racked, rack):
    site = racked()
    work = Work(site, 3, enableInterNodeCommunication=True)
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
