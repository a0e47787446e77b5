# SPDX-License-Identifier: MIT
"""File servers and unmanaged file systems: mounted on local nodes, told of in replies."""

import json
import os
import subprocess

import pytest
from support.someone import SomeonesDaemon
from support.waiting import wait_for
from support.world import Place


def may_mount(folder):
    """Root, and allowed to: not everywhere, as in a container."""
    bind = ["mount", "--bind", str(folder), str(folder)]
    if os.geteuid() != 0 or subprocess.run(bind, stderr=subprocess.DEVNULL).returncode != 0:
        return False
    subprocess.run(["umount", str(folder)], check=True)
    return True


def mounted_below(folder):
    with open("/proc/self/mountinfo") as mounts:
        return [line for line in mounts if str(folder) in line]


def unmanaged(command, at="data"):
    return {"unmanagedFileSystems": [{"mountCommand": command, "relativeMountPath": at}]}


def served(server, at="nfs", **more):
    return {"fileServers": [{"fileServer": {"id": server.get()["id"]}, "relativeMountPath": at, **more}]}


# --- file servers ---------------------------------------------------------------------------------


def test_a_file_server_of_local_nodes_is_a_folder_that_jobs_share(own_place):
    server = own_place.file_server()
    settings = server.properties["mountSettings"]
    assert list(settings) == ["mountPoint", "fileServerPublicIP", "fileServerInternalIP"]
    assert settings["fileServerPublicIP"] == settings["fileServerInternalIP"] == "127.0.0.1"
    cluster = own_place.cluster(nodeSetup={"mountVolumes": served(server, mountOptions="rw")})
    own_place.job(cluster, "echo kept > $AZ_BATCHAI_MOUNT_ROOT/nfs/file").succeed()
    with open(settings["mountPoint"] + "/file") as file:
        assert file.read() == "kept\n"
    mounts = served(server, sourceDirectory="sub/dir")
    job = own_place.job(
        cluster,
        "cat $AZ_BATCHAI_MOUNT_ROOT/nfs/file && echo deep > $AZ_BATCHAI_JOB_MOUNT_ROOT/nfs/file",
        mountVolumes=mounts,
    ).succeeded()
    assert job.read("stdout.txt") == "kept\n"
    with open(settings["mountPoint"] + "/sub/dir/file") as file:
        assert file.read() == "deep\n"


def test_its_folder_goes_with_it(own_place):
    server = own_place.file_server()
    folder = server.properties["mountSettings"]["mountPoint"]
    cluster = own_place.cluster(nodeSetup={"mountVolumes": served(server)})
    own_place.job(cluster, "echo x > $AZ_BATCHAI_MOUNT_ROOT/nfs/file").succeed()
    assert os.path.exists(folder + "/file")
    cluster.delete()
    server.delete()
    assert server.gone() and not os.path.exists(folder)


def test_a_file_server_that_is_gone_is_named(own_place):
    server = own_place.file_server()
    mounts = served(server)
    cluster = own_place.cluster()
    server.delete()
    (error,) = own_place.job(cluster, mountVolumes=mounts).fail()["executionInfo"]["errors"]
    assert error["code"] == "FileServerNotFound" and server.name in error["message"]


def test_source_directories_stay_inside(own_place):
    job = own_place.job(
        own_place.cluster(),
        mountVolumes=served(own_place.file_server(), sourceDirectory="../other"),
    )
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "FileServerMountError" and "../other" in error["message"]


