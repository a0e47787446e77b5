# SPDX-License-Identifier: MIT
"""What is given to others says what it consists of, and has a licence text for each part."""

import gzip
import io
import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from support import packaging
from support.containers import podman

LICENCE = (packaging.ROOT / "LICENSE").read_bytes()
COMMON = "/usr/share/common-licenses"  # what Debian has once for all packages
LIBRARY = re.compile(r"(^|/)lib/([^/]+\.so[^/]*)$")


def of_tar(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}


def of_zip(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def of_wheel(given):
    return of_zip(next(given.glob("*.whl")))


def of_tarball(given):
    return of_tar(next(given.glob("batchaid-*-linux-*.tar.gz")).read_bytes())


def of_npm(given):
    return of_tar(next(given.glob("npm/batchaid-linux-*.tgz")).read_bytes())


def of_go(given):
    files = of_zip(next(given.glob("go/batchaid.test/linux-*/@v/*.zip")))
    return of_tar(files[next(name for name in files if name.endswith("/batchaid.tar.gz"))])


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Wheel, tarball and the packages for npm and Go, each as it is given to others."""
    packaging.needs("patchelf")
    folder = tmp_path_factory.mktemp("given")
    made, tree = packaging.wheel()
    shutil.copy(made, folder)
    shutil.copytree(tree, folder / tree.name)
    done = packaging.make("npm", "-o", "wheel", "go-module", f"DIST_DIR={folder}")
    assert done.returncode == 0, done.stderr
    packaging.pack(folder)
    return folder


def licences_in(files):
    """{name of a part, or common-licenses/NAME: text}"""
    found = (re.search(r"(?:^|/)(?:licences|licenses)/(.+)$", name) for name in files)
    return {m[1].removesuffix(".txt"): files[m.string].decode() for m in found if m}


def parts_in(files, name="sbom.cdx.json"):
    return json.loads(next(data for path, data in files.items() if path.endswith(name)))["components"]


def check_parts(files, libraries, licences, parts):
    listed = {p["value"] for part in parts for p in part.get("properties", ()) if p["name"] == "batchaid:file"}
    assert libraries and libraries <= listed, libraries - listed
    assert "linked statically" in listed
    for part in parts:
        assert len(licences[part["name"]]) > 100, part
    assert LICENCE.decode() == licences["batchaid"]


@pytest.mark.parametrize("files_of", [of_wheel, of_tarball, of_npm, of_go])
def test_each_library_is_listed_and_has_a_licence_text(given, files_of):
    files = files_of(given)
    licences = licences_in(files)
    libraries = {m[2] for name in files if (m := LIBRARY.search(name))}
    check_parts(files, libraries, licences, parts_in(files, "cdx.json"))
    named = {text for licence in licences.values() for text in re.findall(COMMON + r"/(\w[\w.+-]*\w)", licence)}
    assert {"GPL-2", "LGPL-2.1", "Apache-2.0"} <= named
    for text in named:
        assert licences[f"common-licenses/{text}"] == Path(COMMON, text).read_text(), text


def test_what_helps_tests_has_our_licence(given):
    """The wheel's own, and those of the packages without the program."""
    wheel = of_wheel(given)
    assert LICENCE in [data for name, data in wheel.items() if name.endswith("/LICENSE") or name.endswith("licenses/batchaid.txt")]
    metadata = next(data for name, data in wheel.items() if name.endswith("/METADATA")).decode()
    assert re.search("^License: MIT; of the libraries in it", metadata, re.M), metadata
    helper = of_tar(next(given.glob("npm/batchaid-[0-9]*.tgz")).read_bytes())
    assert helper["package/LICENSE"] == LICENCE and json.loads(helper["package/package.json"])["license"] == "MIT"
    platform = of_npm(given)
    assert platform["package/LICENSE"] == LICENCE
    assert json.loads(platform["package/package.json"])["license"] == "SEE LICENSE IN share/licences"
    for module in given.glob("go/batchaid.test/*/@v/*.zip"):
        assert [data for name, data in of_zip(module).items() if name.endswith("/LICENSE")] == [LICENCE], module


def test_the_debian_package_has_them_too(tmp_path):
    packaging.needs("dpkg-shlibdeps", "patchelf")
    subprocess.run(["dpkg-deb", "-x", packaging.deb(), tmp_path], check=True)
    files = {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    libraries = {path.name for path in (tmp_path / "usr/lib/batchaid").iterdir()}
    licences = licences_in(files)
    check_parts(files, libraries, licences, parts_in(files))
    copyright = files["usr/share/doc/batchaid/copyright"].decode()
    for library in libraries:
        assert f"Files: usr/lib/batchaid/{library}\n" in copyright
    for text in set(re.findall(COMMON + r"/(\w[\w.+-]*\w)", "".join(licences.values()))):
        assert Path(COMMON, text).exists(), text


def package_of(path):
    """Debian's package of a file, which may be listed below /usr or not."""
    for place in (path, path.removeprefix("/usr"), "/usr" + path):
        done = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return path


def test_each_program_of_the_image_has_a_licence_text(tmp_path):
    packaging.needs("podman", "mmdebstrap", "patchelf")
    archive = tmp_path / "image.tar.gz"
    with podman() as engine:
        packaging.image(engine, "localhost/batchaid-licences:tested", archive)
    layers = {name: data for name, data in of_tar(gzip.decompress(archive.read_bytes())).items() if name.endswith(".tar")}
    (layer,) = layers.values()
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        links = {m.name.removeprefix("./"): m.linkname for m in tar if m.issym()}
    files = {name.removeprefix("./"): data for name, data in of_tar(layer).items()}
    ours = {name.removeprefix("opt/batchaid/"): data for name, data in files.items() if name.startswith("opt/batchaid/")}
    check_parts(ours, {name[4:] for name in ours if name.startswith("lib/")}, licences_in(ours), parts_in(ours))
    programs = [name for name, data in files.items() if data[:4] == b"\x7fELF" and not name.startswith("opt/")]
    packages = {package_of(f"/{name}") for name in programs}
    assert {"bash", "coreutils", "libc6", "tini"} <= packages
    for package in packages:
        folder = links.get(f"usr/share/doc/{package}", package)
        assert len(files[f"usr/share/doc/{folder}/copyright"]) > 100, package
