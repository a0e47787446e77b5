# SPDX-License-Identifier: MIT
"""A fleet: as many machines as loopback addresses, all of them this one. Each has a home and a node
root of its own; behind all of them are a few sshds that the bench starts, without root's rights."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from support.waiting import wait_for

SSHD = "/usr/sbin/sshd"
# Where the machines' files are, unless FLEET_DIR says otherwise: memory, as a hundred machines do not
# share one disk. Not below the build, whose folders may be closed to other accounts.
DISK = "/dev/shm"
# sshd listens on 16 addresses at most.
ADDRESSES_PER_SSHD = 15
# Below the range that the kernel takes for outgoing connections.
PORTS = range(10000, 32000)
# What libssh2 speaks. OpenSSH's own choice costs both ends three times the processor time.
KEX = "curve25519-sha256"
FANOUT = 64  # the default of ssh.connect_limit
NOBODY = "nobody"
# The packages of which the machines have the programs. No docker and no podman: each would look for
# leftovers with it, all of them on this machine's cores.
PACKAGES = ("bash", "coreutils", "dash", "findutils", "grep", "hostname", "mount", "sed", "util-linux")


def quiet(*argv, **more):
    subprocess.run(list(map(str, argv)), stdin=subprocess.DEVNULL, check=True, **more)


def free_port(addresses):
    """A port that nobody has on any of these addresses."""
    for port in PORTS[time.monotonic_ns() // 1000 % len(PORTS) :]:
        try:
            for address in addresses:
                with socket.socket() as s:
                    s.bind((address, port))
            return port
        except OSError:
            continue
    raise AssertionError(f"no free port in {PORTS}")


class Account:
    """Whom the sshds run as and let in: whoever runs the bench; nobody instead of root, as agents of
    root would make accounts and mounts on this machine."""

    def __init__(self, folder):
        self.is_other = os.geteuid() == 0
        self.name = NOBODY if self.is_other else pwd.getpwuid(os.geteuid()).pw_name
        self.folder = folder

    def own(self, path):
        """Makes `path` the account's."""
        if self.is_other:
            shutil.chown(path, NOBODY, pwd.getpwnam(NOBODY).pw_gid)

    def prefix(self):
        """What starts a program as this account, to end with the bench however that ends. nobody's
        shell lets nobody in: another is made up."""
        if not self.is_other:
            return ["setpriv", "--pdeathsig", "TERM"]
        who, accounts = pwd.getpwnam(NOBODY), self.folder / "passwd"
        line = f"{NOBODY}:*:{who.pw_uid}:{who.pw_gid}::{self.folder}:/bin/bash\n"
        accounts.write_text(line + Path("/etc/passwd").read_text())
        names = [f"NSS_WRAPPER_PASSWD={accounts}", "NSS_WRAPPER_GROUP=/etc/group"]
        drop = [f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
        return ["setpriv", "--pdeathsig", "TERM", *drop, "env", "LD_PRELOAD=libnss_wrapper.so", *names]


class Fleet:
    def __init__(self, count):
        groups = range(0, count, ADDRESSES_PER_SSHD)
        self.groups = [
            [f"127.9.{g // ADDRESSES_PER_SSHD}.{i + 1}" for i in range(min(ADDRESSES_PER_SSHD, count - g))]
            for g in groups
        ]
        self.hosts = [host for group in self.groups for host in group]
        self.dir = Path(tempfile.mkdtemp(prefix="batchaid-fleet-", dir=os.environ.get("FLEET_DIR", DISK)))
        self.account = Account(self.dir)
        self.identity, self.client = self.dir / "id_ed25519", self.dir / "ssh_config"
        self.share = self.dir / "share"
        self.port = free_port(self.hosts)
        self.sshds = []

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self):
        try:
            return self._start()
        except BaseException:
            self.__exit__()
            raise

    def _start(self):
        self.dir.chmod(0o755)
        for folder in (self.share, self.dir / "homes"):
            folder.mkdir()
            self.account.own(folder)
        for key in (self.identity, self.dir / "host_key"):
            quiet("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bench", "-f", key)
        self.account.own(self.dir / "host_key")
        self._write_client()
        self._link_programs()
        self.empty_homes()
        prefix = self.account.prefix()
        for number, group in enumerate(self.groups):
            self.sshds.append(self._start_sshd(prefix, number, group))
        for group in self.groups:
            wait_for(lambda group=group: self._answers(group[-1]), what=self._log)
        return self

    def __exit__(self, *why):
        for sshd in self.sshds:
            sshd.send_signal(signal.SIGTERM)
        for sshd in self.sshds:
            sshd.wait()
        # Sessions and agents end with their connections.
        wait_for(lambda: not self._sessions(), what=lambda: f"the sessions {self._sessions()} to end")
        shutil.rmtree(self.dir)

    def _sessions(self):
        """Processes whose home is one of ours."""
        needle, found = os.fsencode(f"HOME={self.dir}/homes/"), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if needle in Path(f"/proc/{pid}/environ").read_bytes():
                    found.append(int(pid))
            except OSError:
                continue
        return found

    def _answers(self, host):
        with socket.socket() as s:
            return s.connect_ex((host, self.port)) == 0

    def _log(self):
        return "\n".join(log.read_text() for log in sorted(self.dir.glob("sshd-*.log")))

    # --- servers --------------------------------------------------------------------------------

    def home(self, host):
        return self.dir / "homes" / host

    def empty_homes(self):
        """Machines that no agent was ever put on."""
        for host in self.hosts:
            shutil.rmtree(self.home(host), ignore_errors=True)
            self.home(host).mkdir()
            self.account.own(self.home(host))

    def _link_programs(self):
        """The machines' PATH."""
        argv = ["dpkg-query", "-L", *PACKAGES]
        files = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        (self.dir / "bin").mkdir()
        for file in map(Path, files):
            if file.parent.name in ("bin", "sbin") and file.is_file():
                (self.dir / "bin" / file.name).symlink_to(file)

    def _start_sshd(self, prefix, number, group):
        config = self.dir / f"sshd-{number}.conf"
        lines = [f"ListenAddress {host}:{self.port}" for host in group]
        lines += [
            f"HostKey {self.dir}/host_key", f"AuthorizedKeysFile {self.identity}.pub", "PidFile none",
            "StrictModes no", "UsePAM no", "PermitRootLogin yes", "PasswordAuthentication no",
            "MaxStartups 1000", "LogLevel ERROR",
        ]  # fmt: skip
        for host in group:
            lines += [f"Match LocalAddress {host}", f"SetEnv HOME={self.home(host)} PATH={self.dir}/bin"]
        config.write_text("\n".join(lines) + "\n")
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # wanted even by an sshd that is not root's
        with open(self.dir / f"sshd-{number}.log", "wb") as log:
            argv = [*prefix, SSHD, "-D", "-e", "-f", str(config)]
            return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    # --- clients --------------------------------------------------------------------------------

    def inventory(self):
        """Of the daemon's configuration: a group each, as node roots differ."""
        return [
            {
                "hosts": f"{host}:{self.port}",
                "user": self.account.name,
                "identity": str(self.identity),
                "node_root": str(self.home(host) / "root"),
            }
            for host in self.hosts
        ]

    def config(self):
        source = f"{self.share}/{{share}}"
        return {"inventory": self.inventory(), "mounts": [{"type": "local", "source": source}]}

    def _write_client(self):
        key = (self.dir / "host_key.pub").read_text()
        (self.dir / "known_hosts").write_text(f"[127.9.*]:{self.port} {key}")
        lines = [
            f"Port {self.port}", f"User {self.account.name}", f"IdentityFile {self.identity}",
            "IdentitiesOnly yes", "BatchMode yes", "LogLevel ERROR", "StrictHostKeyChecking yes",
            f"UserKnownHostsFile {self.dir}/known_hosts", "GlobalKnownHostsFile /dev/null",
            f"KexAlgorithms {KEX}",
        ]  # fmt: skip
        self.client.write_text("\n".join(lines) + "\n")
        (self.dir / "hosts").write_text("\n".join(self.hosts) + "\n")

    def pdsh(self, command):
        """Seconds that pdsh needs to run a command on all of them."""
        ours = {"PDSH_SSH_ARGS_APPEND": f"-F {self.client}"}
        argv = ["pdsh", "-R", "ssh", "-S", "-f", FANOUT, "-l", self.account.name, "-w", ",".join(self.hosts)]
        return self._timed(*argv, command, env={**os.environ, **ours})

    def parallel_ssh(self, command):
        argv = ["parallel-ssh", "-h", self.dir / "hosts", "-p", FANOUT, "-t", 60, "-x", f"-F {self.client}"]
        return self._timed(*argv, command)

    @staticmethod
    def _timed(*argv, **more):
        start = time.monotonic()
        done = subprocess.run(
            list(map(str, argv)), stdin=subprocess.DEVNULL, capture_output=True, text=True, **more
        )
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise AssertionError(f"{argv[0]} -> {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-500:]}")
        return seconds


class Master:
    """An ssh that keeps its connection to one machine of the fleet, for others to share."""

    def __init__(self, fleet, host):
        self.socket = fleet.dir / "master"
        self.argv = ["ssh", "-F", str(fleet.client), "-S", str(self.socket)]
        self.host = host

    def __enter__(self):
        quiet(*self.argv, "-M", "-N", "-f", self.host)
        return self

    def __exit__(self, *why):
        quiet(*self.argv, "-O", "exit", self.host, stderr=subprocess.DEVNULL)

    def run(self, command):
        """Its output."""
        argv = [*self.argv, self.host, command]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
