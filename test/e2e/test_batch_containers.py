# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch in containers: Docker Engine and podman, images made here, Debian's registry."""

import shutil

import pytest
from support.batch import BatchGround
from support.batch_fixtures import jobs  # noqa: F401 (fixtures)
from support.batch_jobs import POOL, Jobs, add_pool
from support.containers import TOOLKIT, Registry, docker, image, podman
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


def said(job, task, name="stdout.txt"):
    return job.plane.call("GET", f"{job.url}/tasks/{task}/files/{name}", expect=200).content.decode()


def test_a_task_runs_in_its_image_and_sees_its_directories(jobs, engine):
    job = jobs()
    checks = 'cat /etc/image; pwd; echo $AZ_BATCH_TASK_WORKING_DIR; echo "$QUOTED"; echo made > out.txt'
    env = [{"name": "QUOTED", "value": "it's \"so\" $HOME\n`id`"}]
    task = job.add(f"/bin/sh -c '{checks}'", **settings(), environmentSettings=env)
    (done,) = job.wait(task)
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    marker, folder, same, *quoted = said(job, task).splitlines()
    assert marker == TOOLKIT and folder == same and folder.endswith("/wd")
    assert "\n".join(quoted) == "it's \"so\" $HOME\n`id`"
    assert said(job, task, "wd%2Fout.txt") == "made\n"
    assert done["containerSettings"]["imageName"] == TOOLKIT
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_exit_codes_options_and_the_images_directory(jobs):
    job = jobs()
    options = {"containerRunOptions": "--rm --shm-size 48m --env MORE=seen", "workingDirectory": "containerImageDefault"}
    task = job.add("/bin/sh -c 'df /dev/shm; pwd; exit 3'", **settings(**options))
    (done,) = job.wait(task)
    assert done["executionInfo"]["exitCode"] == 3
    assert "49152" in said(job, task) and said(job, task).splitlines()[-1] == "/"


def test_what_leads_out_of_the_container_is_refused_by_name(jobs):
    job = jobs()
    for options in ("--privileged", "-v /:/host", "--pid=host"):
        task = job.add("/bin/true", **settings(containerRunOptions=options))
        (done,) = job.wait(task)
        info = done["executionInfo"]["failureInfo"]
        assert options.split()[0] in str(info) and "exitCode" not in done["executionInfo"]


def test_without_a_command_the_image_decides(jobs, engine):
    name = "tests/speaks:1"
    changes = ["--change", 'ENTRYPOINT ["/bin/echo", "by itself"]', "--change", 'CMD ["and more"]']
    engine("import", *changes, "-", name, input=image(name))
    job = jobs()
    task = job.add("", **settings(name))
    (done,) = job.wait(task)
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert said(job, task) == "by itself and more\n"
    wait_for(lambda: engine.containers() == [], 20, "the container to go")
    engine("rmi", "-f", name)


def test_terminate_reaches_the_container(jobs, plane, engine):
    job = jobs()
    task = job.add("/bin/sh -c 'trap \"\" TERM; echo ready; while :; do sleep 0.1; done'", **settings())
    out = f"{job.url}/tasks/{task}/files/stdout.txt"
    wait_for(lambda: plane.call("GET", out).content == b"ready\n", what="it runs")
    plane.call("DELETE", f"{job.url}/tasks/{task}", expect=200)
    wait_for(lambda: engine.containers() == [], 60, "the container to go")


def test_two_tasks_of_a_node_have_a_container_each(jobs, plane, engine):
    job = jobs()
    tasks = [job.add("sleep 1000", **settings()) for _ in range(2)]
    wait_for(lambda: len(engine.containers()) == 2, what="two containers")
    for task in tasks:
        plane.call("POST", f"{job.url}/tasks/{task}/terminate", expect=204)
    wait_for(lambda: set(job.states().values()) == {"completed"}, 60, "both to end")
    wait_for(lambda: engine.containers() == [], 20, "the containers to go")


