# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch in containers: Docker Engine and podman, images made here, Debian's registry."""

import io
import json
import os
import shutil
import subprocess
import tarfile

import pytest
from support.batch import BatchGround
from support.batch_jobs import POOL, Jobs, add_pool
from support.containers import TOOLKIT, Registry, image
from support.daemon import Daemon
from support.ports import free_port
from support.waiting import wait_for
from support.world import fresh


@pytest.fixture(scope="module")
def plane(engine):
    config = {"containers": {"runtimes": [engine.program]}}
    with Daemon(config=config, environment=engine.environment) as d:
        g = BatchGround(d)
        yield g.plane
        g.remove()


def container_pool(plane, id, images=(TOOLKIT,), registries=(), **more):
    vm = {**POOL["virtualMachineConfiguration"]}
    vm["containerConfiguration"] = {
        "type": "dockerCompatible", "containerImageNames": list(images), "containerRegistries": list(registries)
    }  # fmt: skip
    add_pool(plane, id, **{"targetDedicatedNodes": 1, "virtualMachineConfiguration": vm, **more})
    return id


@pytest.fixture(scope="module")
def pool(plane):
    yield container_pool(plane, "contained", taskSlotsPerNode=2)
    plane.call("DELETE", "/pools/contained", expect=202)


def settings(image=TOOLKIT, **more):
    return {"containerSettings": {"imageName": image, **more}}


def test_a_task_runs_in_its_image_and_sees_its_directories(jobs, engine):
    job = jobs()
    checks = 'cat /etc/image; pwd; echo $AZ_BATCH_TASK_WORKING_DIR; echo "$QUOTED"; echo made > out.txt'
    env = [{"name": "QUOTED", "value": "it's \"so\" $HOME\n`id`"}]
    task, done = job.ran(f"/bin/sh -c '{checks}'", **settings(), environmentSettings=env)
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    marker, folder, same, *quoted = job.text(task).splitlines()
    assert marker == TOOLKIT and folder == same and folder.endswith("/wd")
    assert "\n".join(quoted) == "it's \"so\" $HOME\n`id`"
    assert job.text(task, "wd%2Fout.txt") == "made\n"
    assert done["containerSettings"]["imageName"] == TOOLKIT
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_what_an_image_keeps_in_a_volume_goes_with_the_container(jobs, engine):
    engine.add_image("tests/volume:1", changes=["VOLUME /data"])
    _, done = jobs().ran("/bin/ls -d /data", **settings("tests/volume:1"))
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    wait_for(lambda: engine.containers() == [], 20, "the container to go")
    wait_for(lambda: engine("volume", "ls", "-q") == "", 20, "its volume to go")


STAYS = "/bin/sh -c 'echo ready; exec sleep 1000'"


def wait_ready(job, task):
    """Until its command runs: SIGTERM before that reaches nothing, and SIGKILL comes 30 s later."""
    out = f"{job.url}/tasks/{task}/files/stdout.txt"
    wait_for(lambda: job.plane.call("GET", out).content.endswith(b"ready\n"), 60, "it runs")


def contained(job, task):
    return job.plane.get(f"{job.url}/tasks/{task}")["executionInfo"].get("containerInfo")


def test_what_is_told_of_a_container_while_it_runs_and_afterwards(jobs, plane, engine):
    job = jobs()
    task = job.add(STAYS, **settings())
    info = wait_for(lambda: contained(job, task), 60, "its container")
    wait_ready(job, task)
    assert info["state"] == "running" and info["error"] == ""
    assert engine("inspect", "-f", "{{.Id}} {{.State.Running}}", info["containerId"]).split()[1] == "true"
    recent = plane.all("/pools/contained/nodes")[0]["recentTasks"][0]
    assert recent["executionInfo"]["containerInfo"] == info
    for version in ("2017-09-01.6.0", "2024-07-01.20.0"):
        old = plane.at(version).get(f"{job.url}/tasks/{task}")
        assert old["executionInfo"]["containerInfo"] == info
    assert job.end(task)["executionInfo"]["containerInfo"] == {**info, "state": "exited"}
    wait_for(lambda: engine.containers() == [], 20, "the container to go")
    plane.call("POST", f"{job.url}/tasks/{task}/reactivate", expect=204)
    again = wait_for(lambda: contained(job, task), 60, "its next container")
    assert again["containerId"] != info["containerId"] and again["state"] == "running"


