# SPDX-License-Identifier: MIT
"""Jobs of toolkits on several machines: who runs where, and the directory that a job's nodes share."""

import json
import os
import shutil

import pytest
from support.racked import NODE_ROOT
from support.waiting import wait_for
from support.world import MOUNT

needs_sshfs = pytest.mark.skipif(
    not (shutil.which("sshfs") and os.path.exists("/dev/fuse")), reason="sshfs is not installed, or there is no /dev/fuse"
)

# Meets the others in the shared directory, and says who and where it is.
MEET = """
import json, os, time
rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
shared = os.environ["AZ_BATCHAI_SHARED_JOB_TEMP"]
os.makedirs(f"{shared}/deep", exist_ok=True)
open(f"{shared}/deep/{rank}", "w").close()
while len(os.listdir(f"{shared}/deep")) < n:
    time.sleep(0.02)
print(json.dumps({k: os.environ[k] for k in ("MASTER_ADDR", "LOCAL_RANK", "NODE_RANK", "AZ_BATCHAI_SHARED_JOB_TEMP")}))
"""

# Says what its node's preparation has left in the job's own directory there.
RANK = """
import json, os, sys
data = open(os.environ["AZ_BATCHAI_JOB_TEMP"] + "/data").read().strip()
told = {"rank": os.environ["RANK"], "data": data, "argv": sys.argv[1], "node": os.environ["AZ_BATCHAI_NODE_ID"]}
os.write(1, (json.dumps(told) + "\\n").encode())
"""


@pytest.fixture
def shared(rack):
    """A directory that all machines have at the path /common/jobs."""
    folder = rack.common / "jobs"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def test_processes_on_machines_meet_in_the_sites_directory_which_goes_with_the_job(racked, rack, shared):
    site = racked(jobs={"shared_directory": "/common/jobs"})
    site.share().joinpath("meet.py").write_text(MEET)
    cluster = site.cluster(nodes=2)
    settings = {"pythonScriptFilePath": f"{MOUNT}/meet.py", "processCount": 4, "communicationBackend": "gloo"}
    job = site.job(cluster, nodes=2, customToolkitSettings=None, pyTorchSettings=settings)
    job.succeed()
    told = [json.loads(job.read(f"stdout-{i}.txt")) for i in range(4)]
    assert [(t["NODE_RANK"], t["LOCAL_RANK"]) for t in told] == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    (address,) = {t["MASTER_ADDR"] for t in told}
    assert address == site.machines_of(cluster)[0].address
    (path,) = {t["AZ_BATCHAI_SHARED_JOB_TEMP"] for t in told}
    assert path.startswith("/common/jobs/")
    wait_for(lambda: not list(shared.iterdir()), 20, "the job's directory to go")


@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpirun.mpich"])
def test_ranks_of_mpirun_find_their_own_machines_paths(racked, rack, mpirun):
    if not shutil.which(mpirun):
        pytest.skip(f"there is no {mpirun} (Debian: openmpi-bin, mpich)")
    site = racked()
    programs = site.share() / "bin"
    programs.mkdir()
    (programs / "mpirun").write_text(f'#!/bin/sh\nexec {shutil.which(mpirun)} "$@"\n')
    (programs / "mpirun").chmod(0o755)
    site.share().joinpath("rank.py").write_text(RANK)
    path = {"name": "PATH", "value": f"{NODE_ROOT}/mounts/out/bin:/usr/bin:/bin"}
    settings = {"pythonScriptFilePath": f"{MOUNT}/rank.py", "commandLineArgs": "$AZ_BATCHAI_NODE_ID", "processCount": 4}
    prep = {"commandLine": "echo data of $NODE_RANK >$AZ_BATCHAI_JOB_TEMP/data"}
    job = site.job(
        site.cluster(nodes=2),
        nodes=2,
        customToolkitSettings=None,
        horovodSettings=settings,
        jobPreparation=prep,
        environmentVariables=[path],
    ).succeeded(limit=60)
    told = sorted((json.loads(line) for line in job.read("stdout.txt").splitlines()), key=lambda t: t["rank"])
    assert [(t["rank"], t["data"]) for t in told] == [(str(i), f"data of {i // 2}") for i in range(4)]
    assert all(t["argv"] == t["node"] for t in told) and len({t["node"] for t in told}) == 2


