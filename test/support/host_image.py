# SPDX-License-Identifier: MIT
"""An image for containers out of programs of this machine, with the libraries that they load: where no registry can
be reached, and no package be installed into an image."""

import io
import re
import subprocess
import tarfile
from pathlib import Path

BASE = ["/bin/sh", "/bin/bash"]
TOOLS = "cat chmod cmp cut date env grep head hostname id kill ls mkdir printenv ps rm sed sha256sum sleep sort tail touch tr uname wc"
SKIPPED = ("__pycache__", "/test/", "/tests/", "/idlelib/", "/lib2to3/", "/ensurepip/")


def libraries(path):
    """What the dynamic linker loads for it, itself included."""
    told = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    return re.findall(r"(/[^ ]+) \(0x", told)


def loaded(path):
    """Likewise, as files of an image: names there, and where they are here. A static program loads nothing."""
    return {name: Path(name).resolve() for name in libraries(path)}


def closure(roots):
    """All files that these (files, folders) come to, with their libraries; by their paths."""
    wanted, todo = {}, [Path(r) for r in roots]
    while todo:
        path = todo.pop()
        if str(path) in wanted or any(s in f"{path}/" for s in SKIPPED) or not path.exists():
            continue
        wanted[str(path)] = path
        if path.is_symlink():
            todo.append(path.resolve())
        elif path.is_dir():
            todo += path.iterdir()
        elif path.is_file() and (path.stat().st_mode & 0o111 or ".so" in path.name):
            todo += map(Path, libraries(path))
    return wanted


def write_image(tar_path, roots, marker, files=()):
    """Writes the tar of a root file system. Links of folders (/bin, /lib) stay what they are here. `files`: more of
    them, as (path, mode, text), and links as (path, None, target)."""
    with tarfile.open(tar_path, "w") as tar:
        for top in ("bin", "sbin", "lib", "lib64"):
            if Path("/", top).is_symlink():
                tar.add(f"/{top}", arcname=top, recursive=False)
        for folder in ("tmp", "var/tmp", "proc", "sys", "dev", "etc", "root", "run"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if "tmp" in folder else 0o755
            tar.addfile(entry)
        tools = [f"/usr/bin/{t}" for t in TOOLS.split()]
        fixed = ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/lib64/ld-linux-x86-64.so.2"]
        for name, path in sorted(closure([*BASE, *tools, *fixed, *roots]).items()):
            real = str(path.parent.resolve() / path.name)
            own = any(real == f[0] for f in files)
            if not own and (not path.is_dir() or path.is_symlink()):
                tar.add(path, arcname=real[1:], recursive=False)
        for path, mode, text in files:
            entry = tarfile.TarInfo(path.lstrip("/"))
            if mode is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, text
                tar.addfile(entry)
                continue
            data = text.encode()
            entry.size, entry.mode = len(data), mode
            tar.addfile(entry, io.BytesIO(data))
        entry = tarfile.TarInfo("etc/image")
        marker = Path(tar_path).with_suffix(".marker"), marker
        marker[0].write_text(marker[1] + "\n")
        tar.add(marker[0], arcname="etc/image")
