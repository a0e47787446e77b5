#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a portable program consists of: an SBOM (CycloneDX), and the licence of each part.

    contents.py --version V --arch A --root ROOT --libraries DIR --sbom FILE --licences DIR [--texts] [--static PACKAGE...]

Parts are Debian's packages: those of the libraries in DIR, and those that are linked statically: into the programs on
nodes, and the PACKAGEs into the daemon. ROOT is the tree whose
packages they are. The licences are the packages' own copyright files. So are the scripts of others in the page.
--texts: what runs elsewhere than on Debian has the texts, too, that these files name by their place on Debian.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

# Linked statically into the programs on nodes (Makefile: batchai-node, batchai-cmd).
STATIC = ("libjansson-dev", "uuid-dev", "libminizip-dev", "zlib1g-dev", "libc6-dev")
# In the page. The Preact in htm's file has no number of its own; this is the release that htm names.
PAGE = (("htm", "3.1.1", "Apache-2.0"), ("preact", "10.2.0", "MIT"), ("uplot", "1.6.32", "MIT"))
COMMON = "/usr/share/common-licenses"  # of this machine, too
NAMED = re.compile(COMMON + r"/(\w[\w.+-]*\w)")
HASH = re.compile(r"-[0-9a-f]{8}(?=\.)")  # auditwheel's, in the names of libraries
ROOT = Path(__file__).parents[2]


def dpkg_query(root, *words):
    return subprocess.run(["dpkg-query", f"--root={root}", *words], capture_output=True, text=True, check=True).stdout


def package_of(root, library, arch):
    """Debian's package of a file in a library directory; /usr/lib and /lib are one, but the list of a package has either."""
    for place in ("/usr/lib", "/lib"):
        try:
            return dpkg_query(root, "-S", f"{place}/{arch}-linux-gnu/{library}").split(":")[0]
        except subprocess.CalledProcessError:
            continue
    raise SystemExit(f"contents.py: {library} is of no package of {root}: only libraries of Debian's packages can be bundled")


def copyright_of(root, package):
    found = Path(root, "usr/share/doc", package, "copyright")
    # A link to the folder of another package of the same source.
    return found.resolve() if root == "/" else Path(root, os.path.relpath(os.path.realpath(found), "/")) if not found.exists() else found


def licence_of(text):
    """Of most files of the package, where its copyright file has the form in which that can be read."""
    whole = re.search(r"^Files: *\*\s*$.*?^License: *(\S.*?)$", text, re.M | re.S)
    return whole[1].strip() if whole else None


def part(root, package, files, licences):
    fields = "${Version} ${source:Package} ${source:Version} ${Architecture}"
    version, source, source_version, arch = dpkg_query(root, "-W", "-f", fields + "\\n", package).split("\n")[0].split()
    text = copyright_of(root, package).read_text(encoding="utf-8", errors="replace")
    (licences / f"{package}.txt").write_text(text, encoding="utf-8")
    said = licence_of(text)
    return {
        "type": "library",
        "bom-ref": f"pkg:deb/debian/{package}@{version}?arch={arch}",
        "name": package,
        "version": version,
        "purl": f"pkg:deb/debian/{package}@{version}?arch={arch}",
        "licenses": [{"license": {"name": said or f"see licences/{package}.txt"}}],
        "properties": [
            {"name": "batchaid:source", "value": f"{source} {source_version}"},
            *({"name": "batchaid:file", "value": f} for f in files),
        ],
    }


def page_part(name, version, licence, licences):
    """A script of others in the page: api/page/vendor/."""
    shutil.copy(ROOT / f"api/page/vendor/{name}.LICENSE", licences / f"{name}.txt")
    npm = f"pkg:npm/{name}@{version}"
    return {"type": "library", "bom-ref": npm, "name": name, "version": version, "purl": npm,
            "licenses": [{"license": {"id": licence}}]}  # fmt: skip


def copy_texts(licences):
    """The GPL and others, which Debian has once for all packages: into common-licenses/."""
    texts = {name for file in licences.glob("*.txt") for name in NAMED.findall(file.read_text(encoding="utf-8"))}
    (licences / "common-licenses").mkdir(exist_ok=True)
    for name in sorted(texts):
        shutil.copyfile(f"{COMMON}/{name}", licences / "common-licenses" / name)


def main():
    parser = argparse.ArgumentParser()
    for option in ("version", "arch", "root", "libraries", "sbom", "licences"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--static", nargs="*", default=[])
    a = parser.parse_args()
    licences = Path(a.licences)
    licences.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "LICENSE", licences / "batchaid.txt")
    files = {package: ["linked statically"] for package in (*STATIC, *a.static)}
    for library in sorted(os.listdir(a.libraries)):
        files.setdefault(package_of(a.root, HASH.sub("", library), a.arch), []).append(library)
    own = {"type": "application", "bom-ref": "batchaid", "name": "batchaid", "version": a.version,
           "licenses": [{"license": {"id": "MIT"}}]}  # fmt: skip
    parts = [part(a.root, package, files[package], licences) for package in sorted(files)]
    parts += [page_part(*one, licences) for one in PAGE]
    if a.texts:
        copy_texts(licences)
    sbom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": "batchaid", "dependsOn": [p["bom-ref"] for p in parts]}],
    }
    Path(a.sbom).parent.mkdir(parents=True, exist_ok=True)
    Path(a.sbom).write_text(json.dumps(sbom, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
