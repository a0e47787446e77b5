# SPDX-License-Identifier: MIT
"""The demo's walkthrough through the real az, on four machines that are reached by SSH."""

import json
import shutil
import socket
import subprocess
import threading

import pytest
from support.daemon import ROOT
from support.rack.commands import make_key
from support.waiting import wait_for
from support.world import file_share

GROUP, WS, EXP = "rack", "rack-ws", "exp"
IN = f"-g {GROUP} -w {WS}"
PASSWORD = "demoPassword1"
SHARE = "$AZ_BATCHAI_MOUNT_ROOT/demo"
JOB = {"nodeCount": 1, "stdOutErrPathPrefix": SHARE}
TRAIN = {
    **JOB,
    "customToolkitSettings": {"commandLine": f"python3 {SHARE}/train.py"},
    "inputDirectories": [{"id": "DATA", "path": f"{SHARE}/data"}],
    "outputDirectories": [{"id": "MODEL", "pathPrefix": SHARE}],
}
MEET = {
    **JOB,
    "nodeCount": 2,
    "customToolkitSettings": {
        "commandLine": f"echo $AZ_BATCH_HOST_LIST; cp $AZ_BATCHAI_MPI_HOST_FILE {SHARE}/hostfile;"
        f" while [ ! -e {SHARE}/go ]; do sleep 0.05; done"
    },
}


@pytest.fixture
def az(az_of, site):
    return az_of(site.daemon)


@pytest.fixture
def key(tmp_path):
    """The admin user's."""
    make_key(tmp_path / "admin", keep=True)
    return tmp_path / "admin"


def write(path, properties):
    path.write_text(json.dumps({"properties": properties}))
    return path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def test_the_demo_on_machines(az, site, rack, key, tmp_path):
    az(f"group create -n {GROUP} -l eastus")
    az(f"batchai workspace create -g {GROUP} -n {WS} -l eastus")
    share = site.share("demo", "demostorage")
    for name in "train.py", "data":
        source = ROOT / "test/demo" / name
        shutil.copytree(source, share / name) if source.is_dir() else shutil.copy(source, share)
    setup = {"mountVolumes": {"azureFileShares": [file_share("demo", "demo", "demostorage")]}}
    write(tmp_path / "cluster.json", {"nodeSetup": setup})
    az(
        f"batchai cluster create {IN} -n gpus -s Standard_NC6 -t 4 -u demo -p {PASSWORD} -k {key}.pub"
        f" -f {tmp_path}/cluster.json"
    )
    show = f"batchai cluster show {IN} -n gpus"
    wait_for(lambda: az(show)["nodeStateCounts"]["idleNodeCount"] == 4, 30, lambda: json.dumps(az(show)))
    az(f"batchai experiment create {IN} -n {EXP}")

    nodes = az(f"batchai cluster node list {IN} -c gpus")
    assert {(n["ipAddress"], int(n["port"])) for n in nodes} == {(m.address, 22) for m in rack}
    trains(az, site, tmp_path)
    meets(az, site, share, tmp_path)
    logs_in(az, rack, nodes, key)

    az(f"batchai cluster delete {IN} -n gpus -y")
    az(f"group delete -n {GROUP} -y")
    assert not any("demo" in m.accounts() or m.mounts() for m in rack)


def trains(az, site, tmp_path):
    write(tmp_path / "train.json", TRAIN)
    where = f"{IN} -e {EXP}"
    az(f"batchai job create {where} -n digits -c gpus -f {tmp_path}/train.json")
    streamed = list(az.stream(f"batchai job file stream {where} -j digits -f stdout.txt"))
    assert [line for line in streamed if line.startswith("epoch  1 ")], streamed
    job = az(f"batchai job show {where} -n digits")
    assert job["executionState"] == "succeeded" and job["executionInfo"]["exitCode"] == 0, job
    (model,) = [
        f for f in az(f"batchai job file list {where} -j digits -d MODEL") if f["name"] == "model.json"
    ]
    got = site.daemon.fetch(model["downloadUrl"], expect=200)
    (tmp_path / "model.json").write_bytes(got.content)
    argv = ["/usr/bin/python3", ROOT / "test/demo/train.py", "--data", ROOT / "test/demo/data"]
    done = subprocess.run([*argv, "--evaluate", tmp_path / "model.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def meets(az, site, share, tmp_path):
    """A job on two nodes."""
    write(tmp_path / "meet.json", MEET)
    where = f"{IN} -e {EXP}"
    az(f"batchai job create {where} -n meet -c gpus -f {tmp_path}/meet.json")
    wait_for(lambda: az(f"batchai job show {where} -n meet")["executionState"] == "running", 30)
    nodes = az(f"batchai job node list {where} -j meet")
    assert len(nodes) == 2 and len({n["ipAddress"] for n in nodes}) == 2
    hosts = wait_for(lambda: (share / "hostfile").exists() and (share / "hostfile").read_text(), 10)
    assert all(n["ipAddress"] in hosts for n in nodes), hosts
    said = az.run(f"batchai job node exec {where} -j meet -p {PASSWORD} --exec hostname").stdout
    assert said.strip().splitlines()[-1] in {site.rack.at(n["ipAddress"]).name for n in nodes}
    (share / "go").touch()
    wait_for(lambda: az(f"batchai job show {where} -n meet")["executionState"] == "succeeded", 30)


def logs_in(az, rack, nodes, key):
    """Into each node as the admin user, by key and by password, and through a forwarded port."""
    for node, how in zip(nodes, [f"-k {key}", f"-p {PASSWORD}"] * 2):
        here = f"batchai cluster node exec {IN} -c gpus -n {node['nodeId']} {how}"
        said = az.run(f"{here} --exec 'id -un; hostname'").stdout.split()
        assert said == ["demo", rack.at(node["ipAddress"]).name], said
    port, go = free_port(), rack.common / "go"
    forward = f"{here} -L {port}:localhost:22 --exec 'while [ ! -e /common/go ]; do sleep 0.1; done'"
    session = threading.Thread(target=az.run, args=(forward,))
    session.start()
    try:
        assert wait_for(lambda: banner(port), 20, "the forwarded port").startswith(b"SSH-2.0-")
    finally:
        go.touch()
        session.join()
        go.unlink()


def banner(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            return connection.recv(100)
    except OSError:
        return None
