# SPDX-License-Identifier: MIT
"""Jobs of every toolkit on local nodes. A script stands in for the training: it tells who it is."""

import json
import shutil

import pytest
from support.waiting import wait_for
from support.world import MOUNT, Place, fresh

SCRIPT = f"{MOUNT}/train.py"
# Arguments: what to do. Prints one line of JSON first.
TRAIN = r"""
import json, os, socket, sys, time
env = dict(os.environ)
names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "TF_CONFIG")
told = {n: v for n, v in env.items() if n.startswith("AZ_BATCHAI_") or n in names}
os.write(1, (json.dumps({"argv": sys.argv[1:], "env": told}) + "\n").encode())
index = int(env["AZ_BATCHAI_TASK_INDEX"])

def listen():
    hosts = env["AZ_BATCHAI_PS_HOSTS" if "ps" in sys.argv else "AZ_BATCHAI_WORKER_HOSTS"].split(",")
    host, port = hosts[index].rsplit(":", 1)
    return socket.create_server((host, int(port)))

def reach(where):
    host, port = where.rsplit(":", 1)
    while True:
        try:
            return socket.create_connection((host, int(port))).close()
        except ConnectionRefusedError:
            time.sleep(0.02)

def await_file(path):
    while not os.path.exists(path):
        time.sleep(0.02)

what = sys.argv[1] if len(sys.argv) > 1 else ""
if what == "wait":
    await_file(sys.argv[2])
elif what == "master":
    mine = listen()
    for other in (env["AZ_BATCHAI_WORKER_HOSTS"] + "," + env["AZ_BATCHAI_PS_HOSTS"]).strip(",").split(","):
        reach(other)
elif what in ("worker", "ps"):
    mine = listen()
    time.sleep(3600)
elif what == "meet":
    shared = env["AZ_BATCHAI_SHARED_JOB_TEMP"]
    open(f"{shared}/{index}", "w").close()
    await_file(f"{shared}/{1 - index}")
elif what == "fail" and str(index) == sys.argv[2]:
    sys.exit("rank %d gives up" % index) if len(sys.argv) == 3 else os._exit(int(sys.argv[3]))
elif what == "fail":
    time.sleep(3600)
elif what == "exit" and str(index) == sys.argv[2]:
    os._exit(int(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def two_nodes(_place, shared_cluster):
    _place.share().joinpath("train.py").write_text(TRAIN)
    return shared_cluster


def start(place, cluster, settings, nodes=2, **more):
    return place.job(cluster, nodes=nodes, customToolkitSettings=None, **settings, **more)


def by(place, mpirun):
    """The variables of a job whose mpirun is this one of Debian's (None: whichever there is)."""
    if mpirun is None:
        return {}
    folder = place.share() / mpirun
    folder.mkdir(exist_ok=True)
    (folder / "mpirun").write_text(f'#!/bin/sh\nexec {shutil.which(mpirun)} "$@"\n')
    (folder / "mpirun").chmod(0o755)
    return {"environmentVariables": [{"name": "PATH", "value": f"{folder}:/usr/bin:/bin"}]}


