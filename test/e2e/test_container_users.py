# SPDX-License-Identifier: MIT
"""Who a job's processes are in a container, and whose its files are outside: the table of docs/machines.md, each cell of
it with images of root, of an account, and of a number without a name."""

import json
from contextlib import ExitStack

import pytest
from support.cells import Cell
from support.waiting import wait_for

PASSWD = "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001:app:/home/app:/bin/sh\n"
GROUP = "root:x:0:\nstaff:x:1001:\n"
USERS = {"tests/root:1": None, "tests/app:1": "app", "tests/number:1": "4321:4322"}
INSIDE = {"tests/root:1": ("0", "0"), "tests/app:1": ("1000", "1001"), "tests/number:1": ("4321", "4322")}
HOMES = {"tests/root:1": "/root", "tests/app:1": "/home/app"}
ROOM = 65536

# runtime, whether the agent is root, containers.user
CELLS = [
    ("podman", True, "account"),
    ("podman", False, "account"),
    ("docker", True, "account"),
    ("docker", False, "account"),
    ("docker", True, "image"),
    ("docker", False, "image"),
]
TELL = """
id -u; id -g
echo made > $AZ_BATCHAI_MOUNT_ROOT/out/made-$NAME
cat /mnt/batch/tasks/shared/LS_root/mounts/out/made-$NAME
mkdir /opt-x 2>/dev/null && echo yes || echo no
cd && echo $HOME && touch .writable && echo yes; id -u
"""


def fill(engine):
    for name, user in USERS.items():
        changes = [f"USER {user}"] if user else []
        engine.add_image(name, files={"/etc/passwd": PASSWD, "/etc/group": GROUP}, changes=changes)


def is_images_user(cell, image):
    return cell.runtime == "podman" or (cell.user == "image" and not USERS[image])


@pytest.fixture(scope="module", params=CELLS, ids=lambda c: f"{c[0]}-{'root' if c[1] else 'user'}-{c[2]}")
def cell(request):
    with ExitStack() as stack:
        made = Cell(stack, *request.param, fill)
        made.cluster = made.place.cluster(nodes=1)
        yield made


def contained(image):
    return {"containerSettings": {"imageSourceRegistry": {"image": image}}}


def layers(cell):
    """How many root's podman has; of others none."""
    store = cell.engine.dir / "store" / "overlay"
    return len(list(store.iterdir())) if (cell.runtime, cell.is_root) == ("podman", True) else 0


def test_what_only_root_may_names_what_would_let_it(cell):
    job = cell.place.job(cell.cluster, "mkdir /opt-x && touch /opt-x/y && exit 3", **contained("tests/root:1"))
    info = job.fail()["executionInfo"]
    if is_images_user(cell, "tests/root:1"):
        assert info["exitCode"] == 3, info
    else:
        assert "containers.user: image" in job.read("stderr.txt"), job.read("stderr.txt")
        assert "podman" in json.dumps(info["errors"]), info


def test_who_a_process_is_and_whose_its_files_are(cell):
    before = layers(cell)
    for image in USERS:
        name = image.split("/")[1].split(":")[0]
        env = [{"name": "NAME", "value": name}]
        job = cell.place.job(cell.cluster, TELL, environmentVariables=env, **contained(image))
        job.succeed()
        uid, gid, seen, made, home, writable, again = job.read("stdout.txt").splitlines()
        outside = (cell.place.share() / f"made-{name}").stat()
        assert uid == again and writable == "yes" and seen == "made"
        if is_images_user(cell, image):
            assert (uid, gid) == INSIDE[image], image
            assert (made == "yes") == (uid == "0"), image
            assert home == HOMES.get(image, home), image
        else:
            assert (uid, gid) == (str(outside.st_uid), str(outside.st_gid)) and made == "no"
        if cell.user == "image" and not USERS[image]:
            assert (outside.st_uid, outside.st_gid) == (0, 0)
        elif cell.is_root:
            assert outside.st_uid > 2_000_000_000 and outside.st_gid < outside.st_uid
            assert (outside.st_uid % (2 * ROOM) == ROOM) == (cell.runtime == "podman")
        else:
            assert outside.st_uid == outside.st_gid == cell.somebody.UID
    wait_for(lambda: layers(cell) <= before, 30, "the containers' layers to go: no job has a copy of its image")


def test_what_other_users_left_goes_with_the_node(cell):
    """A daemon that is not root could not remove it, nor what is in it."""
    cluster = cell.place.cluster(nodes=1)
    root = "$(dirname $AZ_BATCHAI_MOUNT_ROOT)"
    command = f"mkdir {root}/left $AZ_BATCHAI_JOB_TEMP/left; cd {root}/left; mkdir a b; touch a/x; chmod 700 a b; chown -R 33:33 a b; true"
    job = cell.place.job(cluster, command, **contained("tests/root:1"))
    wait_for(lambda: job.properties["executionState"] in ("succeeded", "failed"), 60, "the job to end")
    cluster.delete()
    wait_for(cluster.gone, 30, "the cluster to go")