def test_the_container_is_known_after_a_restart_of_the_daemon(jobs, plane, engine):
    job = jobs()
    task = job.add(STAYS, **settings())
    info = wait_for(lambda: contained(job, task), 60, "its container")
    wait_ready(job, task)
    plane.daemon.restart()
    assert contained(job, task) == info
    assert job.end(task)["executionInfo"]["containerInfo"] == {**info, "state": "exited"}


def test_what_the_runtime_says_of_a_container_that_does_not_start(jobs, engine):
    job = jobs()
    (done,) = job.wait(job.add("/bin/true", **settings(containerRunOptions="--ulimit nonsense=1")))
    info = done["executionInfo"]
    assert info["failureInfo"]["code"] == "ContainerLaunchFailed"
    assert info["containerInfo"]["state"] == "created" and "containerId" not in info["containerInfo"]
    assert "nonsense" in info["containerInfo"]["error"]
    wait_for(lambda: engine.containers() == [], 20, "nothing is left")


def test_exit_codes_options_and_the_images_directory(jobs):
    job = jobs()
    options = {"containerRunOptions": "--rm --shm-size 48m --env MORE=seen", "workingDirectory": "containerImageDefault"}
    first = job.add("/bin/sh -c 'df /dev/shm; pwd; exit 3'", **settings(**options))
    words = "--rm -w /etc --entrypoint /bin/sh --ipc private --ulimit nofile=999:999 --ulimit nproc=999:999 -eMORE=seen"
    second = job.add("-c 'pwd; ulimit -n; echo $MORE'", **settings(containerRunOptions=words))
    for task in job.wait(first, second):
        assert task["executionInfo"].get("exitCode") == (3 if task["id"] == first else 0), str(task["executionInfo"])
    assert "49152" in job.text(first) and job.text(first).splitlines()[-1] == "/"
    assert job.text(second).splitlines() == ["/etc", "999", "seen"]


def test_what_leads_out_of_the_container_is_refused_by_name(jobs):
    job = jobs()
    for options in ("--privileged", "-v/:/host", "--pid=host", "--network container:other"):
        (done,) = job.wait(job.add("/bin/true", **settings(containerRunOptions=options)))
        info = done["executionInfo"]["failureInfo"]
        assert options.split()[0] in str(info) and "exitCode" not in done["executionInfo"]


def test_without_a_command_the_image_decides(jobs, engine):
    name = "tests/speaks:1"
    changes = ["--change", 'ENTRYPOINT ["/bin/echo", "by itself"]', "--change", 'CMD ["and more"]']
    engine("import", *changes, "-", name, input=image(name))
    job = jobs()
    task, done = job.ran("", **settings(name))
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert job.text(task) == "by itself and more\n"
    wait_for(lambda: engine.containers() == [], 20, "the container to go")
    engine("rmi", "-f", name)


def test_the_images_own_words_arrive_as_they_are(jobs, engine):
    """Line breaks, blanks, quotes, backslashes, empty words and letters beyond ASCII."""
    name = "tests/words:1"
    entrypoint = ["/bin/sh", "-c", 'for word; do\n  echo "<$word>"\ndone', "sh", "", "two\n\nlines\n"]
    words = ["", " a  blank\t", "it's \"so\" $HOME `id` *", "C:\\new\\0101 \\", "Größe 数 \x7f", "_", "\n", ""]
    engine.add_image(name, changes=[f"ENTRYPOINT {json.dumps(entrypoint)}", f"CMD {json.dumps(words)}"])
    job = jobs()
    task, done = job.ran("", **settings(name))
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert job.text(task) == "".join(f"<{word}>\n" for word in entrypoint[4:] + words)
    wait_for(lambda: engine.containers() == [], 20, "the container to go")
    engine("rmi", "-f", name)


