# SPDX-License-Identifier: MIT
"""A daemon as people use it from Python: submit jobs, find them, look at queue and nodes."""

from __future__ import annotations

import base64
import binascii
import datetime
import getpass
import json
import os
import stat
import sys
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Optional, Union, overload

from .cloud import local_environment
from .connection import APPLICATION, Connection, Login, plain_endpoint
from .errors import InvalidArgument, LoginNeeded, NotAllowed, NotFound
from .remote_job import Job, Jobs
from .shown import Cell, Column, Table, local, now, one_line, time_of
from .submission import After, Command, Plan
from .submission import submit as submit_by_program
from .waiting import shell

Folder = Union[str, "os.PathLike[str]", None]
STATES = ("queued", "running", "terminating", "succeeded", "failed")
PAGE = 1000
SUBSCRIPTIONS = "/subscriptions?api-version=2019-11-01"
DOMAIN = "@batchaid"  # that of names without one


# --- rows of lists -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Queued:
    """A running or waiting job, or an index of an array, in the queue of its cluster. `raw` has every member of the reply."""

    path: str
    name: str
    cluster: str
    state: str
    user: str
    index: Optional[int]
    place: Optional[int]
    waits_for: str
    expected_start: Optional[datetime.datetime]
    nodes: tuple[str, ...]
    limit: Optional[datetime.datetime]
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Queued:
        """That of a row of GET /batchaid/queue."""
        path = "/".join(str(row[part]) for part in ("resourceGroup", "workspace", "experiment", "name"))
        return cls(
            path=path, name=row["name"], cluster=row.get("cluster", ""), state=row["state"], user=row.get("createdBy", ""),
            index=row.get("index"), place=row.get("place"), waits_for=row.get("waitsFor", ""),
            expected_start=time_of(row.get("expectedStartTime")), nodes=tuple(row.get("nodes", ())),
            limit=time_of(row.get("limitTime")), raw=row,
        )  # fmt: skip


