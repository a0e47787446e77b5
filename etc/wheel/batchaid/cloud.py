# SPDX-License-Identifier: MIT
"""The daemon as a process, and one subscription of it as a test sees it."""

from __future__ import annotations

import contextlib
import datetime
import difflib
import errno
import importlib
import json
import os
import pkgutil
import re
import shlex
import shutil
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn, Optional, Union

from .errors import BatchaidError

Span = Union[str, datetime.timedelta]  # "PT1H30M", or the same as a timedelta
Seconds = Union[float, datetime.timedelta]
KEY_HEADER = "x-batchaid-testing-key"
START_SECONDS = 60
STOP_SECONDS = 30  # then the daemon is killed
# Ends the daemon $1 and removes the folder $2 if whoever started it is killed: then its input ends without a line.
GUARD = """
read -r line && exit 0
kill "$1" 2>/dev/null
turns=0
while kill -0 "$1" 2>/dev/null && [ $turns -lt 100 ]; do sleep 0.1; turns=$((turns + 1)); done
rm -rf -- "$2"
"""
NEEDED = ("BATCHAID_ENDPOINT", "SSL_CERT_FILE", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
# Of `serve`, besides the settings of its configuration.
SWITCHES = ["fake_nodes", "rules", "seed", "strict"]
OF_CLIENTS = ("BATCHAID_", "AZURE_", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")


def place(memory: str = "/dev/shm", least: int = 1 << 30) -> Optional[str]:
    """Where a state lies, as the daemon chooses it by itself: in memory, if there is room and programs may be executed."""
    try:
        there = os.statvfs(memory)
    except OSError:
        return None
    usable = os.access(memory, os.W_OK) and not there.f_flag & os.ST_NOEXEC and there.f_bavail * there.f_frsize >= least
    return memory if usable and not os.environ.get("TMPDIR") else None


OWN = Path(__file__).parent / "bin" / "batchaid"


def program() -> str:
    """BATCHAID names it, or it is in this package, or in the PATH."""
    given = os.environ.get("BATCHAID")
    if given and not shutil.which(given):
        raise FileNotFoundError(f"BATCHAID names {given}, which is not a program: name batchaid, or unset it to use the package's own")
    found = given or (str(OWN) if OWN.exists() else shutil.which("batchaid"))
    if not found:
        raise FileNotFoundError(
            "there is no program batchaid, neither in this package nor in the PATH: install the wheel that `make wheel` makes, or "
            "name a program in BATCHAID"
        )
    return found


def libc() -> str:
    """That of this system, as "glibc 2.31"."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "a C library that is not glibc"
    except (AttributeError, OSError, ValueError):
        return "a C library that is not glibc"


ELSEWHERE = "use the container image of batchaid, or build batchaid here and name the program in BATCHAID"


def refused_by_loader(said: str) -> str:
    """What the messages of the dynamic loader mean, and what would be right; "" if they are not among `said`."""
    wanted = re.findall(r"version `GLIBC_([\d.]+)' not found", said)
    if wanted:
        least = max(wanted, key=lambda v: [int(n) for n in v.split(".")])
        return f"the program needs glibc {least} or later, and this system has {libc()}: {ELSEWHERE}"
    missing = re.search(r"error while loading shared libraries: ([^:\s]+)", said)
    return f"the library {missing[1]} is missing: install it, or {ELSEWHERE}" if missing else ""


def refused_by_system(program: str, e: OSError) -> str:
    """Why an existing program cannot be executed."""
    why = {
        errno.ENOENT: f"it is for systems with glibc, and this system has {libc()}: {ELSEWHERE}",
        errno.ENOEXEC: f"it is not for this machine, {os.uname().machine}: install the wheel for it",
        errno.EACCES: "it is not executable: its file system may be mounted with noexec; install the package somewhere else",
    }
    return f"{program} cannot be executed here: {why.get(e.errno, e.strerror) if os.path.exists(program) else e.strerror}"


def make_folder() -> str:
    """For a state and its log."""
    try:
        return tempfile.mkdtemp(prefix="batchaid-", dir=place())
    except OSError as e:
        raise RuntimeError(
            f"there is no place for a state: /dev/shm is missing, full or smaller than 1 GiB, and {e.strerror or e}: "
            "mount /dev/shm (--shm-size=2g of docker), or name a folder that can be written in TMPDIR"
        ) from None


def run_program(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of batchaid; RuntimeError says why it did not run to its end."""
    try:
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=START_SECONDS, check=False)
    except OSError as e:
        raise RuntimeError(refused_by_system(program, e)) from None
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{program} {words[0]} did not end within {START_SECONDS} s") from None


def check_settings(program: str, settings: Mapping[str, Any]) -> None:
    """ValueError, if there are no such settings."""
    done = run_program(program, "help", "config")
    if done.returncode != 0:
        raise RuntimeError(f"{program} did not start: {refused_by_loader(done.stderr) or done.stderr}")
    said = done.stdout
    known = SWITCHES + [name.replace(".", "_") for name in re.findall(r"^([a-z_.]+) \(", said, re.MULTILINE)]
    for name in settings:
        if name not in known:
            like = "".join(f" ({n}?)" for n in difflib.get_close_matches(name, known, 1))
            raise ValueError(f"there is no setting {name}{like}: `batchaid help config` lists them, here with _ for each dot")


def environment_of(program: str, state_dir: Optional[str] = None) -> dict[str, str]:
    """The variables that `batchaid env` prints; RuntimeError says why there are none."""
    done = run_program(program, "env", *(["--state-dir", state_dir] if state_dir else []))
    if done.returncode != 0:
        raise RuntimeError(refused_by_loader(done.stderr) or done.stderr.strip())
    words = [shlex.split(line)[1] for line in done.stdout.splitlines() if line.startswith("export ")]
    return dict(word.split("=", 1) for word in words)


def local_environment() -> dict[str, str]:
    """The same of the daemon of this computer, or of BATCHAID_STATE_DIR."""
    return environment_of(program())


def span(value: Span) -> str:
    """A duration as the daemon reads it."""
    return f"PT{value.total_seconds():.6f}S" if isinstance(value, datetime.timedelta) else value


def seconds(value: Seconds) -> float:
    """The number of seconds of a duration."""
    return value.total_seconds() if isinstance(value, datetime.timedelta) else value


def as_json(value: Any) -> Any:
    """What json cannot write by itself: a timedelta anywhere in a body is a duration."""
    if isinstance(value, datetime.timedelta):
        return span(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}, which JSON does not have")


def body_of(value: Any) -> bytes:
    """The body of a request as JSON."""
    return json.dumps(value, default=as_json).encode()


def class_of_client(name: str) -> Any:
    """The management client of this name, of the packages azure.mgmt... that are installed."""
    try:
        azure_mgmt = importlib.import_module("azure.mgmt")
    except ImportError:
        raise LookupError(f"no package of Azure is installed that could have {name}: pip install azure-mgmt-...") from None
    known = []
    for found in pkgutil.iter_modules(azure_mgmt.__path__):
        if not name.lower().startswith(found.name):
            continue
        for module in (f"azure.mgmt.{found.name}", f"azure.mgmt.{found.name}.{found.name}s"):
            with contextlib.suppress(ImportError):
                here = importlib.import_module(module)
                if hasattr(here, name):
                    return getattr(here, name)
                known += [n for n in dir(here) if n.endswith("Client")]
    like = "".join(f" ({n}?)" for n in difflib.get_close_matches(name, known, 1))
    raise LookupError(f"none of the installed packages azure.mgmt... has a {name}{like}; install its package, or pass the class")


def refusal(text: bytes) -> tuple[str, str]:
    """Code and message of what refused a request: the daemon, or its token endpoint."""
    try:
        said = json.loads(text)
        error = said["error"]
        return (error, said["error_description"]) if isinstance(error, str) else (error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return "", text.decode(errors="replace")


class Cloud:
    """A daemon that keeps nothing. `settings` are settings of its configuration, as local_nodes=4 for local.nodes, and
    switches of `serve`: fake_nodes=True, strict=True, rules=FILE, seed=FILE."""

    @classmethod
    def running(cls, environment: Optional[Mapping[str, str]] = None) -> Cloud:
        """One that somebody else started, such as a container: by the variables that `batchaid env` prints.
        Nothing of it is stopped in the end."""
        cloud = cls.__new__(cls)
        cloud._begin_empty(None, None, {})
        cloud._take({k: v for k, v in (environment or os.environ).items() if k.startswith(OF_CLIENTS)})
        return cloud

    def __init__(self, log: Optional[IO[str]] = None, **settings: Any) -> None:
        found = program()
        if settings:
            check_settings(found, settings)
        self._begin_empty(found, log, settings)

    def _begin_empty(self, program: Optional[str], log: Optional[IO[str]], settings: Mapping[str, Any]) -> None:
        self.program = program
        self.log = log  # a file object, or None: the log is kept for the errors of the start
        self.settings = settings
        self.process: Optional[subprocess.Popen[str]] = None
        self._guard: Optional[subprocess.Popen[bytes]] = None
        self._above: Optional[str] = None
        self._logged_in = False

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("endpoint", "environment", "ca_bundle", "state_dir", "_tls", "_token"):
            raise RuntimeError("this Cloud is not started: use `with Cloud() as cloud`, or start()")
        raise AttributeError(f"Cloud has no {name}")

    # --- life -----------------------------------------------------------------------------------

    def start(self) -> Cloud:
        """Starts the daemon and returns when it serves; `with Cloud() as cloud` does so."""
        if self.program is None:
            raise RuntimeError("this daemon was started by somebody else: it runs already")
        self._above = make_folder()
        try:
            self._begin(self.program, self._above)
        except BaseException:
            self.stop()
            raise
        return self

    def _begin(self, program: str, above: str) -> None:
        self.state_dir = os.path.join(above, "state")
        env = {k: v for k, v in os.environ.items() if not k.startswith("BATCHAID_")}
        for name, value in self.settings.items():
            env["BATCHAID_" + name.upper()] = str(value).lower() if isinstance(value, bool) else str(value)
        self._log = self.log or open(os.path.join(above, "log"), "w+", encoding="utf-8")  # noqa: SIM115
        command = [program, "serve", "--ephemeral", "--testing", "--state-dir", self.state_dir]
        command += ["--listen", "localhost:0"]
        try:
            # In a session of its own Ctrl-C ends the tests, which then end the daemon.
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=self._log, env=env, text=True, start_new_session=True
            )
        except OSError as e:
            raise RuntimeError(refused_by_system(program, e)) from None
        guard = ["/bin/sh", "-c", GUARD, "sh", str(self.process.pid), above]
        self._guard = subprocess.Popen(guard, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)  # fmt: skip
        late = threading.Event()
        line = self._first_line(self.process, late)
        if not line.startswith("ready "):
            self.process.wait()
            said = self._tail()
            if late.is_set():
                raise RuntimeError(f"batchaid was not ready within {START_SECONDS} s: {said}")
            raise RuntimeError(f"batchaid did not start: {refused_by_loader(said) or said}")
        self._take(environment_of(program, self.state_dir))

    @staticmethod
    def _first_line(process: subprocess.Popen[str], late: threading.Event) -> str:
        """What the daemon prints when it is ready; "" if it ends before. Kills a daemon that is `late`."""

        def kill() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(START_SECONDS, kill)
        timer.start()
        try:
            return process.stdout.readline() if process.stdout else ""
        finally:
            timer.cancel()

    def _tail(self) -> str:
        if self.log:
            return "its log says why"
        self._log.seek(0)
        return self._log.read()[-4000:]

    def _take(self, environment: dict[str, str]) -> None:
        missing = [name for name in NEEDED if name not in environment]
        if missing:
            raise RuntimeError(f"{', '.join(missing)} is not set: BATCHAID_ENDPOINT needs all variables that `batchaid env` prints")
        self.environment = environment
        self.endpoint = self.environment["BATCHAID_ENDPOINT"].rstrip("/")
        self.ca_bundle = self.environment["SSL_CERT_FILE"]
        try:
            self._tls = ssl.create_default_context(cafile=self.ca_bundle)
        except OSError as e:  # an SSLError too
            raise RuntimeError(f"SSL_CERT_FILE names {self.ca_bundle}, which cannot be read: {e.strerror or e}") from None
        self._token: Optional[str] = None

    def stop(self) -> None:
        """Stops the daemon that start() started, and removes what it kept."""
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            if self.process.stdout:
                self.process.stdout.close()
            self.process = None
        if self._guard:
            self._guard.communicate(b"over\n")
            self._guard = None
        if self._above is None:
            return
        if not self.log:
            self._log.close()
        shutil.rmtree(self._above, ignore_errors=True)

    def __enter__(self) -> Cloud:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- requests -------------------------------------------------------------------------------

    def _open(self, method: str, url: str, headers: Mapping[str, str], data: Optional[bytes], lines: bool = False) -> Any:
        request = urllib.request.Request(url, data=data, method=method, headers=dict(headers))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._tls)
        )
        try:
            with opener.open(request) as reply:
                text = reply.read()
        except urllib.error.HTTPError as e:
            text = e.read()
            raise BatchaidError(e.code, *refusal(text)) from None
        except urllib.error.URLError as e:
            raise ConnectionError(f"no daemon answers at {self.endpoint} (BATCHAID_ENDPOINT): {e.reason}") from None
        if lines:
            return [json.loads(line) for line in text.splitlines()]
        return json.loads(text) if text else None

    def token(self) -> str:
        """A bearer token of the daemon's own principal, which may do everything."""
        if self._token is None:
            form = {
                "grant_type": "client_credentials",
                "client_id": self.environment["AZURE_CLIENT_ID"],
                "client_secret": self.environment["AZURE_CLIENT_SECRET"],
                "scope": self.endpoint + "/.default",
            }
            data = urllib.parse.urlencode(form).encode()
            self._token = str(self._open("POST", self.endpoint + "/adfs/oauth2/token", {}, data)["access_token"])
        return self._token

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A request with the daemon's own token; its JSON reply, or None. BatchaidError if it is refused."""
        data = None if body is None else body_of(body)
        try:
            return self._call(method, path, data)
        except BatchaidError as e:
            if e.code != "ExpiredAuthenticationToken":
                raise
        self._token = None  # a session of tests may take longer than a token
        return self._call(method, path, data)

    def _call(self, method: str, path: str, data: Optional[bytes]) -> Any:
        headers = {"Authorization": "Bearer " + self.token(), "Content-Type": "application/json"}
        return self._open(method, self.endpoint + path, headers, data)

    def testing(self, method: str, path: str, body: Any = None, text: Optional[str] = None, lines: bool = False) -> Any:
        """A request of tests: docs/testing.md."""
        key = self.environment.get("BATCHAID_TESTING_KEY")
        if key is None:
            raise RuntimeError("BATCHAID_TESTING_KEY is not set: a daemon has one if it was started with --testing")
        headers = {KEY_HEADER: key, "Content-Type": "application/json"}
        data = text.encode() if text is not None else None
        if body is not None:
            data = body_of(body)
        return self._open(method, self.endpoint + "/batchaid/testing" + path, headers, data, lines)

    def check(self) -> None:
        """Whether it takes requests, and ours: an exception says what is wrong."""
        self.token()
        self.testing("GET", "/requests?max=1")

    def ready(self) -> bool:
        """Whether requests are served to the end."""
        try:
            return bool(self._open("GET", self.endpoint + "/batchaid/ready", {}, None)["ready"])
        except (BatchaidError, ConnectionError):
            return False

    def health(self) -> dict[str, Any]:
        """Its parts with numbers; BatchaidError, if not all is well."""
        return dict(self.call("GET", "/batchaid/health"))

    def seed(self, state: Union[str, Path, Mapping[str, Any]], subscription: Optional[str] = None) -> dict[str, int]:
        """`state`: a text, YAML or JSON, the tree of one, or the Path of a file with one."""
        if isinstance(state, Path):
            state = state.read_text(encoding="utf-8")
        text = state if isinstance(state, str) else body_of(state).decode()
        query = "?" + urllib.parse.urlencode({"subscription": subscription}) if subscription else ""
        return dict(self.testing("POST", "/seed" + query, text=text))

    def dump(self, **query: str) -> dict[str, Any]:
        """What there is, as seed() takes it: subscription=, resourceGroup=."""
        return dict(self.testing("GET", "/dump?" + urllib.parse.urlencode(query)))

    @property
    def clock(self) -> Clock:
        """The clock of the daemon, which a test may set."""
        return Clock(self)

    def reset(self) -> Any:
        """Everything of all subscriptions is gone."""
        return self.testing("POST", "/reset")

    def subscription(self) -> Subscription:
        """A new one, for one test."""
        return Subscription(self, self.call("POST", "/batchaid/subscriptions")["subscriptionId"])