def test_terminate_reaches_the_container(jobs, plane, engine):
    job = jobs()
    task = job.add("/bin/sh -c 'trap \"\" TERM; echo ready; while :; do sleep 0.1; done'", **settings())
    wait_ready(job, task)
    plane.call("DELETE", f"{job.url}/tasks/{task}", expect=200)
    wait_for(lambda: engine.containers() == [], 60, "the container to go")


def test_two_tasks_of_a_node_have_a_container_each(jobs, plane, engine):
    job = jobs()
    tasks = [job.add(STAYS, **settings()) for _ in range(2)]
    wait_for(lambda: len(engine.containers()) == 2, what="two containers")
    for task in tasks:
        wait_ready(job, task)
        plane.call("POST", f"{job.url}/tasks/{task}/terminate", expect=204)
    wait_for(lambda: set(job.states().values()) == {"completed"}, 60, "both to end")
    wait_for(lambda: engine.containers() == [], 20, "the containers to go")


def test_images_that_cannot_be_had_and_pools_without_containers(jobs, plane):
    job = jobs()
    task, done = job.ran("/bin/true", **settings("127.0.0.1:9/none:1"))
    assert done["executionInfo"]["failureInfo"]["code"] == "ContainerInvalidImage"
    assert "refused" in str(done["executionInfo"]["failureInfo"]["details"]), "the runtime's own words"
    assert "containerInfo" not in done["executionInfo"]  # there was none
    add_pool(plane, "plain", targetDedicatedNodes=1)
    other = jobs(pool="plain")
    task, done = other.ran("/bin/true", **settings())
    assert done["executionInfo"]["failureInfo"]["code"] == "ContainerPoolNotSupported"
    plane.call("DELETE", "/pools/plain", expect=202)


def test_an_image_of_a_pool_that_cannot_be_pulled_makes_its_node_unusable(plane):
    plane.daemon.expect_log(r"warn node\.unusable")
    container_pool(plane, "unpulled", images=["127.0.0.1:9/none:1"])
    node = lambda: (plane.all("/pools/unpulled/nodes") or [{"state": None}])[0]
    wait_for(lambda: node()["state"] == "unusable", 60, "the node to be unusable")
    (error,) = node()["errors"]
    assert error["code"] == "ContainerInvalidImage" and "127.0.0.1:9/none:1" in error["message"]
    details = {d["name"]: d["value"] for d in error["errorDetails"]}
    assert "refused" in details["stderr"] and "registry" in details["remedy"]
    plane.call("DELETE", "/pools/unpulled", expect=202)


@pytest.mark.skipif(
    not (shutil.which("docker-registry") and shutil.which("htpasswd")), reason="docker-registry or htpasswd is missing"
)
def test_a_pools_registry_and_the_images_that_nodes_have_before(plane, engine):
    if engine.program == "podman":
        pytest.skip("podman wants a registry with TLS, or root's registries.conf")
    with Registry(free_port()) as registry:
        engine.add_image("private:1")
        registry.fill(engine, "private:1")
        login = {"username": registry.user, "password": registry.password, "registryServer": registry.name}
        name = f"{registry.name}/private:1"
        container_pool(plane, "private", images=[name], registries=[login])
        wait_for(lambda: name in engine.images(), 60, "the node to have the image")
        jobs = Jobs(plane, "private")
        jobs().good("cat /etc/image", **settings(name))
        jobs.remove()
        plane.call("DELETE", "/pools/private", expect=202)
        engine("rmi", "-f", name)


def test_preparation_and_release_tasks_have_containers_too(jobs, plane, engine):
    prep, release = ({"id": id, "commandLine": "cat /etc/image", **settings()} for id in ("prep", "release"))
    job = jobs(jobPreparationTask=prep, jobReleaseTask=release)
    job.done("/bin/true")
    plane.call("POST", f"{job.url}/terminate", {}, expect=202)
    told = lambda: plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")[0]
    wait_for(lambda: told().get("jobReleaseTaskExecutionInfo", {}).get("state") == "completed", 60, "both")
    for info in (told()["jobPreparationTaskExecutionInfo"], told()["jobReleaseTaskExecutionInfo"]):
        assert info["exitCode"] == 0 and info["containerInfo"]["state"] == "exited", info
        assert info["containerInfo"]["containerId"]


