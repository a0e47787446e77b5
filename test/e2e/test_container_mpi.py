# SPDX-License-Identifier: MIT
"""`ssh` and MPI between the containers of a job's nodes, in an image made of this machine's own packages."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from support.containers import docker, podman
from support.daemon import BATCHAID, Daemon
from support.host_image import libraries, write_image
from support.mpi import mpi, ranks, script
from support.waiting import wait_for
from support.world import MOUNT, Place

IMAGE = "tests/mpi:1"
LIB = "/usr/lib/x86_64-linux-gnu"
PROGRAMS = [
    *(f"/usr/bin/{p}" for p in ("mpirun.openmpi", "orted", "mpirun.mpich", "hydra_pmi_proxy", "python3")),
    *(f"{LIB}/{p}" for p in ("openmpi", "pmix2", "libmpich.so.12")),
    *("/usr/lib/python3.11", "/usr/lib/python3/dist-packages/mpi4py", "/usr/share/openmpi", "/etc/openmpi", "/usr/share/pmix"),
]
SETTINGS = {"containerSettings": {"imageSourceRegistry": {"image": IMAGE}}}
HERE = 'IFS=, read -r -a H <<<"$AZ_BATCH_HOST_LIST"'


@pytest.fixture(scope="module")
def tar(tmp_path_factory):
    mpi("openmpi")
    mpi("mpich")
    path = tmp_path_factory.mktemp("image") / "mpi.tar"
    # An agent with sanitizers is linked dynamically.
    write_image(path, [*PROGRAMS, *libraries(BATCHAID.with_name("batchai-node"))], IMAGE)
    yield path
    path.unlink()


@pytest.fixture(scope="module", params=["docker", "podman"])
def place(request, tar):
    with ExitStack() as stack:
        made = docker() if request.param == "docker" else podman()
        engine = stack.enter_context(made)
        engine("import", tar, IMAGE)
        stack.callback(engine, "rmi", "-f", IMAGE)
        config = {"containers": {"runtimes": [engine.program]}}
        p = Place(stack.enter_context(Daemon(config=config, environment=engine.environment))).make()
        p.engine = engine
        stack.callback(p.remove)
        yield p


@pytest.fixture(scope="module")
def cluster(place):
    return place.cluster(nodes=4)


def test_a_command_runs_in_the_container_of_the_other_node(place, cluster):
    show = "cat /etc/image; echo $AZ_BATCHAI_TASK_INDEX $(id -u)"
    script = (
        f"{HERE}; {show}; ssh \"${{H[1]}}\" '{show}'; ssh \"${{H[1]}}\" 'echo mine > /tmp/left'; "
        'cat /tmp/left; ssh "${H[1]}" cat /tmp/left; ssh "${H[1]}" "kill -9 \\$\\$"; echo $?; ssh other true; echo $?\n'
        "head -c 3000000 /dev/urandom > data; ssh 1 cat < data | cmp - data && echo same"
    )
    job = place.job(cluster, script, nodes=2, **SETTINGS).succeeded(limit=120)
    first, zero, second, one, mine, *codes, same = job.read("stdout.txt").splitlines()
    assert first == second == IMAGE and zero.split()[0] == "0" and one.split()[0] == "1"
    assert zero.split()[1] == one.split()[1] and mine == "mine" and codes == ["137", "255"] and same == "same"
    assert "/tmp/left" in job.read("stderr.txt")
    wait_for(lambda: place.engine.containers() == [], 30, "the containers to go")


def command(kind, place, name, what=""):
    """Each local node has the share at a path of its own, and its container no other."""
    program = script(kind, place.share(), name)
    return kind.launch.replace("/usr/bin/python3", f"/bin/sh -c '/usr/bin/python3 {program} {what}'")


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("nodes", [2, 4])
def test_mpi(place, cluster, name, nodes):
    job = place.job(cluster, command(mpi(name), place, f"sum-{name}.py"), nodes=nodes, **SETTINGS)
    job.succeed(limit=60)
    found = ranks(job.read("stdout.txt"))
    assert {(size, total) for size, total, *_ in found.values()} == {(nodes, nodes * (nodes - 1) // 2)}
    assert sorted(index for *_, index, _ in found.values()) == list(range(nodes))


def test_a_rank_that_fails_and_a_job_that_is_terminated(place, cluster):
    kind = mpi("openmpi")
    job = place.job(cluster, command(kind, place, "fails.py", "exit"), nodes=2, **SETTINGS)
    info = job.fail(limit=60)["executionInfo"]
    assert info["exitCode"] == 17 and "the last rank is unwell" in job.read("stderr.txt")
    job = place.job(cluster, f"ssh 1 'touch {MOUNT}/up; sleep 5432109'", nodes=2, **SETTINGS)
    wait_for(lambda: (place.share() / "up").exists(), 60, "the command")
    job.terminate()
    job.wait("failed", limit=60)
    sleeping = lambda: [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"5432109" in read(p)]
    wait_for(lambda: not sleeping() and place.engine.containers() == [], 30, "the end of all")


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
