# SPDX-License-Identifier: MIT
"""A rack of real machines for tests: each a set of namespaces with its own address, host name, boot
id, disks, accounts and sshd, plugged into one switch with the daemon's side (the namespaces that the
tests run in).

    with Rack(4, folder) as rack:
        rack[0].run("hostname").stdout
        rack[0].cut_link()

What a machine is made of: hold.sh (the rack), power.sh (a machine that has power), boot.sh (a boot).
A machine's disk is a tmpfs laid over the host's root file system. The rack's folder `common` is
/common on all machines, as a file server's export would be. All lives in namespaces below one first
process, which ends when this process does, however it ends: so nothing is left behind.
"""

import ipaddress
import json
import os
import random
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..daemon import ROOT, children
from ..waiting import PATIENCE, wait_for
from .commands import CommandFailed, command, make_key
from .disk import USER
from .machine import NODE_DISK, Machine

__all__ = ["NODE_DISK", "USER", "Machine", "NoRack", "Rack"]

HOLD = Path(__file__).parent / "hold.sh"
TOOLS = "unshare nsenter ip iptables pivot_root setsid mkfifo ssh ssh-keygen sudo".split()
NETWORKS = ipaddress.ip_network("10.213.0.0/16")


class NoRack(Exception):
    """Why there can be none here."""


class Rack:
    """`folder` is an empty directory that nobody else uses."""

    def __init__(self, size, folder):
        self.folder = Path(folder)
        self.common = self.folder / "common"
        self.identity = self.folder / "id_ed25519"  # the key that opens all machines
        self.hidden = ROOT  # machines get nothing of the checkout but what the daemon brings
        self.size = size
        self.machines = []
        self._check()
        self.common.mkdir()
        make_key(self.identity, keep=True)
        self._hold()
        try:
            self._plug_in()
            self.machines = [Machine(self, n) for n in range(1, size + 1)]
            self.each(Machine.install)
            self.each(Machine.start)
            self.renew_common()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _check():
        if os.geteuid() != 0:
            raise NoRack("making machines needs root")
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        missing += [] if Path("/usr/sbin/sshd").exists() else ["sshd"]
        if missing:
            raise NoRack(f"not installed: {', '.join(missing)}")

    # --- making it ------------------------------------------------------------------------------

    def _hold(self):
        argv = ["unshare", "--pid", "--mount", "--net", "--fork", "--kill-child", HOLD]
        pipe = subprocess.PIPE
        self._holder = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        if self._holder.stdout.readline() != "ready\n":
            self._end_holder()
            raise NoRack(f"no namespaces: {self._complaint}")
        (self.pid,) = children(self._holder.pid)

    def _plug_in(self):
        """A cable from here to the rack's switch, on a network that nobody uses."""
        for number in random.sample(range(256), 256):
            self.number, self.uplink = number, f"rack{number}"
            self.network = list(NETWORKS.subnets(new_prefix=24))[number]
            self.prefix6 = f"fd00:ba7c:{number:x}::"
            if not self._routed() and self._lay_cable():
                break
        else:
            raise NoRack(f"no network of {NETWORKS} is free")
        command("ip", "address", "add", f"{self.network[1]}/24", "dev", self.uplink)
        command("ip", "address", "add", f"{self.prefix6}1/64", "dev", self.uplink, "nodad")
        command("ip", "link", "set", self.uplink, "up")
        self.inside("ip", "link", "set", "uplink", "master", "switch", "up")

    def _routed(self):
        routes = json.loads(command("ip", "-json", "route", "show"))
        used = [ipaddress.ip_network(r["dst"]) for r in routes if r["dst"] != "default"]
        return any(self.network.overlaps(u) for u in used)

    def _lay_cable(self):
        """False: the name, and so the network, is another rack's."""
        try:
            command("ip", "link", "add", self.uplink, "type", "veth",
                    "peer", "name", "uplink", "netns", self.pid)  # fmt: skip
        except CommandFailed as e:
            if "exists" not in str(e):
                raise NoRack(str(e)) from e
            return False
        return True

    # --- what tests use -------------------------------------------------------------------------

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return len(self.machines)

    def __iter__(self):
        return iter(self.machines)

    def __getitem__(self, at):
        return self.machines[at]

    def at(self, address):
        """The machine that has this address or name."""
        return next(m for m in self.machines if address in (m.address, m.address6, m.name))

    def names(self):
        """(name, address) of every machine, as they are in /etc/hosts."""
        return [(f"m{n}", str(self.network[10 + n])) for n in range(1, self.size + 1)]

    def path(self, path):
        """A file of the rack's own mount namespace."""
        return Path(f"/proc/{self.pid}/root{path}")

    def enter(self, *argv):
        """The command line that runs a program in the rack's namespaces."""
        return ["nsenter", "-t", str(self.pid), "-m", "-n", "-p", *map(str, argv)]

    def inside(self, *argv):
        return command(*self.enter(*argv))

    def each(self, step):
        """step(machine) for all machines at once."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(step, self.machines))

    def renew(self):
        """All machines as new, running, disks empty; nothing on /common."""
        self.each(Machine.renew)
        self.renew_common()

    def renew_common(self):
        for entry in self.common.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        self.common.chmod(0o777)

    def close(self):
        self._end_holder()
        # The kernel takes network namespaces apart at its leisure.
        wait_for(lambda: not Path(f"/sys/class/net/{self.uplink}").exists(), 20, f"{self.uplink} to go")

    def _end_holder(self):
        self._holder.stdin.close()
        try:
            self._holder.wait(10 * PATIENCE)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()
        self._complaint = self._holder.stderr.read().strip()
        self._holder.stdout.close()
        self._holder.stderr.close()
        for machine in self.machines:
            machine.forget_power()
