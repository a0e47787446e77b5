#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes packages for npm: batchaid, and one for each portable tree.

    packages.py VERSION OUT TREE...     a tree is a folder batchaid-VERSION-linux-ARCH

OUT then has the tarballs that `npm install` takes. Their bytes depend on the sources, the trees and SOURCE_DATE_EPOCH alone.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "dist"))
from archive import tar_gz  # noqa: E402

CPU = {"x86_64": "x64", "aarch64": "arm64"}


def main(version, out, *trees):
    out = Path(out)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)

    def manifest(path, cpu=""):
        return "package.json", path.read_text().replace("@version@", version).replace("@cpu@", cpu).encode()

    licence = "LICENSE", (HERE.parents[1] / "LICENSE").read_bytes()
    sources = sorted(p.name for p in (HERE / "batchaid").iterdir() if p.name != "package.json")
    helper = tar_gz(HERE / "batchaid", sources, "package/", [manifest(HERE / "batchaid" / "package.json"), licence])
    (out / f"batchaid-{version}.tgz").write_bytes(helper)
    for tree in trees:
        cpu = CPU[tree.rpartition("-")[2]]
        parts = ("bin", "lib", "share/licences", "LICENSE", "sbom.cdx.json")
        package = tar_gz(Path(tree), parts, "package/", [manifest(HERE / "platform.json", cpu)])
        (out / f"batchaid-linux-{cpu}-{version}.tgz").write_bytes(package)
    print(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
