# SPDX-License-Identifier: MIT
"""The Debian package, installed in bare trees and purged again, and the container image, run by podman."""

import os
import re
import shutil
import subprocess

import pytest
import yaml
from support import packaging
from support.containers import podman
from support.ports import free_port
from support.waiting import wait_for
from support.world import cluster_body, job_body

IMAGE = f"localhost/batchaid-tested:{os.getpid()}"
STATE = "/var/lib/batchaid/state"
GROUP = "/subscriptions/{}/resourceGroups/g"
# What dpkg and the tools that make accounts leave of any package.
TRACES = (
    *("/run/", "/var/lib/dpkg/", "/var/log/", "/var/cache/"),
    *("/etc/passwd-", "/etc/group-", "/etc/shadow-", "/etc/gshadow-", "/etc/.pwd.lock"),
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return tmp_path_factory.mktemp("image") / "image.tar.gz"


@pytest.fixture(scope="module")
def engine(archive):
    packaging.needs("podman", "mmdebstrap", "patchelf")
    with podman() as found:
        packaging.image(found, IMAGE, archive)
        yield found


@pytest.fixture(params=["bookworm", "trixie"])
def tree(request, tmp_path):
    """Bare, with what the package depends on."""
    packaging.needs("mmdebstrap", "dpkg-shlibdeps", "patchelf")
    asked = ["dpkg-deb", "-f", packaging.deb(), "Depends"]
    depends = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    names = sorted(re.sub(r" *\(.*?\)", "", depends.strip()).split(", "))
    with packaging.unpacked(packaging.bare_tree(request.param, *names), tmp_path) as made:
        yield made


def contents(tree):
    """Each path, with the text of a small file."""
    found = {}
    for folder, folders, files in os.walk(tree.path):
        if folder == str(tree.path):
            folders.remove("proc")
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            inner = path[len(str(tree.path)) :]
            if not inner.startswith(TRACES) and inner != "/dev/null":
                plain = os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) < 100_000
                found[inner] = open(path, "rb").read() if plain else None
    return found


def test_installed_run_removed_and_purged_it_leaves_nothing(tree):
    before = contents(tree)
    shutil.copy(packaging.deb(), tree / "batchaid.deb")
    tree.inside("dpkg -i /batchaid.deb && rm /batchaid.deb")
    assert tree.inside("batchaid version").startswith("batchaid ")
    assert tree.inside("id -un batchaid").strip() == "batchaid"
    conf = tree / "etc/batchaid/batchaid.yaml"
    tree.inside("batchaid check-config /etc/batchaid/batchaid.yaml")
    assert yaml.safe_load(conf.read_text())["local"]["nodes"] == 0
    for path in ("lib/systemd/system/batchaid.service", "usr/share/man/man1/batchaid.1.gz", "usr/share/man/man5/batchaid.yaml.5.gz",
                 "usr/share/bash-completion/completions/batchaid", "usr/share/doc/batchaid/copyright",
                 "usr/share/doc/batchaid/operations.md"):  # fmt: skip
        assert (tree / path).is_file(), path
    # As its unit does it: in a directory that systemd makes, as its user.
    tree.inside("install -d -o batchaid -g batchaid /var/lib/batchaid")
    as_user = "setpriv --reuid batchaid --regid batchaid --clear-groups"
    serves = f"timeout -s TERM 60 {as_user} batchaid serve --state-dir {STATE} --listen localhost:0"
    said = tree.inside(f"{serves} & batchaid wait --state-dir {STATE} --timeout 30 && echo it serves; kill $!; wait")
    assert "ready https://" in said and "it serves" in said, said
    conf.write_text("log:\n  level: warn\n")
    tree.inside("dpkg -r batchaid")
    assert conf.read_text() == "log:\n  level: warn\n" and (tree / STATE[1:]).is_dir() and not (tree / "usr/bin/batchaid").exists()
    tree.inside("dpkg -P batchaid")
    after = contents(tree)
    assert {k: v for k, v in after.items() if before.get(k, 0) != v} == {}
    assert before.keys() - after.keys() == set()


