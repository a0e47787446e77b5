# SPDX-License-Identifier: MIT
"""Archives whose bytes depend on the files and SOURCE_DATE_EPOCH alone."""

import gzip
import io
import os
import tarfile


def files_of(tree, parts):
    """The files among `parts`, which are files and folders of the tree, in order."""
    for part in parts:
        top = tree / part
        yield from sorted(p for p in top.rglob("*") if p.is_file()) if top.is_dir() else [top]


def tar_gz(tree, parts, below="", more=()):
    """A tar archive, compressed by gzip, with the `parts` of a tree and `more`, pairs of a name and its bytes; their names
    begin with `below`."""
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:

        def add(name, mode, data):
            entry = tarfile.TarInfo(below + name)
            entry.mode, entry.size, entry.mtime = mode, len(data), seconds
            archive.addfile(entry, io.BytesIO(data))

        for name, data in more:
            add(name, 0o644, data)
        for path in files_of(tree, parts):
            add(str(path.relative_to(tree)), 0o755 if path.stat().st_mode & 0o100 else 0o644, path.read_bytes())
    return gzip.compress(content.getvalue(), 9, mtime=0)
