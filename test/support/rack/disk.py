# SPDX-License-Identifier: MIT
"""What is on a machine's disk when it is new."""

import os
from pathlib import Path

USER, UID = "batchai", 7000  # whom the daemon logs in as
HOST_KEY = "etc/ssh/ssh_host_ed25519_key"
SUDOERS = "etc/sudoers.d/batchai"

# Accounts that Debian's packages make: those of base-passwd, and of servers that tests start on machines.
SYSTEM = set(
    "root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody _apt"
    " sshd messagebus dbus _rpc statd".split()
)

# In a process namespace reboot(2) ends the machine's first process; power.sh does the rest.
REBOOT = """\
#!/usr/bin/python3
import ctypes
ctypes.CDLL(None).reboot(0x1234567)
"""

SSHD_CONFIG = """\
HostKey /{key}
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin no
UsePAM {pam}
UseDNS no
PrintMotd no
MaxStartups 100
Subsystem sftp internal-sftp
"""


def write(path, text, mode=0o644, owner=0, group=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)
    os.chown(path, owner, group)
    path.chmod(mode)


def is_system(name):
    return name in SYSTEM or name.startswith("systemd-")


def own_lines(name, lines):
    """What a new machine keeps of the host's file: accounts of the system, and groups of no account that goes."""
    if "group" in name or "gshadow" in name:
        people = {line.split(":")[0] for line in lines["passwd"] if not is_system(line.split(":")[0])}
        return [":".join([*line.split(":")[:-1], ""]) for line in lines[name] if line.split(":")[0] not in people]
    return [line for line in lines[name] if is_system(line.split(":")[0])]


def write_accounts(disk, etc=Path("/etc")):
    """The system's accounts and one more, whose password is none. The host's own people, and what belongs to
    them, are not there: tests make accounts of any name."""
    entries = {
        "passwd": f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/bash",
        "group": f"{USER}:x:{UID}:",
        "shadow": f"{USER}:*:19000:0:99999:7:::",
        "gshadow": f"{USER}:!::",
    }
    lines = {name: (etc / name).read_text().splitlines() for name in entries}
    for name, entry in entries.items():
        status = (etc / name).stat()
        text = "\n".join([*own_lines(name, lines), entry, ""])
        write(disk / "etc" / name, text, status.st_mode & 0o777, status.st_uid, status.st_gid)


def write_home(disk, authorized):
    home = disk / "home" / USER
    home.mkdir(parents=True)
    os.setxattr(disk / "home", "trusted.overlay.opaque", b"y")  # not the host's homes
    write(home / ".ssh/authorized_keys", authorized, 0o600, UID, UID)
    for folder in (home, home / ".ssh"):
        folder.chmod(0o700)
        os.chown(folder, UID, UID)


def write_disk(disk, machine):
    """`disk` is the empty layer over the host's root file system."""
    write_accounts(disk)
    write_home(disk, machine.rack.identity.with_suffix(".pub").read_text())
    write(disk / SUDOERS, f"{USER} ALL=(ALL) NOPASSWD: ALL\n", 0o440)
    names = [f"{address} {name}" for name, address in machine.rack.names()]
    write(disk / "etc/hosts", "\n".join(["127.0.0.1 localhost", "::1 localhost", *names, ""]))
    write(disk / "etc/hostname", machine.name + "\n")
    write(disk / "usr/local/sbin/reboot", REBOOT, 0o755)
    pam = "yes" if machine.pam else "no"
    write(disk / "etc/ssh/sshd_config", SSHD_CONFIG.format(key=HOST_KEY, pam=pam))
    write(disk / HOST_KEY, machine.host_key, 0o600)
