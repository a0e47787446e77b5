# SPDX-License-Identifier: MIT
"""Terminals in running jobs, as their client speaks (lib/terminal_frames.h): over TLS, frame by frame."""

import json
import socket
import ssl
import struct
from urllib.parse import urlsplit

from .daemon import JUDGE

PROTOCOL = "batchaid-terminal/1"


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body

    @property
    def code(self):
        return json.loads(self.body)["error"]["code"]

    @property
    def message(self):
        return json.loads(self.body)["error"]["message"]


def path_of(job):
    parts = job.path.strip("/").split("/")
    named = dict(zip(parts[::2], parts[1::2]))
    group = next(named[k] for k in named if k.lower() == "resourcegroups")
    return f"/batchaid/jobs/{group}/{named['workspaces']}/{named['experiments']}/{named['jobs']}/terminal"


class Terminal:
    """One in `job`; what it asks for is in `more`. `who`: a Person, else the first principal."""

    def __init__(self, job, who=None, limit=30, upgrade=PROTOCOL, alpn=PROTOCOL, endpoint=None, token=None, **more):
        daemon = job.daemon
        url = urlsplit(endpoint or daemon.endpoint)
        self.url = daemon.endpoint + path_of(job)
        self.socket = socket.create_connection((url.hostname, url.port), timeout=limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if url.scheme == "https":
            context = ssl.create_default_context(cafile=str(daemon.ca))
            context.set_alpn_protocols([alpn])
            self.socket = context.wrap_socket(self.socket, server_hostname=url.hostname)
        token = token or (who.token() if who else daemon.token())
        body = json.dumps(more).encode()
        lines = [f"POST {path_of(job)} HTTP/1.1", f"Host: {url.netloc}", f"Authorization: Bearer {token}",
                 "Content-Type: application/json", f"Content-Length: {len(body)}"]  # fmt: skip
        if upgrade:
            lines += ["Connection: Upgrade", f"Upgrade: {upgrade}"]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        self.buffer = b""
        self.out, self.err, self.end, self.unanswered, self.pings = bytearray(), bytearray(), None, 0, 0
        self._head()

    def _head(self):
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *rest = head.decode().split("\r\n")
        self.headers = dict(line.lower().split(": ", 1) for line in rest)
        status = int(first.split()[1])
        if status == 101:
            assert JUDGE.hear("POST", self.url, status, self.headers, b"") == []
            return
        while len(self.buffer) < int(self.headers.get("content-length", 0)):
            self._more()
        self.socket.close()
        raise Refused(status, self.buffer.decode())

    def _more(self):
        got = self.socket.recv(65536)
        if not got:
            raise EOFError("the daemon has closed the connection")
        self.buffer += got

    def send(self, kind, data=b""):
        self.socket.sendall(kind.encode() + struct.pack(">I", len(data)) + data)

    def input(self, data):
        for at in range(0, len(data), 32768):
            piece = data[at : at + 32768]
            self.until(lambda: self.unanswered + 32773 <= 256 * 1024 or self.end is not None)
            self.unanswered += len(piece) + 5
            self.send("i", piece)

    def end_input(self):
        self.send("i")

    def frame(self):
        while len(self.buffer) < 5 or len(self.buffer) < 5 + struct.unpack(">I", self.buffer[1:5])[0]:
            self._more()
        (n,) = struct.unpack(">I", self.buffer[1:5])
        kind, data, self.buffer = chr(self.buffer[0]), self.buffer[5 : 5 + n], self.buffer[5 + n :]
        if kind == "o":
            self.out += data
        elif kind == "e":
            self.err += data
        elif kind == "a":
            self.unanswered -= struct.unpack(">I", data)[0]
        elif kind == "p":
            self.pings += 1
        elif kind == "x":
            self.end = (data[0], data[1])
        elif kind == "f":
            self.end = data.decode()
        return kind, data

    def until(self, condition):
        """Reads until `condition` holds; a text: until it was printed."""
        if isinstance(condition, bytes):
            text = condition
            condition = lambda: text in self.out  # noqa: E731
        while not condition():
            assert self.end is None, f"it has ended: {self.end}; {self.out[-500:]!r} {self.err[-500:]!r}"
            self.frame()
        return self

    def finish(self):
        """(exit code, signal), or why it failed."""
        self.until(lambda: self.end is not None)
        self.close()
        return self.end

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(job, command, **more):
    """(end, output, errors) of a command without input."""
    t = Terminal(job, command=command, **more)
    t.end_input()
    end = t.finish()
    return end, t.out, t.err
