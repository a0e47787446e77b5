# SPDX-License-Identifier: MIT
"""A job at the daemon: its state, end, output, files and use."""

from __future__ import annotations

import datetime
import fnmatch
import time
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

from .errors import BatchaidError, InvalidArgument, JobGone, NotFound
from .output import Line, Logs, checked_stream, checked_tail, follow
from .output_files import File, Files
from .shown import Cell, Column, Table, bytes_text, elapsed, escaped, local, now, one_line, table_html, table_text, time_of
from .waiting import ENDED, ended_of, wait

if TYPE_CHECKING:
    from .client import Client

VERSION = "2018-05-01"
FRESH_S = 1.0  # what is known of a job is asked again after that
GONE = ("JobNotFound", "ResourceNotFound", "ParentResourceNotFound", "ResourceGroupNotFound")
OUTPUT, FOLDER = "FILES", "folder"  # of `batchaid submit`: its output directory, and the folder in it where the command runs
UNPACKING = ".unpack-"  # how names of folders begin that are being unpacked


def segments(*names: str) -> str:
    """Names as parts of a path."""
    return "/".join(urllib.parse.quote(name, safe="") for name in names)


@dataclass(frozen=True)
class StoryLine:
    """What happened to a job, and when; `time` None: how it stands now."""

    time: Optional[datetime.datetime]
    text: str


class Story(Table[StoryLine]):
    """The history of a job: why it waited, where it ran, how it ended."""

    columns = (Column("TIME"), Column("WHAT"))

    def row(self, item: StoryLine) -> Sequence[Cell]:
        """The cells of one line."""
        return (local(item.time) or "now", item.text)

    def __str__(self) -> str:
        return "\n".join(f"{local(line.time) or 'now':19}  {one_line(line.text)}" for line in self)


@dataclass(frozen=True)
class Use:
    """What a job used, as far as it has ended: hours, and bytes. `gpu_busy_hours` and `gpu_idle_hours` were sampled. `raw` has
    every member of the reply."""

    runs: int
    node_hours: float
    core_hours: float
    gpu_hours: float
    gpu_busy_hours: float
    gpu_idle_hours: float
    cpu_hours: float
    waited: datetime.timedelta
    read_bytes: int
    written_bytes: int
    memory_peak_bytes: int
    advice: str
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Use:
        """That of a reply to GET /batchaid/usage/..."""
        use = reply["use"]

        def hours(name: str) -> float:
            return float(use[name]) / 3_600_000

        return cls(
            runs=use["runs"], node_hours=hours("nodeMilliseconds"), core_hours=hours("coreMilliseconds"),
            gpu_hours=hours("gpuMilliseconds"), gpu_busy_hours=hours("gpuBusyMilliseconds"),
            gpu_idle_hours=hours("gpuIdleMilliseconds"),
            cpu_hours=(use["userMicroseconds"] + use["kernelMicroseconds"]) / 3_600_000_000,
            waited=datetime.timedelta(milliseconds=use["waitMilliseconds"]), read_bytes=use["readBytes"],
            written_bytes=use["writtenBytes"], memory_peak_bytes=use["memoryPeakBytes"], advice=reply["advice"], raw=reply,
        )  # fmt: skip

    def _rows(self) -> list[Sequence[Cell]]:
        hours = [("node hours", self.node_hours), ("core hours", self.core_hours), ("GPU hours", self.gpu_hours),
                 ("GPU hours busy", self.gpu_busy_hours), ("GPU hours idle", self.gpu_idle_hours),
                 ("processor hours", self.cpu_hours)]  # fmt: skip
        sizes = [("read", self.read_bytes), ("written", self.written_bytes), ("memory, the most", self.memory_peak_bytes)]
        return [("runs", self.runs), *((name, f"{value:.4f}") for name, value in hours), ("waited", elapsed(self.waited)),
                *((name, bytes_text(n)) for name, n in sizes)]  # fmt: skip

    def __str__(self) -> str:
        return f"{table_text((Column('USE'), Column('', True)), self._rows())}\n{one_line(self.advice)}"

    def _repr_html_(self) -> str:
        return table_html((Column("use"), Column("", True)), self._rows(), one_line(self.advice))


