# SPDX-License-Identifier: MIT
"""Two machines with a cable between them and nothing else: network namespaces, each with a hosts file of its own.

    with cabled(folder) as (head, laptop):
        subprocess.run(laptop.enter("curl", ...))

They have no names outside, so any number may be there at once; a namespace ends with the process that holds it.
"""

import os
import shutil
import socket
import subprocess
from contextlib import contextmanager

from .waiting import PATIENCE

TOOLS = ("unshare", "nsenter", "ip", "mount")
HOLD = 'mount --bind "$0" /etc/hosts && ip link set lo up && echo ready && exec cat'


class NoMachines(Exception):
    """Why there can be none here."""


class Machine:
    def __init__(self, hosts):
        self.hosts = hosts
        hosts.write_text(f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {socket.gethostname()}\n")
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", HOLD, str(hosts)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self.holder.stdout.readline() != "ready\n":
            self.end()
            raise NoMachines(self.holder.stderr.read().strip())

    def enter(self, *argv):
        """The command line that runs a program there."""
        return ["nsenter", "-t", str(self.holder.pid), "--net", "--mount", *map(str, argv)]

    def ip(self, *argv):
        done = subprocess.run(self.enter("ip", *argv), capture_output=True, text=True)
        if done.returncode != 0:
            raise NoMachines(done.stderr.strip())

    def end(self):
        self.holder.stdin.close()
        self.holder.wait(20 * PATIENCE)
        self.holder.stdout.close()


@contextmanager
def cabled(folder, addresses=("10.0.0.5", "10.0.0.9")):
    if os.geteuid() != 0:
        raise NoMachines("namespaces need root")
    if missing := [t for t in TOOLS if not shutil.which(t)]:
        raise NoMachines(f"{missing[0]} is not installed")
    machines = []
    try:
        for address in addresses:
            machines.append(Machine(folder / f"hosts-{address}"))
        one, other = machines
        cable = ["type", "veth", "peer", "name", "cable", "netns", other.holder.pid]
        one.ip("link", "add", "name", "cable", *cable)
        for machine, address in zip(machines, addresses):
            machine.ip("address", "add", f"{address}/24", "dev", "cable")
            machine.ip("link", "set", "cable", "up")
        yield machines
    finally:
        for machine in machines:
            machine.end()
