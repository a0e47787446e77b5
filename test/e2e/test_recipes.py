# SPDX-License-Identifier: MIT
"""Each toolkit's job end to end as people run it: a job.json through az, with stand-ins for what it trains with. The
published recipes run as they are, in local images of their images' names; without them, documents of the same shape
run all the same."""

import json
from contextlib import ExitStack

import pytest
from support import recipes
from support.containers import docker, podman
from support.daemon import Daemon
from support.recipes import ACCOUNT, PROGRAMS, PUBLISHED, RECIPES, images
from support.world import Job, Place, fresh

GROUP, WS, EXP = "batchai.recipes", "recipe_workspace", "recipes"
IN = f"-g {GROUP} -w {WS}"
STORAGE = f"--storage-account-name {ACCOUNT} --storage-account-key a2V5"
URL = "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net"
SCRIPTS = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"


class Walk:
    """One who has made group, workspace and cluster, and submits jobs."""

    def __init__(self, daemon, az):
        self.daemon, self.az = daemon, az
        self.place = Place(daemon, GROUP, WS)
        az(f"group create -n {GROUP} -l eastus")
        az(f"batchai workspace create {IN} -l eastus".replace("-w", "-n"))
        az(f"batchai experiment create {IN} -n {EXP}")
        for name in ("logs", "scripts", "external"):
            daemon.share(ACCOUNT, name)
        mount = f"--afs-name external --afs-mount-path external {STORAGE}"
        az(f"batchai cluster create -n nc6 {IN} -s Standard_NC6 -t 2 -u demo -p pw-never-shown {mount}")
        self.place.cluster_at("nc6").wait_steady(2)

    def submit(self, document, folder):
        """Creates the job of this document and waits for its end; returns it and what az shows of it."""
        properties = json.loads(document)["properties"]
        scripts = self.daemon.share(ACCOUNT, "scripts")
        for path, text in recipes.files_of(properties).items():
            (scripts / path).parent.mkdir(parents=True, exist_ok=True)
            (scripts / path).write_text(text)
        (folder / "job.json").write_text(document)
        name = fresh("recipe")
        self.az(f"batchai job create -n {name} -c nc6 {IN} -e {EXP} -f {folder}/job.json {STORAGE}")
        job = Job(self.daemon, self.place.job_at(name, EXP).path)
        job.wait(limit=120)
        return job, self.az(f"batchai job show -n {name} {IN} -e {EXP}")

    def check(self, document, folder):
        properties = json.loads(document)["properties"]
        job, shown = self.submit(document, folder)
        assert shown["executionState"] == "succeeded", shown["executionInfo"]
        assert shown["executionInfo"]["exitCode"] == 0
        recipes.check(properties, job.read)
        listed = {f["name"] for f in job.files()}
        assert recipes.std_files(properties) <= listed
        assert len([name for name in listed if name.startswith("execution")]) == properties["nodeCount"]
        return job


