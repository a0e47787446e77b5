# SPDX-License-Identifier: MIT
"""Output on the own disks of machines that are reached by SSH: followed through az, downloaded while
the machine is in the cluster, and through links that break."""

import hashlib

import requests
from support.daemon import rest_of
from support.racked import NODE_ROOT, group
from support.waiting import wait_for
from support.world import MOUNT, wait_flag

TEMP = "$AZ_BATCHAI_JOB_TEMP"
OUT = {"id": "OUT", "pathPrefix": TEMP}


def listing(job, directory_id="stdouterr"):
    return job.list(directory_id, validate=False)


def test_az_follows_output_on_a_machines_own_disk(site, az_of):
    cluster = site.cluster(nodes=1)
    az = az_of(site.daemon)
    seen, path = site.flag("seen")
    job = site.job(cluster, f"echo line 1; {wait_flag(path)}; echo line 2", stdOutErrPathPrefix=TEMP)
    job.wait("running")
    wait_for(lambda: any(f["name"] == "stdout.txt" for f in job.files()), what="stdout.txt")
    where = f"-g {site.group} -w {site.workspace} -e exp -j {job.name}"
    streamed = []
    for line in az.stream(f"batchai job file stream {where} -f stdout.txt"):
        streamed.append(line)
        seen.touch()
    job.succeed()
    assert "line 1\n" in streamed
    assert job.read("stdout.txt") == "line 1\nline 2\n"
    names = {f["name"] for f in az(f"batchai job file list {where}")}
    assert {"execution.log", "stdout.txt", "stderr.txt"} <= names
    (machine,) = site.machines_of(cluster)
    assert not machine.mounts(f"{NODE_ROOT}/jobs")


def test_the_jobs_account_reads_it_not_root(site):
    """A job that links to what its account may not read shows nothing of it."""
    job = site.job(
        site.cluster(nodes=1),
        "cd $AZ_BATCHAI_OUTPUT_OUT; id -u > who.txt; ln -s /etc/shadow shadow; echo x > mine; chmod 0 mine",
        outputDirectories=[OUT],
    ).succeeded()
    assert job.read("who.txt", "OUT").strip() != "0"
    assert [f["name"] for f in job.files("OUT")] == ["mine", "who.txt"]
    assert site.daemon.fetch(job.link("mine", "OUT")).text == "x\n"  # the agent's, now that the job is over


def test_a_big_download_over_ssh_and_a_link_that_is_cut_meanwhile(site):
    size = 40 << 20
    cluster = site.cluster(nodes=1)
    (machine,) = site.machines_of(cluster)
    job = site.job(
        cluster,
        f"cd $AZ_BATCHAI_OUTPUT_OUT; head -c {size} /dev/zero > big.bin; sha256sum big.bin",
        outputDirectories=[{"id": "OUT", "pathPrefix": "/tmp"}],
    ).succeeded()
    url = job.link("big.bin", "OUT")
    assert hashlib.sha256(site.daemon.fetch(url).content).hexdigest() == job.read("stdout.txt").split()[0]
    with requests.get(url, stream=True, verify=site.daemon.ca, timeout=60) as reply:
        got = len(reply.raw.read(1 << 20))
        machine.cut_link()
        assert got + rest_of(reply) < size
    wait_for(lambda: listing(job, "OUT").status == 503, what="a 503")
    reply = listing(job, "OUT")
    assert reply.headers["Retry-After"] and "cannot be reached now" in reply.error["message"]
    assert site.daemon.fetch(url).status == 503
    machine.restore_link()
    wait_for(lambda: site.daemon.fetch(url, Range="bytes=-3").content == bytes(3), 30, "the machine to be back")


def test_a_share_that_machines_mount_from_elsewhere_is_listed_on_the_machine(racked, rack):
    """The rule's source is a folder of the machine's own; our folder of the share stays empty."""
    rule = {"match": "*/*", "type": "local", "source": "/var/tmp/shares/{account}/{share}"}
    site = racked([group(rack, rack[:1])], mounts=[rule])
    rack[0].run("mkdir -m 1777 -p /var/tmp/shares/acct/out && chmod 777 /var/tmp/shares/acct/out")
    try:
        job = site.job(
            site.cluster(nodes=1),
            "echo there; echo deep > $AZ_BATCHAI_OUTPUT_OUT/x.txt",
            outputDirectories=[{"id": "OUT", "pathPrefix": MOUNT}],
        ).succeeded()
        assert not list(site.share().iterdir())
        assert job.read("stdout.txt") == "there\n"
        assert job.read("x.txt", "OUT") == "deep\n"
    finally:
        rack[0].run("rm -rf /var/tmp/shares")


def test_two_machines_show_their_own_files_until_they_leave(site):
    cluster = site.cluster(nodes=2)
    job = site.job(
        cluster,
        "true",
        nodes=2,
        jobPreparation={"commandLine": "echo $AZ_BATCHAI_TASK_INDEX > $AZ_BATCHAI_OUTPUT_OUT/rank.txt"},
        outputDirectories=[OUT],
    ).succeeded()
    (other,) = [f["name"] for f in job.files("OUT") if f["fileType"] == "directory"]
    assert job.read("rank.txt", "OUT") == "0\n" and job.read("rank.txt", "OUT", directory=other) == "1\n"
    cluster.resized(0)
    assert "has left the cluster" in job.files("OUT", expect=400).error["message"]
