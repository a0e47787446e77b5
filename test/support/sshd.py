# SPDX-License-Identifier: MIT
"""A real sshd of a test's own on a loopback port, as a machine of an inventory.

    with Sshd(tmp_path / "m1") as machine:
        config = {"inventory": [machine.group()]}

Everything of it is in its folder. The user is the one who runs the tests."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from .daemon import children
from .ports import free_port
from .waiting import wait_for

SSHD = "/usr/sbin/sshd"


def make_key(path):
    """An ed25519 key without a passphrase; returns the line of its public half."""
    for old in (path, path.with_name(path.name + ".pub")):
        old.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path.with_name(path.name + ".pub").read_text()


def answers(host, port):
    with socket.socket() as s:
        s.settimeout(5)
        return s.connect_ex((host, port)) == 0


class Sshd:
    def __init__(self, directory, host="127.0.0.1", port=None, options=""):
        self.dir, self.host, self.options = Path(directory), host, options
        self.port = port or free_port(host)
        self.user = getpass.getuser()
        self.identity = self.dir / "id_ed25519"
        self.node_root = self.dir / "root"
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        if not os.access(SSHD, os.X_OK):
            pytest.skip("sshd is not installed")
        if os.geteuid() == 0:  # a root's sshd wants this folder, which the package's service makes
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self.dir.mkdir(parents=True, exist_ok=True)
        if not self.identity.exists():
            (self.dir / "authorized_keys").write_text(make_key(self.identity))
            make_key(self.dir / "host_key")
        config = self.dir / "sshd_config"
        config.write_text(
            f"{self.options}\nListenAddress {self.host}:{self.port}\nHostKey {self.dir}/host_key\n"
            f"PidFile none\nAuthorizedKeysFile {self.dir}/authorized_keys\nStrictModes no\nUsePAM no\n"
            "PermitRootLogin yes\nKbdInteractiveAuthentication no\nPasswordAuthentication no\n"
            # The agent's program goes below HOME: not the real one.
            f"SetEnv HOME={self.dir}\n"
        )
        with open(self.dir / "sshd.log", "ab") as log:
            self.process = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_for(lambda: answers(self.host, self.port), 20, f"sshd on {self.host}:{self.port}")
        return self

    def stop(self):
        """Ends it and its connections."""
        if self.process is not None:
            serving = self.connections()
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
            for pid in serving:
                try:
                    os.kill(pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
            self.process = None

    def connections(self):
        """The processes that serve its connections."""
        return children(self.process.pid)

    def change_host_key(self):
        self.stop()
        make_key(self.dir / "host_key")
        return self.start()

    @property
    def name(self):
        """As the inventory names it."""
        return f"{self.host}:{self.port}"

    def group(self, **more):
        """An entry of `inventory`."""
        return {
            "hosts": self.name,
            "user": self.user,
            "identity": str(self.identity),
            "node_root": str(self.node_root),
            **more,
        }

    def remove(self):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)