# --- what of the node is in a container -------------------------------------------------------------------------------

MOUNTS = "/bin/sh -c 'echo $AZ_BATCH_NODE_ROOT_DIR; cat /proc/mounts; pwd; echo made > made.txt'"


def binds(*sources, read_only=()):
    entries = [{"source": s, **({"isReadOnly": True} if s in read_only else {})} for s in sources]
    return settings(containerHostBatchBindMounts=entries)


def mounted(job, task):
    """What was mounted below the node's root directory of Azure Batch, and how."""
    root, *lines = job.text(task).splitlines()
    words = [line.split() for line in lines]
    return {w[1][len(root) + 1 :]: w[3].split(",")[0] for w in words if len(w) > 3 and w[1].startswith(f"{root}/")}


@pytest.fixture
def new(plane):
    """Of the version that has containerHostBatchBindMounts."""
    return plane.at("2024-07-01.20.0")


def test_a_container_has_the_named_paths_alone(new, pool, temporary):
    job = temporary(Jobs(new, pool))(jobPreparationTask={"id": "prep", "commandLine": "/bin/true"})
    task = job.add(MOUNTS, **binds("Shared", "Task", "Startup", "JobPrep", read_only=("Startup", "JobPrep")))
    done = job.succeed(task)
    home = f"workitems/{job.id}/job-1"
    assert mounted(job, task) == {"shared": "rw", f"{home}/{task}": "rw", "startup": "ro", f"{home}/prep": "ro"}
    assert job.text(task, "wd%2Fmade.txt") == "made\n"
    task, done = job.ran(MOUNTS, **binds("Applications", "VfsMounts", read_only=("VfsMounts",)))
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert mounted(job, task) == {"applications": "rw", "fsmounts": "ro", f"{home}/{task}/wd": "rw"}


def test_without_the_task_its_directory_is_the_containers_own(new, pool, engine, temporary):
    job = temporary(Jobs(new, pool))()
    task, done = job.ran(MOUNTS, **binds())
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert mounted(job, task) == {f"workitems/{job.id}/job-1/{task}/wd": "rw"}
    assert job.text(task).splitlines()[-1] == f"{job.text(task).splitlines()[0]}/workitems/{job.id}/job-1/{task}/wd"
    new.call("GET", f"{job.url}/tasks/{task}/files/wd%2Fmade.txt", expect=404)
    assert done["containerSettings"]["containerHostBatchBindMounts"] == []
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_paths_that_are_not_there_and_names_that_are_none(new, pool, temporary):
    job = temporary(Jobs(new, pool))()
    done = job.done(MOUNTS, **binds("JobPrep"))
    info = done["executionInfo"]["failureInfo"]
    assert info["code"] == "ContainerLaunchFailed" and "JobPrep" in str(info)
    (done,) = job.wait(asked := job.add("/bin/sh -c 'echo $AZ_BATCH_NODE_ROOT_DIR'"))
    gone = f"{job.text(asked).strip()}/applications"
    os.rename(gone, f"{gone}.away")
    try:
        done = job.done(MOUNTS, **binds("Applications"))
        info = done["executionInfo"]
        assert info["failureInfo"]["code"] == "ContainerLaunchFailed" and gone in info["containerInfo"]["error"], info
        os.symlink("/etc", gone)  # as a task might
        done = job.done(MOUNTS, **binds("Applications"))
        info = done["executionInfo"]
        assert info["failureInfo"]["code"] == "ContainerLaunchFailed" and "is a link" in info["containerInfo"]["error"]
        os.unlink(gone)
    finally:
        os.rename(f"{gone}.away", gone)
    bad = {"id": "bad", "commandLine": "/bin/true", **binds("Everything")}
    reply = new.call("POST", f"{job.url}/tasks", bad, expect=400).json
    assert reply["code"] == "InvalidPropertyValue" and "source" in str(reply["values"])
    reply = new.call("POST", f"{job.url}/tasks", {**bad, **settings(containerHostBatchBindMounts=[{}])}, expect=400).json
    assert "source" in str(reply)
    new.at("2024-02-01.19.0").call("POST", f"{job.url}/tasks", {**bad, **binds("Task")}, expect=400, validate=False)