class Queue(Table[Queued]):
    """Running and waiting jobs, cluster by cluster, in their order."""

    empty = "No job runs or waits."
    columns = (
        Column("CLUSTER"), Column("PLACE", True), Column("JOB"), Column("INDEX", True), Column("STATE"), Column("USER"),
        Column("RUNS ON"), Column("UNTIL AT MOST"), Column("WAITS FOR"), Column("STARTS AT THE LATEST"),
    )  # fmt: skip

    def row(self, item: Queued) -> Sequence[Cell]:
        """The cells of one entry."""
        return (item.cluster, item.place, item.name, item.index, item.state, item.user, " ".join(item.nodes),
                local(item.limit), item.waits_for, local(item.expected_start))  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A machine, or a local node. Numbers are None until it was reached. `raw` has every member of the reply."""

    name: str
    state: str
    cluster: str
    job: str
    gpus: Optional[int]
    gpus_taken: Optional[int]
    cores: Optional[int]
    memory_bytes: Optional[int]
    drained: bool
    reason: str
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Node:
        """That of a row of GET /batchaid/nodes."""
        has, taken = row.get("capacity") or {}, row.get("taken") or {}
        return cls(
            name=row["name"], state=row["state"], cluster=row.get("cluster", ""), job=row.get("job", ""), gpus=has.get("gpus"),
            gpus_taken=taken.get("gpus"), cores=has.get("cores"), memory_bytes=has.get("memoryBytes"),
            drained=bool(row.get("drained")), reason=row.get("reason", ""), raw=row,
        )  # fmt: skip


class Nodes(Table[Node]):
    """The machines of the inventory, then local nodes."""

    empty = "There is no node."
    columns = (Column("NODE"), Column("STATE"), Column("CLUSTER"), Column("JOB"), Column("GPUS", True), Column("CORES", True),
               Column("MEMORY", True), Column("REASON"))  # fmt: skip

    def row(self, item: Node) -> Sequence[Cell]:
        """The cells of one node."""
        gpus = None if item.gpus is None else f"{item.gpus_taken or 0}/{item.gpus}"
        memory = None if item.memory_bytes is None else f"{item.memory_bytes / (1 << 30):.0f} GiB"
        state = f"{item.state}, drained" if item.drained else item.state
        return (item.name, state, item.cluster, item.job, gpus, item.cores, memory, item.reason)


# --- the client ----------------------------------------------------------------------------------


def query_of(path: str, **parameters: Any) -> str:
    """A path with those parameters that are not None."""
    given = {name: "true" if value is True else str(value) for name, value in parameters.items() if value not in (None, False)}
    try:
        return f"{path}?{urllib.parse.urlencode(given)}" if given else path
    except UnicodeEncodeError as e:
        raise InvalidArgument(f"{e.object!r} is not UTF-8") from None


def hint(name: str) -> str:
    """What to do about the name of a job that is not there."""
    stem, bracket, index = name.partition("[")
    if bracket and index.endswith("]"):
        return f"an index of an array is not a job: job({one_line(stem)!r}).logs(process={one_line(index[:-1])})"
    return "batchaid.jobs() lists jobs"


class Client:
    """A daemon, and a login there. connect() makes one."""

    def __init__(self, connection: Connection, subscription: Optional[str] = None) -> None:
        self._connection, self._subscription = connection, subscription
        self._configured: Optional[str] = None

    @property
    def connection(self) -> Connection:
        """Sends the requests of this class."""
        return self._connection

    def _bound(self) -> Client:
        """The client that jobs keep."""
        return self

    def __repr__(self) -> str:
        return f"<Client of {self.endpoint} as {self.user or 'its own principal'}>"

    @property
    def endpoint(self) -> str:
        """The daemon's URL."""
        return self.connection.endpoint

    @property
    def user(self) -> Optional[str]:
        """The name of the login's user; None: it is a service principal."""
        return self.connection.login.user

    @property
    def subscription(self) -> str:
        """The id of the subscription in which it works: the subscription of the login, or the first that the user may see."""
        if self._subscription is None:
            found = self.call("GET", SUBSCRIPTIONS)["value"]
            if not found:
                raise NotAllowed(0, "", f"{self.user} has no role at {self.endpoint} yet; an administrator gives one: batchaid user "
                                        "add, or az role assignment create")  # fmt: skip
            self._subscription = str(found[0]["subscriptionId"])
        return self._subscription

    @property
    def configured_subscription(self) -> str:
        """The id of the daemon's configured subscription, in which the jobs are whose rows name none."""
        if self._configured is None:
            self._configured = str(self.call("GET", "/batchaid/session")["subscriptionId"])
        return self._configured

    def check(self) -> None:
        """Whether the daemon answers and takes the login; an error says what is wrong."""
        self.call("GET", SUBSCRIPTIONS)
        self.subscription  # noqa: B018

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A request of your own, as docs/admin-api.md has them: call("GET", "/batchaid/events"). The JSON of the reply."""
        return self.connection.call(method, path, body)

    def close(self) -> None:
        """Closes the connections of this thread; a later request opens new ones."""
        self.connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- submission -----------------------------------------------------------------------------

    @overload
    def submit(
        self, command: Command, *, gpus: Optional[int] = None, nodes: Optional[int] = None, cores: Optional[int] = None,
        memory: Optional[str] = None, time: Union[str, datetime.timedelta, None] = None, image: Optional[str] = None,
        array: Union[str, Iterable[int], None] = None, after: Optional[After] = None, name: Optional[str] = None,
        env: Optional[Mapping[str, Union[str, int, float]]] = None, secrets: Optional[Mapping[str, str]] = None,
        folder: Folder = ".", group: Optional[str] = None, workspace: Optional[str] = None, experiment: Optional[str] = None,
        cluster: Optional[str] = None, yes: bool = False, dry_run: Literal[False] = False,
    ) -> Job: ...  # fmt: skip

    @overload
    def submit(
        self, command: Command, *, gpus: Optional[int] = None, nodes: Optional[int] = None, cores: Optional[int] = None,
        memory: Optional[str] = None, time: Union[str, datetime.timedelta, None] = None, image: Optional[str] = None,
        array: Union[str, Iterable[int], None] = None, after: Optional[After] = None, name: Optional[str] = None,
        env: Optional[Mapping[str, Union[str, int, float]]] = None, secrets: Optional[Mapping[str, str]] = None,
        folder: Folder = ".", group: Optional[str] = None, workspace: Optional[str] = None, experiment: Optional[str] = None,
        cluster: Optional[str] = None, yes: bool = False, dry_run: Literal[True],
    ) -> Plan: ...  # fmt: skip

    def submit(
        self, command: Command, *, gpus: Optional[int] = None, nodes: Optional[int] = None, cores: Optional[int] = None,
        memory: Optional[str] = None, time: Union[str, datetime.timedelta, None] = None, image: Optional[str] = None,
        array: Union[str, Iterable[int], None] = None, after: Optional[After] = None, name: Optional[str] = None,
        env: Optional[Mapping[str, Union[str, int, float]]] = None, secrets: Optional[Mapping[str, str]] = None,
        folder: Folder = ".", group: Optional[str] = None, workspace: Optional[str] = None, experiment: Optional[str] = None,
        cluster: Optional[str] = None, yes: bool = False, dry_run: bool = False,
    ) -> Union[Job, Plan]:  # fmt: skip
        """Submits a job with a copy of `folder` as it is now (None: without), less what .gitignore and .batchaidignore name.

        `command`: a program and its arguments, or a text as a line for the shell. `gpus`, `cores`, `memory` ("32G") are for
        each of `nodes`, on which the command runs once each. `time`: the most that it may run, "4h". `image`: a container
        image. `array`: the indexes for which it runs, "1-20" or range(20), in $BATCHAID_ARRAY_INDEX. `after`: jobs that must
        have succeeded, or "train:end". `secrets`: {"TOKEN": "vault/secret"}. Its place is GROUP, workspace, experiment and
        cluster, made if they are missing; by default jobs, jobs, your name, and by what it needs. `yes`: copy the folder
        although it has more than 1 GB. With dry_run=True it makes nothing, and returns a Plan."""
        wish = {
            "command": command, "gpus": gpus, "nodes": nodes, "cores": cores, "memory": memory, "time": time, "image": image,
            "array": array, "after": after, "name": name, "env": env, "secrets": secrets, "group": group,
            "workspace": workspace, "experiment": experiment, "cluster": cluster,
        }  # fmt: skip
        return submit_by_program(self._bound(), wish, folder, dry_run, yes)

    # --- jobs -----------------------------------------------------------------------------------

    def _rows(self, limit: Optional[int], **query: Any) -> list[dict[str, Any]]:
        """Page by page."""
        rows: list[dict[str, Any]] = []
        before = None
        while limit is None or len(rows) < limit:
            most = PAGE if limit is None else min(PAGE, limit - len(rows))
            reply = self.call("GET", query_of("/batchaid/jobs", max=most, before=before, **query))
            rows += reply["value"]
            before = reply.get("next")
            if not before:
                break
        return rows

    def jobs(
        self, *, mine: bool = False, state: Optional[str] = None, cluster: Optional[str] = None,
        experiment: Optional[str] = None, group: Optional[str] = None, workspace: Optional[str] = None,
        user: Optional[str] = None, since: Union[str, datetime.datetime, datetime.timedelta, None] = None,
        limit: Optional[int] = 100,
    ) -> Jobs:  # fmt: skip
        """The jobs that you may see and that fit, the newest first, `limit` at most (None: all). `mine`: only yours. `state`:
        queued, running, terminating, succeeded or failed. `since`: made after this time, or in the last timedelta."""
        if state is not None and state not in STATES:
            raise InvalidArgument(f"state is {state!r}; it must be {', '.join(STATES[:-1])} or {STATES[-1]}")
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
            raise InvalidArgument(f"limit is {limit!r}; it must be a whole number from 1 on, or None for all")
        if isinstance(since, datetime.timedelta):
            since = now() - since
        if isinstance(since, datetime.datetime):
            since = since.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        rows = self._rows(limit, mine=mine, state=state, cluster=cluster, experiment=experiment, resourceGroup=group,
                          workspace=workspace, user=user, since=since)  # fmt: skip
        found = Jobs(Job(self._bound(), row) for row in rows)
        if limit is not None and len(rows) == limit:
            found.note = f"The newest {limit:,}; limit=None lists all."
        return found

    def job(self, name: str = "-") -> Job:
        """The job of this name, or the only one whose name begins so: [[[GROUP/]WORKSPACE/]EXPERIMENT/]JOB; "-": your last."""
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f'the name of a job is {name!r}; it must be a text such as "train", or "-" for your last job')
        if name == "-":
            rows = self._rows(1, mine=True)
            if not rows:
                raise NotFound(404, "", "you have no job here; batchaid.jobs() lists the jobs that you may see")
            return Job(self._bound(), rows[0])
        parts = name.split("/")
        if len(parts) > 4:
            raise InvalidArgument(f"{name!r} has too many slashes; use JOB, or GROUP/WORKSPACE/EXPERIMENT/JOB")
        where = dict(zip(("experiment", "workspace", "resourceGroup"), reversed(parts[:-1])))
        rows = self._rows(6, name=parts[-1], **where) or (self._rows(6, begins=parts[-1], **where) if parts[-1] else [])
        if not rows:
            raise NotFound(404, "", f"there is no job {one_line(name)!r}, and no job whose name begins so; {hint(name)}")
        return self._only(name, [Job(self._bound(), row) for row in rows])

    def _only(self, name: str, found: list[Job]) -> Job:
        """Of jobs with one path in several subscriptions the one in the client's own; otherwise several are an error."""
        if len(found) > 1 and len({job.path for job in found}) == 1:
            own = self._bound().subscription.lower()
            found = [job for job in found if job.subscription.lower() == own] or found
        if len(found) > 1:
            of = len({job.subscription for job in found}) > 1
            names = ", ".join(one_line(job.path) + (f" of subscription {job.subscription}" if of else "") for job in found[:5])
            raise InvalidArgument(f"there are several of {one_line(name)!r}; name one of them: {names}{', ...' if len(found) > 5 else ''}")
        return found[0]

    def queue_rows(self, **query: Any) -> list[dict[str, Any]]:
        """The rows of GET /batchaid/queue."""
        return list(self.call("GET", query_of("/batchaid/queue", **query))["value"])

    def queue(self, *, cluster: Optional[str] = None, user: Optional[str] = None, mine: bool = False) -> Queue:
        """Running and waiting jobs with their places, cluster by cluster, at most 200 waiting ones of each; `note` says what
        is missing."""
        reply = self.call("GET", query_of("/batchaid/queue", cluster=cluster, user=user, mine=mine))
        found = Queue(Queued.of(row) for row in reply["value"])
        found.note = left_out_of_queue(reply)
        return found

    def nodes(self) -> Nodes:
        """The machines and local nodes, with their GPUs. You need the role Reader or more."""
        return Nodes(Node.of(row) for row in self.call("GET", "/batchaid/nodes")["value"])


