# SPDX-License-Identifier: MIT
"""Submission by `batchaid submit --json` of the program that is in this package: it copies the folder, names the job, and
makes what is missing, so that there is one way for each of these. REST has no single request for all that; a second
implementation of .gitignore, archives and places would differ from the first. The job goes to the program as its job file by
standard input, because command lines are seen by everybody on the computer; tokens go in its environment.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

from .cloud import program, refused_by_loader, refused_by_system
from .connection import STORAGE
from .errors import BatchaidError, InvalidArgument, Unreachable, refused
from .remote_job import Job
from .shown import Column, bytes_text, table_html, table_text

if TYPE_CHECKING:
    from .client import Client

FILE, FILE_MAX = "/dev/stdin", 1_000_000
USAGE = 2  # the program's exit code for a wrong argument
UNSET = ("BATCHAID_STATE_DIR", "BATCHAID_TOKEN", "BATCHAID_STORAGE_TOKEN", "AZURE_USERNAME", "SSL_CERT_FILE")
Command = Union[str, Sequence[Union[str, "os.PathLike[str]"]]]
After = Union[str, Job, Iterable[Union[str, Job]]]
# What YAML does not take unescaped.
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Plan:
    """What submit(..., dry_run=True) would have done: the job's place, its document, and the folder that would be copied."""

    name: str
    group: str
    workspace: str
    experiment: str
    cluster: str
    document: Mapping[str, Any] = field(repr=False)
    files: int = 0
    bytes: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)
    warnings: Mapping[str, str] = field(default_factory=dict)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("job", self.name), ("experiment", f"{self.group}/{self.workspace}/{self.experiment}"), ("cluster", self.cluster),
                ("copied", f"{self.files} files, {bytes_text(self.bytes)}")]  # fmt: skip
        rows += [("left out", f"{path} {why}") for path, why in self.left_out.items()]
        return rows + [("warning", f"{path} {why}") for path, why in self.warnings.items()]

    def __str__(self) -> str:
        return table_text((Column("WOULD CREATE"), Column("")), self._rows())

    def _repr_html_(self) -> str:
        return table_html((Column("would create"), Column("")), self._rows(), "The job's document is in .document.")


# --- the arguments as a job file -----------------------------------------------------------------


def text_of(name: str, value: Any, kinds: tuple[type, ...] = (str,)) -> str:
    """A value of one of these kinds as text; the program checks what is in it."""
    if isinstance(value, bool) or not isinstance(value, kinds):
        named = {str: "a text", int: "a whole number", float: "a number"}
        words = " or ".join(named[kind] for kind in kinds if kind is not int or float not in kinds)
        example = ', such as "32G"' if name == "memory" else ""
        raise InvalidArgument(f"{name} is {value!r}; it must be {words}{example}")
    return str(value)


def time_text(value: Any) -> str:
    """A time limit."""
    if isinstance(value, datetime.timedelta):
        return f"{round(value.total_seconds())}s"
    if not isinstance(value, str):
        raise InvalidArgument(f'time is {value!r}; it must be a text such as "30m", "4h" or "1d12h", or a timedelta')
    return value


def command_of(command: Any) -> Union[str, list[str]]:
    """A line for the shell as it is; a program and its arguments as a list."""
    if isinstance(command, str) and command.strip():
        return command
    words = list(command) if isinstance(command, Sequence) and not isinstance(command, (str, bytes)) else []
    if not words or not all(isinstance(word, (str, os.PathLike)) for word in words):
        raise InvalidArgument(
            f'the command is {command!r}; it must be a list such as ["python", "train.py"], or a line for the shell such as '
            '"python train.py | tee log"'
        )
    texts = [os.fspath(word) for word in words]
    return texts if len(texts) > 1 else shlex.quote(texts[0])  # one alone would be a line for the shell


def array_text(value: Any) -> str:
    """Indexes: "1-20", range(20), [1, 5, 7]."""
    if isinstance(value, range) and len(value) > 1 and value.start >= 0 and value.step > 0:
        return f"{value[0]}-{value[-1]}:{value.step}"
    if isinstance(value, str):
        return value
    numbers = list(value) if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)) else []
    if not numbers or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
        raise InvalidArgument(f'array is {value!r}; it must be a text such as "1-20", "0-9:3" or "1,5,7", a range, or whole numbers from 0 on')
    return ",".join(map(str, numbers))


