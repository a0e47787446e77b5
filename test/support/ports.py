# SPDX-License-Identifier: MIT
"""Ports that nobody listens on, or that answer nothing."""

import os
import socket
from contextlib import contextmanager

# Below the range that the kernel takes for outgoing connections, so that none can have the port.
PORTS = range(10000, 32000)


def free_ports(count, host="127.0.0.1"):
    found, start = [], int.from_bytes(os.urandom(4), "big")
    for i in range(len(PORTS)):
        if len(found) == count:
            return found
        port = PORTS[(start + i) % len(PORTS)]
        with socket.socket() as s:
            try:
                s.bind((host, port))
                found.append(port)
            except OSError:
                continue
    raise AssertionError(f"no {count} free ports")


def free_port(host="127.0.0.1"):
    return free_ports(1, host)[0]


@contextmanager
def mute_port(host="127.0.0.1"):
    """A port where the kernel accepts connections, and nobody reads."""
    with socket.socket() as s:
        s.bind((host, 0))
        s.listen(4)
        yield s.getsockname()[1]