def left_out_of_queue(reply: Mapping[str, Any]) -> str:
    """Says what a reply to GET /batchaid/queue leaves out; empty: nothing."""
    left, said = reply.get("leftOut", []), []
    if waiting := [one_line(one["cluster"]) for one in left if one["waiting"]]:
        said.append(f"More jobs wait in {', '.join(waiting)}.")
    if running := [f"{one['running']:,} more run in {one_line(one['cluster'])}." for one in left if one["running"]]:
        said.extend(running)
    if reply.get("cut"):
        said.append("The answer is full: it leaves out more jobs, also of further clusters.")
    return " ".join(said)


# --- which daemon, as whom -----------------------------------------------------------------------


class Found(NamedTuple):
    """A daemon, with a login or without."""

    endpoint: str
    cafile: Optional[str]
    subscription: Optional[str]
    login: Optional[Login]


def of_user(grant: Mapping[str, str], user: str, endpoint: str) -> Login:
    """A login that continues when the user logs in again, here or in a terminal."""
    again = f'Log in again: batchaid login {endpoint} --user {user} in a terminal, or batchaid.connect("{endpoint}", user="{user}").'
    return Login(grant, user, again, lambda: kept_login(user, endpoint))


def kept_login(user: str, endpoint: str) -> Optional[Login]:
    """What `batchaid login` keeps of this user at this daemon."""
    try:
        kept = of_login()
    except LoginNeeded:
        return None  # what is wrong with it is no reason for a refusal
    return kept.login if kept is not None and kept.login is not None and (kept.endpoint, kept.login.user) == (endpoint, user) else None