def after_text(value: Any) -> str:
    """Jobs whose ends are waited for."""
    jobs = [value] if isinstance(value, (str, Job)) else value
    if not isinstance(jobs, Iterable) or not (jobs := list(jobs)) or not all(isinstance(j, (str, Job)) for j in jobs):
        raise InvalidArgument(f'after is {value!r}; it must be a job, a text such as "train" or "train:end", or a list of these')
    return ",".join(j.path if isinstance(j, Job) else j for j in jobs)


def pairs(name: str, value: Any, kinds: tuple[type, ...], example: str) -> dict[str, str]:
    """A mapping of texts."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidArgument(f"{name} is {value!r}; it must be a mapping such as {example}")
    return {key: text_of(f"{name}[{key!r}]", one, kinds) for key, one in value.items()}


NUMBERS = ("gpus", "nodes", "cores")
READERS: Mapping[str, Callable[[Any], Any]] = {
    "command": command_of,
    "time": time_text,
    "array": array_text,
    "after": after_text,
    "env": lambda value: pairs("env", value, (str, int, float), '{"EPOCHS": 20}'),
    "secrets": lambda value: pairs("secrets", value, (str,), '{"TOKEN": "vault/secret"}'),
}


def value_of(name: str, value: Any) -> Any:
    """That of one member of a job file."""
    if name in READERS:
        return READERS[name](value)
    return text_of(name, value, (int, str) if name in NUMBERS else (str,))


def job_file(wish: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a job file, which are named like the options of `batchaid submit`."""
    members = {name: value_of(name, value) for name, value in wish.items() if value is not None or name == "command"}
    if workspace := members.pop("workspace", None):
        if "/" in members.get("group", ""):
            raise InvalidArgument(f"group is {members['group']!r} and workspace is {workspace!r}; give the workspace once")
        members["group"] = f"{members.get('group', 'jobs')}/{workspace}"
    return {("secret" if name == "secrets" else name): value for name, value in members.items() if value != {}}


def as_yaml(members: Mapping[str, Any]) -> bytes:
    """JSON that is YAML as well."""
    text = UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(members, ensure_ascii=False))
    try:
        data = text.encode()
    except UnicodeEncodeError as e:
        raise InvalidArgument(f"{e.object[max(0, e.start - 20) : e.end]!r} is not UTF-8; the command and all values must be") from None
    if len(data) > FILE_MAX:
        raise InvalidArgument(f"the command and all values are {len(data):,} bytes; they may be {FILE_MAX:,}: put them into a file of the folder")
    return data


# Options as messages name them, and members of a job's document, and what is written here instead.
WORDS = (
    (r"properties\.environmentVariables\[\d+\]\.value is (.*); BATCHAID_JOB_MEMORY must", r"memory is \1; it must"),
    (r"properties\.environmentVariables ask for", "gpus, cores and memory ask for"),
    (r"properties\.containerSettings\.imageSourceRegistry\.image is", "image is"),
    (r"--no-copy\b", "folder=None"),
    (r"--yes\b", "yes=True"),
    (r"--secret (\w+)=([\w./-]+)", r'secrets={"\1": "\2"}'),
    (r"--env (\w+)=([\w./-]+)", r'env={"\1": "\2"}'),
    (r"--(group|cluster) ([A-Z]+\b|[\w.-]+/[\w.-]+)", r'\1="\2"'),
    (r"--(gpus|nodes|cores) (\d+)", r"\1=\2"),
    (r"--(gpus|nodes|cores|memory|time|image|array|after|env|secret|cluster|group|experiment|folder|name)\b", r"\1"),
)


def in_words_of_python(said: str) -> str:
    """A message of the program, with the arguments' names in place of options."""
    said = re.sub(r"^(?:batchaid: )?(?:/dev/stdin(?::\d+:\d+)?: )?", "", said.strip())
    for option, argument in WORDS:
        said = re.sub(option, argument, said)
    return said


# --- the program ---------------------------------------------------------------------------------


def environment_of(client: Client, with_folder: bool) -> dict[str, str]:
    """What the program needs to be the client's login: tokens alone. They are new, because the program cannot renew them, and
    a copy may take long."""
    connection = client.connection
    env = {k: v for k, v in os.environ.items() if k not in UNSET}
    env.update(BATCHAID_ENDPOINT=connection.endpoint, AZURE_SUBSCRIPTION_ID=client.subscription, NO_PROXY="*", no_proxy="*",
               BATCHAID_TOKEN=connection.login.token(connection, new=True), SSL_CERT_FILE=connection.authorities())  # fmt: skip
    if with_folder:
        env["BATCHAID_STORAGE_TOKEN"] = connection.login.token(connection, STORAGE, new=True)
    if client.user:
        env["AZURE_USERNAME"] = client.user
    return env


