# SPDX-License-Identifier: MIT
"""The portable program, as wheel and as tree, started in bare trees of Debian's suites; for aarch64 under qemu-user."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from support import packaging
from support.waiting import wait_for

NOBODY = 65534  # without a home: of HOME nothing is set either
PIP = "python3 $(ls /usr/share/python-wheels/pip-*.whl)/pip --isolated"
# In a tree without /dev/shm; `queue` loads libcurl.
SCRIPT = """
import subprocess
from batchaid import Cloud
with Cloud(fake_nodes=True) as cloud, cloud.subscription() as mine:
    path = f"/subscriptions/{mine.id}/resourceGroups/g?api-version=2019-10-01"
    cloud.call("PUT", path, {"location": "here"})
    mine.fault(operation="ResourceGroups_Get", reply={"status": 429, "retryAfter": 0})
    try:
        cloud.call("GET", path)
    except Exception as e:
        print(e.status)
    print(cloud.call("GET", path)["name"], cloud.health()["healthy"], cloud.state_dir)
    queue = subprocess.run([cloud.program, "queue", "--state-dir", cloud.state_dir], capture_output=True, text=True, check=True)
    print(queue.stdout)
"""


@pytest.fixture(params=["bookworm", "trixie", "sid"])
def tree(request, tmp_path):
    """Python and pip, and no other package than the essential ones."""
    packaging.needs("mmdebstrap", "patchelf")
    with packaging.unpacked(packaging.bare_tree(request.param, "python3", "python3-pip-whl"), tmp_path) as made:
        yield made


def test_pip_installs_it_and_a_test_runs_without_a_home(tree):
    made, _ = packaging.wheel()
    shutil.copy(made, tree / "tmp")
    (tree / "tmp/script.py").write_text(SCRIPT)
    tree.inside(f"{PIP} install -q --no-index --target /tmp/site /tmp/{made.name}", user=NOBODY)
    run = "cd /tmp && export PYTHONPATH=/tmp/site && python3 script.py && python3 -m batchaid version"
    said = tree.inside(run, user=NOBODY)
    assert re.search(r"^429\ng True /tmp/batchaid-\S+\n", said) and "CLUSTER" in said and "\nbatchaid 1." in said, said
    assert not list((tree / "tmp").glob("batchaid-*/state"))


def test_the_tarball_runs_where_it_lies(tree):
    _, made = packaging.wheel()
    shutil.copytree(made, tree / "srv/it")
    serves = "/srv/it/bin/batchaid serve --ephemeral --testing --state-dir /tmp/state --listen localhost:0"
    waits = "/srv/it/bin/batchaid wait --state-dir /tmp/state --timeout 30"
    said = tree.inside(f"{serves} & {waits} && echo it serves; kill $!; wait", NOBODY)
    assert "ready https://" in said and "it serves" in said, said
    libraries = tree.inside("ldd /srv/it/bin/batchaid /srv/it/lib/libcurl-gnutls.so.4")
    outside = {line.split()[0] for line in libraries.splitlines() if "=> " in line and "/srv/it/" not in line.split("=>")[1]}
    assert outside <= {"libc.so.6", "libm.so.6", "libresolv.so.2", "libdl.so.2", "libpthread.so.0"}, libraries


def test_an_older_linux_is_told_what_it_needs(tmp_path):
    packaging.needs("mmdebstrap", "patchelf")
    made, program = packaging.wheel()
    with packaging.unpacked(packaging.bare_tree("bullseye", "python3"), tmp_path) as tree:
        zipfile.ZipFile(made).extractall(tree / "site")
        subprocess.run(["chmod", "-R", "a+rX,a+x", tree / "site/batchaid/bin"], check=True)
        (tree / "script.py").write_text(SCRIPT)
        code, said = tree.run("PYTHONPATH=/site python3 /script.py")
        assert code != 0
        assert "the program needs glibc 2.34 or later, and this system has glibc 2.31: use the container image" in said, said


def test_the_tag_is_what_auditwheel_says_and_the_file_is_small():
    packaging.needs("patchelf")
    made, _ = packaging.wheel()
    said = subprocess.run([sys.executable, "-m", "auditwheel", "show", made], capture_output=True, text=True, check=True).stdout
    tag = re.search(r'platform tag:\s+"(\w+)"', said)[1]
    assert made.name.endswith(f"-py3-none-{tag}.whl") and tag.startswith("manylinux_2_")
    if "bookworm" in open("/etc/os-release", encoding="utf-8").read():
        assert tag == f"manylinux_2_34_{os.uname().machine}"
    assert made.stat().st_size < 15e6


def test_the_same_sources_make_the_same_bytes(tmp_path):
    packaging.needs("patchelf")
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    made, tree = packaging.wheel()
    here.mkdir()
    shutil.copy(made, here)
    shutil.copytree(tree, here / tree.name)
    done = packaging.make("npm", "-o", "wheel", "go-module", f"DIST_DIR={here}")
    assert done.returncode == 0, done.stderr
    packaging.made_elsewhere("npm", "go-module", f"DIST_DIR={elsewhere}")
    sums = packaging.pack(here)
    assert len(sums) > 10 and packaging.pack(elsewhere, TZ="Asia/Tokyo") == sums


def test_another_folder_makes_the_same_bytes():
    packaging.needs("patchelf")
    programs = list((packaging.wheel()[1] / "bin").iterdir())
    assert programs and not [p for p in programs if packaging.names_its_build(p)]


def test_it_starts_on_aarch64(tmp_path):
    packaging.needs("mmdebstrap", "patchelf", "aarch64-linux-gnu-gcc", "qemu-aarch64-static")
    _, tree = packaging.wheel("aarch64")
    emulated = ["qemu-aarch64-static", "-L", packaging.BUILD / "sysroot-aarch64", tree / "bin/batchaid"]
    state = ["--state-dir", tmp_path / "state"]
    serve = [*emulated, "serve", "--ephemeral", "--testing", "--fake-nodes", "--listen", "localhost:0", *state]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as daemon:
        try:
            subprocess.run([*emulated, "wait", "--timeout", "60", *state], check=True, timeout=90, capture_output=True)
            said = subprocess.run([*emulated, "queue", *state], check=True, timeout=90, capture_output=True, text=True).stdout
        finally:
            daemon.terminate()
    assert "CLUSTER" in said and daemon.returncode == 0
    wait_for(lambda: not (tmp_path / "state").exists(), what="its folder to go")