def user_of_token(token: str) -> Optional[str]:
    """The user's name in a bearer token, for the names of an experiment and of a storage account; the daemon checks tokens."""
    try:
        middle = token.split(".")[1]
        said = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
        name = said.get("upn") if isinstance(said, dict) else None
    except (IndexError, ValueError, binascii.Error):
        return None
    return name if isinstance(name, str) else None


def by_token(token: str, endpoint: str) -> Login:
    """A login that cannot be renewed."""
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token or not token:
        raise InvalidArgument("token is not a bearer token: a text of letters, digits, dots, - and _")
    return Login({"token": token}, user_of_token(token), f'A token ends after a while: get a new one, or batchaid.connect("{endpoint}", user="NAME").')


def of_environment(env: Mapping[str, str]) -> Optional[Found]:
    """The daemon that BATCHAID_ENDPOINT names, with the secret or the token that is there, too."""
    if not env.get("BATCHAID_ENDPOINT"):
        return None
    endpoint = plain_endpoint(env["BATCHAID_ENDPOINT"])
    login = None
    if env.get("BATCHAID_TOKEN"):
        login = by_token(env["BATCHAID_TOKEN"], endpoint)
    elif env.get("AZURE_CLIENT_ID") and env.get("AZURE_CLIENT_SECRET"):
        grant = {"grant_type": "client_credentials", "client_id": env["AZURE_CLIENT_ID"], "client_secret": env["AZURE_CLIENT_SECRET"]}
        login = Login(grant, again="The variables belong to another daemon: eval \"$(batchaid env)\" sets them.")
    return Found(endpoint, env.get("SSL_CERT_FILE"), env.get("AZURE_SUBSCRIPTION_ID"), login)