def test_links_that_jobs_made_lead_out_of_no_file_server(own_place, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    server = own_place.file_server()
    cluster = own_place.cluster()
    made = f"ln -s {outside} $AZ_BATCHAI_JOB_MOUNT_ROOT/nfs/out"
    own_place.job(cluster, made, mountVolumes=served(server)).succeed()
    for source in ("out", "out/deeper"):
        mounts = served(server, at="way", sourceDirectory=source)
        (error,) = own_place.job(cluster, mountVolumes=mounts).fail()["executionInfo"]["errors"]
        assert error["code"] == "FileServerMountError"
    assert outside.stat().st_mode & 0o777 == 0o700 and not list(outside.iterdir())


# --- unmanaged file systems -----------------------------------------------------------------------


def test_an_unmanaged_file_system_is_mounted_for_a_cluster(own_place, tmp_path):
    if not may_mount(tmp_path):
        pytest.skip("not allowed to mount")
    tmp_path.chmod(0o777)
    (tmp_path / "in").write_text("precious\n")
    cluster = own_place.cluster(nodeSetup={"mountVolumes": unmanaged(f"mount --bind {tmp_path}")})
    job = own_place.job(
        cluster, "cat $AZ_BATCHAI_MOUNT_ROOT/data/in; echo result > $AZ_BATCHAI_MOUNT_ROOT/data/out"
    ).succeeded()
    assert job.read("stdout.txt") == "precious\n"
    assert (tmp_path / "out").read_text() == "result\n"
    cluster.delete()
    assert not mounted_below(own_place.daemon.state_dir)
    assert (tmp_path / "in").read_text() == "precious\n"


def test_an_unmanaged_file_system_of_a_job_goes_with_it(own_place, tmp_path):
    if not may_mount(tmp_path):
        pytest.skip("not allowed to mount")
    tmp_path.chmod(0o777)
    cluster = own_place.cluster()
    job = own_place.job(
        cluster,
        "echo result > $AZ_BATCHAI_JOB_MOUNT_ROOT/data/out",
        mountVolumes=unmanaged(f"mount --bind {tmp_path}"),
    ).succeeded()
    cluster.wait_steady(1)
    wait_for(lambda: not mounted_below(own_place.daemon.state_dir), 10, "the mount to go")
    assert (tmp_path / "out").read_text() == "result\n"


def test_a_mount_that_fails_makes_the_node_unusable_and_says_why(own_place):
    own_place.daemon.expect_log(r"node.unusable .*no such filer")
    cluster = own_place.cluster(
        steady=False,
        nodeSetup={"mountVolumes": unmanaged("sh -c 'echo no such filer >&2; exit 32' x")},
    )
    errors = wait_for(lambda: cluster.properties.get("errors"), 30, "errors")
    assert errors[0]["code"] == "UnmanagedMountError"
    text = json.dumps(errors[0])
    assert "no such filer" in text and "32" in text
    assert cluster.counts()["unusableNodeCount"] == 1


# --- the path that the mounts of a cluster had in the service ---------------------------------------------------------

PUBLISHED = "/mnt/batch/tasks/shared/LS_root/mounts"


def by_its_path(place):
    """A job that writes the path out, for its output too."""
    return place.job(
        place.cluster(nodes=1),
        f"echo done > {PUBLISHED}/out/by-path.txt && cat $AZ_BATCHAI_INPUT_IN/by-path.txt",
        stdOutErrPathPrefix=f"{PUBLISHED}/out",
        inputDirectories=[{"id": "IN", "path": f"{PUBLISHED}/out"}],
    )


def test_mounts_are_seen_where_the_service_had_them(own_place, tmp_path):
    if not may_mount(tmp_path):
        pytest.skip("only root may mount")
    job = by_its_path(own_place)
    job.succeed()
    assert (own_place.share() / "by-path.txt").read_text() == "done\n"
    assert job.read("stdout.txt") == "done\n"  # which clients find at that path as well
    assert not os.path.exists(f"{PUBLISHED}/out"), "it is the job's alone"


def test_without_root_the_error_says_what_to_write(own_place):
    with SomeonesDaemon() as daemon:  # whose nodes have no namespaces of mounts
        place = Place(daemon).make()
        errors = by_its_path(place).fail()["executionInfo"]["errors"]
        assert f"write $AZ_BATCHAI_MOUNT_ROOT instead of {PUBLISHED}" in str(errors), errors
        place.remove()
