# SPDX-License-Identifier: MIT
"""What people train with, over several nodes: each framework as it is published. A run over more nodes comes to the
same loss, as each step takes all of the data, divided among the processes."""

import json
import shutil
from pathlib import Path

import pytest
from support.daemon import Daemon
from support.packages import Unavailable, install
from support.world import MOUNT, Place

DEBIAN = Path("/usr/lib/python3/dist-packages")

# y = 2 x0 - x1 + 0.5, from 64 points that every process makes; each has its part of them.
DATA = """
import json, os
import numpy as np
points = np.random.RandomState(7).rand(64, 2).astype("float32")
values = (points @ np.array([2.0, -1.0], dtype="float32") + 0.5).reshape(-1, 1).astype("float32")
"""

TORCH = DATA + """
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(3)
model = DistributedDataParallel(torch.nn.Linear(2, 1))
descent = torch.optim.SGD(model.parameters(), lr=0.3)
x, y = torch.from_numpy(points[rank::size]), torch.from_numpy(values[rank::size])
for _ in range(50):
    descent.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    descent.step()
with torch.no_grad():
    loss = torch.nn.functional.mse_loss(model(torch.from_numpy(points)), torch.from_numpy(values)).item()
print(json.dumps({"rank": rank, "size": size, "loss": loss}), flush=True)
dist.destroy_process_group()
"""

CHAINER = DATA + """
import chainer, chainermn
import chainer.functions as F, chainer.links as L
comm = chainermn.create_communicator("naive")
model = L.Linear(2, 1, initialW=np.array([[0.1, 0.2]], dtype="float32"))
descent = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(lr=0.3), comm)
descent.setup(model)
x, y = points[comm.rank :: comm.size], values[comm.rank :: comm.size]
for step in range(51):  # the first hands the parameters of one to all
    loss = F.mean_squared_error(model(x), y)
    model.cleargrads()
    loss.backward()
    descent.update()
total = float(F.mean_squared_error(model(points), values).array)
print(json.dumps({"rank": comm.rank, "size": comm.size, "loss": total}), flush=True)
"""

TENSORFLOW = DATA + """
import time
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
size, rank = strategy.num_replicas_in_sync, int(os.environ["AZ_BATCHAI_TASK_INDEX"])
with strategy.scope():
    start = tf.keras.initializers.Constant([[0.1], [0.2]])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer=start, input_shape=(2,))])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.3), loss="mse")
def part(context):
    i, n = context.input_pipeline_id, context.num_input_pipelines
    return tf.data.Dataset.from_tensor_slices((points[i::n], values[i::n])).batch(64 // n).repeat()
data = strategy.distribute_datasets_from_function(part)
model.fit(data, epochs=1, steps_per_epoch=50, verbose=0)
loss = float(np.mean((points @ model.get_weights()[0] + model.get_weights()[1] - values) ** 2))
print(json.dumps({"rank": rank, "size": size, "loss": loss}), flush=True)
# The job ends with its first worker.
done = os.environ["AZ_BATCHAI_STDOUTERR_DIR"] + "/done-"
open(f"{done}{rank}", "w").close()
while not all(os.path.exists(f"{done}{i}") for i in range(size)):
    time.sleep(0.05)
"""


# The master gives steps to workers, and a parameter server keeps what they change. The others serve until they are
# ended. An estimator reads the same variable by rules of its own.
SERVED = """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf
cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if cluster.task_type in ("worker", "ps"):
    tf.distribute.Server(
        cluster.cluster_spec(), job_name=cluster.task_type, task_index=cluster.task_id, protocol="grpc"
    ).join()
seen = tf.estimator.RunConfig()
print("estimator", seen.task_type, seen.num_worker_replicas, seen.num_ps_replicas, seen.is_chief, flush=True)
strategy = tf.distribute.ParameterServerStrategy(cluster)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    count = tf.Variable(1.0)
@tf.function
def step():
    count.assign_add(1.0)
for _ in range(4):
    coordinator.schedule(step)
coordinator.join()
print("counted", count.numpy(), flush=True)
os._exit(0)
"""


