# SPDX-License-Identifier: MIT
"""The output of a job: lines of its standard output and standard error, the last ones first if only these are wanted.

A line is text without its end. Bytes that are not UTF-8 become U+FFFD, or with errors="surrogateescape" what os.fsencode()
turns back; a file's read() has all bytes as they are. A carriage return begins the line again, as on a terminal, so a
progress bar is its latest state. A line of more than a million characters comes in pieces.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Optional

from .errors import InvalidArgument
from .pauses import Pauses
from .shown import coloured, log_html

if TYPE_CHECKING:
    from .remote_job import Job

LINE_MAX = 1_000_000  # characters
BLOCK = 1 << 16  # of the search for the last lines
PART = 1 << 22  # bytes of one request
TAIL_MAX = 1 << 26  # bytes that are looked at for the last lines; what is before them is left out
SHOWN_MAX = 1 << 20  # the same of what people look at
SHOWN_LINES = 1000  # in a notebook
STREAMS = ("stdout", "stderr")
NAME = re.compile(r"(stdout|stderr)(?:-(.+))?\.txt")


class Line(str):
    """A line with where it comes from: `stream` is stdout or stderr, `process` the number of the node or the index of the
    array if there are several, else "". `end` is what it ended with: "\\n", or "" of a piece, or "\\r" of a progress bar
    that continues."""

    stream: str
    process: str
    end: str

    def __new__(cls, text: str, stream: str = "stdout", process: str = "", end: str = "\n") -> Line:
        line = super().__new__(cls, text)
        line.stream, line.process, line.end = stream, process, end
        return line


class Reader:
    """Makes lines of the bytes of one file."""

    def __init__(self, stream: str, process: str, errors: str) -> None:
        self.stream, self.process, self.offset = stream, process, 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._rest = self._shown = ""

    def _line(self, text: str, end: str = "\n") -> Line:
        if text.endswith("\r"):
            text = text[:-1]
        return Line(text[text.rfind("\r") + 1 :], self.stream, self.process, end)

    def add(self, piece: bytes) -> Iterator[Line]:
        """The lines that are whole now."""
        self.offset += len(piece)
        *whole, self._rest = (self._rest + self._decoder.decode(piece)).split("\n")
        for text in whole:
            rest = yield from self._cut(text)
            yield self._line(rest)
        self._rest = yield from self._cut(self._rest)

    def _cut(self, text: str) -> Generator[Line, None, str]:
        """Pieces of a long line; returns the rest."""
        if len(text) > LINE_MAX:  # earlier states of a progress bar are no part of its line
            text = text[max(0, text.rfind("\r", 0, len(text.rstrip("\r")))) :]
        while len(text) > LINE_MAX:
            yield self._line(text[:LINE_MAX], "")
            text = text[LINE_MAX:]
        return text

    def unfinished(self) -> Iterator[Line]:
        """The state of a progress bar, which begins its line again and again, if it is a new one."""
        text = self._rest.rstrip("\r")
        before, begun_again, state = text.rpartition("\r")
        if not begun_again and text == self._rest:
            return
        self._rest = "\r" + state + self._rest[len(text) :]
        if state and state != self._shown:
            self._shown = state
            yield Line(state, self.stream, self.process, "\r")

    def finish(self) -> Iterator[Line]:
        """What has no end of line."""
        rest = self._rest + self._decoder.decode(b"", True)
        self._rest = ""
        if rest.strip("\r"):
            yield self._line(rest, "")


class Output:
    """The files of a job's standard output and standard error, and how far they have been read."""

    def __init__(self, job: Job, stream: Optional[str], process: Optional[str], errors: str) -> None:
        self.job, self.stream, self.process, self.errors, self.tail_max = job, stream, process, errors, TAIL_MAX
        self.readers: dict[str, Reader] = {}
        self.left_out = self.too_long = False  # lines before the last of a file; also some of these, because they are long

    def _listed(self) -> list[tuple[str, str, int]]:
        """(name, path of its bytes, size): standard output before standard error of each process, in the order of their numbers."""
        found = []
        for one in self.job.listed_files("stdouterr"):
            match = NAME.fullmatch(one["name"])
            if not match or one["isDirectory"]:
                continue
            stream, process = match[1], match[2] or ""
            if self.stream in (None, stream) and self.process in (None, process):
                order = (int(process) if process.isdecimal() else 0, process, STREAMS.index(stream))
                found.append((order, one["name"], self.job.content_path("stdouterr", one["path"]), int(one.get("size") or 0)))
        return [one[1:] for one in sorted(found)]

    def _tail(self, path: str, size: int, lines: int) -> int:
        """Where the last `lines` lines begin, or what is looked at, less the rest of a line of usual length: it is read backwards
        in blocks, which grow."""
        if lines == 0:
            return size
        end, block, seen, least = size, BLOCK, 0, max(0, size - self.tail_max)
        first = least
        while end > least:
            begin = max(least, end - block)
            text = b"".join(self.job.client.connection.pieces(path, begin, end))
            at = len(text)
            if end == size and text.endswith(b"\n"):
                at -= 1  # the end of the last line
            while (at := text.rfind(b"\n", 0, at)) >= 0:
                seen, first = seen + 1, begin + at + 1
                if seen == lines:
                    return first
            end, block = begin, min(block * 4, PART)
        self.too_long = self.too_long or least > 0
        return first if least > 0 and first - least <= BLOCK else least

    def look(self, tail: Optional[int], last: bool = False) -> Iterator[Line]:
        """What was added since the look before; `tail`: of a file that is new, only that number of lines. The `last` look has, after
        the lines of each file, what has no end of line there."""
        for name, path, size in self._listed():
            reader = self.readers.get(name)
            if reader is None:
                match = NAME.fullmatch(name)
                assert match is not None
                reader = Reader(match[1], match[2] or "", self.errors)
                if tail is not None:
                    reader.offset = self._tail(path, size, tail)
                    self.left_out = self.left_out or reader.offset > 0
                self.readers[name] = reader
            while reader.offset < size:
                before = reader.offset
                for piece in self.job.client.connection.pieces(path, before, min(size, before + PART)):
                    yield from reader.add(piece)
                if reader.offset == before:
                    break  # it is shorter than it was
            if last:
                yield from reader.finish()

    def unfinished(self) -> Iterator[Line]:
        """Of each file the latest state of a progress bar."""
        for reader in self.readers.values():
            yield from reader.unfinished()


