# SPDX-License-Identifier: MIT
"""Runs az for many tests in forks of one process that has imported already what az imports, which is most of the time
that az takes. Each run is Debian's az itself, in a process of its own with the environment, folder and descriptors of
whoever called it; sitecustomize.py is the caller's part.

    server.py SOCKET     serves until its standard input ends

After each run the server imports what that run had to import, but for az's own modules: some of these keep where the
configuration is, from the moment that they are imported. A caller who is in another position than the server gets
its connection closed, and runs az itself. A caller that goes away takes its az along.
"""
import contextlib
import importlib
import io
import json
import os
import resource
import runpy
import selectors
import signal
import socket
import struct
import sys

FAR = 500  # descriptors of callers wait behind these
MAX_FDS = 64
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
# What Python heeds only when it starts.
OF_START = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS")
# With each of these Python has UTF-8; where LANG is none it sets LC_CTYPE itself.
PLAIN = {"LANG": ("", "C", "POSIX", "C.UTF-8"), "LC_CTYPE": ("", "C", "POSIX", "C.UTF-8")}
LIMITS = [value for name, value in vars(resource).items() if name.startswith("RLIMIT_")]


def position(pid):
    """Where a process stands: its namespaces, root directory, limits and terminal."""
    spaces = [os.readlink(f"/proc/{pid}/ns/{name}") for name in NAMESPACES]
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        terminal = f.read().rpartition(")")[2].split()[4]
    return spaces, os.readlink(f"/proc/{pid}/root"), [resource.prlimit(pid, limit) for limit in LIMITS], terminal


def heeded(env, name):
    """The value of a variable; None: Python does as without it."""
    value = env.get(name)
    return None if value in PLAIN.get(name, ()) else value


def may_run(peer, env):
    pid, uid, gid = peer
    return ((uid, gid) == (os.getuid(), os.getgid()) and position(pid) == position("self" if pid == os.getpid() else os.getpid())
            and all(heeded(env, name) == heeded(os.environ, name) for name in OF_START))


def receive(connection):
    head, fds, _, _ = socket.recv_fds(connection, 4, MAX_FDS)
    data, size = b"", int.from_bytes(head, "big")
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise OSError("the caller went away")
        data += more
    return json.loads(data), fds


# --- the run ---------------------------------------------------------------------------------------


def stand_like(ask, fds):
    """Takes the caller's place; nothing of the server's stays open."""
    import fcntl

    far = [fcntl.fcntl(fd, fcntl.F_DUPFD, FAR) for fd in fds]
    os.closerange(0, FAR)
    for fd, number in zip(far, ask["fds"]):
        os.dup2(fd, number)
    os.closerange(FAR, FAR + 2 * MAX_FDS)
    os.setsid()
    os.chdir(ask["cwd"])
    os.umask(ask["umask"])
    os.environ.clear()
    os.environ.update(ask["env"])
    for signo in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        signal.signal(signo, signal.default_int_handler if signo == signal.SIGINT else signal.SIG_DFL)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    at_once = bool(ask["env"].get("PYTHONUNBUFFERED"))
    out = open(1, "wb", 0 if at_once else -1, closefd=False)
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", line_buffering=os.isatty(1), write_through=at_once)
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.argv[:] = ask["argv"]


def run_az():
    """What /usr/bin/az does; the exit code."""
    os.environ["AZ_INSTALLER"] = "DEB"
    try:
        runpy.run_module("azure.cli")
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            return (e.code or 0) & 255
        print(e.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def child(ask, fds, imported):
    known = set(sys.modules)
    code = 1
    try:
        learned = os.dup(imported)
        os.dup2(learned, FAR + 3 * MAX_FDS)
        stand_like(ask, fds)
        code = run_az()
        names = [name for name in sys.modules if name not in known and not name.startswith(("__main__", "azure.cli"))]
        os.write(FAR + 3 * MAX_FDS, "\n".join(names).encode())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


# --- the server ------------------------------------------------------------------------------------


class Server:
    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(32)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(0, selectors.EVENT_READ, self.end)
        self.runs = {}  # pid -> (connection, descriptor of what it imported)
        wake_r, wake_w = os.pipe()
        os.set_blocking(wake_w, False)
        os.set_blocking(wake_r, False)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.selector.register(wake_r, selectors.EVENT_READ, lambda: (os.read(wake_r, 4096), self.reap()))
        self.going = True

    def end(self):
        self.going = bool(os.read(0, 4096))

    def accept(self):
        connection, _ = self.listener.accept()
        fds = []
        try:
            connection.settimeout(20)
            peer = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            ask, fds = receive(connection)
            if may_run(peer, ask["env"]):
                self.begin(connection, ask, fds)
                return
        except (OSError, ValueError):
            pass
        finally:
            for fd in fds:
                os.close(fd)
        connection.close()

    def begin(self, connection, ask, fds):
        imported = os.memfd_create("imported")
        pid = os.fork()
        if pid == 0:
            child(ask, fds, imported)
        self.runs[pid] = (connection, imported)
        self.selector.register(connection, selectors.EVENT_READ, lambda: self.left(pid))

    def left(self, pid):
        """Its caller has ended, or has more to say, which it never has."""
        self.selector.unregister(self.runs[pid][0])
        os.kill(pid, signal.SIGKILL)

    def reap(self):
        while self.runs:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            connection, imported = self.runs.pop(pid)
            with contextlib.suppress(KeyError):
                self.selector.unregister(connection)
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):
                connection.send(bytes([code if code >= 0 else 128 - code]))
            connection.close()
            self.learn(os.pread(imported, 1 << 20, 0).decode())
            os.close(imported)

    def learn(self, names):
        for name in names.split("\n"):
            if name and name not in sys.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    def serve(self):
        while self.going:
            for key, _ in self.selector.select():
                key.data()
        for pid in self.runs:
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    Server(sys.argv[1]).serve()
