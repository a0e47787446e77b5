# SPDX-License-Identifier: MIT
"""A batchaid daemon under a test's control: own state directory, free loopback port, watched log.

    with Daemon() as d:
        d.call("GET", "/subscriptions/...").json

close() (the end of the `with`) fails on anything that a healthy daemon does not do: sanitizer
reports, an exit code other than 0 after SIGTERM, warnings and errors in the log that the test did
not announce with expect_log(), processes left behind.
"""

import json
import os
import re
import select
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3
import yaml

from . import spec
from .waiting import PATIENCE, wait_for

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD_DIR", "build"))
BUILD = BUILD if BUILD.is_absolute() else ROOT / BUILD
BATCHAID = BUILD / "batchaid"
NODE_AGENT = BUILD / "batchai-node"

JUDGE = spec.Judge(spec.load())

SANITIZER = re.compile(r"ERROR: AddressSanitizer|LeakSanitizer|runtime error:|ThreadSanitizer")
# What a daemon with --testing says at its start.
TESTING = re.compile("testing.enabled")
COMPLAINT = re.compile(r'^\S+Z (warn|error) |"level": ?"(warn|error)"')


class Reply:
    """What came back, read to the end."""

    def __init__(self, response):
        self.status = response.status_code
        self.headers = response.headers
        self.content = response.content
        self.method = response.request.method
        self.url = response.request.url

    @property
    def text(self):
        return self.content.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.content)

    @property
    def ordered(self):
        """The body with every object as a list of pairs: for comparing the order of properties."""
        return json.loads(self.content, object_pairs_hook=lambda pairs: pairs)

    @property
    def error(self):
        return self.json["error"]

    @property
    def code(self):
        return self.error["code"]

    def __repr__(self):
        return f"<{self.method} {urlsplit(self.url).path} -> {self.status} {self.content[:600]!r}>"


def sanitized():
    """Whether what is tested was built with AddressSanitizer, which takes memory of its own."""
    return b"__asan_init" in (BUILD / "batchaid").read_bytes()


def memory_bound(size):
    """`size` bytes, or how many a sanitized daemon takes for them: with the edges of each allocation, and the
    freed memory that checks/stages.py lets it keep."""
    return 2 * size + (16 << 20) if sanitized() else size


def whole(response):
    """The reply, if all of it came: a daemon killed while it sends leaves a part that requests takes
    for the whole."""
    told = response.headers.get("Content-Length")
    packed = response.headers.get("Content-Encoding") == "gzip"  # requests has unpacked it
    if told is not None and not packed and response.request.method != "HEAD" and len(response.content) != int(told):
        raise requests.ConnectionError(f"{len(response.content)} of {told} bytes arrived")
    return Reply(response)


# What the daemon itself writes, with types that users' bytes may have too.
OWN_TYPES = ("application/json", "application/x-ndjson", "application/xml", "multipart/mixed")
OWN_PATHS = ("/metrics", "/batchaid/ca.pem", "/adfs/", "/page/")


def unguarded(reply):
    """The complaints about bytes of users that a browser could take for a page of the daemon."""
    kind, path = reply.headers.get("Content-Type", ""), urlsplit(reply.url).path
    if reply.status not in (200, 206) or kind.startswith(OWN_TYPES) or path == "/" or path.startswith(OWN_PATHS):
        return []
    if not kind:
        return []
    safe = "sandbox" in reply.headers.get("Content-Security-Policy", "").split("; ")
    guarded = safe and reply.headers.get("X-Content-Type-Options") == "nosniff"
    return [] if guarded else [f"{reply.method} {path} -> {kind!r} without sandbox and nosniff: ROUTE_USERS_BYTES"]