class Subscription:
    """What one test has of the cloud."""

    def __init__(self, cloud: Cloud, subscription_id: str) -> None:
        self.cloud = cloud
        self.id = subscription_id
        self.environment = {**cloud.environment, "AZURE_SUBSCRIPTION_ID": subscription_id}
        self._began = cloud.testing("GET", "/requests?max=1")["last"]

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """It is emptied, and gone as soon as nothing runs in it."""
        self.reset()
        with contextlib.suppress(BatchaidError):
            self.cloud.call("DELETE", f"/batchaid/subscriptions/{self.id}")

    def reset(self, resource_group: Optional[str] = None) -> Any:
        """Removes everything in the subscription, or in one of its resource groups."""
        scope = {"subscription": self.id}
        if resource_group:
            scope["resourceGroup"] = resource_group
        return self.cloud.testing("POST", "/reset", scope)

    def seed(self, state: Union[str, Path, Mapping[str, Any]]) -> dict[str, int]:
        """Makes what `state` says, a text (YAML or JSON), the tree of one, or the Path of a file: groups that are not here
        yet."""
        return self.cloud.seed(state, subscription=self.id)

    def dump(self, resource_group: Optional[str] = None) -> dict[str, Any]:
        """What is here, as seed() takes it."""
        scope = {"subscription": self.id}
        if resource_group:
            scope["resourceGroup"] = resource_group
        return self.cloud.dump(**scope)

    # --- what becomes of requests ---------------------------------------------------------------

    def fault(
        self, operation: Optional[str] = None, path: Optional[str] = None, method: Optional[str] = None, pool: Optional[str] = None,
        name: Optional[str] = None, **what: Any,
    ) -> Fault:  # fmt: skip
        """The next request that fits: reply={"status": 429}, delayMilliseconds=500, hold=True, cut="after";
        times=3, skip=1. The next fake node: node={"effect": "lost", "after": "PT1H"}; pool: allocation={}."""
        match = {"operation": operation, "path": path, "method": method, "subscription": self.id, "pool": pool, "name": name}
        return Fault(self.cloud, {"match": {k: v for k, v in match.items() if v is not None}, **what})

    def requests(self, **match: Any) -> list[dict[str, Any]]:
        """Those of this test that are over: operation=, path=, method=, status=."""
        query = urllib.parse.urlencode({"subscription": self.id, "after": self._began, "max": 10000, **match})
        return list(self.cloud.testing("GET", "/requests?" + query)["value"])

    def expect(self, count: int = 1, timeout: Seconds = 10, **match: Any) -> list[dict[str, Any]]:
        """Waits until `count` matching requests have ended, and returns them."""
        body = {"match": {"subscription": self.id, **match}, "count": count, "after": self._began}
        body["timeoutSeconds"] = seconds(timeout)
        return list(self.cloud.testing("POST", "/requests/expect", body)["value"])

    def unknown(self) -> list[dict[str, Any]]:
        """What was asked for here and is not served, with how often: method, path, count."""
        return list(self.cloud.testing("GET", f"/unknown?subscription={self.id}")["value"])

    # --- what jobs do on fake nodes --------------------------------------------------------------

    def rule(
        self, name: Optional[str] = None, command: Optional[str] = None, environment: Optional[Mapping[str, str]] = None,
        pool: Optional[str] = None, role: Optional[str] = None, **what: Any,
    ) -> Rule:  # fmt: skip
        """What jobs that fit do on nodes of vmSize FAKE: duration="PT6H", exitCode=1, stdout=[...], files=[...],
        hold=True; docs/testing.md."""
        match = {"name": name, "command": command, "environment": environment, "pool": pool, "role": role}
        return self.rules({"match": {k: v for k, v in match.items() if v is not None}, **what})[0]  # type: ignore[no-any-return]

    def rules(self, *rules: Mapping[str, Any]) -> list[Any]:
        """Adds several, all or none. Without any: those that there are."""
        if not rules:
            return list(self.cloud.testing("GET", f"/rules?subscription={self.id}")["value"])
        own = [{**rule, "match": {**rule.get("match", {}), "subscription": self.id}} for rule in rules]
        return [Rule(self.cloud, rule) for rule in self.cloud.testing("POST", "/rules", {"rules": own})["value"]]

    def unused_rules(self) -> list[Rule]:
        """The rules that nothing has fitted, with what they were to fit: a failed assertion shows their names."""
        said = self.cloud.testing("GET", f"/rules?subscription={self.id}")
        return [Rule(self.cloud, rule) for rule in said["value"] if rule["id"] in said["unused"]]

    def strict(self, **rows: Any) -> dict[str, Any]:
        """From now on things take the time that they took in the service, and are throttled as there: allocation="PT3M",
        writesPerHour=10, strict=False; docs/testing.md. Returns the values that are used, by the clock of `cloud`."""
        return dict(self.cloud.testing("POST", "/strict", {"subscription": self.id, **rows}))

    def events(self, after: int = 0, timeout: Seconds = 0) -> list[dict[str, Any]]:
        """Changes of state of what is here behind number `after`; waits for the first of them."""
        query = urllib.parse.urlencode({"subscription": self.id, "after": after, "timeoutSeconds": seconds(timeout)})
        return list(self.cloud.testing("GET", "/events?" + query, lines=True))

    # --- clients --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def patched(self) -> Iterator[Subscription]:
        """os.environ as clients need it, and as before in the end."""
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            yield self
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def credential(self) -> Any:
        """Of azure-identity."""
        env = self.environment
        return importlib.import_module("azure.identity").ClientSecretCredential(
            env["AZURE_TENANT_ID"],
            env["AZURE_CLIENT_ID"],
            env["AZURE_CLIENT_SECRET"],
            authority=env["AZURE_AUTHORITY_HOST"],
            connection_verify=self.cloud.ca_bundle,
        )

    def client(self, kind: Any, **more: Any) -> Any:
        """A management client of Azure's SDK: a class, such as azure.mgmt.storage.StorageManagementClient, or its name."""
        if isinstance(kind, str):
            kind = class_of_client(kind)
        return kind(
            self.credential(),
            self.id,
            base_url=self.cloud.endpoint,
            credential_scopes=[self.cloud.endpoint + "/.default"],
            connection_verify=self.cloud.ca_bundle,
            **more,
        )

    def batchai_client(self, **more: Any) -> Any:
        """The client of azure-mgmt-batchai, for this subscription."""
        return self.client("BatchAI", **more)

    def resource_client(self, **more: Any) -> Any:
        """The client of azure-mgmt-resource, for this subscription."""
        return self.client("ResourceManagementClient", **more)

    def az(self, command: str) -> Any:
        """The real az, logged in; what it prints as JSON. Of a daemon that this has started."""
        if self.cloud.program is None:
            raise RuntimeError("the daemon was started by somebody else: call az itself, with what `batchaid env` says")
        if not self.cloud._logged_in:
            self._run([self.cloud.program, "az-login", "--state-dir", self.cloud.state_dir])
            self.cloud._logged_in = True
        words = [self.cloud.program, "az", "--state-dir", self.cloud.state_dir, *shlex.split(command)]
        said = self._run([*words, "--subscription", self.id, "-o", "json"])
        return json.loads(said) if said.strip() else None

    def _run(self, words: Sequence[str]) -> str:
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **self.environment}, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(words)} failed:\n{done.stderr}")
        return done.stdout