class Job:
    """A job. Its state is asked from the daemon when it is read, until the job has ended."""

    def __init__(self, client: Client, row: Mapping[str, Any], complete: bool = True) -> None:
        """`row`: as a list of jobs shows it; not `complete`: only its names."""
        self._client: Optional[Client] = client
        self.group, self.workspace = str(row["resourceGroup"]), str(row["workspace"])
        self.experiment, self.name = str(row["experiment"]), str(row["name"])
        self._subscription: Optional[str] = row.get("subscription")  # None: the configured one
        self._row, self._seen = dict(row), time.monotonic() if complete else float("-inf")
        self._resource: dict[str, Any] = {}
        self._resource_is_last = False

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: no client, whose login stays here, and nothing by this process's clock."""
        return {**self.__dict__, "_client": None, "_seen": float("-inf")}

    # --- where it is ----------------------------------------------------------------------------

    @property
    def client(self) -> Client:
        """The client that it was found with; of a job from another process the client of the last connect()."""
        if self._client is None:
            from .client import default_client

            self._client = default_client()
        return self._client

    @property
    def path(self) -> str:
        """GROUP/WORKSPACE/EXPERIMENT/JOB: the name that no other job of its subscription has."""
        return f"{self.group}/{self.workspace}/{self.experiment}/{self.name}"

    @property
    def subscription(self) -> str:
        """The id of its subscription, which may differ from the subscription of the client."""
        return self._subscription or self.client.configured_subscription

    def _at(self, below: str, tail: str = "", **query: str) -> str:
        where = f"{below}/{segments(self.group, self.workspace, self.experiment, self.name)}{tail}"
        given = {**({"subscription": self._subscription} if self._subscription else {}), **query}
        return f"{where}?{urllib.parse.urlencode(given)}" if given else where

    def _resource_path(self, tail: str = "") -> str:
        where = (f"/subscriptions/{segments(self.subscription)}/resourceGroups/{segments(self.group)}"
                 f"/providers/Microsoft.BatchAI/workspaces/{segments(self.workspace)}/experiments/{segments(self.experiment)}"
                 f"/jobs/{segments(self.name)}")  # fmt: skip
        return f"{where}{tail}?api-version={VERSION}"

    def _call(self, method: str, path: str) -> Any:
        try:
            return self.client.connection.call(method, path)
        except NotFound as e:
            if e.code not in GONE:
                raise
            raise JobGone(e.status, e.code, f"the job {self.path} is gone: {e.message}") from None

    # --- its state ------------------------------------------------------------------------------

    def refresh(self) -> Job:
        """Asks for its state now; returns itself."""
        self._story()
        return self

    def _story(self) -> Any:
        said = self._call("GET", self._at("/batchaid/jobs"))
        row, before = said["job"], self._row.get("createdTime")
        if before is not None and row["createdTime"] != before:
            raise JobGone(404, "", f"the job {self.path} was deleted, and another job has its name now")
        self._row, self._seen = row, time.monotonic()
        return said

    def _now(self) -> dict[str, Any]:
        if self._row.get("state") not in ENDED and time.monotonic() - self._seen > FRESH_S:
            self.refresh()
        return self._row

    @property
    def state(self) -> str:
        """queued, running, terminating, succeeded or failed."""
        return str(self._now()["state"])

    @property
    def exit_code(self) -> Optional[int]:
        """That of its command; of an array, of the first index that failed. None before its end, or if it has none."""
        code = self._now().get("exitCode")
        return None if code is None else int(code)

    @property
    def user(self) -> Optional[str]:
        """Who made it."""
        return self._now().get("createdBy")

    @property
    def cluster(self) -> Optional[str]:
        """The name of its cluster."""
        return self._now().get("cluster")

    @property
    def nodes(self) -> int:
        """On how many nodes it runs."""
        return int(self._now().get("nodeCount", 1))

    @property
    def created(self) -> Optional[datetime.datetime]:
        """When it was made."""
        return time_of(self._now().get("createdTime"))

    @property
    def started(self) -> Optional[datetime.datetime]:
        """When it began to run, or None."""
        return time_of(self._now().get("startTime"))

    @property
    def ended(self) -> Optional[datetime.datetime]:
        """When it ended, or None."""
        return ended_of(self._now())

    @property
    def elapsed(self) -> Optional[datetime.timedelta]:
        """How long it has run, or None."""
        started = self.started
        return (self.ended or now()) - started if started else None

    def explain(self) -> Story:
        """Why it waits, or waited; where it ran; how it ended."""
        return Story(StoryLine(time_of(line.get("time")), str(line["text"])) for line in self._story()["story"])

    def failed_indexes(self) -> list[int]:
        """Of an array: the indexes that have failed so far."""
        return list(self._story().get("failedIndexes", []))

    @property
    def resource(self) -> dict[str, Any]:
        """The properties of the job as Batch AI has them."""
        if not self._resource_is_last:
            ended = self._row.get("state") in ENDED
            self._resource = dict(self._call("GET", self._resource_path())["properties"])
            self._resource_is_last = ended
        return self._resource

    @property
    def use(self) -> Use:
        """What it used."""
        return Use.of(self._call("GET", self._at("/batchaid/usage")))

    # --- its end --------------------------------------------------------------------------------

    def wait(
        self, timeout: Union[float, datetime.timedelta, None] = None, *, check: bool = True,
        progress: Optional[bool] = None,
    ) -> Job:  # fmt: skip
        """Waits for its end, and shows progress: a table with a bar in a notebook, otherwise lines on standard error; nothing
        with progress=False. JobFailed if it fails, unless check=False; WaitTimeout after `timeout` (seconds). Ctrl-C leaves it
        running. A daemon that restarts is waited for. Returns itself."""
        return wait(self, timeout, check, progress)

    def cancel(self) -> Job:
        """Ends it; of a job that has ended already nothing changes. Returns itself, perhaps terminating still."""
        if self.refresh()._row["state"] not in ENDED:
            self._call("POST", self._resource_path("/terminate"))
            self._seen = float("-inf")
        return self

    # --- output and files -----------------------------------------------------------------------

    @overload
    def logs(
        self, *, follow: Literal[False] = False, tail: Optional[int] = None, stream: Optional[str] = None,
        process: Union[str, int, None] = None, errors: str = "replace",
    ) -> Logs: ...  # fmt: skip

    @overload
    def logs(
        self, *, follow: Literal[True], tail: Optional[int] = None, stream: Optional[str] = None,
        process: Union[str, int, None] = None, errors: str = "replace",
    ) -> Iterator[Line]: ...  # fmt: skip

    def logs(
        self, *, follow: bool = False, tail: Optional[int] = None, stream: Optional[str] = None,
        process: Union[str, int, None] = None, errors: str = "replace",
    ) -> Union[Logs, Iterator[Line]]:  # fmt: skip
        """Its output up to now, to be printed or iterated over by lines; with follow=True an iterator that continues until its
        end. `tail`: only that number of last lines of each file; `stream`: "stdout" or "stderr" alone; `process`: only the output of this
        node (by its number) or index. Bytes that are not UTF-8 are replaced, or kept with errors="surrogateescape"."""
        tail, stream = checked_tail(tail), checked_stream(stream)
        process = None if process is None else str(process)
        if errors not in ("replace", "surrogateescape", "ignore", "backslashreplace", "strict"):
            raise InvalidArgument(f'errors is {errors!r}; it must be "replace" or "surrogateescape", or as bytes.decode() has it')
        return _follow(self, tail, stream, process, errors) if follow else Logs(self, tail, stream, process, errors)

    def listed_files(self, directory: str, below: str = "", left_out: Optional[list[int]] = None) -> Iterator[dict[str, Any]]:
        """The rows of one folder of an output directory, as the daemon lists them; none before the job has begun, or if the
        folder is gone. `left_out` gets the numbers of names that the daemon leaves out."""
        query = {"directory": directory, **({"path": below} if below else {})}
        while True:
            try:
                reply = self._call("GET", self._at("/batchaid/jobs", "/files", **query))
            except BatchaidError as e:
                if below and e.code == "FileNotFound":  # the job has removed it since it was listed
                    return
                if e.status in (400, 404, 409) and not isinstance(e, JobGone) and self.refresh().started is None:
                    return
                raise
            if left_out is not None:
                left_out.append(int(reply.get("leftOut", 0)))
            yield from reply["value"]
            if not reply.get("next"):
                return
            query["after"] = str(reply["next"])

    def content_path(self, directory: str, path: str) -> str:
        """Where the bytes of a file are."""
        return self._at("/batchaid/jobs", "/files/content", directory=directory, path=path)

    def _walk(self, directory: str, below: str, shown: str, left_out: list[int]) -> Iterator[File]:
        for row in self.listed_files(directory, below, left_out):
            if row["name"].startswith(UNPACKING):
                continue
            path = f"{shown}/{row['name']}" if shown else row["name"]
            if row["isDirectory"]:
                yield from self._walk(directory, row["path"], path, left_out)
            else:
                yield File(self, directory, row["path"], path, row)

    def files(self, pattern: Optional[str] = None, *, directory: Optional[str] = None) -> Files:
        """The files that it has written since its creation, as `batchaid get` takes them: files of its folder by their names
        there, files of another output directory as ID/NAME. `pattern`: all whose whole name fits ("*.pt"; "*": every one), or
        that are in this folder. `directory`: of one output directory by its id, or "stdouterr"."""
        left_out: list[int] = []
        if directory is not None:
            all_files = list(self._walk(directory, "", "", left_out))
        else:
            ids = [str(one["id"]) for one in self.resource.get("outputDirectories") or []]
            all_files = [file for id in ids for file in self._walk(id, *((FOLDER, "") if id == OUTPUT else ("", id)), left_out)]
        found = Files(self._wanted(all_files, pattern, directory is not None))
        if sum(left_out):
            why = "not UTF-8, special files, links to directories, to nothing or to other places"
            found.note = f"{sum(left_out):,} more cannot be fetched ({why})."
        return found

    def _wanted(self, files: Iterable[File], pattern: Optional[str], every: bool) -> Iterator[File]:
        """Those that fit the pattern; without one those since the job's creation, or every one. A later attempt has a
        later start."""
        if pattern is not None:
            pattern = pattern.removeprefix("./")
            folder = pattern.rstrip("/") + "/"
            yield from (
                f for f in files
                if f.name == pattern or fnmatch.fnmatchcase(f.name, pattern) or f.name.startswith(folder)
            )  # fmt: skip
        elif (created := self.created) is not None:
            since = created.replace(microsecond=0)  # shown times have whole seconds
            yield from (f for f in files if every or f.modified is None or f.modified >= since)

    # --- how it is shown ------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Job {visible_path(self)}: {self._row.get('state', 'not asked yet')}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, Optional[str], str]:
        return (self.client.endpoint, self._subscription, self.path)

    def _repr_html_(self) -> str:
        try:
            self._now()
        except BatchaidError as e:
            return f"<div>{escaped(repr(self))}: {escaped(e)}</div>"
        return Jobs([self])._repr_html_()


_follow = follow  # of this module, where a parameter has its name


def visible_path(job: Job) -> str:
    """Its path for people."""
    return one_line(job.path)


class Jobs(Table[Job]):
    """Jobs, the newest first."""

    empty = "No job fits."
    columns = (
        Column("JOB"), Column("STATE"), Column("CLUSTER"), Column("NODES", True), Column("USER"), Column("CREATED"),
        Column("STARTED"), Column("ENDED"), Column("EXIT", True), Column("WHERE"),
    )  # fmt: skip

    def row(self, item: Job) -> Sequence[Cell]:
        """The cells of one job, as they were listed."""
        known = item._row
        times = [local(time_of(known.get(name))) for name in ("createdTime", "startTime", "endTime")]
        where = f"{item.group}/{item.workspace}/{item.experiment}"
        return (item.name, known.get("state"), known.get("cluster"), known.get("nodeCount"), known.get("createdBy"), *times,
                known.get("exitCode"), where)  # fmt: skip