def test_a_start_task_sees_what_is_named(started, plane):
    node = started(MOUNTS, **{"containerHostBatchBindMounts": [{"source": "Startup"}]})
    text = plane.call("GET", f"{node}/files/startup/stdout.txt", expect=200).content.decode()
    root = text.splitlines()[0]
    inside = [line.split()[1] for line in text.splitlines() if f" {root}/" in line]
    assert inside == [f"{root}/startup"]


# --- images and runtimes that do not do what they should --------------------------------------------------------------


def test_an_image_that_cannot_even_wait(jobs, engine, tmp_path):
    """Its shell is there, and ends at once whatever it is told."""
    name = "tests/dies:1"
    program, dies = tmp_path / "sh", io.BytesIO()
    subprocess.run(["cc", "-static", "-x", "c", "-", "-o", program], input=b"int main(void) { return 0; }", check=True)
    with tarfile.open(fileobj=dies, mode="w") as tar:
        tar.add(program, "bin/sh")
    engine("import", "-", name, input=dies.getvalue())
    job = jobs()
    done = job.done("/bin/true", **settings(name))
    assert done["executionInfo"]["result"] == "failure", done["executionInfo"]
    job.good("echo well", **settings())
    wait_for(lambda: engine.containers() == [], 20, "nothing is left")
    engine("rmi", "-f", name)


@pytest.fixture
def hanging(engine, tmp_path):
    """A daemon whose container runtime never answers to the command that is named in the file. With "late" behind it
    that is done all the same, with "fails" it fails."""
    real, word = shutil.which(engine.program), tmp_path / "word"
    word.write_text("none")
    program = tmp_path / "bin" / engine.program
    program.parent.mkdir()
    program.write_text(f"""#!/bin/sh
hang() {{ : >{tmp_path}/hung; exec sleep 1000; }}
case $(cat {word}) in
"$1") hang ;;
"$1 late") {real} "$@" && hang ;;
"$1 fails") exit 1 ;;
*) exec {real} "$@" ;;
esac
""")
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    with Daemon(config={"containers": {"runtimes": [engine.program]}}, environment={**engine.environment, **path}) as d:
        g = BatchGround(d)
        container_pool(g.plane, "hangs", images=())
        yield g.plane, word
        g.remove()


def test_a_runtime_that_hangs_holds_its_task_alone_and_no_longer_than_the_task_may(hanging, engine, temporary):
    plane, word = hanging
    job = temporary(Jobs(plane, "hangs"))()
    word.write_text("run")
    task = job.add("/bin/true", **settings(), constraints={"maxWallClockTime": "PT8S"})
    other = job.add("sleep 1000", **settings())
    (done,) = job.wait(task)
    assert done["executionInfo"]["failureInfo"]["code"] == "TaskEnded", done["executionInfo"]
    job.end(other)
    word.write_text("none")
    job.good("echo well", **settings())
    wait_for(lambda: engine.containers() == [], 20, "nothing is left")


@pytest.fixture
def started(plane):
    """started(line, ...) -> the node of a new pool whose start task runs in a container, once it has this state."""
    made = []

    def make(line, state="idle", waits=True, **more):
        made.append(fresh("started"))
        task = {"commandLine": line, "waitForSuccess": waits, **settings(**more)}
        container_pool(plane.at("2024-07-01.20.0"), made[-1], startTask=task)
        url = f"/pools/{made[-1]}/nodes"
        wait_for(lambda: [n["state"] for n in plane.all(url)] == [state], 60, f"a node is {state}")
        return f"{url}/{plane.all(url)[0]['id']}"

    yield make
    for name in made:
        plane.remove_pool(name)


