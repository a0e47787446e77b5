# SPDX-License-Identifier: MIT
"""The wait for a job's end, with its progress: a table and a bar in a notebook, lines on standard error elsewhere."""

from __future__ import annotations

import datetime
import html
import importlib
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Optional, Union

from .errors import BatchaidError, InvalidArgument, JobFailed, WaitTimeout
from .pauses import Pauses
from .shown import Cell, Column, elapsed, local, now, one_line, table_html, time_of

if TYPE_CHECKING:
    from .remote_job import Job

SERVICE_LIMIT_S = 7 * 86400  # of jobs that ask for no time limit
LINES_S = 10.0  # between two lines that differ only in the place in the queue, or in what of an array has ended
# Between two looks at the queue, for which the daemon may have to look at all waiting jobs of a cluster: of a job that waits, of
# an array; and the least multiple of the time that the look before took.
PLACE_S, ARRAY_S, TIMES = 6.0, 20.0, 20
ENDED = ("succeeded", "failed")
SHOWN_LINES, SHOWN_CHARACTERS = 20, 500  # of the standard error of a job that failed


def seconds(value: Any, name: str) -> float:
    """A span in seconds; None: for ever."""
    if value is None:
        return float("inf")
    span = value.total_seconds() if isinstance(value, datetime.timedelta) else value
    if isinstance(span, (int, float)) and not isinstance(span, bool) and span >= 0:
        return float(span)
    raise InvalidArgument(f"{name} is {value!r}; it must be a number of seconds, 0 or more, or a timedelta, or None for no limit")


# --- what is known -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """How a job stands. `done` of `total` indexes of an array have ended; `trouble`: why the daemon does not answer."""

    name: str
    state: str
    cluster: str
    place: Optional[int] = None
    waits_for: str = ""
    expected: Optional[datetime.datetime] = None
    started: Optional[datetime.datetime] = None
    ended: Optional[datetime.datetime] = None
    limit: Optional[datetime.timedelta] = None
    done: Optional[int] = None
    total: Optional[int] = None
    exit_code: Optional[int] = None
    trouble: str = ""

    def running(self) -> Optional[datetime.timedelta]:
        """For how long it has run."""
        return (self.ended or now()) - self.started if self.started else None

    def part(self) -> Optional[float]:
        """From 0 to 1, how far the bar is; None: nobody knows."""
        if self.state in ENDED:
            return 1.0
        if self.total and self.done is not None:
            return self.done / self.total
        running = self.running()
        return min(1.0, running / self.limit) if self.limit and running is not None else None

    def words(self) -> str:
        """In a line."""
        parts = [self.state]
        if self.exit_code:
            parts.append(f"exit code {self.exit_code}")
        if self.state == "queued" and self.place:
            parts.append(f"place {self.place} in {self.cluster}")
        if self.state == "queued" and self.waits_for:
            parts.append(f"waits for {self.waits_for}")
        if self.state == "queued" and self.expected:
            parts.append(f"starts at {local(self.expected)} at the latest")
        if self.total and self.done is not None:
            parts.append(f"{self.done} of {self.total} indexes have ended")
        if self.running() is not None:
            parts.append(f"after {elapsed(self.running())}" if self.ended else f"for {elapsed(self.running())}")
        if self.trouble:
            parts.append(f"no news: {self.trouble}")
        return one_line(", ".join(parts))

    def key(self) -> tuple[object, ...]:
        """What a new line is written for at once."""
        return (self.state, self.done == self.total, bool(self.trouble))


def indexes(text: str) -> int:
    """How many an array has: "0-9:3", "1,5,7"."""
    total = 0
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+)(?::(\d+))?)?\s*", part)
        if not match:
            return 0
        first, last = int(match[1]), int(match[2] or match[1])
        total += max(0, last - first) // max(1, int(match[3] or 1)) + 1
    return total


def span_of(text: str) -> Optional[datetime.timedelta]:
    """PT4H or P1DT2H3M4S, as Batch AI writes it."""
    match = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?", text)
    if not match:
        return None
    days, hours, minutes, rest = (int(n or 0) for n in match.groups())
    return datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=rest)