class Logs:
    """The output up to now. Iterate over it for lines; print it, or show it in a notebook, for a text in which no line can
    do more than colour itself."""

    def __init__(self, job: Job, tail: Optional[int], stream: Optional[str], process: Optional[str], errors: str) -> None:
        self._job, self._tail = job, tail
        self._make: Callable[[], Output] = lambda: Output(job, stream, process, errors)

    def __iter__(self) -> Iterator[Line]:
        return self._make().look(self._tail, last=True)

    def _end(self, tail: int) -> tuple[list[Line], Output]:
        output = self._make()
        output.tail_max = SHOWN_MAX
        return whole(list(output.look(tail, last=True))), output

    def _text(self, lines: list[Line]) -> list[str]:
        several = len({line.process for line in lines}) > 1
        return [f"{line.process}| {line}" if several else str(line) for line in whole(lines)]

    def end(self, tail: int) -> list[Line]:
        """The last lines of each file, for people: of very long ones only the end."""
        return self._end(tail)[0]

    def __str__(self) -> str:
        return "\n".join(coloured(text) for text in self._text(list(self)))

    def __repr__(self) -> str:
        return f"<Logs of {self._job.name}: print it, or iterate over its lines>"

    def _repr_html_(self) -> str:
        tail = SHOWN_LINES if self._tail is None else min(self._tail, SHOWN_LINES)
        shown, output = self._end(tail)
        lines, note = self._text(shown), ""
        if output.too_long or (output.left_out and tail != self._tail):
            most = f"{SHOWN_LINES:,} lines" + (" and 1 MiB" if output.too_long else "")
            note = f"At most the last {most} of each file; print(job.logs()) prints all."
        return log_html(lines, note) if lines else f"<div>{self._job.name} has written nothing yet.</div>"


def whole(lines: list[Line]) -> list[Line]:
    """The same with the pieces of a line joined."""
    joined: list[Line] = []
    pieces: list[Line] = []
    for line, following in zip(lines, [*lines[1:], None]):
        pieces.append(line)
        if line.end or following is None or (line.stream, line.process) != (following.stream, following.process):
            joined.append(Line("".join(pieces), line.stream, line.process, line.end))
            pieces = []
    return joined


def follow(job: Job, tail: Optional[int], stream: Optional[str], process: Optional[str], errors: str) -> Iterator[Line]:
    """Lines as they are written, until the job ends. A daemon that restarts is waited for."""
    output, pauses = Output(job, stream, process, errors), Pauses()
    known: Optional[int] = tail
    while True:
        any_line = False
        try:
            ended = job.refresh().ended is not None  # before the files, so those of an ended job are complete
            for line in output.look(known, last=ended):
                any_line = True
                yield line
            known = None  # a file that appears later is shown from its beginning
        except pauses.passing as e:
            pauses.after_trouble(e)
            continue
        if ended:
            break
        yield from output.unfinished()
        pauses.after_look(any_line)


def checked_tail(tail: Any) -> Optional[int]:
    """A number of lines, or None for all."""
    if tail is None or (isinstance(tail, int) and not isinstance(tail, bool) and tail >= 0):
        return tail
    raise InvalidArgument(f"tail is {tail!r}; it must be a number of lines, 0 or more, or None for all")


def checked_stream(stream: Any) -> Optional[str]:
    """The name of a stream, or None for both."""
    if stream is None or stream in STREAMS:
        return stream  # type: ignore[no-any-return]
    raise InvalidArgument(f'stream is {stream!r}; it must be "stdout" or "stderr", or None for both')
