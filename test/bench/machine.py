# SPDX-License-Identifier: MIT
"""What the machine itself can do, and what a process costs it."""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from support.daemon import BUILD

BLOCK = 4096
BASH = "/bin/bash"
# Of one job, counted with strace: its output directories and logs. Everything else serves again.
JOB_FILES = 6


def syncs_per_second(directory, seconds):
    """Appends of 4 KiB, each followed by fdatasync, one after the other."""
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        block, count, start = os.urandom(BLOCK), 0, time.monotonic()
        while time.monotonic() < start + seconds:
            file.write(block)
            os.fdatasync(file.fileno())
            count += 1
        return count / (time.monotonic() - start)


def cpu_seconds(pid):
    """CPU time of all threads that live, to the nanosecond."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        total += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
    return total / 1e9


def rss_mb(pid, which="VmRSS"):
    """As MB (10^6)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{which}:\s+(\d+) kB", status)[1]) * 1024 / 1e6


def peak_rss_mb(pid):
    """Since it was forgotten last."""
    return rss_mb(pid, "VmHWM")


def forget_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def parent(pid):
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rsplit(")", 1)[1].split()[1])


def children(pid):
    """pid -> argv of each child process."""
    found = {}
    for child in filter(str.isdigit, os.listdir("/proc")):
        try:
            if parent(child) == pid:
                found[int(child)] = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[:-1]
        except OSError:
            continue
    return found


def spawn_seconds(command):
    """posix_spawn of bash until it runs the command, by the command's own clock."""
    with tempfile.NamedTemporaryFile("r") as file:
        start = time.time()
        argv = [BASH, "-c", f"{command} > {file.name}"]
        pid = os.posix_spawn(BASH, argv, os.environ)
        os.waitpid(pid, 0)
        return float(file.read()) - start


def spawns_per_second(count, at_once, *program):
    """Processes that do nothing, as fast as xargs starts them: of bash, or of another program."""
    numbers = "\n".join(map(str, range(count)))
    start = time.monotonic()
    argv = ["xargs", "-n1", f"-P{at_once}", *(program or (BASH, "-c", "true"))]
    subprocess.run(argv, input=numbers, text=True, check=True)
    return count / (time.monotonic() - start)


def job_files_per_second(directory, count):
    """What one process can do of a job's files alone."""
    with tempfile.TemporaryDirectory(dir=directory) as base:
        start = time.monotonic()
        for job in range(count):
            for file in range(JOB_FILES):
                Path(base, f"{job}-{file}").touch()
        return count / (time.monotonic() - start)


class Echo:
    """The bare HTTPS server, with a daemon's certificate and this text as its answer to GET; `plain`: over HTTP."""

    def __init__(self, state_dir, reply, plain=False):
        program = self.build()
        self.reply = Path(state_dir).parent / "reply.json"
        self.reply.write_bytes(reply)
        files = ["-", "-"] if plain else [state_dir / "server.pem", state_dir / "server.key"]
        argv = [program, *files, self.reply]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.endpoint = f"http{'' if plain else 's'}://127.0.0.1:{self.port}"

    @staticmethod
    def build():
        source, program = Path(__file__).with_name("echo.c"), BUILD / "bench" / "echo"
        if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
            return program
        program.parent.mkdir(parents=True, exist_ok=True)
        argv = ["pkg-config", "--cflags", "--libs", "libmicrohttpd", "libuv"]
        flags = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
        strict = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
        subprocess.run(["cc", *strict, str(source), "-o", str(program), *flags], check=True)
        return program

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
