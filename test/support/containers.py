# SPDX-License-Identifier: MIT
"""Container engines for tests: a Docker Engine of the tests' own, a registry, images made of one static
program. No registry is reachable from outside and none is needed."""

import io
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from .waiting import wait_for

BUSYBOX = Path("/bin/busybox")
TOOLKIT = "tests/toolkit:1"  # the usual image
TOOLS = (
    *("sh", "cat", "chown", "cp", "df", "dirname", "echo", "env", "grep", "hostname", "id", "kill", "ls", "mkdir", "ps", "sed"),
    *("sleep", "test", "touch", "tr", "trap", "wc"),
)


def image(marker, programs=(), files=()):
    """A root file system in a tar: busybox, a file that says which image this is, programs, which are texts by name,
    and files by path: texts, or files of this machine."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:

        def add(name, **fields):
            info = tarfile.TarInfo(name)
            for key, value in fields.items():
                setattr(info, key, value)
            return info

        for folder in ("bin", "tmp", "etc", "proc", "sys", "dev"):
            tar.addfile(add(folder, type=tarfile.DIRTYPE, mode=0o1777 if folder == "tmp" else 0o755))
        data = BUSYBOX.read_bytes()
        tar.addfile(add("bin/busybox", size=len(data), mode=0o755), io.BytesIO(data))
        for tool in TOOLS:
            tar.addfile(add(f"bin/{tool}", type=tarfile.SYMTYPE, linkname="busybox"))
        for name, text in dict(programs).items():
            data = text.encode()
            tar.addfile(add(f"bin/{name}", size=len(data), mode=0o755), io.BytesIO(data))
        for path, what in dict(files).items():
            data = what.read_bytes() if isinstance(what, Path) else what.encode()
            mode = what.stat().st_mode & 0o777 if isinstance(what, Path) else 0o644
            tar.addfile(add(path.lstrip("/"), size=len(data), mode=mode), io.BytesIO(data))
        text = f"{marker}\n".encode()
        tar.addfile(add("etc/image", size=len(text), mode=0o644), io.BytesIO(text))
    return out.getvalue()


class Engine:
    """docker or podman, as the daemon's nodes will find it: .environment and .prefix are for the daemon."""

    prefix = ()

    def __init__(self, program, environment):
        self.program, self.environment = program, environment

    def __call__(self, *arguments, **more):
        env = {**os.environ, **self.environment}
        argv = [*self.prefix, self.program, *arguments]
        done = subprocess.run(argv, env=env, capture_output=True, text=not more.get("input"), timeout=120, **more)
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout if isinstance(done.stdout, str) else done.stdout.decode()

    def add_image(self, name, marker=None, programs=(), files=(), changes=()):
        options = [word for change in changes for word in ("--change", change)]
        self("import", *options, "-", name, input=image(marker or name, programs, files))

    def images(self):
        return self("images", "--format", "{{.Repository}}:{{.Tag}}").split()

    def containers(self):
        """Those of nodes: other users of the machine may have others."""
        return self("ps", "-aq", "--filter", "name=batchai-").split()


class Docker(Engine):
    """A Docker Engine with its own socket and store, without networks."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="batchaid-docker-"))
        mine = {"DOCKER_HOST": f"unix://{self.dir}/docker.sock", "DOCKER_CONFIG": str(self.dir / "config")}
        super().__init__("docker", mine)

    def __enter__(self):
        argv = ["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none"]
        argv += ["--data-root", self.dir / "data", "--exec-root", self.dir / "exec", "--pidfile", self.dir / "pid"]
        self.log = open(self.dir / "log", "w")
        argv += ["-H", self.environment["DOCKER_HOST"]]
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=self.log, start_new_session=True)
        answers = lambda: self.process.poll() is not None or self.answers()
        wait_for(answers, 30, "the Docker Engine to answer")
        if self.process.poll() is not None:
            said = (self.dir / "log").read_text().splitlines()[-1:]
            self.__exit__()
            pytest.skip(f"the Docker Engine does not run here: {said}")
        return self

    def answers(self):
        env = {**os.environ, **self.environment}
        return subprocess.run(["docker", "info"], env=env, capture_output=True).returncode == 0

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        remove_store(self.dir)


def remove_store(folder):
    """With what is still mounted in it."""
    with open("/proc/self/mounts") as mounts:
        inside = [line.split()[1] for line in mounts if line.split()[1].startswith(str(folder))]
    for target in sorted(inside, reverse=True):
        subprocess.run(["umount", "-l", target])
    shutil.rmtree(folder, ignore_errors=True)


def docker():
    for tool in ("dockerd", "docker"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    if os.geteuid() != 0:
        pytest.skip("a Docker Engine of the tests' own needs root")
    return Docker()


def podman_settings(folder, engine=""):
    """Variables that name settings in a folder, which need neither CAP_SYS_RESOURCE nor a pure cgroup v2."""
    conf = folder / "containers.conf"
    runtime = "runc" if shutil.which("runc") else "crun"
    limits = '["nofile=1024:4096", "nproc=1024:4096"]'
    conf.write_text(f'[containers]\ndefault_ulimits = {limits}\n[engine]\nruntime = "{runtime}"\n{engine}')
    return {"CONTAINERS_CONF": str(conf)}


class Podman(Engine):
    """The machine's podman with a store of its own: of this account, or of somebody."""

    def __init__(self, somebody=None):
        self.dir = Path(tempfile.mkdtemp(prefix="batchaid-podman-"))
        more = 'cgroup_manager = "cgroupfs"\n' if somebody else ""
        settings = podman_settings(self.dir, f'tmp_dir = "{self.dir}/tmp"\nlock_type = "file"\n{more}')
        storage = self.dir / "storage.conf"
        driver = "overlay" if os.geteuid() == 0 else "vfs"
        storage.write_text(f'[storage]\ndriver = "{driver}"\ngraphroot = "{self.dir}/store"\nrunroot = "{self.dir}/run"\n')
        super().__init__("podman", {**settings, "CONTAINERS_STORAGE_CONF": str(storage)})
        if somebody:
            self.prefix = somebody.prefix
            somebody.give(self.dir)

    def __enter__(self):
        name = "batchaid-tests/probe:1"
        self.add_image(name)
        argv = [*self.prefix, "podman", "run", "--rm", "--network", "host", name, "/bin/sh", "-c", "exit 0"]
        done = subprocess.run(argv, env={**os.environ, **self.environment}, capture_output=True, text=True)
        if done.returncode != 0:
            self.__exit__()
            pytest.skip(f"podman does not run containers here: {done.stderr.strip()[-200:]}")
        self("rmi", "-f", name)
        return self

    def __exit__(self, *_):
        pause = self.dir / "tmp" / "pause.pid"  # it keeps the namespaces of an ordinary user's podman
        if pause.exists():
            os.kill(int(pause.read_text()), signal.SIGKILL)
        remove_store(self.dir)