def test_a_start_task_runs_in_its_image(started, plane, engine):
    node = started("/bin/sh -c 'cat /etc/image; pwd; echo $AZ_BATCH_NODE_STARTUP_DIR; echo made > out.txt'")
    text = lambda path: plane.call("GET", f"{node}/files/startup/{path}", expect=200).content.decode()
    marker, folder, startup = text("stdout.txt").splitlines()
    assert marker == TOOLKIT and folder == f"{startup}/wd" and text("wd/out.txt") == "made\n"
    info = plane.get(node)["startTaskInfo"]
    assert info["exitCode"] == 0
    assert info["containerInfo"]["state"] == "exited" and info["containerInfo"]["containerId"]
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_a_start_task_whose_image_cannot_be_had(started, plane):
    node = started("true", waits=False, image="127.0.0.1:9/none:1")
    info = wait_for(lambda: plane.get(node)["startTaskInfo"].get("failureInfo"), 60, "it fails")
    assert info["code"] == "ContainerInvalidImage"


def test_a_start_task_in_a_container_beside_tasks(started, plane, engine, temporary):
    node = started("/bin/sh -c 'until [ -e ../../shared/end ]; do sleep 0.1; done; exit 4'", waits=False)
    info = wait_for(lambda: plane.get(node)["startTaskInfo"].get("containerInfo"), 60, "its container")
    assert info["state"] == "running" and info["containerId"][:12] == engine.containers()[0][:12]
    jobs = temporary(Jobs(plane, node.split("/")[2]))
    jobs().good("/bin/sh -c 'echo > $AZ_BATCH_NODE_SHARED_DIR/end'", **settings())
    wait_for(lambda: plane.get(node)["startTaskInfo"]["state"] == "completed", 60, "its end")
    assert plane.get(node)["startTaskInfo"]["exitCode"] == 4
    assert plane.get(node)["startTaskInfo"]["containerInfo"] == {**info, "state": "exited"}
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_a_container_of_a_start_task_goes_with_its_node(started, plane, engine):
    node = started("sleep 1000", waits=False)
    wait_for(lambda: engine("ps", "-q", "--filter", "name=batchai-").split(), 60, "its container")
    plane.call("POST", f"/pools/{node.split('/')[2]}/resize", {"targetDedicatedNodes": 0}, expect=202)
    wait_for(lambda: engine.containers() == [], 60, "the container to go")


def test_a_container_whose_start_was_cut_short_goes_with_its_node(hanging, engine, tmp_path):
    """Its processes are killed with the step that starts it, which the runtime need not notice."""
    plane, word = hanging
    word.write_text("run late")
    container_pool(plane, "cut", startTask={"commandLine": "true", "waitForSuccess": False, **settings()})
    wait_for((tmp_path / "hung").exists, 60, "the container to be there")
    plane.call("POST", "/pools/cut/resize", {"targetDedicatedNodes": 0}, expect=202)
    wait_for(lambda: engine.containers() == [], 60, "the container to go")
    plane.call("DELETE", "/pools/cut", expect=202)


def test_a_node_leaves_though_its_container_cannot_be_removed_and_that_ends_by_itself(hanging, engine):
    plane, word = hanging
    plane.daemon.expect_log(r"warn node\.containers_not_removed")
    container_pool(plane, "left", startTask={"commandLine": "sleep 1000", "waitForSuccess": False, **settings()})
    nodes = lambda: plane.all("/pools/left/nodes")
    wait_for(lambda: nodes() and nodes()[0].get("startTaskInfo", {}).get("containerInfo"), 60, "its container")
    word.write_text("rm fails")
    plane.call("POST", "/pools/left/resize", {"targetDedicatedNodes": 0}, expect=202)
    wait_for(lambda: not nodes(), 60, "the node to go")
    running = lambda: engine("ps", "-q", "--filter", "name=batchai-").split()
    wait_for(lambda: running() == [], 60, "the container to end")
    for left in engine.containers():  # podman's own --rm misses a container that `podman ps` sees end
        subprocess.run([*engine.prefix, engine.program, "rm", "-f", left], env={**os.environ, **engine.environment}, check=False, capture_output=True)
    plane.call("DELETE", "/pools/left", expect=202)


