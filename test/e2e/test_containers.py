# SPDX-License-Identifier: MIT
"""Jobs in containers: Docker Engine and podman, images made here, Debian's registry."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from threading import Thread

import pytest
from support.containers import TOOLKIT, Registry
from support.host_image import loaded
from support.people import SUBMITTER, Person
from support.terminals import Terminal, run
from support.waiting import wait_for
from support.world import Place, file_share, fresh, wait_flag


def contained(image=TOOLKIT, **settings):
    return {"containerSettings": {"imageSourceRegistry": {"image": image}, **settings}}


@pytest.fixture(scope="module")
def place(engine_place):
    return engine_place


@pytest.fixture(scope="module")
def cluster(place):
    return place.cluster(nodes=1)


def test_a_job_runs_in_its_image_and_sees_what_it_would_see_outside(place, cluster):
    place.share("data").joinpath("in.txt").write_text("from the share\n")
    command = "cat /etc/image $AZ_BATCHAI_JOB_MOUNT_ROOT/data/in.txt; pwd; echo $QUOTED; echo $AZ_BATCHAI_NUM_GPUS"
    job = place.job(
        cluster,
        f"{command}; echo made in a container > $AZ_BATCHAI_JOB_MOUNT_ROOT/data/out.txt",
        mountVolumes={"azureFileShares": [file_share("data", "data")]},
        environmentVariables=[{"name": "QUOTED", "value": "it's \"so\" $HOME\n`id`"}],
        **contained(),
    ).succeeded()
    image, share, folder, quoted, gpus = job.read("stdout.txt").splitlines()
    assert (image, share, gpus) == (TOOLKIT, "from the share", "0")
    assert "/jobs/" in folder
    assert quoted == "it's \"so\" $HOME `id`"
    assert place.share("data").joinpath("out.txt").read_text() == "made in a container\n"
    log = job.read("execution.log")
    assert f"{TOOLKIT} is there" in log and f"runs image {TOOLKIT}" in log


def test_preparation_and_command_share_one_container_which_goes_with_the_job(place, cluster, engine):
    job = place.job(
        cluster, "cat /tmp/left; hostname", jobPreparation={"commandLine": "echo prepared > /tmp/left"}, **contained()
    ).succeeded()
    assert job.read("stdout.txt").splitlines() == ["prepared", socket.gethostname()]
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_exit_codes_and_shared_memory(place, cluster):
    job = place.job(cluster, "df /dev/shm; exit 3", **contained(shmSize="48m"))
    assert job.fail()["executionInfo"]["exitCode"] == 3
    assert "49152" in job.read("stdout.txt")


def test_terminate_reaches_the_processes_in_the_container(place, cluster, engine):
    ready, flag = place.flag("trap-set")
    told, seen = place.flag("term-seen")
    job = place.job(cluster, f"trap 'touch {seen}; exit 0' TERM; touch {flag}; while :; do sleep 0.1; done", **contained())
    wait_for(ready.exists, 30, "the job to run")
    job.terminate()
    assert job.fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    assert told.exists()
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_a_job_that_ignores_signals_goes_with_its_container(place, cluster, engine):
    ready, flag = place.flag("ignoring")
    job = place.job(cluster, f"trap '' TERM; touch {flag}; while :; do sleep 0.1; done", **contained())
    wait_for(ready.exists, 30, "the job to run")
    job.terminate()
    job.fail()
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_a_restart_of_the_daemon_does_not_disturb_the_container(place, cluster, engine):
    ready, flag = place.flag("running-through")
    go, wait = place.flag("go-on")
    job = place.job(cluster, f"touch {flag}; {wait_flag(wait)}; exit 5", **contained())
    wait_for(ready.exists, 30, "the job to run")
    (container,) = engine.containers()
    place.daemon.crash()
    assert engine.containers() == [container]
    go.touch()
    assert job.fail()["executionInfo"]["exitCode"] == 5
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_an_unknown_image_is_named(place, cluster):
    job = place.job(cluster, "true", **contained("127.0.0.1:1/no/such:image"))
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "FailedPullingContainerImage" and "127.0.0.1:1/no/such:image" in error["message"]
    assert "pulling container image" in job.read("execution.log")


@pytest.fixture(scope="module")
def registry(engine):
    if not (shutil.which("docker-registry") and shutil.which("htpasswd")):
        pytest.skip("docker-registry or htpasswd is not installed")
    if engine.program == "podman":
        pytest.skip("podman wants a registry with TLS, or root's registries.conf")
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    with Registry(port) as r:
        engine.add_image("private/tool:2", "private")
        r.fill(engine, "private/tool:2")
        yield r


def from_registry(registry, **credentials):
    source = {"serverUrl": f"http://{registry.name}/", "image": "private/tool:2"}
    return {"containerSettings": {"imageSourceRegistry": {**source, "credentials": credentials}}}


def test_wrong_credentials_are_told_and_never_shown(place, cluster, registry):
    job = place.job(cluster, "true", **from_registry(registry, username="reader", password="wrong-one"))
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "FailedPullingContainerImage"
    assert "unauthorized" in str(error) or "401" in str(error)
    assert "wrong-one" not in str(error) + job.read("execution.log")


def test_a_private_image_is_pulled_once(place, cluster, registry):
    right = from_registry(registry, username=registry.user, password=registry.password)
    first = place.job(cluster, "cat /etc/image", **right).succeeded()
    assert first.read("stdout.txt") == "private\n"
    log = first.read("execution.log")
    assert "pulled container image" in log and registry.password not in log
    second = place.job(cluster, "true", **right).succeeded()
    assert "is there" in second.read("execution.log") and "pulling" not in second.read("execution.log")


def logins(registry):
    """Where docker or podman runs that logs in on the registry, and where it keeps the login."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            argv = (process / "cmdline").read_bytes().split(b"\0")
            if argv[1:2] != [b"login"] or registry.encode() not in argv:
                continue
            environment = dict(v.partition(b"=")[::2] for v in (process / "environ").read_bytes().split(b"\0"))
            yield Path(os.readlink(process / "cwd")), Path(os.fsdecode(environment[b"DOCKER_CONFIG"]))
        except OSError:
            continue  # it has ended


