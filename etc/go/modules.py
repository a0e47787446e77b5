#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes Go modules: batchaidtest, and for each portable tree a module that embeds it.

    modules.py VERSION OUT TREE...     a tree is a folder batchaid-VERSION-linux-ARCH

OUT is then a file system that `go` takes modules from (GOPROXY=file://OUT). Its files depend on the sources, the trees and
SOURCE_DATE_EPOCH alone: the same make the same bytes.
"""

import datetime
import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "dist"))
from archive import tar_gz  # noqa: E402

ROOT = Path(__file__).parents[2]
HELPER = "batchaid.test/batchaidtest"
GOARCH = {"x86_64": "amd64", "aarch64": "arm64"}
PROGRAM = """\
// SPDX-License-Identifier: MIT

// Package platform has the program batchaid for linux/{arch}, its libraries and their licences. Package batchaidtest
// unpacks and starts it.
package platform

import _ "embed"

// Archive has bin/, lib/ and share/licences/: a tar archive, compressed by gzip.
//
//go:embed batchaid.tar.gz
var Archive []byte
"""
IMPORT = """\
// SPDX-License-Identifier: MIT

package batchaidtest

import platform "{module}"

func init() {{ embedded = platform.Archive }}
"""


def write(out, module, version, files):
    """The three files of a module's version, and the list of versions."""
    at = out / module / "@v"
    at.mkdir(parents=True)
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    made = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    (at / "list").write_text(version + "\n")
    (at / f"{version}.info").write_text(json.dumps({"Version": version, "Time": made.strftime("%Y-%m-%dT%H:%M:%SZ")}) + "\n")
    (at / f"{version}.mod").write_bytes(files["go.mod"])
    with zipfile.ZipFile(at / f"{version}.zip", "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{module}@{version}/{name}", made.timetuple()[:6])
            entry.external_attr = 0o100644 << 16
            packed = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name], packed)


def main(version, out, *trees):
    version, out = f"v{version}", Path(out)
    shutil.rmtree(out, ignore_errors=True)
    licence = (ROOT / "LICENSE").read_bytes()
    sources = ROOT / "etc" / "go" / "batchaidtest"
    helper = {p.name: p.read_bytes() for p in sources.iterdir() if p.suffix in (".go", ".mod") and not p.stem.endswith("_test")}
    helper["LICENSE"] = licence
    required = ""
    for tree in sorted(trees):
        arch = GOARCH[tree.rpartition("-")[2]]
        module = f"batchaid.test/linux-{arch}"
        files = {
            "go.mod": f"module {module}\n\ngo 1.21\n".encode(),
            "program.go": PROGRAM.format(arch=arch).encode(),
            "batchaid.tar.gz": tar_gz(Path(tree), ("bin", "lib", "share/licences", "LICENSE", "sbom.cdx.json")),
            "LICENSE": licence,
        }
        write(out, module, version, files)
        helper[f"program_linux_{arch}.go"] = IMPORT.format(module=module).encode()
        required += f"\nrequire {module} {version}\n"
    helper["go.mod"] += required.encode()
    write(out, HELPER, version, helper)
    print(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
