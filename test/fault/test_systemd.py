# SPDX-License-Identifier: MIT
"""The unit file under a real systemd, in namespaces of its own: the daemon starts, is restarted, and jobs go on."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from support import containers
from support.daemon import BATCHAID, ROOT, Daemon
from support.waiting import wait_for
from support.world import MOUNT, Place, wait_flag

SYSTEMD = "/lib/systemd/systemd"
UNIT = ROOT / "etc" / "batchaid.service"
IMAGE = "tests/unit:1"
CONTAINED = {"containerSettings": {"imageSourceRegistry": {"image": IMAGE}}}
SUBIDS = 3000000  # the first of the account's
PODMAN_RUNS = "/tmp/podman-run-1"  # of the account daemon; what is in there goes with the namespaces
# Nothing of the machine's own is started: this target wants nothing.
TARGET = "[Unit]\nDescription=the test's\nDefaultDependencies=no\n"
# $1: the folder of units, $2: what is /var/lib/batchaid, $3: what is /etc/subuid, and its likes.
BOOT = """set -e
mount --make-rprivate /
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
for f in /etc/subuid /etc/subgid; do [ ! -e $f ] || mount --bind "$3" $f; done
mkdir -p {runs}
mount -t tmpfs -o uid=1,mode=0700 tmpfs {runs}
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
        ids = folder.parent / "subids"
        ids.write_text(f"daemon:{SUBIDS}:65536\n")
        for name, text in {"test.target": TARGET, **units}.items():
            (folder / name).write_text(text)
        self.log = open(folder.parent / "systemd.log", "wb")
        enter = f'echo $$ >"{self.cgroup}/cgroup.procs"; exec unshare -m -p -f -u -i -C --kill-child "$@"'
        boot = BOOT.replace("{systemd}", SYSTEMD).replace("{runs}", PODMAN_RUNS)
        self.outer = subprocess.Popen(
            ["sh", "-c", enter, "sh", "sh", "-c", boot, "boot", str(folder), str(state), str(ids)],
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

    def shown(self, name):
        """A property of the service."""
        return self.ctl("show", "-P", name, "batchaid").stdout.strip()

    def main_pid(self):
        return int(self.shown("MainPID"))

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


def unit(config, environment, added):
    text = UNIT.read_text().replace("@bindir@", str(BATCHAID.parent)).replace("@sysconfdir@", str(config))
    variables = "".join(f"Environment={name}={value}\n" for name, value in environment.items())
    # An account that every machine has, with the home of batchaid's, and no targets that boot a machine.
    account = f"User=daemon\nEnvironment=HOME=/var/lib/batchaid\n{variables}{added}"
    text = text.replace("User=batchaid\n", account).replace("Wants=network-online.target\n", "")
    return text.replace("[Unit]", "[Unit]\nDefaultDependencies=no")


@pytest.fixture
def systemd():
    """systemd(config, engine, added, listen) -> a Systemd in which batchaid runs, and its Daemon to ask. `engine`:
    makes a container engine's settings in a folder, and says their variables; `added`: to the unit."""
    if os.geteuid() != 0 or not os.access(SYSTEMD, os.X_OK) or not shutil.which("nsenter") or not cgroups():
        pytest.skip("no systemd of a test's own: it takes root, systemd, nsenter and cgroups of version 2")
    made = []
    base = Path(tempfile.mkdtemp(prefix="batchaid-systemd-"))
    base.chmod(0o755)

    def make(config, engine=None, added="", listen="localhost:0"):
        (base / "daemon").mkdir()
        d = Daemon(state_dir=base / "daemon", config=config)
        d.state_dir.mkdir()
        (base / "units").mkdir()
        settings = base / "etc"
        settings.mkdir()
        d.command()  # writes its configuration
        shutil.copy(d.dir / "batchaid.yaml", settings / "batchaid.yaml")
        environment = engine(settings) if engine else {}
        text = unit(settings, environment, added).replace("serve --config", f"serve --listen {listen} --config")
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
        with contextlib.suppress(OSError):
            os.rmdir(PODMAN_RUNS)


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
    assert s.shown("Result") == "success"


def test_the_service_starts_as_soon_as_its_port_is_free(systemd):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        # With the default limit, systemd gives up after 5 starts in 10 s.
        s, d = systemd({"local": {"nodes": 0}}, added="RestartSec=100ms\n", listen=f"127.0.0.1:{port}")
        s.ctl("start", "--no-block", "batchaid")
        wait_for(lambda: int(s.shown("NRestarts")) > 6, 30, lambda: f"more restarts: {s.ctl('status', 'batchaid').stdout}")
    wait_for(lambda: s.shown("ActiveState") == "active", 30, lambda: f"the service to run: {s.ctl('status', 'batchaid').stdout}")


# What etc/batchaid.service says may be added where no job has containerSettings.
HARDENED = """NoNewPrivileges=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=
"""


def place_with_podman(systemd, added=""):
    """A place and its cluster on a daemon whose account has podman, and no rights."""
    for needed in ("podman", "newuidmap"):
        if not shutil.which(needed):
            pytest.skip(f"{needed} is not installed")
    unprivileged = ["setpriv", "--reuid=1", "--regid=1", "--clear-groups", "unshare", "-U", "true"]
    if subprocess.run(unprivileged, capture_output=True).returncode != 0:
        pytest.skip("no user namespaces for ordinary users here")
    s, d = systemd({"local": {"nodes": 1}, "containers": {"runtimes": ["podman"]}}, containers.podman_settings, added)
    come_up(s, d, "start")
    place = Place(d).make()
    place.share().chmod(0o777)  # made by us, used by the service's account
    (place.share() / "image.tar").write_bytes(containers.image(IMAGE))
    return place, place.cluster(nodes=1)


def test_an_account_without_rights_runs_containers(systemd):
    place, cluster = place_with_podman(systemd)
    imported = place.job(cluster, f"podman import {MOUNT}/image.tar {IMAGE}").succeeded()
    job = place.job(cluster, "cat /etc/image /proc/self/uid_map", **CONTAINED).succeeded()
    lines = [line.split() for line in job.read("stdout.txt").splitlines()]
    assert len(lines) == 3, (lines, job.read("stderr.txt"))
    image, account, others = lines
    assert image == [IMAGE]
    assert account == ["0", "1", "1"], "root in there is the service's account"
    assert others == ["1", str(SUBIDS), "65536"]
    place.remove()


def test_a_hardened_service_runs_jobs_and_says_why_containers_do_not_start(systemd):
    place, cluster = place_with_podman(systemd, HARDENED)
    place.job(cluster, f"echo in a job > {MOUNT}/written").succeed()
    assert (place.share() / "written").read_text() == "in a job\n"
    (error,) = place.job(cluster, "true", **CONTAINED).fail()["executionInfo"]["errors"]
    assert error["code"] in ("FailedPullingContainerImage", "FailedStartingContainer")
    assert "Operation not permitted" in str(error), error
    place.remove()
