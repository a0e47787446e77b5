# SPDX-License-Identifier: MIT
"""A folder that hangs: sshfs over a folder of this machine, without a network, and stopped at will. What
is asked of it then waits in the kernel, as with a file server that is gone."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from .waiting import wait_for

SFTP_SERVER = "/usr/lib/openssh/sftp-server"


class HangingFolder:
    """Serves what `folder` held from another place, mounted over it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.behind = Path(tempfile.mkdtemp(prefix="batchaid-behind-"))
        shutil.copytree(self.folder, self.behind, dirs_exist_ok=True, symlinks=True)
        ours, theirs = socket.socketpair()
        self.server = subprocess.Popen([SFTP_SERVER], stdin=theirs, stdout=theirs)
        options = "passive,dcache_timeout=1,entry_timeout=0,attr_timeout=0,direct_io"
        self.fuse = subprocess.Popen(
            ["sshfs", "-f", "-o", options, f":{self.behind}", self.folder],
            stdin=ours,
            stdout=ours,
            stderr=subprocess.DEVNULL,
        )
        ours.close(), theirs.close()
        wait_for(lambda: os.path.ismount(self.folder) or self.fuse.poll() is not None, what="the mount")

    @property
    def mounted(self):
        return self.fuse.poll() is None

    def stop(self):
        self.fuse.send_signal(signal.SIGSTOP)
        # Until one of its threads has been scheduled and has stopped the others they serve on.
        os.waitid(os.P_PID, self.fuse.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def go_on(self):
        self.fuse.send_signal(signal.SIGCONT)

    def close(self):
        self.fuse.kill()  # whoever waits gets an error
        self.fuse.wait()
        subprocess.run(["umount", "-l", self.folder], check=False, capture_output=True)
        self.server.kill()
        self.server.wait()
        shutil.rmtree(self.behind, ignore_errors=True)


def hanging_folder(folder):
    """A HangingFolder, or the test is skipped."""
    for needed in ("/dev/fuse", SFTP_SERVER):
        if not os.path.exists(needed):
            pytest.skip(f"no share can be made that hangs: there is no {needed}")
    if not shutil.which("sshfs"):
        pytest.skip("no share can be made that hangs: sshfs is not installed")
    made = HangingFolder(folder)
    if not made.mounted:
        made.close()
        pytest.skip("no share can be made that hangs: sshfs cannot mount here")
    return made