def of_login() -> Optional[Found]:
    """What `batchaid login` keeps."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    folder = config if config.startswith("/") else os.path.expanduser("~/.config")
    path = os.path.join(folder, "batchaid", "login.json")
    try:
        with open(path, encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise LoginNeeded(0, "", f"others may read your login in {path}, so it is not used; run: chmod 600 {path}, and log in "
                                         "again if somebody may have read it")  # fmt: skip
            kept = json.load(file)
        endpoint, user = plain_endpoint(kept["endpoint"]), str(kept["user"])
        grant = {"grant_type": "refresh_token", "client_id": APPLICATION, "refresh_token": str(kept["refreshToken"])}
        return Found(endpoint, os.path.join(folder, "batchaid", "ca.pem"), kept["subscription"], of_user(grant, user, endpoint))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, OSError) as e:
        raise LoginNeeded(0, "", f"the login in {path} cannot be read ({e!r}); log in again: batchaid login URL") from None


def found() -> Optional[Found]:
    """The daemon of the environment, else the daemon that the command line would use."""
    named = of_environment(os.environ)
    if named is not None and named.login is not None:
        return named
    here = bool(os.environ.get("BATCHAID_STATE_DIR"))
    kept = None if here else of_login()
    if named is not None:
        return kept if kept is not None and kept.endpoint == named.endpoint else named
    if kept is not None:
        return kept
    try:
        return of_environment(local_environment())
    except (RuntimeError, FileNotFoundError) as e:
        if here:
            raise LoginNeeded(0, "", f"BATCHAID_STATE_DIR names {os.environ['BATCHAID_STATE_DIR']}: {e}") from None
        return None


def asked_for(user: str, endpoint: str) -> str:
    """The password, from somebody who can type it."""
    if shell() is None and not sys.stdin.isatty():
        raise LoginNeeded(0, "", f"the password of {user} is missing, and nobody can be asked for it here: give password=, or log in "
                                 f"before: batchaid login {endpoint} --user {user}")  # fmt: skip
    return getpass.getpass(f"Password of {user} at {endpoint}: ")


def login_of(default: Optional[Found], endpoint: str, user: Optional[str], password: Optional[str], token: Optional[str]) -> Login:
    """By token, by password, or the one that was found for this daemon."""
    if token is not None and (user is not None or password is not None):
        raise InvalidArgument("both token= and user= are given; a token is of a user already: give one of them")
    if token is not None:
        return by_token(token, endpoint)
    if user is not None:
        if not isinstance(user, str) or not user:
            raise InvalidArgument(f'user is {user!r}; it must be a name such as "ada", or "ada@lab"')
        user = user if "@" in user else user + DOMAIN
        grant = {"grant_type": "password", "client_id": APPLICATION, "username": user}
        return of_user({**grant, "password": asked_for(user, endpoint) if password is None else password}, user, endpoint)
    if password is not None:
        raise InvalidArgument("password= is given without user=; a password is of a user")
    if default is None or default.login is None or default.endpoint != endpoint:
        other = f" (yours is for {default.endpoint})" if default is not None and default.endpoint != endpoint else ""
        raise LoginNeeded(0, "", f"there is no login for {endpoint}{other}: batchaid login {endpoint} in a terminal keeps one, or give "
                                 "user= or token=")  # fmt: skip
    return default.login


def make_client(
    endpoint: Optional[str], user: Optional[str], password: Optional[str], token: Optional[str], cafile: Folder
) -> Client:
    """A client that has asked nothing yet."""
    try:
        default = found()
    except LoginNeeded:
        if endpoint is None or (user is None and token is None):
            raise
        default = None  # what is wrong with it does not matter
    if endpoint is None and default is None:
        raise LoginNeeded(0, "", "there is no login, and no daemon on this computer: batchaid login https://HOST:7443 in a terminal keeps "
                                 'one, or batchaid.connect("https://HOST:7443", user="NAME")')  # fmt: skip
    url = plain_endpoint(endpoint) if endpoint is not None else default.endpoint if default else ""
    same = default is not None and default.endpoint == url
    login = login_of(default, url, user, password, token)
    file = os.fspath(cafile) if cafile is not None else default.cafile if same and default else os.environ.get("SSL_CERT_FILE")
    own = same and default is not None and login is default.login
    return Client(Connection(url, login, file), default.subscription if own and default else None)


_default: Optional[Client] = None


def connect(
    endpoint: Optional[str] = None, user: Optional[str] = None, password: Optional[str] = None, token: Optional[str] = None,
    cafile: Folder = None,
) -> Client:  # fmt: skip
    """Logs in at a daemon; the functions of this package then use it. Without arguments: the daemon that the variables of
    `batchaid env` name, or the daemon of BATCHAID_STATE_DIR, of `batchaid login`, or of this computer. `password`: asked for if it
    is left out. `cafile`: the certificate of the daemon's authority, if neither your login nor this system has it."""
    global _default
    client = make_client(endpoint, user, password, token, cafile)
    client.check()
    login, before = client.connection.login, _default
    if before is not None and login.user and login.renewable and (client.user, client.endpoint) == (before.user, before.endpoint):
        before.connection.login.take_over(login)  # jobs of earlier clients use that
        client.connection.login = before.connection.login
    _default = client
    return client


def default_client() -> Client:
    """That of the last connect(), or one without arguments."""
    return _default if _default is not None else connect()


class Current(Client):
    """The client of the last connect(), whichever that is: the functions of the package are its methods."""

    def __init__(self) -> None:
        """Nothing is asked yet."""

    def _bound(self) -> Client:
        return default_client()

    @property
    def connection(self) -> Connection:
        """That of the last connect()."""
        return default_client().connection