def processes_of(directory):
    """pid -> command line of every process that has to do with this directory."""
    needle = os.fsencode(str(directory))
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        try:
            cmdline = Path(f"/proc/{pid}/cmdline").read_bytes()
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            cwd = os.fsencode(os.readlink(f"/proc/{pid}/cwd"))
        except OSError:
            continue
        if needle in cmdline or needle in environ or cwd.startswith(needle):
            found[int(pid)] = cmdline.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def children(pid):
    """The process ids of its direct children."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(int(entry))
    return found


def agents_of(d):
    """Node agents that are children of the daemon."""
    name = os.fsencode(NODE_AGENT.name)
    return [pid for pid in children(d.process.pid) if name in Path(f"/proc/{pid}/cmdline").read_bytes()]


def rest_of(reply):
    """How many bytes of a download still come until it breaks off."""
    n = 0
    try:
        while piece := reply.raw.read(1 << 20):
            n += len(piece)
    except (OSError, urllib3.exceptions.HTTPError):
        pass
    return n


class Daemon:
    whose = ()  # a command that execs its tools, as the user that it is of

    def __init__(self, config=None, state_dir=None, arguments=(), environment=None, prefix=(), program=BATCHAID):
        self.dir = Path(state_dir or tempfile.mkdtemp(prefix="batchaid-test-"))
        self.dir.chmod(0o711)  # the accounts of jobs pass through it
        self.state_dir = self.dir / "state"
        self.config = config or {}
        self.arguments = list(arguments)
        self.prefix = list(prefix)  # a command that execs the daemon
        self.program = program
        self.environment = environment or {}
        self.port = 0  # the first start picks one, later starts keep it
        self.endpoint = None
        self.process = None
        self.stderr_path = self.dir / "stderr.log"
        self.expected = []
        self.exit_codes = []
        self._env = None
        self._tokens = threading.Lock()
        self._token = None
        self._local = threading.local()

    # --- life ---------------------------------------------------------------------------------

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        complaints = self.close()
        if kind is None and complaints:
            raise AssertionError("\n".join(complaints))
        if complaints:
            print("\n".join(complaints))

    def command(self):
        argv = [*self.prefix, str(self.program), "serve", "--state-dir", str(self.state_dir)]
        argv += ["--listen", f"localhost:{self.port}"]
        if "--config" not in self.arguments:
            argv += ["--config", str(self.write_config())]
        return argv + self.arguments

    def write_config(self):
        path = self.dir / "batchaid.yaml"
        # Tests look at clusters as they are, but for those of how new ones are shown.
        compat = {"resizing_s": 0, **self.config.get("compat", {})}
        path.write_text(yaml.safe_dump({**self.config, "compat": compat}, sort_keys=False))
        return path

    def start(self):
        assert self.process is None, "is running already"
        with open(self.stderr_path, "ab") as stderr:
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=ROOT,  # sanitizer options name files relative to it
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        line = self._first_line(30 * PATIENCE)
        if not line.startswith("ready https://"):
            self.process.kill()
            self.process.wait()
            self.process = None
            raise AssertionError(f"no ready line but {line!r}; log:\n{self.log_tail()}")
        self.endpoint = line.split()[1]
        self.port = urlsplit(self.endpoint).port
        self._env = None
        return self

    def _first_line(self, limit):
        out = self.process.stdout
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if select.select([out], [], [], 0.1)[0]:
                return out.readline().decode().strip()
            if self.process.poll() is not None:
                return f"(exit code {self.process.returncode})"
        return "(nothing)"

    def _reap(self, limit):
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
            self.exit_codes.append("killed: it did not stop within %g s" % limit)
        else:
            self.exit_codes.append(code)
        self.process.stdout.close()
        self.process = None
        return code

    def stop(self, signo=signal.SIGTERM):
        """Asks it to stop; returns its exit code."""
        self.process.send_signal(signo)
        return self._reap(20 * PATIENCE)

    def kill9(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process = None

    def crash(self):
        """It is killed, and starts again."""
        self.kill9()
        return self.start()

    def restart(self):
        if self.process is not None:
            self.stop()
        return self.start()

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def resident(self):
        """The bytes of its memory."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", text)[1])

    def close(self):
        """Stops it, removes everything; returns what was wrong with it, as texts."""
        complaints = []
        if self.process is not None and self.process.poll() is not None:
            complaints.append(f"the daemon ended by itself with {self.process.returncode}")
            self.process = None
        if self.process is not None:
            self.stop()
        complaints += [f"exit code {c} after SIGTERM" for c in self.exit_codes if c != 0]
        complaints += self.log_complaints()
        complaints += self._left_behind()
        if complaints:
            complaints.append(f"log tail:\n{self.log_tail()}")
        shutil.rmtree(self.dir, ignore_errors=True)
        return complaints

    def _left_behind(self):
        end = time.monotonic() + 5 * PATIENCE
        while left := processes_of(self.dir):
            if time.monotonic() > end:
                break
            time.sleep(0.02)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return [f"left behind: process {pid}: {cmd}" for pid, cmd in left.items()]

    # --- log ----------------------------------------------------------------------------------

    def expect_log(self, pattern):
        """Announces warnings or errors that this test provokes."""
        self.expected.append(re.compile(pattern))

    def log(self):
        return self.stderr_path.read_text(errors="replace").splitlines() if self.stderr_path.exists() else []

    def log_tail(self, n=30):
        return "\n".join(self.log()[-n:])

    def log_complaints(self):
        found, expected = [], [*self.expected, *([TESTING] if "--testing" in self.arguments else [])]
        for line in self.log():
            if SANITIZER.search(line):
                found.append(f"sanitizer: {line}")
            elif COMPLAINT.search(line) and not any(p.search(line) for p in expected):
                found.append(f"unexpected in the log: {line}")
        return found[:20] + self._sanitizer_report()

    def _sanitizer_report(self):
        """The first report of a sanitizer, to its summary: the tail of the log has its end alone."""
        log = self.log()
        begin = next((n for n, line in enumerate(log) if SANITIZER.search(line)), None)
        if begin is None:
            return []
        end = next((n for n in range(begin, len(log)) if log[n].startswith("SUMMARY:")), begin)
        return ["\n".join(log[begin : min(end, begin + 80) + 1])] if end > begin else []

    # --- command line -------------------------------------------------------------------------

    def tool(self, *arguments, check=True, env=None, limit=60, stdin=None):
        """Runs `batchaid ARGUMENTS... --state-dir` of this daemon; returns the finished process."""
        first, rest = arguments[0], list(arguments[1:])
        argv = [*self.whose, str(self.program), first, "--state-dir", str(self.state_dir)] + rest
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            env={**os.environ, **(env or {})},
            timeout=limit * PATIENCE,
            input=stdin,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{shlex.join(argv)} -> {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    @property
    def env(self):
        if self._env is None:
            self._env = {}
            for line in self.tool("env").stdout.splitlines():
                match = re.fullmatch(r"export ([A-Z_]+)=(.*)", line)
                assert match, f"not an export line: {line!r}"
                self._env[match.group(1)] = shlex.split(match.group(2))[0]
        return self._env

    @property
    def subscription(self):
        return self.env["AZURE_SUBSCRIPTION_ID"]

    @property
    def ca(self):
        return self.env["REQUESTS_CA_BUNDLE"]

    def share(self, account, name):
        """The folder behind a file share, made if need be."""
        path = Path(self.tool("share-path", account, name).stdout.strip())
        path.mkdir(parents=True, exist_ok=True)
        return path

    # --- HTTP ---------------------------------------------------------------------------------

    def session(self):
        """One keep-alive session per thread."""
        session = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            session.trust_env = False
            session.verify = self.ca
            self._local.session = session
        return session

    def token_reply(self, **form):
        body = {
            "client_id": self.env["AZURE_CLIENT_ID"],
            "client_secret": self.env["AZURE_CLIENT_SECRET"],
            "grant_type": "client_credentials",
            "scope": f"{self.endpoint}/.default",
        }
        body.update(form)
        body = {k: v for k, v in body.items() if v is not None}
        return Reply(self.session().post(f"{self.endpoint}/adfs/oauth2/token", data=body, timeout=30))

    def token(self):
        with self._tokens:
            if self._token is None:
                reply = self.token_reply()
                assert reply.status == 200, reply
                self._token = reply.json["access_token"]
            return self._token

    def forget_token(self):
        """The next request gets a new one."""
        self._token = None

    def rows(self, statement, *values):
        """What the database has, to which it must not write."""
        with closing(sqlite3.connect(f"file:{self.state_dir}/batchaid.db?mode=ro", uri=True)) as db:
            return db.execute(statement, values).fetchall()

    def fetch(self, url, method="GET", timeout=60, expect=None, **headers):
        """A download as any client without a token does it."""
        headers = {"Accept": "*/*", **headers}
        return self.call(method, url, token=None, api_version=None, headers=headers, timeout=timeout, expect=expect)

    def call(
        self,
        method,
        path,
        body=None,
        api_version=spec.API_VERSION,
        params=None,
        headers=None,
        token=True,
        data=None,
        expect=None,
        validate=True,
        timeout=60,
    ):
        """One request. `path`: below the endpoint, or a whole URL (nextLink, Location). `token`:
        True for a good one, a text for that one, None for none. `expect`: the wanted status."""
        url = path if path.startswith("https://") else self.endpoint + path
        query = dict(params or {})
        if api_version and "api-version=" not in url:
            query["api-version"] = api_version
        head = {"Accept": "application/json"}
        if token:
            head["Authorization"] = "Bearer " + (self.token() if token is True else token)
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            head["Content-Type"] = "application/json; charset=utf-8"
        head.update(headers or {})
        head = {k: v for k, v in head.items() if v is not None}
        response = self.session().request(
            method,
            url,
            params=query,
            data=data,
            headers=head,
            timeout=timeout * PATIENCE,
            allow_redirects=False,
        )
        reply = whole(response)
        assert not unguarded(reply), unguarded(reply)
        if validate:
            complaints = JUDGE.hear(method, reply.url, reply.status, reply.headers, reply.content)
            assert not complaints, "against the published spec:\n" + "\n".join(complaints)
        if expect is not None:
            wanted = expect if isinstance(expect, (tuple, list, set)) else (expect,)
            assert reply.status in wanted, f"wanted {expect}, got {reply!r}"
        return reply

    def get(self, path, **more):
        return self.call("GET", path, expect=200, **more).json

    def wait_operation(self, reply, limit=60):
        """Follows a 202 to its end; returns the operation's last body. A 200 has no operation."""
        if reply.status != 202:
            return None
        url = reply.headers["Azure-AsyncOperation"]

        def ended():
            seen = self.call("GET", url, expect=200).json
            return seen if seen["status"] != "InProgress" else None

        return wait_for(ended, limit, f"end of {reply.method} {urlsplit(reply.url).path}")

    def do(self, method, path, body=None, **more):
        """A request and, if it starts an operation, that one's success."""
        reply = self.call(method, path, body, expect=(200, 201, 202, 204), **more)
        if "Azure-AsyncOperation" in reply.headers:
            ended = self.wait_operation(reply)
            assert ended["status"] == "Succeeded", ended
        return reply
