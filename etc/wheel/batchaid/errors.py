# SPDX-License-Identifier: MIT
"""What can go wrong, as one tree: each error is a BatchaidError whose message has the value and what would be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .remote_job import Job


def restored(kind: type[BatchaidError], args: tuple[Any, ...], members: dict[str, Any]) -> BatchaidError:
    """An error as it was, in another process: what it is made from is not what it keeps."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(members)
    return error


class BatchaidError(Exception):
    """The daemon refused a request: `status`, `code`, and its `message`. A status of 0: it was not the daemon that refused."""

    def __init__(self, status: int = 0, code: str = "", message: str = "") -> None:
        super().__init__(status, code, message)
        self.args = (status, code, message)  # those that are OSErrors, too, keep two
        self.status, self.code, self.message = status, code, message

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), self.args, dict(self.__dict__))

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}" if self.status and self.code else self.message


class InvalidArgument(BatchaidError, ValueError):
    """A wrong value; the message says what would be right."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "", message)


class LoginNeeded(BatchaidError):
    """There is no login, or it is no longer valid."""


class NotAllowed(BatchaidError):
    """Your role does not allow that."""


class NotFound(BatchaidError, LookupError):
    """There is no such thing, or you may not see it."""


class JobGone(NotFound):
    """The job was deleted."""


class Conflict(BatchaidError):
    """The request does not fit to the present state."""


class FileChanged(Conflict):
    """A file was written again between two parts of it."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "", message)


class Unreachable(BatchaidError, ConnectionError):
    """The daemon does not answer. `temporary`: it may answer later."""

    def __init__(self, message: str, temporary: bool = True) -> None:
        super().__init__(0, "", message)
        self.temporary = temporary


class WaitTimeout(BatchaidError, TimeoutError):
    """The job has not ended in time, and continues."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "", message)


class JobFailed(BatchaidError):
    """The job has failed: `job`, `exit_code`, `reason`, and `stderr`, the last lines that it wrote there."""

    def __init__(self, job: Job, exit_code: Optional[int], reason: str, stderr: str) -> None:
        code = f" with exit code {exit_code}" if exit_code is not None else ""
        said = f"\nThe end of its standard error:\n{stderr}" if stderr else ""
        super().__init__(0, "JobFailed", f"{job.name} failed{code}: {reason}{said}")
        self.job, self.exit_code, self.reason, self.stderr = job, exit_code, reason, stderr


OF_STATUS = {401: LoginNeeded, 403: NotAllowed, 404: NotFound, 409: Conflict}
# Codes of refusals that a program hands on without their status.
OF_CODE = {
    "AuthorizationFailed": (403, NotAllowed), "LinkedAuthorizationFailed": (403, NotAllowed), "Conflict": (409, Conflict),
    "ResourceNotFound": (404, NotFound), "ResourceGroupNotFound": (404, NotFound),
}  # fmt: skip


def refused(status: int, code: str, message: str) -> BatchaidError:
    """The error of a reply with this status; 0: it is unknown, and the code decides."""
    if status == 0:
        status, kind = OF_CODE.get(code, (400 if code else 0, BatchaidError))
        return kind(status, code, message)
    return OF_STATUS.get(status, BatchaidError)(status, code, message)