def test_a_login_is_where_the_jobs_account_can_neither_write_nor_rename(place, cluster):
    """docker and podman start programs that the files of the login name, with the agent's rights."""
    seen, owners = [], {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        registry = f"127.0.0.1:{server.getsockname()[1]}"
        server.settimeout(60)

        def look():
            asked, _ = server.accept()
            with asked:
                seen.extend(logins(registry))
                for folder in (folder for pair in seen for one in pair for folder in (one, *one.parents)):
                    owners[folder] = (folder.stat().st_uid, folder.stat().st_mode)
            server.close()

        looks = Thread(target=look)
        looks.start()
        source = {"image": f"{registry}/x:1", "serverUrl": registry, "credentials": {"username": "u", "password": "p"}}
        job = place.job(cluster, "true", containerSettings={"imageSourceRegistry": source})
        job.fail()
        looks.join()
    assert seen, "the login was seen"
    root = place.daemon.state_dir
    for folder, (owner, mode) in owners.items():
        assert owner in (0, os.geteuid()), folder
        assert not mode & 0o022 or mode & 0o1000, folder
    wait_for(lambda: not list(root.rglob("*.login")), 20, "the login to go")


# --- images as people have them: bash, an account, and its .bashrc ----------------------------------------------------

HOMELY = "tests/homely:1"
RC = """
[ -z "$PS1" ] && return
echo a banner
export FROM_IMAGE="it's here" MINE=rc AZ_BATCHAI_NODE_COUNT=99 PATH="/opt/x/bin:$PATH"
not_exported=1
"""


def bash_files():
    bash = {"/bin/bash": Path("/bin/bash")}
    return {**bash, **loaded("/bin/bash")}


@pytest.fixture(scope="module")
def homely(engine):
    files = {"/etc/passwd": "root:x:0:0:root:/root:/bin/bash\n", "/root/.bashrc": RC, "/etc/bash.bashrc": RC, **bash_files()}
    engine.add_image(HOMELY, files=files)
    yield HOMELY
    engine("rmi", "-f", HOMELY)


def test_what_bashrc_exports_is_there_and_what_the_job_sets_wins(place, cluster, homely):
    command = (
        'echo "$FROM_IMAGE,$FROM_PREPARATION,$MINE,$AZ_BATCHAI_NODE_COUNT,${not_exported-},${PS1-}"; echo "$PATH"; cd; pwd; '
        "touch mine && echo $BASH_VERSION"
    )
    preparation = 'echo "export FROM_PREPARATION=\'as well\'; sleep 1000 &" >> ~/.bashrc'
    job = place.job(
        cluster,
        command,
        jobPreparation={"commandLine": preparation},
        environmentVariables=[{"name": "MINE", "value": "the job's"}],
        **contained(homely),
    ).succeeded()
    seen, path, home, version = job.read("stdout.txt").splitlines()
    assert seen == "it's here,as well,the job's,1,,", job.read("stderr.txt")
    assert path.startswith("/opt/x/bin:") and version[0].isdigit() and job.read("stderr.txt") == ""


def test_a_bashrc_that_hangs_holds_the_command_for_ten_seconds(place, cluster, homely):
    job = place.job(
        cluster,
        "echo $MINE",
        jobPreparation={"commandLine": "echo 'export MINE=1; sleep 1000' > ~/.bashrc"},
        **contained(homely),
    ).succeeded(limit=40)
    assert job.read("stdout.txt") == "\n"


def test_submit_runs_the_command_in_an_image_with_the_copied_folder(place, tmp_path):
    (tmp_path / "say.sh").write_text('#!/bin/sh\ncat /etc/image part/data; echo "$1"; echo more >made.txt\n')
    (tmp_path / "say.sh").chmod(0o755)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "data").write_text("of the folder\n")
    said = place.daemon.tool("submit", "--json", "--folder", str(tmp_path), "--image", TOOLKIT, "--", "./say.sh", "a b")
    said = json.loads(said.stdout)
    job = Place(place.daemon, said["resourceGroup"], said["workspace"]).job_at(said["name"], said["experiment"]).succeeded()
    assert job.read("stdout.txt").splitlines() == [TOOLKIT, "of the folder", "a b"]
    assert job.read("made.txt", "FILES", directory="folder") == "more\n"


