# SPDX-License-Identifier: MIT
"""One machine of a rack, and everything that can happen to it."""

import os
import re
import signal
import subprocess
from pathlib import Path

from ..daemon import children
from ..waiting import PATIENCE, wait_for
from . import disk
from .commands import command, make_key

DISK_SIZE, NODE_DISK_SIZE = "96m", "48m"
NODE_DISK = "/mnt/batch"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
POWER = Path(__file__).parent / "power.sh"
ASKPASS = Path(__file__).parent / "askpass.sh"
SSH_OPTIONS = ("ConnectTimeout=5", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null",
               "LogLevel=ERROR", "IdentitiesOnly=yes")  # fmt: skip


class Machine:
    """`number` counts from 1. `address` and `address6` are on the rack's network."""

    def __init__(self, rack, number):
        self.rack = rack
        self.name = f"m{number}"
        self.address = str(rack.network[10 + number])
        self.address6 = f"{rack.prefix6}{10 + number:x}"
        self.mac = f"02:ba:7c:{rack.number:02x}:00:{number:02x}"
        # PAM is Debian's choice; without it sshd itself looks at the shadow file, more strictly.
        self.pam = number % 2 == 1
        self.host_key = make_key(rack.folder / f"host-key-{self.name}")
        self.home = f"/run/machines/{self.name}"  # in the rack's mount namespace
        self.log = rack.folder / f"{self.name}.log"  # of powering and booting
        self._power = None

    def __repr__(self):
        return f"<machine {self.name} {self.address}>"

    # --- power ----------------------------------------------------------------------------------

    def install(self):
        """A new machine: empty disks but for what every machine has. It must be off."""
        home = self.rack.path(self.home)
        for folder, size in (("disk", DISK_SIZE), ("node", NODE_DISK_SIZE)):
            mount = f"{self.home}/{folder}"
            if (home / folder).exists():
                self.rack.inside("umount", mount)
            (home / folder).mkdir(parents=True, exist_ok=True)
            self.rack.inside("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", self.name, mount)
        (home / "root").mkdir(exist_ok=True)
        (home / "disk/work").mkdir()
        (home / "disk/layer").mkdir()
        disk.write_disk(home / "disk/layer", self)

    def start(self):
        """Power on; returns once sshd listens."""
        assert not self._power, f"{self.name} has power"
        addresses = (f"{self.address}/24", f"{self.address6}/64")
        folders = {"RACK_COMMON": str(self.rack.common), "RACK_HIDDEN": str(self.rack.hidden)}
        with open(self.log, "ab") as log:
            self._power = subprocess.Popen(
                self.rack.enter(POWER, self.name, self.mac, *addresses),
                env={**os.environ, **folders},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        for address in (self.address, self.address6):  # no ARP: what is cut off just stays silent
            neighbour = ("to", address, "lladdr", self.mac, "nud", "permanent", "dev", self.rack.uplink)
            command("ip", "neighbour", "replace", *neighbour)
        self.wait_up()

    def is_up(self):
        return self.path("/run/up").exists() and self.sshd_listens()

    def wait_up(self):
        def up():
            assert self._power.poll() is None, f"{self.name} did not boot:\n{self.log.read_text()}"
            return self.is_up()

        wait_for(up, 20, f"{self.name} to boot")

    def restart_itself(self):
        """What somebody does who is logged in there."""
        self.run("reboot", check=False)

    def wait_reboot(self, before, limit=20):
        """Until it is up with another boot id than this one."""

        def anew():
            try:
                return self.boot_id != before and self.is_up()
            except OSError:
                return False  # between two boots

        wait_for(anew, limit, f"{self.name} to boot again")

    def power_off(self):
        """All at once, without a word to anybody."""
        self.cut_link()
        os.kill(self.pid, signal.SIGKILL)
        self.forget_power()

    def forget_power(self):
        if self._power:
            self._power.wait(20 * PATIENCE)
            self._power = None

    def reboot(self):
        self.power_off()
        self.start()

    def renew(self):
        if self._power:
            self.power_off()
        self.install()
        self.start()

    @property
    def on(self):
        return self._power is not None

    @property
    def pid(self):
        """Its first process, as seen from here; 0 between two boots."""
        below = [self._power.pid]
        for _ in ("power.sh", "unshare", "the first process"):
            below = [child for parent in below for child in children(parent)]
        return below[0] if below else 0

    @property
    def boot_id(self):
        return self.path("/run/boot_id").read_text().strip()

    # --- network --------------------------------------------------------------------------------

    def _set_cable(self, state):
        cable = self.rack.path(f"{self.home}/cable").read_text().strip()
        self.rack.inside("ip", "link", "set", cable, state)

    def cut_link(self):
        """Packets vanish in both directions."""
        self._set_cable("down")

    def restore_link(self):
        self._set_cable("up")
        if self.on:
            self._firewall("-F")

    def cut_link_after(self, n):
        """Packets vanish once this many bytes more have come in for sshd."""
        sshd = ("INPUT", "-p", "tcp", "--dport", "22")
        self._firewall("-A", *sshd, "-m", "quota", "--quota", n, "-j", "ACCEPT")
        self._firewall("-A", *sshd, "-j", "DROP")

    def _firewall(self, *rule):
        command("nsenter", "-t", self.pid, "-n", "iptables", "-w", *rule)

    # --- programs and processes -----------------------------------------------------------------

    def argv(self, *argv):
        """The command line that runs a program on the machine as root."""
        clean = ["env", "-i", f"PATH={PATH}", "LANG=C.UTF-8", "HOME=/root"]
        return ["nsenter", "-t", str(self.pid), "-a", *clean, *map(str, argv)]

    def run(self, text, check=True):
        """Runs a shell command as root; returns the finished process."""
        done = subprocess.run(
            self.argv("/bin/bash", "-c", text), capture_output=True, text=True, timeout=60 * PATIENCE
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{self.name}: {text} -> {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def start_program(self, *argv):
        """Starts a program there that prints a line when it is ready; it ends with the machine."""
        program = subprocess.Popen(self.argv(*argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert program.stdout.readline(), f"{self.name}: {argv} said nothing"
        return program

    def processes(self, pattern=""):
        """pid (as seen from here) -> command line of what runs there and matches."""
        space, found = _namespace(self.pid), {}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if _namespace(pid) != space:
                    continue
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if line and re.search(pattern, line):
                found[pid] = line.strip()
        return found

    def agent_pids(self):
        """Supervisors of tasks, which have the agent's command line too, go by another name."""
        pids = self.processes(r"^\S*batchai-node")
        return [pid for pid in pids if _text(f"/proc/{pid}/comm").startswith("batchai-node")]

    def kill_agent(self):
        assert _signal(self.agent_pids(), signal.SIGKILL), f"no agent on {self.name}"

    def kill(self, pattern, signo=signal.SIGKILL):
        """Signals what matches; returns how many processes that were."""
        return _signal(set(self.processes(pattern)) - {self.pid}, signo)

    # --- sshd -----------------------------------------------------------------------------------

    SSHD = r"^sshd: "
    LISTENER = r"^sshd: .*\[listener\]"

    def kill_sshd(self):
        """The one that listens and all sessions."""
        assert self.kill(self.SSHD)
        wait_for(lambda: not self.processes(self.SSHD), what="sshd to go")

    def start_sshd(self):
        """It comes back before it listens; its title says when it does."""
        self.run("/usr/sbin/sshd")
        wait_for(lambda: self.processes(self.LISTENER), what="sshd to listen")

    def restart_sshd(self):
        self.kill_sshd()
        self.start_sshd()

    def mute_sshd(self):
        """From now on connections are accepted, by the kernel, and nobody ever answers."""
        assert self.kill(self.LISTENER, signal.SIGSTOP)

    def unmute_sshd(self):
        assert self.kill(self.LISTENER, signal.SIGCONT)

    def sshd_listens(self):
        return bool(self.processes(self.LISTENER))

    def change_host_key(self):
        """As if the machine had been installed anew; returns nothing to log in by differently."""
        self.host_key = make_key(self.rack.folder / f"host-key-{self.name}")
        disk.write(self.path("/" + disk.HOST_KEY), self.host_key, 0o600)
        self.restart_sshd()

    def fingerprint(self):
        return self.run(f"ssh-keygen -yf /{disk.HOST_KEY} | ssh-keygen -lf -").stdout.split()[1]

    def ssh(self, text, user=disk.USER, identity=None, options=(), limit=60, **more):
        """Runs a command through the real ssh client. `options` come before those that it has anyway,
        so they win; without any, host keys are not looked at."""
        options = [*options, "BatchMode=yes", *SSH_OPTIONS]
        return self._ssh(text, user, options, ["-i", identity or self.rack.identity], limit, **more)

    def ssh_with_password(self, user, password, text):
        env = {**os.environ, "SSH_ASKPASS": ASKPASS, "SSH_ASKPASS_REQUIRE": "force", "PASSWORD": password}
        options = ["PubkeyAuthentication=no", "NumberOfPasswordPrompts=1", *SSH_OPTIONS]
        return self._ssh(text, user, options, [], 60, env=env)

    def _ssh(self, text, user, options, arguments, limit, **more):
        given = [part for option in options for part in ("-o", option)]
        argv = ["ssh", "-F", "none", *arguments, *given, f"{user}@{self.address}", text]
        return subprocess.run(argv, capture_output=True, text=True, timeout=limit * PATIENCE, **more)

    # --- accounts, disks, mounts ----------------------------------------------------------------

    def path(self, path):
        """A file of the machine, to read and write from here. Symbolic links in it lead astray."""
        return Path(f"/proc/{self.pid}/root{path}")

    def accounts(self):
        lines = self.path("/etc/passwd").read_text().splitlines()
        return {line.split(":")[0] for line in lines}

    def allow_sudo(self, allowed):
        entry = f"{disk.USER} ALL=(ALL) NOPASSWD: ALL\n" if allowed else ""
        disk.write(self.path("/" + disk.SUDOERS), entry, 0o440)

    def authorize(self, public_key):
        """The keys that may log in as the daemon's account."""
        home = f"/home/{disk.USER}"
        disk.write(self.path(f"{home}/.ssh/authorized_keys"), public_key, 0o600, disk.UID, disk.UID)

    def fill_disk(self, path=NODE_DISK):
        """Takes all the room there is on the disk that this directory is on."""
        self.run(f"cat /dev/zero >{path}/filler", check=False)

    def free_disk(self, path=NODE_DISK):
        self.run(f"rm -f {path}/filler")

    def mounts(self, below=NODE_DISK):
        """Mount points strictly below this directory."""
        lines = Path(f"/proc/{self.pid}/mountinfo").read_text().splitlines()
        points = [line.split()[4] for line in lines]
        return [p for p in points if p.startswith(below + "/")]


def _namespace(pid):
    return os.readlink(f"/proc/{pid}/ns/pid")


def _text(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""  # the process has ended


def _signal(pids, signo):
    for pid in pids:
        try:
            os.kill(pid, signo)
        except ProcessLookupError:
            pass  # ended with another one
    return len(pids)
