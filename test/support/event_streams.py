# SPDX-License-Identifier: MIT
"""Streams of events (GET /batchaid/events/stream), as a browser reads them: server-sent events over a socket."""

import json
import select
import socket
import ssl
import time
from collections import namedtuple
from urllib.parse import urlsplit

from .daemon import JUDGE
from .waiting import PATIENCE

PATH = "/batchaid/events/stream"
KEPT = 4096  # events for all streams
Message = namedtuple("Message", "type data id")  # type "": a comment, or an id alone


class Refused(Exception):
    def __init__(self, status, headers, body):
        super().__init__(f"{status}: {body}")
        self.status, self.headers, self.body = status, headers, body

    @property
    def code(self):
        return json.loads(self.body)["error"]["code"]

    @property
    def message(self):
        return json.loads(self.body)["error"]["message"]


class Stream:
    """One of `who`: a Person or a Browser, else the first principal. `last`: Last-Event-ID."""

    def __init__(self, daemon, who=None, last=None, since=None, limit=30, buffer=None, endpoint=None, token=None,
                 protocol="HTTP/1.1", alpn=None):  # fmt: skip
        url = urlsplit(endpoint or daemon.endpoint)
        self.limit = limit * PATIENCE
        self.socket = socket.socket(socket.AF_INET6 if ":" in url.hostname else socket.AF_INET)
        if buffer:  # before it is connected, or the window is larger already
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(self.limit)
        self.socket.connect((url.hostname, url.port))
        if url.scheme == "https":
            context = ssl.create_default_context(cafile=str(daemon.ca))
            if alpn:
                context.set_alpn_protocols([alpn])
            self.socket = context.wrap_socket(self.socket, server_hostname=url.hostname)
        self.path = PATH + (f"?since={since}" if since is not None else "")
        lines = [f"GET {self.path} {protocol}", f"Host: {getattr(who, 'host', url.netloc)}"]
        if getattr(who, "cookie", None):
            lines += [f"Cookie: {who.cookie}", "Sec-Fetch-Site: same-origin"]
        else:
            lines += [f"Authorization: Bearer {token or (who.token() if who else daemon.token())}"]
        lines += [f"Last-Event-ID: {last}"] if last is not None else []
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.raw, self.text, self.ended = b"", b"", False
        self.id, self.retry, self.times = last, None, []
        self._head(f"{daemon.endpoint}{self.path}")

    def _head(self, url):
        while b"\r\n\r\n" not in self.raw:
            self._more(time.monotonic() + self.limit)
        head, self.raw = self.raw.split(b"\r\n\r\n", 1)
        first, *rest = head.decode().split("\r\n")
        self.headers = dict(line.split(": ", 1) for line in rest)
        self.headers = {k.lower(): v for k, v in self.headers.items()}
        self.status = int(first.split()[1])
        if self.status == 200:
            assert JUDGE.hear("GET", url, 200, self.headers, b"") == []
            return
        while len(self.raw) < int(self.headers["content-length"]):
            self._more(time.monotonic() + self.limit)
        self.socket.close()
        assert JUDGE.hear("GET", url, self.status, self.headers, self.raw) == []
        raise Refused(self.status, self.headers, self.raw.decode())

    def _pending(self):
        return isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()

    def _more(self, until):
        """False: nothing came in time."""
        if not self._pending() and not select.select([self.socket], [], [], max(0, until - time.monotonic()))[0]:
            return False
        got = self.socket.recv(65536)
        if not got:
            raise EOFError("the daemon has closed the connection")
        self.raw += got
        return True

    def _chunks(self):
        if self.headers.get("transfer-encoding") != "chunked":
            self.text, self.raw = self.text + self.raw, b""
            return
        while b"\r\n" in self.raw:
            size, rest = self.raw.split(b"\r\n", 1)
            n = int(size, 16)
            if len(rest) < n + 2:
                return
            self.text += rest[:n]
            self.raw = rest[n + 2 :]
            self.ended = self.ended or n == 0

    def next(self, limit=None):
        """The next message; None: none came in time. EOFError: the stream has ended."""
        until = time.monotonic() + (self.limit if limit is None else limit)
        while True:
            self._chunks()
            if b"\n\n" in self.text:
                block, self.text = self.text.split(b"\n\n", 1)
                return self._message(block.decode())
            if self.ended:
                raise EOFError("the stream has ended")
            if not self._more(until):
                return None

    def _message(self, block):
        kind, data, lines = "", None, block.split("\n")
        for line in lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "id":
                self.id = value
            elif name == "retry":
                self.retry = int(value)
            elif name == "event":
                kind = value
            elif name == "data":
                data = json.loads(value)
            else:
                assert name == "", f"not a line of an event: {line!r}"
        self.times.append(time.monotonic())
        return Message(kind, data, self.id)

    def events(self, enough, limit=None):
        """Events as they come, until `enough` says so of all of them; None: it gets no reset meanwhile."""
        seen, until = [], time.monotonic() + (self.limit if limit is None else limit)
        while not enough(seen):
            m = self.next(max(0, until - time.monotonic()))
            assert m is not None, f"not enough came: {seen}"
            assert m.type in ("", "changes", "machines"), m
            seen += m.data["value"] if m.type == "changes" else []
        return seen

    def until(self, kind, limit=None):
        """The next message of this type."""
        end = time.monotonic() + (self.limit if limit is None else limit)
        while True:
            m = self.next(max(0, end - time.monotonic()))
            assert m is not None, f"no {kind} came"
            if m.type == kind:
                return m

    def quiet(self, seconds):
        """What comes meanwhile, without comments."""
        end, seen = time.monotonic() + seconds, []
        while (m := self.next(max(0, end - time.monotonic()))) is not None:
            seen += [m] if m.type else []
        return seen

    def over(self, limit=None):
        """Reads until the daemon ends it; the messages."""
        seen = []
        try:
            while (m := self.next(limit)) is not None:
                seen.append(m)
        except (EOFError, ConnectionError):
            return seen
        raise AssertionError("the stream has not ended")

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def has(name, state):
    return lambda seen: any(e["name"] == name and e["to"] == state for e in seen)


def listed(d, since=0):
    found = []
    while True:
        page = d.call("GET", "/batchaid/events", api_version=None, params={"since": since, "max": 1000}, expect=200).json
        if not page["value"]:
            return found
        found += page["value"]
        since = page["next"]