def ended_of(row: Mapping[str, Any]) -> Optional[datetime.datetime]:
    """When a job ended, or None."""
    return time_of(row.get("endTime")) or time_of(row.get("createdTime")) if row.get("state") in ENDED else None


class Look:
    """What is asked about one job again and again."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.last: Optional[Progress] = None
        self._asked = False
        self._total = 0
        self._limit: Optional[datetime.timedelta] = None
        self._queued: list[dict[str, Any]] = []
        self._queued_state, self._queued_until = "", 0.0

    def _wishes(self) -> None:
        """Its time limit and its array, which do not change."""
        properties = self.job.resource
        named = {str(v.get("name", "")).upper(): v.get("value") for v in properties.get("environmentVariables") or []}
        self._total = indexes(str(named.get("BATCHAID_JOB_ARRAY") or ""))
        limit = span_of(str((properties.get("constraints") or {}).get("maxWallClockTime", "")))
        self._limit = limit if limit and limit.total_seconds() != SERVICE_LIMIT_S else None
        self._asked = True

    def _in_queue(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """Its rows in the queue, of an array one for each index that has not ended, as they were a while ago."""
        begun = time.monotonic()
        if row["state"] != self._queued_state or begun >= self._queued_until:
            found = self.job.client.queue_rows(cluster=row.get("cluster"), user=row.get("createdBy"), max=10000 if self._total else None)
            same = ("subscription", "resourceGroup", "workspace", "experiment", "name")
            self._queued = [one for one in found if all(one.get(k) == row.get(k) for k in same)]
            self._queued_state, end = row["state"], time.monotonic()
            self._queued_until = end + max(ARRAY_S if self._total else PLACE_S, TIMES * (end - begun))
        return self._queued

    def ask(self) -> Progress:
        """How it stands now."""
        job = self.job
        if not self._asked:
            self._wishes()
        row = job.refresh()._row
        state, done = str(row["state"]), None
        waiting: dict[str, Any] = {}
        if state == "queued" or (self._total and state not in ENDED):
            own = self._in_queue(row)
            waiting = next((one for one in own if "waitsFor" in one), {})
            done = max(0, self._total - len(own)) if self._total and own else None
        self.last = Progress(
            name=job.name, state=state, cluster=str(row.get("cluster") or ""), place=waiting.get("place"),
            waits_for=str(waiting.get("waitsFor") or ""), expected=time_of(waiting.get("expectedStartTime")),
            started=time_of(row.get("startTime")), ended=ended_of(row), limit=self._limit, done=done, total=self._total or None,
            exit_code=row.get("exitCode"),
        )  # fmt: skip
        return self.last


# --- how it is shown -----------------------------------------------------------------------------


class Silent:
    """Shows nothing."""

    def show(self, progress: Progress) -> None:
        """Takes the latest."""


class Lines(Silent):
    """Lines on standard error, for each change."""

    def __init__(self) -> None:
        self._key: Optional[tuple[object, ...]] = None
        self._at: tuple[Optional[int], Optional[int]] = (None, None)
        self._until = 0.0

    def show(self, progress: Progress) -> None:
        """Writes a line if something has changed."""
        at = (progress.place, progress.done)
        if progress.key() != self._key or (at != self._at and time.monotonic() >= self._until):
            self._key, self._at, self._until = progress.key(), at, time.monotonic() + LINES_S
            print(f"batchaid: {one_line(progress.name)}: {progress.words()}", file=sys.stderr, flush=True)


class Card:
    """A table and a bar, which a notebook shows, and anything else as text."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __repr__(self) -> str:
        return f"{one_line(self._progress.name)}: {self._progress.words()}"

    def _repr_html_(self) -> str:
        p = self._progress
        part = p.part()
        bar = "" if part is None else f"{part:.0%}"
        if p.total and p.done is not None:
            bar = f"{p.done} of {p.total}"
        elif p.limit and p.state == "running":
            bar = f"{elapsed(p.running())} of at most {elapsed(p.limit)}"
        cells: list[tuple[Column, Cell]] = [
            (Column("JOB"), p.name), (Column("STATE"), p.state), (Column("CLUSTER"), p.cluster), (Column("PLACE", True), p.place),
            (Column("WAITS FOR"), p.waits_for), (Column("STARTS AT THE LATEST"), local(p.expected)),
            (Column("STARTED"), local(p.started)), (Column("TIME", True), elapsed(p.running())),
            (Column("EXIT", True), p.exit_code),
        ]  # fmt: skip
        table = table_html([c for c, _ in cells], [[v for _, v in cells]], f"No news: {one_line(p.trouble)}" if p.trouble else "")
        value = "" if part is None else f' value="{part:.4f}"'
        return f'{table}<div><progress max="1"{value} style="width: 20em"></progress> {html.escape(bar or p.state)}</div>'