def test_a_node_without_a_runtime_says_so(own_daemon, tmp_path):
    d = own_daemon(config={"containers": {"runtimes": ["docker"]}}, environment={"DOCKER_HOST": f"unix://{tmp_path}/none"})
    place = Place(d).make()
    job = place.job(place.cluster(nodes=1), "true", **contained())
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "ContainerRuntimeNotFound"
    assert "install docker or podman" in str(error["details"])


@pytest.mark.skipif(os.geteuid() == 0, reason="jobs of a daemon that is root have accounts of their own")
def test_links_that_a_job_makes_lead_no_container_into_the_state_directory(place, cluster, temporary):
    """The mount root of the node is the job's, too; and what is linked there, the container gets."""
    ada = temporary(Person(place.daemon, SUBMITTER, place.group_path))
    key = place.daemon.state_dir / "token.key"
    job = place.job(cluster, f"ln -s {key.parent} $AZ_BATCHAI_MOUNT_ROOT/state; ln -s {key.parent.parent} $AZ_BATCHAI_MOUNT_ROOT/all")
    job.succeed()
    job = place.job(cluster, f"ls $AZ_BATCHAI_MOUNT_ROOT/out >&2 && ! cat {key}", **contained())
    job.succeed()


# --- terminals -----------------------------------------------------------------------------------------------------


@pytest.fixture
def entered(place, cluster, engine):
    """A job in a container, which runs until the end of the test and then succeeds."""
    ready, flag = place.flag(fresh("ready"))
    go, wait = place.flag(fresh("go"))
    job = place.job(cluster, f"touch {flag}; {wait_flag(wait)}", **contained())
    wait_for(ready.exists, 30, "the job to run")
    job.container = engine.containers()
    yield job
    assert engine.containers() == job.container, "no terminal has another container, or ends the job's"
    go.touch()
    job.succeed()
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def processes(pattern):
    """Those of the machine, which sees those in containers too."""
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False)
    return found.stdout.split()


def test_a_command_and_a_shell_enter_the_container(entered):
    end, out, err = run(entered, "cat /etc/image; pwd; echo $AZ_BATCHAI_JOB_TEMP; exit 7")
    image, folder, temp = out.decode().splitlines()
    assert (end, image, folder, err) == ((7, 0), TOOLKIT, temp, b"")
    with Terminal(entered, rows=33, columns=101, term="vt100") as t:
        t.send("i", b"cat /etc/image; echo $TERM; test -t 0 && exit 4\n")
        assert t.finish() == (4, 0)
    assert f"{TOOLKIT}\r\nvt100\r\n".encode() in t.out


def test_the_end_of_a_terminal_ends_its_command_in_the_container(entered):
    for tty in ({}, {"rows": 24, "columns": 80}):
        t = Terminal(entered, command="trap '' HUP TERM; sleep 8765432 & echo on; cat /dev/zero >/dev/null", **tty)
        t.until(b"on")
        wait_for(lambda: processes("^sleep 8765432"), what="the command")
        t.close()
        wait_for(lambda: not processes("^sleep 8765432|^cat /dev/zero"), 30, "the end of the command")
    assert run(entered, "echo again")[:2] == ((0, 0), b"again\n")