def run(client: Client, arguments: Sequence[str], text: bytes, with_folder: bool) -> subprocess.CompletedProcess[bytes]:
    """`batchaid submit` with these arguments."""
    try:
        path = program()
    except FileNotFoundError as e:
        raise BatchaidError(0, "", str(e)) from None
    command = [path, "submit", "--json", "--file", FILE, *arguments]
    try:
        return subprocess.run(command, input=text, capture_output=True, env=environment_of(client, with_folder), check=False)
    except OSError as e:
        raise BatchaidError(0, "", refused_by_system(path, e)) from None
    except ValueError as e:  # a byte 0
        raise InvalidArgument(f"the arguments {arguments!r} cannot be given to a program: {e}") from None


def failed(done: subprocess.CompletedProcess[bytes]) -> BatchaidError:
    """Why the program has submitted nothing."""
    said = done.stderr.decode(errors="replace").strip()
    message = in_words_of_python(said.splitlines()[-1] if said else f"batchaid submit ended with {done.returncode}")
    if loader := refused_by_loader(said):
        return BatchaidError(0, "", loader)
    if done.returncode == USAGE:
        return InvalidArgument(message)
    try:
        code = str(json.loads(done.stdout)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        code = ""
    if "does not answer: " in message and not code:
        return Unreachable(message)
    return refused(0, code, message)


def subscription_of_row(client: Client) -> Optional[str]:
    """The client's subscription as rows of jobs have it: None for the configured one."""
    own = client.subscription.lower()
    return None if own == client.configured_subscription.lower() else own


def after_own(client: Client, after: Any) -> Any:
    """The same; InvalidArgument for a job of another subscription, whose name another job in the client's may have."""
    jobs = [after] if isinstance(after, (str, Job)) else list(after) if isinstance(after, Iterable) else []
    for job in jobs:
        if isinstance(job, Job) and job.subscription.lower() != client.subscription.lower():
            raise InvalidArgument(f"after has {job.path} of subscription {job.subscription}; a job can wait only for jobs of its own "
                                  f"subscription, {client.subscription}")  # fmt: skip
    return jobs if isinstance(after, Iterable) and not isinstance(after, (str, Job)) else after


def submit(client: Client, wish: Mapping[str, Any], folder: Any, dry_run: bool, yes: bool) -> Union[Job, Plan]:
    """Client.submit()."""
    wish = {**wish, "after": after_own(client, wish.get("after"))}
    text = as_yaml(job_file(wish))
    if folder is not None and not isinstance(folder, (str, os.PathLike)):
        raise InvalidArgument(f'folder is {folder!r}; it must be the path of a folder, as ".", or None to copy nothing')
    if folder is not None and os.path.isfile(folder):
        raise InvalidArgument(f"folder is {os.fspath(folder)!r}, a file; it must be the path of a folder, of which the job gets a copy")
    arguments = ["--no-copy"] if folder is None else ["--folder", os.fspath(folder) or "."]
    arguments += [*(["--dry-run"] if dry_run else []), *(["--yes"] if yes else [])]
    subscription = None if dry_run else subscription_of_row(client)
    done = run(client, arguments, text, folder is not None and not dry_run)
    if done.returncode != 0:
        raise failed(done)
    made = json.loads(done.stdout)
    copied = made.get("folder", {})
    notes = {kind: {n["path"]: n["why"] for n in copied.get(kind, [])} for kind in ("leftOut", "warnings")}
    if dry_run:
        return Plan(made["name"], made["resourceGroup"], made["workspace"], made["experiment"], made["cluster"], made["document"],
                    copied.get("files", 0), copied.get("bytes", 0), notes["leftOut"], notes["warnings"])  # fmt: skip
    for path, why in notes["warnings"].items():
        print(f"batchaid: warning: {path} {why}", file=sys.stderr)
    job = Job(client, {**made, "subscription": subscription}, complete=False)
    with contextlib.suppress(BatchaidError):  # it exists, whatever happens now
        job.refresh()
    return job
