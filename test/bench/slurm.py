# SPDX-License-Identifier: MIT
"""Slurm as a peer: its controller and nodes of its own on loopback, as fast as its settings make it, its state on the
disk where ours is. It has no root's services: a munge with a socket and key of this run alone.

An epilog, even one that does nothing, is what makes its controller look for the next job at once."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

from support.ports import free_ports
from support.waiting import wait_for

from . import stage

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "munged")
SUBMITTERS = 8
START_S = 30

CONF = """\
ClusterName=peer
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/slurmd.%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/slurmd.%n.log
LogTimeFormat=iso8601_ms
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
Epilog=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
PriorityType=priority/basic
SchedulerParameters=default_queue_depth=200,partition_job_depth=0,batch_sched_delay=0
MaxJobCount=100000
ReturnToService=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """What keeps it from being measured here, or None."""
    if os.geteuid() != 0:
        return "Slurm needs root"
    return next((f"{p} is not installed" for p in PROGRAMS if not shutil.which(p)), None)


class Slurm:
    def __init__(self, nodes):
        self.dir = Path(tempfile.mkdtemp(prefix="slurm-", dir=stage.directory()))
        for name in ("state", "spool", "run", "log", "work", "munge"):
            (self.dir / name).mkdir(mode=0o755)
        self.names = [f"n{k + 1}" for k in range(nodes)]
        self.processes = []
        self.environment = {**os.environ, "SLURM_CONF": str(self.dir / "slurm.conf")}
        port, *ports = free_ports(nodes + 1)
        host = socket.gethostname().split(".")[0]
        text = CONF.format(
            dir=self.dir, host=host, user="root", port=port, names=",".join(self.names),
            nodes="\n".join(
                f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={p} CPUs=1 State=UNKNOWN"
                for name, p in zip(self.names, ports, strict=True)
            ),
        )  # fmt: skip
        (self.dir / "slurm.conf").write_text(text)
        # No plugin above uses cgroups. That of version 1 loads on every machine; that of version 2 wants controllers.
        (self.dir / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *why):
        self.close()

    def start(self):
        munge = self.dir / "munge"
        (munge / "key").write_bytes(os.urandom(64))
        (munge / "key").chmod(0o600)
        paths = {"socket": "socket", "key-file": "key", "log-file": "log", "pid-file": "pid", "seed-file": "seed"}
        self.spawn("munged", "--foreground", "--force", *(f"--{o}={munge / f}" for o, f in paths.items()))
        wait_for((munge / "socket").exists, limit=START_S, what="munged")
        self.spawn("slurmctld", "-D", "-c")
        for name in self.names:
            (self.dir / "spool" / name).mkdir()
            self.spawn("slurmd", "-D", "-N", name)
        wait_for(self.is_ready, limit=START_S, what=f"Slurm's nodes; see {self.dir}/log")
        return self

    def spawn(self, *argv):
        out = (self.dir / "log" / "output").open("ab")
        self.processes.append(
            subprocess.Popen(argv, env=self.environment, cwd=self.dir / "work", stdout=out, stderr=out)
        )

    def ask(self, *argv):
        return subprocess.run(argv, env=self.environment, cwd=self.dir / "work", capture_output=True, text=True)

    def is_ready(self):
        for process in self.processes:
            assert process.poll() is None, f"{process.args} has ended; see {self.dir}/log"
        return self.ask("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(len(self.names))

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(START_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir)

    def ends(self, since):
        """The instants at which jobs were complete, as the controller's log has them."""
        found = []
        with (self.dir / "log" / "slurmctld.log").open() as log:
            for line in log:
                if "_job_complete" in line and line.rstrip().endswith("done"):
                    at = datetime.fromisoformat(line[1 : line.index("]")]).timestamp()
                    found += [at] if at >= since else []
        return found

    def jobs_per_second(self, count):
        """From the first of `count` jobs (`true`) that is submitted to the end of the last."""
        each = f"for ((k = 0; k < {count // SUBMITTERS}; k++)); do sbatch -o /dev/null --wrap true; done"
        start = time.time()
        submitters = [
            subprocess.Popen(
                ["bash", "-c", each], env=self.environment, cwd=self.dir / "work", stdout=subprocess.DEVNULL
            )
            for _ in range(SUBMITTERS)
        ]
        for process in submitters:
            assert process.wait(120) == 0
        wanted = count // SUBMITTERS * SUBMITTERS
        ends = wait_for(lambda: (e := self.ends(start)) and len(e) >= wanted and e, limit=120, what="Slurm's jobs")
        return wanted / (max(ends) - start)

    def first_line_ms(self, number):
        """From before sbatch to the instant that the job's shell reads."""
        out, script = self.dir / "work" / f"line-{number}", self.dir / "work" / "line.sh"
        script.write_text('#!/bin/bash\necho $EPOCHREALTIME > "$1.tmp"\nmv "$1.tmp" "$1"\n')
        start = time.time()
        reply = self.ask("sbatch", "-o", "/dev/null", script, out)
        assert reply.returncode == 0, reply.stderr
        wait_for(out.exists, limit=START_S, what=f"Slurm's job {number}")
        return (float(out.read_text()) - start) * 1000
