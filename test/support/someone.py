# SPDX-License-Identifier: MIT
"""A daemon of an ordinary user, also where the tests are root's."""

import os
import shutil
import subprocess

import pytest

from .daemon import BATCHAID, Daemon

UID = 65534  # nobody's


def as_someone(*command):
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", *command]


class SomeonesDaemon(Daemon):
    def __init__(self, config=None, prefix=(), **more):
        self.whose = as_someone()
        super().__init__(config, prefix=[*self.whose, *prefix], **more)
        self.environment = {"HOME": str(self.dir), **self.environment}
        if os.geteuid() != 0:
            return
        if not shutil.which("setpriv") or subprocess.call(as_someone("test", "-x", str(BATCHAID))) != 0:
            shutil.rmtree(self.dir)
            pytest.skip("an ordinary user cannot run what is built here")
        os.chown(self.dir, UID, UID)

    def share(self, account, name):
        path = super().share(account, name)
        if os.geteuid() == 0:
            os.chown(path, UID, UID)
        return path


# A program that makes system calls fail as in a kernel without them, and execs what follows: a filter of seccomp, whose
# instructions load the number of the call, compare it with each, and return ENOSYS or allow.
WITHOUT_CALLS = """
import ctypes, os, struct, sys
calls = [int(n) for n in sys.argv[1].split(",")]
code = [(0x20, 0, 0, 0), *((0x15, len(calls) - i, 0, n) for i, n in enumerate(calls)),
        (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x50000 | 38)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execvp(sys.argv[2], sys.argv[2:])
"""
CREATE_RULESET = 444
UNSHARE = {"x86_64": 272, "aarch64": 97}[os.uname().machine]


def without_calls(*numbers):
    return ["/usr/bin/python3", "-c", WITHOUT_CALLS, ",".join(map(str, numbers))]


def without_landlock():
    return without_calls(CREATE_RULESET)
