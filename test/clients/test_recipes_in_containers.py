# SPDX-License-Identifier: MIT
"""The published recipes, all of them, in stand-ins of their images as those were: root's, with a .bashrc that brings what
they run, a real bash and a real Open MPI. Preparations do what only root may, and append to that file."""

import json
from contextlib import ExitStack

import pytest
from support import recipes
from support.cells import Cell
from support.daemon import BATCHAID
from support.host_image import libraries, write_image
from support.mpi import mpi
from support.recipes import PUBLISHED, RECIPES, images
from support.world import ACCOUNT, file_share, fresh

IMAGE = "tests/recipes:1"
LIB = "/usr/lib/x86_64-linux-gnu"
ROOTS = [
    *(f"/usr/bin/{p}" for p in ("mpirun.openmpi", "orted", "cp", "dirname", "ln", "wc")),
    *(f"{LIB}/{p}" for p in ("openmpi", "pmix2")),
    *("/usr/share/openmpi", "/etc/openmpi", "/usr/share/pmix"),
]
BASHRC = """
[ -z "$PS1" ] && return
echo "the image's banner"
export FROM_IMAGE=yes PATH=/opt/openmpi/bin:$PATH
"""
# What apt, pip and the recipes' own preparations do: each wants to be root.
INSTALLS = """
echo "${0##*/} $*" >>"$AZ_BATCHAI_JOB_TEMP/prepared"
mkdir -p /opt/installed /usr/local/lib/installed && echo 'export FROM_PREPARATION=yes' >>~/.bashrc
"""
# Each process tells what it found in a file of its own: mpirun mixes what ranks write.
TELL = """
folder=$AZ_BATCHAI_MOUNT_ROOT/external/$TOLD
mkdir -p "$folder"
echo "$FROM_IMAGE $FROM_PREPARATION $(cat /etc/image)" >"$folder/$AZ_BATCHAI_NODE_ID-$$-$AZ_BATCHAI_TASK_INDEX"
"""
TRAINER = TELL + recipes.TRAINER
FILES = [
    ("/etc/passwd", 0o644, "root:x:0:0:root:/root:/bin/bash\n"),
    ("/root/.bashrc", 0o644, BASHRC),
    ("/opt/openmpi/bin/mpirun", None, "/usr/bin/mpirun.openmpi"),
    ("/usr/bin/python", 0o755, recipes.PROGRAMS["python"]),
    ("/usr/bin/apt", 0o755, "#!/bin/bash\n" + INSTALLS),
    ("/usr/bin/pip", 0o755, "#!/bin/bash\n" + INSTALLS),
    ("/usr/bin/cntk", 0o755, "#!/bin/sh\n" + TRAINER),
    ("/usr/bin/caffe", 0o755, "#!/bin/sh\n" + TRAINER),
]
CELLS = [("podman", True, "account"), ("podman", False, "account"), ("docker", True, "image")]


@pytest.fixture(scope="module")
def tar(tmp_path_factory):
    if not RECIPES:
        pytest.skip(f"no published recipes in {PUBLISHED}")
    mpi("openmpi")
    path = tmp_path_factory.mktemp("image") / "recipes.tar"
    path.parent.chmod(0o755)
    # An agent with sanitizers is linked dynamically.
    write_image(path, [*ROOTS, *libraries(BATCHAID.with_name("batchai-node"))], IMAGE, FILES)
    yield path
    path.unlink()


@pytest.fixture(scope="module", params=CELLS, ids=lambda c: f"{c[0]}-{'root' if c[1] else 'user'}-{c[2]}")
def cell(request, tar):
    def fill(engine):
        with open(tar, "rb") as data:
            engine("import", "-", IMAGE, input=data.read())
        for name in set(images()):
            engine("tag", IMAGE, name)

    with ExitStack() as stack:
        made = Cell(stack, *request.param, fill)
        external = [file_share("external", "external")]
        made.cluster = made.place.cluster(nodes=2, nodeSetup={"mountVolumes": {"azureFileShares": external}})
        for name in ("external", "logs", "scripts"):
            share = made.daemon.share(ACCOUNT, name)
            if made.somebody:
                made.somebody.give(share)
        yield made


def filled_in(document):
    """As az does it: the account and its key."""
    properties = json.loads(document.replace("<AZURE_BATCHAI_STORAGE_ACCOUNT>", ACCOUNT))["properties"]
    for volumes in properties.get("mountVolumes", {}).values():
        for volume in volumes:
            volume |= {"accountName": ACCOUNT, "credentials": {"accountKey": "c2VjcmV0IGtleQ=="}}
    return properties


def put_files(cell, properties):
    for path, text in recipes.files_of(properties).items():
        file = cell.daemon.share(ACCOUNT, "scripts") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(INSTALLS + text if path.endswith(".sh") else TELL + text)


@pytest.mark.parametrize("recipe", RECIPES or [None])
def test_a_published_recipe_runs_to_its_end(cell, recipe):
    properties = filled_in((PUBLISHED / recipe).read_text())
    put_files(cell, properties)
    told = fresh("told")
    env = [{"name": "TOLD", "value": told}]
    job = cell.place.job(cell.cluster, **{"customToolkitSettings": None, **properties}, environmentVariables=env)
    job.wait(limit=90)
    info = job.properties["executionInfo"]
    assert info.get("exitCode") == 0, json.dumps(info)
    folder = cell.daemon.share(ACCOUNT, "external") / told
    prepared = "yes" if "jobPreparation" in properties else ""
    processes = sum(len(p) for p in recipes.expected(properties).files.values())
    assert [f.read_text() for f in folder.iterdir()] == [f"yes {prepared} {IMAGE}\n"] * processes
    assert recipes.std_files(properties) <= {f["name"] for f in job.files()}
