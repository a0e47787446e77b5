# SPDX-License-Identifier: MIT
"""A share without a rule, mounted on a real machine from the daemon, beside sshfs by hand from an sshd of the daemon's
machine: the same programs, without keys that are confined."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from support.ports import free_port
from support.rack import NoRack, Rack
from support.racked import NODE_ROOT, Site, group
from support.waiting import wait_for

from .figures import Figure
from .fleet import SSHD
from .size import size

MB, ROUNDS = size(128, 4), size(5, 2)
RATIO = 0.9
OUT, HAND = f"{NODE_ROOT}/mounts/out", "/mnt/hand"


class ByHand:
    """An sshd on this machine for the rack, and a mount of a folder on the machine."""

    def __init__(self, rack, folder):
        self.rack, self.folder, self.port = rack, folder / "hand", free_port()
        self.folder.mkdir()
        self.config = folder / "sshd_config"
        key = folder / "host_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        lines = [f"Port {self.port}", f"HostKey {key}", f"AuthorizedKeysFile {rack.identity}.pub", "PidFile none",
                 "StrictModes no", "UsePAM no", "PermitRootLogin yes", "LogLevel ERROR", "Compression no",
                 "Subsystem sftp /usr/lib/openssh/sftp-server"]  # fmt: skip
        self.config.write_text("\n".join(lines) + "\n")

    def __enter__(self):
        Path("/run/sshd").mkdir(exist_ok=True)
        self.sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", self.config], stderr=subprocess.DEVNULL)
        machine = self.rack[0]
        key = "/root/hand_key"
        machine.path(key).write_bytes(Path(self.rack.identity).read_bytes())
        machine.path(key).chmod(0o600)
        options = f"IdentityFile={key},StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,Port={self.port},LogLevel=ERROR"
        mount = f"mkdir -p {HAND} && sshfs -F /dev/null -o {options},allow_other root@{self.rack.network[1]}:{self.folder} {HAND}"
        wait_for(lambda: machine.run(mount, check=False).returncode == 0, 20, "sshfs by hand")
        return self

    def __exit__(self, *_):
        self.rack[0].run(f"umount -l {HAND}", check=False)
        self.sshd.terminate()
        self.sshd.wait()


def rate(machine, command):
    """MB/s; the start of a shell on the machine is in the time of both."""
    start = time.monotonic()
    machine.run(command)
    return MB / (time.monotonic() - start)


def measure_in(rack, folder):
    site = Site(rack, [group(rack, rack)], mounts=[], shares={"port": free_port()})
    times = {(where, what): [] for where in ("share", "hand") for what in ("write", "read")}
    try:
        site.begin()
        cluster = site.cluster(nodes=1)
        with ByHand(rack, folder) as hand:
            places = {"share": (OUT, site.share()), "hand": (HAND, hand.folder)}
            for number in range(ROUNDS):
                for where, (there, here) in places.items():
                    (here / f"in-{number}").write_bytes(os.urandom(1 << 20) * MB)
                    writes = f"dd if=/dev/zero of={there}/out-{number} bs=1M count={MB} conv=fsync"
                    times[where, "write"].append(rate(rack[0], writes))
                    times[where, "read"].append(rate(rack[0], f"dd if={there}/in-{number} of=/dev/null bs=1M"))
                    (here / f"in-{number}").unlink()
                    (here / f"out-{number}").unlink()
        cluster.resize(0)
    finally:
        site.daemon.close()
    return times


def measure():
    folder = Path(tempfile.mkdtemp(prefix="batchaid-shares-"))
    try:
        (folder / "rack").mkdir()
        with Rack(1, folder / "rack") as rack:
            times = measure_in(rack, folder)
    except NoRack as e:
        return [Figure(f"shares without a rule: not measured, {e}", "MB/s", [0])]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = []
    for what in ("write", "read"):
        hand = times["hand", what]
        aim = RATIO * sorted(hand)[len(hand) // 2]
        figures.append(Figure(f"{what} {MB} MB over a share without a rule", "MB/s", times["share", what], aim,
                              more_is_better=True, against={"sshfs by hand": hand}))  # fmt: skip
    return figures