def told(text):
    """What each process that wrote into this output is and was given."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def names(job):
    return {f["name"] for f in job.files()}


def outputs(*suffixes):
    return {f"{stream}-{suffix}.txt" for stream in ("stdout", "stderr") for suffix in suffixes}


# --- processes that the daemon starts ---------------------------------------------------------------


def test_pytorch_has_a_process_for_each_rank(place, two_nodes):
    settings = {"pythonScriptFilePath": SCRIPT, "commandLineArgs": "--rank $AZ_BATCHAI_TASK_INDEX", "processCount": 3}
    job = start(place, two_nodes, {"pyTorchSettings": {**settings, "communicationBackend": "gloo"}})
    job.succeed()
    assert outputs("0", "1", "2") <= names(job)
    ranks = [told(job.read(f"stdout-{i}.txt"))[0] for i in range(3)]
    assert [r["argv"] for r in ranks] == [["--rank", "0"], ["--rank", "1"], ["--rank", "2"]]
    env = [r["env"] for r in ranks]
    assert [(e["RANK"], e["LOCAL_RANK"], e["LOCAL_WORLD_SIZE"], e["NODE_RANK"], e["WORLD_SIZE"]) for e in env] == [
        ("0", "0", "2", "0", "3"),
        ("1", "1", "2", "0", "3"),
        ("2", "0", "1", "1", "3"),
    ]
    assert env[0]["AZ_BATCHAI_NODE_ID"] == env[1]["AZ_BATCHAI_NODE_ID"] != env[2]["AZ_BATCHAI_NODE_ID"]
    (method,) = {e["AZ_BATCHAI_PYTORCH_INIT_METHOD"] for e in env}
    assert method == f"file://{env[0]['AZ_BATCHAI_SHARED_JOB_TEMP']}/pytorch-init"
    assert {e["AZ_BATCHAI_PYTORCH_BACKEND"] for e in env} == {"gloo"}


def tensorflow(workers, servers, master="master", worker="worker"):
    settings = {
        "pythonScriptFilePath": SCRIPT,
        "masterCommandLineArgs": master,
        "workerCommandLineArgs": worker,
        "workerCount": workers,
        "parameterServerCount": servers,
    }
    return {"tensorFlowSettings": {**settings, "parameterServerCommandLineArgs": "ps" if servers else ""}}


def test_a_tensorflow_cluster_meets_and_ends_with_its_master(place, two_nodes):
    job = start(place, two_nodes, tensorflow(workers=3, servers=2))
    job.succeed()
    assert outputs("wk-0", "wk-1", "wk-2", "ps-0", "ps-1") <= names(job)
    master, server = (told(job.read(f"stdout-{who}.txt"))[0]["env"] for who in ("wk-0", "ps-1"))
    workers, servers = (master[f"AZ_BATCHAI_{kind}_HOSTS"].split(",") for kind in ("WORKER", "PS"))
    assert (len(workers), len(servers)) == (3, 2) and len({*workers, *servers}) == 5
    cluster = {"chief": workers[:1], "worker": workers[1:], "ps": servers}
    for env, task in ((master, {"type": "chief", "index": 0}), (server, {"type": "ps", "index": 1})):
        assert json.loads(env["TF_CONFIG"]) == {"cluster": cluster, "task": task, "environment": "cloud"}


def test_jobs_that_share_a_machine_do_not_share_ports(place):
    clusters = [place.cluster(nodes=2) for _ in range(2)]
    go, path = place.flag(fresh("go"))
    jobs = [start(place, c, tensorflow(workers=2, servers=1)) for c in clusters]
    waiting = [start(place, c, tensorflow(2, 1, worker=f"wait {path}")) for c in clusters]
    for job in jobs:
        job.succeed()
    go.touch()
    for job in waiting:
        job.terminate()
        job.fail()
    ports = [told(job.read("stdout-wk-0.txt"))[0]["env"]["AZ_BATCHAI_WORKER_HOSTS"] for job in jobs]
    assert not set(ports[0].split(",")) & set(ports[1].split(","))


def test_one_tensorflow_process_is_no_cluster(place, two_nodes):
    settings = {"pythonScriptFilePath": SCRIPT, "masterCommandLineArgs": "--steps 3"}
    job = start(place, two_nodes, {"tensorFlowSettings": settings}, nodes=1)
    p = job.succeed()["tensorFlowSettings"]
    assert "workerCount" not in p and "parameterServerCount" not in p
    (only,) = told(job.read("stdout-wk-0.txt"))
    assert only["argv"] == ["--steps", "3"] and "TF_CONFIG" not in only["env"]


def test_caffe2_meets_in_the_directory_that_its_nodes_share(place, two_nodes):
    job = start(place, two_nodes, {"caffe2Settings": {"pythonScriptFilePath": SCRIPT, "commandLineArgs": "meet"}})
    job.succeed()
    assert {"stdout-wk-0.txt", "stdout-wk-1.txt", "stderr-0.txt", "stderr-1.txt"} <= names(job)
    assert told(job.read("stdout-wk-1.txt"))[0]["env"]["AZ_BATCHAI_TASK_INDEX"] == "1"


def test_output_of_every_process_is_read_while_it_runs(place, two_nodes):
    go, path = place.flag(fresh("go"))
    settings = {"pythonScriptFilePath": SCRIPT, "commandLineArgs": f"wait {path}"}
    job = start(place, two_nodes, {"pyTorchSettings": settings})
    wait_for(lambda: outputs("0", "1") <= names(job), 30, "the files of both processes")
    wait_for(lambda: told(job.read("stdout-1.txt")), 30, "what the second one says")
    assert job.state == "running"
    go.touch()
    job.succeed()


def test_a_restart_of_the_daemon_finds_every_process_again(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    place.share().joinpath("train.py").write_text(TRAIN)
    go, path = place.flag("go")
    settings = tensorflow(2, 1, master=f"wait {path}")
    job = start(place, place.cluster(nodes=2), settings)
    files = outputs("wk-0", "wk-1", "ps-0")
    wait_for(lambda: files <= names(job) and all(told(job.read(f)) for f in files if f.startswith("stdout")), 30, "all")
    before = {f: job.read(f) for f in files}
    d.crash()
    go.touch()
    job.succeed()
    assert {f: job.read(f) for f in files} == before, "none of them began again"


def test_without_parameter_servers_a_tensorflow_job_ends_with_all_workers(place, two_nodes):
    go, path = place.flag(fresh("go"))
    job = start(place, two_nodes, tensorflow(2, 0, master="", worker=f"wait {path}"))
    wait_for(lambda: outputs("wk-0", "wk-1") <= names(job) and told(job.read("stdout-wk-0.txt")), 30, "the master")
    logs = lambda: "".join(job.read(n) for n in names(job) if n.startswith("execution-"))
    wait_for(lambda: "master: exited with code 0" in logs(), 30, lambda: f"the master's end in {logs()}")
    assert job.state == "running"
    go.touch()
    job.succeed()


@pytest.mark.parametrize(
    "settings, who",
    [
        ({"pyTorchSettings": {"pythonScriptFilePath": SCRIPT, "commandLineArgs": "fail 1"}}, "process 1"),
        ({"caffe2Settings": {"pythonScriptFilePath": SCRIPT, "commandLineArgs": "fail 1"}}, "worker 1"),
        (tensorflow(2, 0, master="fail 1", worker="fail 1"), "worker 1"),
    ],
    ids=["pyTorch", "caffe2", "tensorFlow"],
)
def test_a_process_that_fails_ends_the_job_and_is_named(place, two_nodes, settings, who):
    info = start(place, two_nodes, settings).fail()["executionInfo"]
    (error,) = info["errors"]
    details = {d["name"]: d["value"] for d in error["details"]}
    assert info["exitCode"] == 1 and error["code"] == "JobFailed"
    assert who in details.values(), details
    assert "rank 1 gives up" in json.dumps(details)
    two_nodes.wait_steady(2)


# --- mpirun -----------------------------------------------------------------------------------------


def needs_mpirun(name=None):
    if not shutil.which(name or "mpirun"):
        pytest.skip(f"there is no {name or 'mpirun'} (Debian: openmpi-bin, mpich)")


SCRIPTED = {"pythonScriptFilePath": SCRIPT, "commandLineArgs": "a 'b c'", "processCount": 4}
BY_MPIRUN = {
    "horovod": {"horovodSettings": SCRIPTED},
    "chainer": {"chainerSettings": SCRIPTED},
    "cntk": {"cntkSettings": {**SCRIPTED, "languageType": "Python"}},
    "caffe": {"caffeSettings": SCRIPTED},
    "pyTorch": {"pyTorchSettings": {**SCRIPTED, "communicationBackend": "mpi"}},
    "customMpi": {"customMpiSettings": {"commandLine": f"python3 {SCRIPT} a 'b c'", "processCount": 4}},
}


@pytest.mark.parametrize("toolkit", BY_MPIRUN)
def test_mpirun_starts_ranks_on_one_node(place, two_nodes, toolkit):
    needs_mpirun()
    job = start(place, two_nodes, BY_MPIRUN[toolkit], nodes=1)
    job.succeed()
    ranks = sorted(told(job.read("stdout.txt")), key=lambda r: r["env"]["RANK"])
    assert [r["argv"] for r in ranks] == [["a", "b c"]] * 4
    for i, env in enumerate(r["env"] for r in ranks):
        assert env["RANK"] == env["AZ_BATCHAI_TASK_INDEX"] == env["LOCAL_RANK"] == str(i)
        assert (env["WORLD_SIZE"], env["LOCAL_WORLD_SIZE"], env["NODE_RANK"]) == ("4", "4", "0")


@pytest.mark.parametrize(
    "toolkit, mpirun",
    [*((toolkit, None) for toolkit in BY_MPIRUN), ("customMpi", "mpirun.openmpi"), ("customMpi", "mpirun.mpich")],
)
def test_mpirun_starts_ranks_on_two_nodes(place, two_nodes, toolkit, mpirun):
    needs_mpirun(mpirun)
    job = start(place, two_nodes, BY_MPIRUN[toolkit], **by(place, mpirun))
    job.succeed(limit=60)
    ranks = sorted(told(job.read("stdout.txt")), key=lambda r: r["env"]["RANK"])
    assert [r["argv"] for r in ranks] == [["a", "b c"]] * 4
    env = [r["env"] for r in ranks]
    assert [(e["RANK"], e["LOCAL_RANK"], e["NODE_RANK"]) for e in env] == [
        ("0", "0", "0"),
        ("1", "1", "0"),
        ("2", "0", "1"),
        ("3", "1", "1"),
    ]
    for e in env:
        assert e["AZ_BATCHAI_TASK_INDEX"] == e["RANK"]
        assert (e["WORLD_SIZE"], e["LOCAL_WORLD_SIZE"]) == ("4", "2")
    nodes = [e["AZ_BATCHAI_NODE_ID"] for e in env]
    assert nodes[0] == nodes[1] != nodes[2] == nodes[3]


@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpirun.mpich"])
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_rank_that_fails_ends_the_job_with_its_code(place, two_nodes, nodes, mpirun):
    needs_mpirun(mpirun)
    # MPICH does not end what is no MPI program: it waits for the others.
    what = "fail" if mpirun == "mpirun.openmpi" else "exit"
    settings = {"pythonScriptFilePath": SCRIPT, "commandLineArgs": f"{what} 2 7", "processCount": 3}
    job = start(place, two_nodes, {"horovodSettings": settings}, nodes=nodes, **by(place, mpirun))
    assert job.fail(limit=60)["executionInfo"]["exitCode"] == 7


def test_brainscript_and_caffe_run_their_own_programs(place, two_nodes):
    """Programs of these names stand beside the script, on the PATH of the job."""
    folder = place.share() / "bin"
    folder.mkdir(exist_ok=True)
    for name in ("cntk", "caffe"):
        (folder / name).write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@"\n')
        (folder / name).chmod(0o755)
    path = [{"name": "PATH", "value": f"{folder}:/usr/bin:/bin"}]
    args = {"configFilePath": f"{MOUNT}/a b.cfg", "commandLineArgs": "rootDir=. x"}
    for toolkit, argv in (("cntk", ["configFile=", "rootDir=.", "x"]), ("caffe", ["train", "--solver=", "rootDir=.", "x"])):
        job = start(place, two_nodes, {f"{toolkit}Settings": args}, nodes=1, environmentVariables=path)
        job.succeed()
        program, *rest = job.read("stdout.txt").splitlines()
        assert program == f"{folder}/{toolkit}"
        assert [a if not a.endswith("/out/a b.cfg") else a.split("=")[0] + "=" for a in rest] == argv


def test_a_node_without_mpirun_says_what_to_install(place, two_nodes):
    nothing = [{"name": "PATH", "value": "/nowhere"}]
    job = start(place, two_nodes, {"customMpiSettings": {"commandLine": "true"}}, nodes=1, environmentVariables=nothing)
    info = job.fail()["executionInfo"]
    assert info["exitCode"] == 127 and "openmpi-bin" in json.dumps(info["errors"])


# --- preparation ------------------------------------------------------------------------------------


def test_every_node_is_prepared_before_any_process(place, two_nodes):
    ready = "$AZ_BATCHAI_SHARED_JOB_TEMP/ready-$AZ_BATCHAI_NODE_ID"
    check = "ls $AZ_BATCHAI_SHARED_JOB_TEMP #"
    settings = {"pyTorchSettings": {"pythonScriptFilePath": SCRIPT, "pythonInterpreterPath": check, "processCount": 4}}
    job = start(place, two_nodes, settings, jobPreparation={"commandLine": f"sleep 0.3; touch {ready}"})
    job.succeed()
    for i in range(4):
        assert len(job.read(f"stdout-{i}.txt").split()) == 2


def test_a_preparation_that_fails_on_one_node_fails_the_job(place, two_nodes):
    mark, path = place.flag(fresh("ran"))
    settings = {"pyTorchSettings": {"pythonScriptFilePath": "x", "pythonInterpreterPath": f"touch {path} #"}}
    job = start(
        place,
        two_nodes,
        settings,
        jobPreparation={"commandLine": "[ $NODE_RANK = 0 ] || { echo no data >&2; exit 9; }"},
    )
    info = job.fail()["executionInfo"]
    (error,) = info["errors"]
    details = {d["name"]: d["value"] for d in error["details"]}
    assert info["exitCode"] == 9 and error["code"] == "JobPreparationFailed"
    assert "no data" in json.dumps(details) and not mark.exists()
    (node,) = [v for v in details.values() if v.startswith("tvm-")]
    assert f"stderr-job_prep-{node}.txt" in names(job)