def test_it_is_made_as_debian_wants_it():
    packaging.needs("lintian", "dpkg-shlibdeps")
    done = subprocess.run(["lintian", "--allow-root", packaging.deb()], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr


def test_the_same_sources_make_the_same_package(tmp_path):
    packaging.needs("dpkg-shlibdeps", "patchelf")
    made = packaging.deb()
    packaging.made_elsewhere("deb", f"DEB_DIR={tmp_path}")
    assert (tmp_path / made.name).read_bytes() == made.read_bytes()
    subprocess.run(["dpkg-deb", "-x", made, tmp_path / "tree"], check=True)
    programs = list((tmp_path / "tree/usr/bin").iterdir())
    assert programs and not [p for p in programs if packaging.names_its_build(p)]


def test_the_same_sources_make_the_same_image(engine, archive, tmp_path):
    again = tmp_path / "again.tar.gz"
    packaging.made_elsewhere("image", "-o", "wheel", f"IMAGE={IMAGE}", f"IMAGE_ARCHIVE={again}", environment=engine.environment)
    assert again.read_bytes() == archive.read_bytes()


def test_the_image_is_small(engine, archive):
    assert 1e6 < archive.stat().st_size < 25e6


def test_the_archive_is_loaded_as_the_page_says(engine, archive):
    engine("rmi", "-f", IMAGE)
    assert IMAGE not in engine.images()
    command = "gunzip -c FILE | podman load"
    assert f"`{command}`" in (packaging.ROOT / "docs/configuration.md").read_text().replace("\\|", "|")
    shell = ["bash", "-o", "pipefail", "-c", command.replace("FILE", str(archive))]
    subprocess.run(shell, env={**os.environ, **engine.environment}, capture_output=True, timeout=120, check=True)
    assert IMAGE in engine.images()


@pytest.fixture
def container(engine, tmp_path):
    """It runs as it is made to, but for the port, which is the machine's here."""
    port = free_port()
    name = f"batchaid-tested-{port}"
    command = ["serve", "--ephemeral", "--testing", "--state-dir", STATE, "--listen", f"localhost:{port}"]
    engine("run", "-d", "--name", name, "--network", "host", IMAGE, *command)
    yield name, port
    engine("rm", "-f", "-t", "5", name)


def lines_of(engine, name, port, home):
    """The variables that the lines of `batchaid env` set in a shell of this machine."""
    lines = engine("exec", name, "batchaid", "env", "--endpoint", f"https://localhost:{port}")
    shell = f"{lines}\nenv -0"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", shell], env=env, capture_output=True, text=True, timeout=60, check=True)
    return dict(v.split("=", 1) for v in done.stdout.split("\0") if "=" in v)


def test_a_job_runs_in_the_container_as_a_user_without_rights(engine, container, tmp_path, monkeypatch):
    name, port = container
    wait_for(lambda: subprocess.run([engine.program, "healthcheck", "run", name], env={**os.environ, **engine.environment},
                                    capture_output=True).returncode == 0, 30, "the container to be healthy")  # fmt: skip
    assert engine("inspect", "--format", "{{.State.Health.Status}}", name).strip() == "healthy"
    assert engine("exec", name, "id", "-un").strip() == "batchaid"
    monkeypatch.syspath_prepend(str(packaging.ROOT / "etc/wheel"))
    from batchaid import Cloud

    cloud = Cloud.running(lines_of(engine, name, port, tmp_path))
    group = GROUP.format(cloud.environment["AZURE_SUBSCRIPTION_ID"])
    rm, ai = "?api-version=2019-10-01", "?api-version=2018-05-01"
    place = f"{group}/providers/Microsoft.BatchAI/workspaces/w"
    cloud.call("PUT", group + rm, {"location": "eastus"})
    cloud.call("PUT", place + ai, {"location": "eastus"})
    wait_for(lambda: cloud.call("GET", place + ai)["properties"]["provisioningState"] == "succeeded", 30, "the workspace")
    cloud.call("PUT", f"{place}/clusters/c{ai}", cluster_body(1))
    cloud.call("PUT", f"{place}/experiments/e{ai}")
    wait_for(lambda: cloud.call("GET", f"{place}/experiments/e{ai}")["properties"]["provisioningState"] == "succeeded", 30, "it")
    job = f"{place}/experiments/e/jobs/j"
    cloud.call("PUT", job + ai, job_body(f"{place}/clusters/c", "id -un; test $(id -u) -ne 0 && echo no root"))
    ended = lambda: cloud.call("GET", job + ai)["properties"]["executionState"] in ("succeeded", "failed")
    wait_for(ended, 60, "the job to end")
    properties = cloud.call("GET", job + ai)["properties"]
    assert properties["executionState"] == "succeeded", properties
    out = engine("exec", name, "find", f"{STATE}/storage", "-name", "stdout.txt", "-exec", "cat", "{}", "+")
    assert out.split("\n")[:2] == ["batchaid", "no root"]
