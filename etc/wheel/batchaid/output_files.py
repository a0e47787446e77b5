# SPDX-License-Identifier: MIT
"""Files that a job has written. Names come from the job, so a download writes only below the folder that you name, and does
not follow links there."""

from __future__ import annotations

import contextlib
import datetime
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Optional, Union

from .connection import Version
from .errors import BatchaidError, FileChanged, NotFound
from .pauses import Pauses
from .shown import Cell, Column, Table, bytes_text, local, one_line, time_of

if TYPE_CHECKING:
    from .remote_job import Job


class File:
    """A file as it was when it was listed: `name`, `size` in bytes, and `modified`."""

    def __init__(self, job: Job, directory: str, path: str, name: str, row: Mapping[str, Any]) -> None:
        """`path`: in its output directory; `name`: for people."""
        self.job, self.directory, self.path, self.name = job, directory, path, name
        self.size, self.modified = int(row.get("size") or 0), time_of(row.get("modifiedTime"))

    def pieces(self, begin: int = 0, end: Optional[int] = None) -> Iterator[bytes]:
        """Its bytes from `begin` to before `end`, piece by piece. It continues behind the last piece after the daemon's restart,
        or when the daemon has no time for it; a Conflict if the file has changed by then."""
        at, pauses, version = begin, Pauses(), Version()
        while True:
            try:
                path = self.job.content_path(self.directory, self.path)
                for piece in self.job.client.connection.pieces(path, at, end, version):
                    at, pauses = at + len(piece), Pauses()
                    yield piece
                return
            except pauses.passing as e:
                pauses.after_trouble(e)

    def read(self, begin: int = 0, end: Optional[int] = None) -> bytes:
        """All its bytes, or those from `begin` to before `end`."""
        while True:
            with contextlib.suppress(FileChanged):
                return b"".join(self.pieces(begin, end))

    def text(self, errors: str = "replace") -> str:
        """Its text; what is not UTF-8 is replaced, or as bytes.decode() does."""
        return self.read().decode("utf-8", errors)

    def download(self, to: Union[str, os.PathLike[str], None] = None) -> Path:
        """Writes it to a file, which it returns, and which is there only when it is whole. `to`: a folder that exists or ends
        with a slash, in which it gets its own name with the folders in it; or the file's path. None: the present folder."""
        to = "." if to is None else to
        path = Path(to)
        if path.is_dir() or str(os.fspath(to)).endswith(os.sep):
            parts = self.name.split("/")
            if any(part in ("", ".", "..") or "\0" in part for part in parts):
                raise BatchaidError(0, "", f"{one_line(self.name)!r} leads out of the folder, so it was not written; name a file in to=")
            path = make_folders(path, parts[:-1]) / parts[-1]
        if path.is_symlink():
            raise BatchaidError(0, "", f"{path} is a link, which is not followed; remove it, or name another file in to=")
        with opened(path) as out:
            self._write(out)
        return path

    def _write(self, out: IO[bytes]) -> None:
        """Begins again if the file has changed. Bytes that a pipe has got cannot be taken back."""
        while True:
            try:
                for piece in self.pieces():
                    out.write(piece)
                return
            except FileChanged:
                if not stat.S_ISREG(os.fstat(out.fileno()).st_mode):
                    raise
                out.seek(0)
                out.truncate()

    def __repr__(self) -> str:
        return f"<File {one_line(self.name)}: {bytes_text(self.size)}>"

    def _repr_html_(self) -> str:
        return Files([self])._repr_html_()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to be written, which has its name only at the end, so that a part of it is never taken for the whole."""
    before = path.stat().st_mode if path.exists() else None
    if before is not None and not stat.S_ISREG(before):  # a pipe, a device
        with open(os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)), "wb") as out:
            yield out
        return
    part = path.with_name(f".batchaid-{secrets.token_hex(8)}.part")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with open(fd, "wb") as out:
            if before is not None:
                os.fchmod(fd, stat.S_IMODE(before))
            yield out
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def make_folders(top: Path, names: Sequence[str]) -> Path:
    """Makes folders in `top`; a link in the way is refused."""
    top.mkdir(parents=True, exist_ok=True)
    for name in names:
        top = top / name
        if top.is_symlink():
            raise BatchaidError(0, "", f"{top} is a link, which is not followed; remove it, or name another folder in to=")
        top.mkdir(exist_ok=True)
    return top


class Files(Table[File]):
    """Files of a job."""

    empty = 'It has written no such file since its creation; files("*") lists all.'
    columns = (Column("NAME"), Column("SIZE", True), Column("MODIFIED"))

    def row(self, item: File) -> Sequence[Cell]:
        """The cells of one file."""
        return (item.name, bytes_text(item.size), local(item.modified))

    def __getitem__(self, key: Any) -> Any:
        """By number, or by name: files["model.pt"]."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for file in self:
            if file.name == key:
                return file
        names = ", ".join(one_line(file.name) for file in self[:10])
        raise NotFound(404, "", f"there is no file {key!r}; there are: {names or 'none'}{', ...' if len(self) > 10 else ''}")

    def download(self, to: Union[str, os.PathLike[str]]) -> list[Path]:
        """Writes all into a folder, which is made if it is missing. Those that the job has removed since they were listed are
        a NotFound, after all others were written."""
        Path(to).mkdir(parents=True, exist_ok=True)
        written, gone = [], []
        for file in self:
            try:
                written.append(file.download(to))
            except NotFound as e:
                if e.code != "FileNotFound":
                    raise
                gone.append(one_line(file.name))
        if gone:
            names = ", ".join(gone[:10]) + (", ..." if len(gone) > 10 else "")
            raise NotFound(404, "", f"{len(gone)} of {len(self)} files are gone since they were listed, the others are in {to}: {names}")
        return written
