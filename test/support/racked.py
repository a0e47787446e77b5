# SPDX-License-Identifier: MIT
"""Daemons whose nodes are the machines of a rack.

Storage accounts of the daemon are below /common on the machines, and a rule binds each share to its
place, as a file server's export would be mounted. Faults are noticed within seconds.
"""

import json
import re

from .daemon import Daemon
from .rack import NODE_DISK, USER
from .waiting import wait_for
from .world import Place

VM_SIZE = "STANDARD_NC6"
NODE_ROOT = f"{NODE_DISK}/tasks/LS_root"
# Of records, claims and job directories that are forgotten some stay, as the room of the next.
OWN = ("agent.lock", "incarnation", "epoch", "accounts/.group", "accounts/.spare", "accounts/.job/hostfile",
       *(f"tasks/={kind}{n or ''}" for kind in ("start", "exit", "claim") for n in range(16)))  # fmt: skip
AGENTS_OWN = {f"{NODE_ROOT}/{name}" for name in OWN}
SECTIONS = {
    "ssh": {"connect_timeout_s": 2, "keepalive_s": 1, "dead_after_s": 2},
    "machines": {"unusable_after_s": 4, "health_interval_s": 1, "min_free_disk_mb": 1},
    "local": {"nodes": 0},
}


def group(rack, machines=(), **more):
    """An entry of the inventory; a setting that is None is left out."""
    entry = {
        "hosts": [m.address for m in machines],
        "user": USER,
        "identity": str(rack.identity),
        "vm_sizes": [VM_SIZE],
        "become": "sudo",
        "node_root": NODE_ROOT,
        **more,
    }
    return {key: value for key, value in entry.items() if value is not None}


def config(rack, inventory, common, **sections):
    rule = {"match": "*/*", "type": "bind", "source": f"/common/{common}/{{account}}/files/{{share}}"}
    merged = {name: {**settings, **sections.pop(name, {})} for name, settings in SECTIONS.items()}
    return {"inventory": inventory, "mounts": [rule], **merged, **sections}


class Site(Place):
    """A workspace on such a daemon, and what people who run the machines do there."""

    def __init__(self, rack, inventory, **sections):
        super().__init__(Daemon())
        self.rack = rack
        common = self.daemon.dir.name
        self.daemon.config = config(rack, inventory, common, **sections)
        storage = rack.common / common
        storage.mkdir()
        self.daemon.state_dir.mkdir(mode=0o700)
        (self.daemon.state_dir / "storage").symlink_to(storage)
        # What happens to machines is told in the log; these tests are about what else is told.
        self.daemon.expect_log(r"node|machine|link|task|job|cluster|ssh")

    def know_names(self):
        """The daemon, and it alone, looks names of machines up in a file of its own."""
        hosts = self.daemon.dir / "hosts"
        lines = [f"{address} {name}" for name, address in self.rack.names()]
        hosts.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        script = 'mount --bind "$0" /etc/hosts && exec "$@"'
        self.daemon.prefix = ["unshare", "--mount", "sh", "-c", script, str(hosts)]

    def begin(self):
        self.daemon.start()
        return self.make()

    def cluster(self, nodes=1, name=None, steady=True, **properties):
        self.share()
        return super().cluster(nodes, name, steady, **{"vmSize": VM_SIZE, **properties})

    def share(self, *names):
        """A folder that jobs may write to, whoever they run as."""
        path = super().share(*names)
        path.chmod(0o777)
        return path

    # --- machines -------------------------------------------------------------------------------

    def nodes(self):
        """What `batchaid nodes` tells of each machine, by its name."""
        return {m["name"]: m for m in json.loads(self.daemon.tool("nodes", "--json").stdout)["value"]}

    def node_of(self, machine):
        return self.nodes()[machine.address]

    def wait_node(self, machine, limit=30, **wanted):
        """Until `batchaid nodes` tells these things of it (a compiled pattern: what matches)."""

        def there():
            told = self.node_of(machine)
            return told if all(fits(told.get(key), value) for key, value in wanted.items()) else None

        def fits(told, value):
            return bool(value.search(told or "")) if isinstance(value, re.Pattern) else told == value

        return wait_for(
            there, limit, lambda: f"{machine.name} {wanted}, but {self.node_of(machine)}", every=0.05
        )

    def machines_of(self, resource):
        """The machines of a cluster's or job's nodes, in the order that the service tells them."""
        return [self.rack.at(login["ipAddress"]) for login in logins(resource)]


def logins(resource):
    return resource.call("POST", "/listRemoteLoginInformation", expect=200).json["value"]


def repair(machine):
    """Undoes what a test did to it, so that a daemon can clean up there."""
    if not machine.on:
        machine.start()
    machine.restore_link()
    machine.free_disk()
    machine.allow_sudo(True)
    machine.authorize(machine.rack.identity.with_suffix(".pub").read_text())
    if machine.sshd_listens():
        machine.unmute_sshd()
    else:
        machine.start_sshd()


def leavings(machine, accounts):
    """What a machine that was given back still has of its cluster."""
    left = [f"process {line}" for line in machine.processes(rf"batchai|{re.escape(NODE_ROOT)}").values()]
    left += [f"mount {point}" for point in machine.mounts()]
    left += [f"account {name}" for name in machine.accounts() - accounts]
    files = machine.run(f"find {NODE_DISK} -type f").stdout.split()
    left += [f"file {path}" for path in files if path not in AGENTS_OWN]
    return [f"{machine.name}: {what}" for what in left]