def test_a_process_that_fails_on_another_machine_is_named_with_it(racked, rack):
    site = racked()
    site.share().joinpath("fail.py").write_text("import os, sys, time\nos.environ['RANK'] == '1' and sys.exit('lost my data')\ntime.sleep(3600)\n")
    cluster = site.cluster(nodes=2)
    settings = {"pythonScriptFilePath": f"{MOUNT}/fail.py"}
    job = site.job(cluster, nodes=2, customToolkitSettings=None, pyTorchSettings=settings)
    (error,) = job.fail()["executionInfo"]["errors"]
    details = {d["name"]: d["value"] for d in error["details"]}
    assert "process 1" in details.values() and "lost my data" in json.dumps(details)


def logs_of(job):
    found = {f["name"]: job.read(f["name"]) for f in job.files() if f["name"].startswith("execution-")}
    assert len(found) == 2
    return found


def shared_mounts(machine):
    return [point for point in machine.mounts() if point.endswith("/shared")]


@needs_sshfs
def test_without_such_a_directory_machines_have_that_of_the_jobs_first_node(racked, rack):
    """What one writes the other sees at once; it is the job's account's on both; and nothing stays mounted."""
    site = racked()
    there = "$AZ_BATCHAI_SHARED_JOB_TEMP"
    command = (
        f"cd {there}; echo one >a; ssh 1 'cd {there}; cat a; echo two >>a; mkdir -p d/e; echo deep >d/e/f; ln -s a link'\n"
        f"cat a link d/e/f; echo three >a; ssh 1 'cd {there}; cat a; stat -c %u a; id -u; rm -r d; mv a b'\n"
        "cat b; ls; head -c 5000000 /dev/urandom >big; sha256sum <big; ssh 1 'sha256sum <$AZ_BATCHAI_SHARED_JOB_TEMP/big'"
    )
    job = site.job(site.cluster(nodes=2), command, nodes=2).succeeded(limit=60)
    first, *seen, sum1, sum2 = job.read("stdout.txt").splitlines()
    assert first == "one" and seen[:5] == ["one", "two", "one", "two", "deep"]
    written, owner, account, *rest = seen[5:]
    assert written == "three" and owner == account and rest == ["three", "b", "link"] and sum1 == sum2
    assert not any("of this node alone" in text for text in logs_of(job).values())
    wait_for(lambda: not any(map(shared_mounts, rack)), what="the mounts to be gone")


@needs_sshfs
def test_it_goes_with_a_job_that_is_terminated_and_with_an_agent_that_was_killed(racked, rack):
    site = racked()
    job = site.job(site.cluster(nodes=2), "touch $AZ_BATCHAI_SHARED_JOB_TEMP/x; sleep 3600", nodes=2)
    (machine,) = wait_for(lambda: [m for m in rack if shared_mounts(m)], what="the mount")
    machine.run("pkill -9 -f '[a]gent --root'")
    job.terminate()
    job.wait("failed")
    wait_for(lambda: not any(map(shared_mounts, rack)), 40, what="the mounts to be gone")


def test_a_machine_without_sshfs_has_its_own_and_the_log_says_so(racked, rack):
    site = racked()
    hidden = [m for m in rack if shutil.which("sshfs")]
    for machine in hidden:
        machine.run("mount --bind /dev/null $(command -v sshfs)")
    try:
        job = site.job(site.cluster(nodes=2), "test -d $AZ_BATCHAI_SHARED_JOB_TEMP", nodes=2)
        job.succeed()
        alone = [text for text in logs_of(job).values() if "is a directory of this node alone" in text]
        assert len(alone) == 1 and "AZ_BATCHAI_SHARED_JOB_TEMP" in alone[0] and "no sshfs" in alone[0]
    finally:
        for machine in hidden:
            machine.run("umount $(command -v sshfs)")


def test_a_directory_that_is_not_there_fails_the_job_with_what_to_do(racked, rack):
    site = racked(jobs={"shared_directory": "/proc/no/such"})
    (error,) = site.job(site.cluster(nodes=2), "true", nodes=2).fail()["executionInfo"]["errors"]
    assert error["code"] == "JobDirectoryFailed" and "jobs.shared_directory" in json.dumps(error["details"])