def shell() -> Any:
    """The notebook's, or None. IPython is never loaded for that."""
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return found if found is not None and hasattr(found, "kernel") else None


class Notebook(Silent):
    """One output of the cell, which changes."""

    def __init__(self) -> None:
        self._display = importlib.import_module("IPython.display").display
        self._handle: Any = None

    def show(self, progress: Progress) -> None:
        """Shows it in the place of the last."""
        if self._handle is None:
            self._handle = self._display(Card(progress), display_id=True)
        else:
            self._handle.update(Card(progress))


def shown_by(progress: Any) -> Silent:
    """False: nothing; None and True: a notebook's, or lines."""
    if progress is False:
        return Silent()
    if progress is None or progress is True:
        return Notebook() if shell() is not None else Lines()
    raise InvalidArgument(f"progress is {progress!r}; it must be True, False, or None for True")


# --- the wait ------------------------------------------------------------------------------------


def reason_of(job: Job) -> str:
    """Why a job has failed, in the daemon's words."""
    try:
        errors = (job.resource.get("executionInfo") or {}).get("errors") or []
    except BatchaidError as e:
        return f"the reason cannot be read: {one_line(e)}"
    said = "; ".join(f"{e.get('code', '')}: {e.get('message', '')}" for e in errors)
    return one_line(said) or "the daemon has no reason; job.explain() shows its history"


def failure(job: Job) -> JobFailed:
    """The error of a job that has failed, with the end of its standard error, if that can still be read."""
    try:
        failed = job.failed_indexes()
        lines = job.logs(stream="stderr", process=failed[0] if failed else None).end(SHOWN_LINES)
    except BatchaidError:
        lines = []
    return JobFailed(job, job.exit_code, reason_of(job), "\n".join(one_line(line)[:SHOWN_CHARACTERS] for line in lines[-SHOWN_LINES:]))


def until_ended(look: Look, shown: Silent, pauses: Pauses) -> bool:
    """False: the time is over."""
    while True:
        try:
            progress = look.ask()
            shown.show(progress)
            if progress.ended:
                return True
            if time.monotonic() >= pauses.until:
                return False
            pauses.after_look(False)
        except pauses.passing as e:
            if look.last is not None:
                shown.show(replace(look.last, trouble=str(e)))
            if time.monotonic() >= pauses.until:
                return False
            pauses.after_trouble(e)


def wait(job: Job, timeout: Union[float, datetime.timedelta, None], check: bool, progress: Optional[bool]) -> Job:
    """Job.wait()."""
    limit = seconds(timeout, "timeout")
    look, shown, until = Look(job), shown_by(progress), time.monotonic() + limit
    try:
        with job.client.connection.until(until):
            ended = until_ended(look, shown, Pauses(until))
    except KeyboardInterrupt:
        print(f"batchaid: the job {one_line(job.name)} continues: job.wait() waits again, job.cancel() ends it", file=sys.stderr)
        raise
    if not ended:
        state = look.last.words() if look.last else "not known: the daemon does not answer"
        raise WaitTimeout(f"{one_line(job.name)} has not ended in {limit:g} s; it is {state}")
    if check and job.state == "failed":
        raise failure(job)
    return job
