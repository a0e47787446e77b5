# SPDX-License-Identifier: MIT
"""SFTP, version 3, without a client between the test and the server: each request is a packet, and each reply is
what came back. It asks for what no decent client would ask for."""

import struct
import subprocess

OPEN, CLOSE, READ, WRITE, LSTAT, SETSTAT, OPENDIR, READDIR, REMOVE, MKDIR, REALPATH, STAT, RENAME, READLINK, SYMLINK = (
    3, 4, 5, 6, 7, 9, 11, 12, 13, 14, 16, 17, 18, 19, 20)  # fmt: skip
EXTENDED, STATUS, HANDLE, DATA, NAMES = 200, 101, 102, 103, 104
READING, WRITING, CREATING = 1, 2, 8


class Refused(Exception):
    """`code`: 2, there is no such file; 3, it is not allowed; 4, anything else."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Sftp:
    """`command` runs the server, or the ssh that reaches it."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            self._send(1, struct.pack(">I", 3))
            self._receive()
        except EOFError as e:
            raise ConnectionError(self.end()) from e

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """What the server, or ssh, said on its standard error."""
        said = self.process.communicate()[1].decode()
        return said.strip()

    def _send(self, kind, body):
        try:
            self.process.stdin.write(struct.pack(">IB", len(body) + 1, kind) + body)
            self.process.stdin.flush()
        except BrokenPipeError as e:
            raise EOFError from e

    def _exactly(self, n):
        got = self.process.stdout.read(n)
        if len(got) < n:
            raise EOFError("the server has closed the connection")
        return got

    def _receive(self):
        (n,) = struct.unpack(">I", self._exactly(4))
        packet = self._exactly(n)
        return packet[0], packet[1:]

    def ask(self, kind, *parts):
        """Numbers are 32 bits; texts have their length before them; bytes go as they are."""
        body = struct.pack(">I", 7)
        for part in parts:
            if isinstance(part, int):
                body += struct.pack(">I", part)
            elif isinstance(part, str):
                body += struct.pack(">I", len(part.encode())) + part.encode()
            else:
                body += part
        self._send(kind, body)
        kind, reply = self._receive()
        reply = reply[4:]
        if kind == STATUS:
            (code,) = struct.unpack(">I", reply[:4])
            if code > 1:
                raise Refused(code, text_of(reply[4:])[0])
            return code == 0
        return reply

    def open(self, path, flags=READING):
        return self.ask(OPEN, path, flags, 0)

    def read(self, path, n=4096):
        handle = self.open(path)
        data = self.ask(READ, handle, struct.pack(">QI", 0, n))
        self.ask(CLOSE, handle)
        return b"" if isinstance(data, bool) else data[4:]

    def write(self, path, data):
        handle = self.open(path, WRITING | CREATING)
        self.ask(WRITE, handle, struct.pack(">QI", 0, len(data)), data)
        self.ask(CLOSE, handle)

    def names(self, path):
        handle, found = self.ask(OPENDIR, path), set()
        while not isinstance(reply := self.ask(READDIR, handle), bool):
            (n,), rest = struct.unpack(">I", reply[:4]), reply[4:]
            for _ in range(n):
                name, rest = text_of(rest)
                found.add(name)
                rest = text_of(rest)[1]
                (flags,) = struct.unpack(">I", rest[:4])
                rest = rest[4 + 8 * (flags & 1) + 8 * (flags >> 1 & 1) + 4 * (flags >> 2 & 1) + 8 * (flags >> 3 & 1) :]
        self.ask(CLOSE, handle)
        return found - {".", ".."}

    def set_mode(self, path, mode):
        self.ask(SETSTAT, path, 4, mode)


def text_of(data):
    (n,) = struct.unpack(">I", data[:4])
    return data[4 : 4 + n].decode(errors="replace"), data[4 + n :]


def refused(call, *arguments):
    """Whether the server refuses it."""
    try:
        call(*arguments)
    except Refused:
        return True
    return False


__all__ = ["Refused", "Sftp", "refused"]
