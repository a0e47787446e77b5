# SPDX-License-Identifier: MIT
"""The unit file under a real systemd, in namespaces of its own: the daemon starts, is restarted, and jobs go on."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from support.daemon import BATCHAID, ROOT, Daemon
from support.waiting import wait_for
from support.world import Place, wait_flag

SYSTEMD = "/lib/systemd/systemd"
UNIT = ROOT / "etc" / "batchaid.service"
# Nothing of the machine's own is started: this target wants nothing.
TARGET = "[Unit]\nDescription=the test's\nDefaultDependencies=no\n"
# $1: the folder of units, $2: what is /var/lib/batchaid.
BOOT = """set -e
mount --make-rprivate /
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
mkdir -p /run/systemd/system /run/lock /var/lib/batchaid
cp "$1"/* /run/systemd/system/
mount --bind "$2" /var/lib/batchaid
export container=other
exec {systemd} --system --unit=test.target --log-target=console --show-status=no
"""


def cgroups():
    """Where version 2 is mounted: as all there is, or beside version 1."""
    for at in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        if (at / "cgroup.subtree_control").exists():
            return at
    return None


class Systemd:
    def __init__(self, folder, state, units):
        self.cgroup = cgroups() / f"batchaid-test-{os.getpid()}"
        self.cgroup.mkdir()
        for name, text in {"test.target": TARGET, **units}.items():
            (folder / name).write_text(text)
        self.log = open(folder.parent / "systemd.log", "wb")
        enter = f'echo $$ >"{self.cgroup}/cgroup.procs"; exec unshare -m -p -f -u -i -C --kill-child "$@"'
        boot = BOOT.replace("{systemd}", SYSTEMD)
        self.outer = subprocess.Popen(
            ["sh", "-c", enter, "sh", "sh", "-c", boot, "boot", str(folder), str(state)],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )

    def pid(self):
        """Of the first process in there."""
        try:
            children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text().split()
        except OSError:
            return None
        return children[0] if children else None

    def ctl(self, *words):
        pid = self.pid()
        if pid is None:
            return None
        command = ["nsenter", "-t", pid, "-m", "-p", "-u", "-i", "-C", "systemctl", "--no-pager", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=90)

    def is_up(self):
        told = self.ctl("is-active", "test.target")
        return told is not None and told.stdout.strip() == "active"

    def main_pid(self):
        return int(self.ctl("show", "-P", "MainPID", "batchaid").stdout)

    def close(self):
        self.outer.kill()  # and with it all that is in the namespaces
        self.outer.wait()
        self.log.close()
        wait_for(self._remove_cgroups, 20, "the cgroups to be empty")

    def _remove_cgroups(self):
        for folder, _, _ in sorted(os.walk(self.cgroup), reverse=True):
            try:
                os.rmdir(folder)
            except OSError:
                return False
        return True


def unit(config):
    text = UNIT.read_text().replace("@bindir@", str(BATCHAID.parent)).replace("@sysconfdir@", str(config))
    # An account that every machine has, and no targets that boot one.
    return text.replace("User=batchaid", "User=daemon").replace("[Unit]", "[Unit]\nDefaultDependencies=no")


@pytest.fixture
def systemd():
    """systemd(config) -> a Systemd in which batchaid runs, and its Daemon to ask."""
    if os.geteuid() != 0 or not os.access(SYSTEMD, os.X_OK) or not shutil.which("nsenter") or not cgroups():
        pytest.skip("no systemd of a test's own: it takes root, systemd, nsenter and cgroups of version 2")
    made = []
    base = Path(tempfile.mkdtemp(prefix="batchaid-systemd-"))
    base.chmod(0o755)

    def make(config):
        (base / "daemon").mkdir()
        d = Daemon(state_dir=base / "daemon", config=config)
        d.state_dir.mkdir()
        (base / "units").mkdir()
        settings = base / "etc"
        settings.mkdir()
        d.command()  # writes its configuration
        shutil.copy(d.dir / "batchaid.yaml", settings / "batchaid.yaml")
        text = unit(settings).replace("serve --config", "serve --listen localhost:0 --config")
        s = Systemd(base / "units", d.state_dir, {"batchaid.service": text})
        made.append(s)
        wait_for(lambda: s.is_up() or s.outer.poll() is not None, 30, "systemd to be up")
        if not s.is_up():
            pytest.skip("systemd cannot run in namespaces here")
        return s, d

    try:
        yield make
    finally:
        for s in made:
            s.close()
        shutil.rmtree(base, ignore_errors=True)


def come_up(s, d, verb):
    """Returns the daemon's pid, as it is in there; systemctl waits until it has said that it is ready."""
    done = s.ctl(verb, "batchaid")
    assert done.returncode == 0, done.stderr + s.ctl("status", "batchaid").stdout
    d.endpoint = json.loads((d.state_dir / "endpoint").read_text())["endpoint"]
    d._env = d._token = None
    return s.main_pid()


def test_jobs_go_on_while_the_service_is_restarted(systemd):
    s, d = systemd({"local": {"nodes": 1}})
    first = come_up(s, d, "start")
    place = Place(d).make()
    place.share().chmod(0o777)  # made by us, used by the service's account
    begun, in_job = place.flag("begun")
    go, may_go = place.flag("go")
    note = f"/tmp/{d.dir.parent.name}-note"
    job = place.job(
        place.cluster(nodes=1),
        f"echo begun >>{in_job}; echo kept >{note}; {wait_flag(may_go)}; cat {note} >>{in_job}; rm {note}",
    )
    wait_for(begun.exists, 30, lambda: f"the job to begin: {job.properties}")
    assert come_up(s, d, "restart") != first
    assert job.state == "running"
    go.touch()
    job.succeed()
    assert begun.read_text() == "begun\nkept\n", "it ran once, and its /tmp is the same"
    place.remove()
    assert s.ctl("stop", "batchaid").returncode == 0
    assert s.ctl("show", "-P", "Result", "batchaid").stdout.strip() == "success"