class Fault:
    """A fault of the daemon: it decides what happens to the next matching requests. Subscription.fault() makes one."""
    def __init__(self, cloud: Cloud, body: Mapping[str, Any]) -> None:
        self.cloud = cloud
        self.id = cloud.testing("POST", "/faults", body)["id"]

    def release(self) -> int:
        """Lets go what it holds."""
        return int(self.cloud.testing("POST", f"/faults/{self.id}/release")["released"])

    def remove(self) -> None:
        """Removes the fault; the daemon lets go what it holds."""
        self.cloud.testing("DELETE", f"/faults/{self.id}")


class Clock:
    """The daemon's, of all its subscriptions: a test that changes it needs a daemon of its own (batchaid.Cloud)."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud

    def _call(self, method: str, body: Any = None) -> dict[str, Any]:
        headers = {KEY_HEADER: self.cloud.environment["BATCHAID_TESTING_KEY"], "Content-Type": "application/json"}
        data = None if body is None else body_of(body)
        said = dict(self.cloud._open(method, self.cloud.endpoint + "/batchaid/clock", headers, data))
        if body is not None:
            self.cloud._token = None  # it may have run out
        return said

    def look(self) -> dict[str, Any]:
        """The time, how fast it goes, and what is due next."""
        return self._call("GET")

    def advance(self, by: Span = "next") -> dict[str, Any]:
        """By a duration ("PT6H", or a timedelta), or to what is due next; returns when all that was due has happened."""
        return self._call("POST", {"advance": by})

    def advance_to(self, time: Union[str, datetime.datetime]) -> dict[str, Any]:
        """A datetime with a zone, or its ISO 8601 text."""
        return self._call("POST", {"advanceTo": time if isinstance(time, str) else time.isoformat()})

    def stop(self) -> dict[str, Any]:
        """Stops the clock, until advance(), rate() or follow()."""
        return self.rate(0)

    def rate(self, rate: float) -> dict[str, Any]:
        """How fast it goes: 0 stands, 1 is real speed."""
        return self._call("POST", {"rate": rate})

    def follow(self) -> dict[str, Any]:
        """The machine's time again."""
        return self._call("POST", {"real": True})


class Rule:
    """`match` is what it fits, `name` the job's name in it, if there is one."""

    def __init__(self, cloud: Cloud, made: Mapping[str, Any]) -> None:
        self.cloud, self.id = cloud, made["id"]
        self.match = {k: v for k, v in made.get("match", {}).items() if k != "subscription"}
        self.name = self.match.get("name")

    def __repr__(self) -> str:
        return f"<Rule {self.id}: {', '.join(f'{k}={v!r}' for k, v in self.match.items()) or 'fits all'}>"

    def release(self) -> int:
        """Begins the time of the jobs that it holds."""
        return int(self.cloud.testing("POST", f"/rules/{self.id}/release")["released"])

    def remove(self) -> None:
        """Removes the rule."""
        self.cloud.testing("DELETE", f"/rules/{self.id}")