def test_a_container_goes_though_the_runtime_hangs_when_it_is_asked_for_it(hanging, engine, tmp_path, temporary):
    plane, word = hanging
    job = temporary(Jobs(plane, "hangs"))()
    task = job.add(STAYS, **settings())
    info = wait_for(lambda: contained(job, task), 60, "its container")
    wait_ready(job, task)
    word.write_text("ps")
    plane.call("POST", f"{job.url}/tasks/{task}/terminate", expect=204)
    wait_for((tmp_path / "hung").exists, 60, "the runtime is asked")
    word.write_text("none")
    (done,) = job.wait(task)
    assert done["executionInfo"]["containerInfo"] == {**info, "state": "exited"}
    wait_for(lambda: engine.containers() == [], 60, "the container to go")
    job.good("echo well", **settings())


# --- on several nodes -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def team(plane):
    """Jobs in a pool of two nodes, whose tasks may run on both."""
    container_pool(plane, "team", targetDedicatedNodes=2, enableInterNodeCommunication=True)
    made = Jobs(plane, "team")
    yield made
    made.remove()
    plane.call("DELETE", "/pools/team", expect=202)


def on_both(coordination):
    return {"multiInstanceSettings": {"numberOfInstances": 2, "coordinationCommandLine": coordination}}


def subtasks(job, task):
    return job.plane.all(f"{job.url}/tasks/{task}/subtasksinfo")


def in_engine(engine):
    return set(engine("ps", "-q", "--no-trunc", "--filter", "name=batchai-").split())


def told_of_both(plane, job, task):
    """What is said of both containers, the first node's first: by the task and its part, and by the nodes."""
    said = [contained(job, task), *(p.get("containerInfo") for p in subtasks(job, task))]
    recent = [t for n in plane.all("/pools/team/nodes") for t in n.get("recentTasks", []) if t["taskId"] == task]
    assert [t["executionInfo"].get("containerInfo") for t in sorted(recent, key=lambda t: "subtaskId" in t)] == said
    return said


def test_each_node_of_a_task_has_a_container_until_the_task_ends(team, plane, engine):
    job = team()
    task = job.add(STAYS, **on_both("cat /etc/image"), **settings())
    wait_for(lambda: contained(job, task) and [p.get("exitCode") for p in subtasks(job, task)] == [0], 60, "the coordination on both")
    first, other = told_of_both(plane, job, task)
    assert first["state"] == other["state"] == "running" and first["error"] == other["error"] == ""
    assert {first["containerId"], other["containerId"]} == in_engine(engine)
    for version in ("2018-12-01.8.0", "2024-07-01.20.0"):
        (old,) = plane.at(version).all(f"{job.url}/tasks/{task}/subtasksinfo")
        assert old["containerInfo"] == other
    (part,) = subtasks(job, task)
    path = f"{part['nodeInfo']['taskRootDirectory']}/stdout.txt".replace("/", "%2F")
    seen = plane.call("GET", f"/pools/team/nodes/{part['nodeInfo']['nodeId']}/files/{path}", expect=200).content
    assert seen.decode() == f"{TOOLKIT}\n"
    wait_ready(job, task)
    job.end(task)
    assert told_of_both(plane, job, task) == [{**first, "state": "exited"}, {**other, "state": "exited"}]
    wait_for(lambda: engine.containers() == [], 20, "the containers to go")


def test_a_part_of_a_task_whose_container_does_not_start(team, engine):
    job = team()
    task = job.add("/bin/true", **on_both("/bin/true"), **settings(containerRunOptions="--ulimit nonsense=1"))
    (done,) = job.wait(task)
    assert done["executionInfo"]["failureInfo"]["code"] == "ContainerLaunchFailed"
    said = [done["executionInfo"].get("containerInfo"), *(p.get("containerInfo") for p in subtasks(job, task))]
    told = [c for c in said if c]
    assert told and all(c["state"] == "created" and "nonsense" in c["error"] for c in told), said
    wait_for(lambda: engine.containers() == [], 20, "nothing is left")