def podman(somebody=None):
    if not shutil.which("podman"):
        pytest.skip("podman is not installed")
    return Podman(somebody)


class Somebody:
    """An ordinary account, with numbers for its containers, which is known to what is run with .prefix alone."""

    UID = 61234

    def __init__(self):
        if os.geteuid() != 0 or not shutil.which("newuidmap"):
            pytest.skip("an account of the tests' own needs root, and Debian's uidmap")
        self.dir = Path(tempfile.mkdtemp(prefix="batchaid-somebody-"))
        self.dir.chmod(0o755)
        lines = {
            "passwd": f"somebody:x:{self.UID}:{self.UID}::{self.dir}/home:/bin/sh",
            "group": f"somebody:x:{self.UID}:",
            "subuid": "somebody:3000000:65536",
            "subgid": "somebody:3000000:65536",
        }
        script = ""
        for name, line in lines.items():
            real = Path("/etc") / name
            (self.dir / name).write_text(f"{real.read_text() if real.exists() else ''}{line}\n")
            script += f"mount --bind {self.dir}/{name} {real}\n"
        for name, mode in (("home", 0o755), ("run", 0o700)):
            (self.dir / name).mkdir(mode)
            self.give(self.dir / name)
        script += f"export HOME={self.dir}/home XDG_RUNTIME_DIR={self.dir}/run USER=somebody LOGNAME=somebody\n"
        script += f'cd / && exec setpriv --reuid {self.UID} --regid {self.UID} --clear-groups --inh-caps=-all "$@"\n'
        (self.dir / "as").write_text(script)
        self.prefix = ("unshare", "--mount", "sh", str(self.dir / "as"))

    def give(self, folder):
        os.chown(folder, self.UID, self.UID)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)


class Registry:
    """Debian's docker-registry on a loopback port, which wants a user's password."""

    def __init__(self, port, user="reader", password="pass word'$1"):
        self.port, self.user, self.password = port, user, password
        self.name = f"127.0.0.1:{port}"

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="batchaid-registry-"))
        done = subprocess.run(
            ["htpasswd", "-niB", self.user], input=self.password, capture_output=True, text=True, check=True
        )
        (self.dir / "htpasswd").write_text(done.stdout)
        (self.dir / "config.yml").write_text(
            f"version: 0.1\nlog: {{level: error}}\n"
            f"storage: {{filesystem: {{rootdirectory: {self.dir}/data}}}}\n"
            f"http: {{addr: '{self.name}'}}\n"
            f"auth: {{htpasswd: {{realm: tests, path: {self.dir}/htpasswd}}}}\n"
        )
        argv = ["docker-registry", "serve", self.dir / "config.yml"]
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.dir, ignore_errors=True)

    def fill(self, engine, image_name):
        """Puts an image of the engine's here, and takes it from the engine."""
        remote = f"{self.name}/{image_name}"
        engine("tag", image_name, remote)
        login = ["login", "-u", self.user, "--password-stdin", self.name]
        wait_for(lambda: self.logs_in(engine, login), 20, "the registry to answer")
        engine("push", remote)
        engine("logout", self.name)
        engine("rmi", remote, image_name)

    def logs_in(self, engine, login):
        env = {**os.environ, **engine.environment}
        argv = [engine.program, *login]
        return subprocess.run(argv, env=env, input=self.password.encode(), capture_output=True).returncode == 0