def environment(name, *packages, debians=False):
    """A Python with these packages of PyPI; `debians`: beside those of Debian."""
    try:
        make = [["/usr/bin/python3", "-m", "venv", *(["--system-site-packages"] if debians else []), "env"]]
        pip = [["env/bin/pip", "install", "-q", "--no-input", package] for package in packages]
        return install(name, *make, *pip) / "env/bin/python"
    except Unavailable as e:
        pytest.skip(str(e))


@pytest.fixture(scope="module")
def place():
    """On a daemon whose jobs have the account of the tests: the frameworks lie in its cache."""
    with Daemon({"jobs": {"uids": 0}}) as d:
        yield Place(d).make()


@pytest.fixture(scope="module")
def cluster(place):
    return place.cluster(nodes=4, name="frameworks")


def results(job):
    """What the processes have printed, by rank."""
    found = {}
    for file in job.files():
        if file["name"].startswith("stdout"):
            for line in job.read(file["name"]).splitlines():
                if line.startswith('{"rank"'):
                    said = json.loads(line)
                    found[said["rank"]] = said
    return found


def agree(name, run):
    """The job that run(nodes) submits has one process a node, and comes to the same on 2 and on 4."""
    losses = []
    for nodes in (2, 4):
        job = run(nodes)
        job.succeed(limit=300)
        found = results(job)
        assert sorted(found) == list(range(nodes)) and {f["size"] for f in found.values()} == {nodes}
        assert max(f["loss"] for f in found.values()) == pytest.approx(min(f["loss"] for f in found.values()), rel=1e-3)
        losses.append(found[0]["loss"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3) and losses[0] < 0.05
    print(f"ok {name} {losses}")


def write(place, name, text):
    (place.share() / name).write_text(text)
    return f"{MOUNT}/{name}"


def test_pytorch_over_gloo(place, cluster):
    if not (DEBIAN / "torch").exists():
        pytest.skip("python3-torch is not installed")
    script = write(place, "train_torch.py", TORCH)
    settings = {"pythonScriptFilePath": script, "pythonInterpreterPath": "/usr/bin/python3", "communicationBackend": "gloo"}
    run = lambda n: place.job(cluster, nodes=n, customToolkitSettings=None, pyTorchSettings={**settings, "processCount": n})
    agree("pytorch", run)


def test_chainermn_over_open_mpi(place, cluster):
    if not shutil.which("mpirun.openmpi") or not (DEBIAN / "mpi4py").exists():
        pytest.skip("openmpi-bin or python3-mpi4py is not installed")
    python = environment("chainer", "chainer==7.8.1", "numpy<1.24", debians=True)
    script = write(place, "train_chainer.py", CHAINER)
    # A rank on each node: the file of hosts has a slot for each of their cores.
    launch = f"--map-by node --hostfile $AZ_BATCHAI_MPI_HOST_FILE {python} {script}"
    agree("chainermn", lambda n: place.job(cluster, f"mpirun.openmpi -np {n} {launch}", nodes=n))


def test_tensorflow_2(place, cluster):
    python = environment("tensorflow", "tensorflow-cpu==2.15.1")
    script = write(place, "train_tensorflow.py", TENSORFLOW)
    settings = {"pythonScriptFilePath": script, "pythonInterpreterPath": str(python)}
    run = lambda n: place.job(cluster, nodes=n, customToolkitSettings=None, tensorFlowSettings={**settings, "workerCount": n, "parameterServerCount": 0})
    agree("tensorflow", run)


def test_tensorflow_2_with_a_parameter_server(place, cluster):
    python = environment("tensorflow", "tensorflow-cpu==2.15.1")
    script = write(place, "serve_tensorflow.py", SERVED)
    settings = {"pythonScriptFilePath": script, "pythonInterpreterPath": str(python), "parameterServerCount": 1}
    job = place.job(cluster, nodes=2, customToolkitSettings=None, tensorFlowSettings={**settings, "workerCount": 3})
    job.succeed(limit=300)
    assert job.read("stdout-wk-0.txt").splitlines() == ["estimator chief 3 1 True", "counted 5.0"]