# --- the published recipes --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine():
    """The machine's own runtime that works, as both are tested elsewhere."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(docker())
        except pytest.skip.Exception:
            found = stack.enter_context(podman())
        for name in set(images()):
            found.add_image(name, programs=PROGRAMS)
            stack.callback(found, "rmi", "-f", name)
        yield found


@pytest.fixture(scope="module")
def contained(engine, az_of):
    config = {"containers": {"runtimes": [engine.program]}}
    with Daemon(config=config, environment=engine.environment) as d:
        yield Walk(d, az_of(d))
        Place(d, GROUP, WS).remove()


@pytest.mark.parametrize("recipe", RECIPES or [pytest.param(None, marks=pytest.mark.skip(reason=f"no published recipes in {PUBLISHED}"))])
def test_a_published_recipe(contained, recipe, tmp_path):
    contained.check((PUBLISHED / recipe).read_text(), tmp_path)


# --- documents of the same shape, without containers ------------------------------------------------


@pytest.fixture(scope="module")
def walk(az_of):
    with Daemon() as d:
        yield Walk(d, az_of(d))
        Place(d, GROUP, WS).remove()


def document(nodes, prepared=None, outputs=(), inputs=(), **settings):
    preparation = {"jobPreparation": {"commandLine": prepared}} if prepared else {}
    properties = {
        "nodeCount": nodes,
        **settings,
        **preparation,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
        "mountVolumes": {
            "azureFileShares": [{"azureFileUrl": f"{URL}/{name}", "relativeMountPath": name} for name in ("logs", "scripts")],
            "azureBlobFileSystems": [
                {
                    "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                    "containerName": "data",
                    "relativeMountPath": "data",
                }
            ],
        },
        "outputDirectories": [{"id": name, "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs", **more} for name, more in outputs],
        "inputDirectories": [{"id": name, "path": path} for name, path in inputs],
    }
    return {"properties": properties}


def script(name, args=None, **more):
    arguments = {"commandLineArgs": args} if args else {}
    return {"pythonScriptFilePath": f"{SCRIPTS}/own/{name}.py", **arguments, **more}


CLUSTER = "--ps_hosts=$AZ_BATCHAI_PS_HOSTS --worker_hosts=$AZ_BATCHAI_WORKER_HOSTS --task_index=$AZ_BATCHAI_TASK_INDEX"
RANKED = "--dist-url $AZ_BATCHAI_PYTORCH_INIT_METHOD --rank $AZ_BATCHAI_TASK_INDEX"
MODEL = (("MODEL", {"pathSuffix": "Models"}),)
OWN = {
    "chainer": document(2, chainerSettings=script("chain", "-g -o $AZ_BATCHAI_OUTPUT_MODEL"), outputs=MODEL),
    "horovod, prepared": document(
        2,
        prepared="apt update; pip install horovod",
        horovodSettings=script("ring", "--model 'a b'", processCount=8),
    ),
    "cntk": document(1, cntkSettings=script("net", "$AZ_BATCHAI_JOB_MOUNT_ROOT/data $AZ_BATCHAI_OUTPUT_MODEL"), outputs=MODEL),
    "cntk, several": document(
        2,
        prepared=f"bash {SCRIPTS}/own/prepare.sh",
        cntkSettings=script("net", "--datadir $AZ_BATCHAI_JOB_TEMP", processCount=4),
    ),
    "brainscript": document(
        2,
        cntkSettings={
            "configFilePath": "$AZ_BATCHAI_INPUT_CONFIG/net.cntk",
            "commandLineArgs": "rootDir=. dataDir=$AZ_BATCHAI_INPUT_DATA parallelTrain=true",
        },
        inputs=(("CONFIG", f"{SCRIPTS}/own"), ("DATA", "$AZ_BATCHAI_MOUNT_ROOT/external/mnist")),
    ),
    "caffe": document(1, caffeSettings={"configFilePath": f"{SCRIPTS}/own/solver.prototxt", "commandLineArgs": "-gpu all"}),
    "caffe2": document(2, caffe2Settings=script("shards", "--shard_id $AZ_BATCHAI_TASK_INDEX --store $AZ_BATCHAI_SHARED_JOB_TEMP")),
    "tensorflow": document(1, tensorFlowSettings=script("conv", masterCommandLineArgs="--steps 10")),
    "tensorflow, distributed": document(
        2,
        tensorFlowSettings=script(
            "replica",
            masterCommandLineArgs=f"--job_name=worker {CLUSTER}",
            workerCommandLineArgs=f"--job_name=worker {CLUSTER}",
            parameterServerCommandLineArgs=f"--job_name=ps {CLUSTER}",
            workerCount=2,
            parameterServerCount=1,
        ),
    ),
    "pytorch": document(2, pyTorchSettings=script("mnist", f"--world-size 2 {RANKED}", communicationBackend="gloo")),
    "custom mpi": document(
        2,
        customMpiSettings={"commandLine": "python -u $AZ_BATCHAI_INPUT_SCRIPT/label.py --out $AZ_BATCHAI_OUTPUT_LABEL"},
        outputs=(("LABEL", {}),),
        inputs=(("SCRIPT", f"{SCRIPTS}/own"),),
    ),
    "custom": document(1, customToolkitSettings={"commandLine": f"python {SCRIPTS}/own/any.py 'a b' $AZ_BATCHAI_NODE_COUNT"}),
}


def stood_in(walk, shape):
    """The document, with the programs that stand in for others on its PATH."""
    programs = walk.daemon.share(ACCOUNT, "scripts") / "bin"
    programs.mkdir(exist_ok=True)
    for name, text in PROGRAMS.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    properties = OWN[shape]["properties"]
    path = {"name": "PATH", "value": f"{programs}:/usr/bin:/bin"}
    return json.dumps({"properties": {**properties, "environmentVariables": [path]}})


@pytest.mark.parametrize("shape", OWN)
def test_a_job_of_the_same_shape(walk, shape, tmp_path):
    walk.check(stood_in(walk, shape), tmp_path)


def test_az_lists_and_streams_what_every_process_says(walk, tmp_path):
    text = stood_in(walk, "tensorflow, distributed")
    job = walk.check(text, tmp_path)
    where = f"{IN} -e {EXP} -j {job.name}"
    wanted = recipes.std_files(json.loads(text)["properties"])
    assert wanted <= {f["name"] for f in walk.az(f"batchai job file list {where}")}
    for name in sorted(n for n in wanted if n.startswith("stdout")):
        assert "END" in "".join(walk.az.stream(f"batchai job file stream {where} -f {name}")), name