def test_images_that_cannot_be_had_and_pools_without_containers(jobs, plane):
    job = jobs()
    task = job.add("/bin/true", **settings("127.0.0.1:9/none:1"))
    (done,) = job.wait(task)
    assert done["executionInfo"]["failureInfo"]["code"] == "ContainerInvalidImage"
    add_pool(plane, "plain", targetDedicatedNodes=1)
    other = jobs(pool="plain")
    task = other.add("/bin/true", **settings())
    (done,) = other.wait(task)
    assert done["executionInfo"]["failureInfo"]["code"] == "ContainerPoolNotSupported"
    plane.call("DELETE", "/pools/plain", expect=202)


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
        job = jobs()
        (done,) = job.wait(job.add("cat /etc/image", **settings(name)))
        assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
        jobs.remove()
        plane.call("DELETE", "/pools/private", expect=202)
        engine("rmi", "-f", name)


@pytest.fixture
def started(plane):
    """started(line, ...) -> the node of a new pool whose start task runs in a container, once it has this state."""
    made = []

    def make(line, state="idle", waits=True, **more):
        made.append(fresh("started"))
        task = {"commandLine": line, "waitForSuccess": waits, **settings(**more)}
        container_pool(plane, made[-1], startTask=task)
        url = f"/pools/{made[-1]}/nodes"
        wait_for(lambda: [n["state"] for n in plane.all(url)] == [state], 60, f"a node is {state}")
        return f"{url}/{plane.all(url)[0]['id']}"

    yield make
    for name in made:
        plane.call("DELETE", f"/pools/{name}", expect=202)
        wait_for(lambda n=name: plane.call("GET", f"/pools/{n}").status == 404, 60, "the pool to go")


def test_a_start_task_runs_in_its_image(started, plane, engine):
    node = started("/bin/sh -c 'cat /etc/image; pwd; echo $AZ_BATCH_NODE_STARTUP_DIR; echo made > out.txt'")
    text = lambda path: plane.call("GET", f"{node}/files/startup/{path}", expect=200).content.decode()
    marker, folder, startup = text("stdout.txt").splitlines()
    assert marker == TOOLKIT and folder == f"{startup}/wd" and text("wd/out.txt") == "made\n"
    assert plane.get(node)["startTaskInfo"]["exitCode"] == 0
    wait_for(lambda: engine.containers() == [], 20, "the container to go")


def test_a_start_task_whose_image_cannot_be_had(started, plane):
    node = started("true", waits=False, image="127.0.0.1:9/none:1")
    info = wait_for(lambda: plane.get(node)["startTaskInfo"].get("failureInfo"), 60, "it fails")
    assert info["code"] == "ContainerInvalidImage"


def test_a_start_task_in_a_container_beside_tasks(started, plane, engine):
    node = started("/bin/sh -c 'until [ -e ../../shared/end ]; do sleep 0.1; done; exit 4'", waits=False)
    wait_for(lambda: len(engine.containers()) == 1, 60, "its container")
    jobs = Jobs(plane, node.split("/")[2])
    job = jobs()
    (done,) = job.wait(job.add("/bin/sh -c 'echo > $AZ_BATCH_NODE_SHARED_DIR/end'", **settings()))
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    wait_for(lambda: plane.get(node)["startTaskInfo"]["state"] == "completed", 60, "its end")
    assert plane.get(node)["startTaskInfo"]["exitCode"] == 4
    wait_for(lambda: engine.containers() == [], 20, "the container to go")
    jobs.remove()


def test_a_container_of_a_start_task_goes_with_its_node(started, plane, engine):
    node = started("sleep 1000", waits=False)
    wait_for(lambda: engine("ps", "-q", "--filter", "name=batchai-").split(), 60, "its container")
    plane.call("POST", f"/pools/{node.split('/')[2]}/resize", {"targetDedicatedNodes": 0}, expect=202)
    wait_for(lambda: engine.containers() == [], 60, "the container to go")
