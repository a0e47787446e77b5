# SPDX-License-Identifier: MIT
"""Python reads this when it starts, as the checks put this folder into PYTHONPATH. Where Debian's az is about to run it
asks the server of the checks (server.py) to run it, and ends as that run does. Without a server, or where the server
would not be in the same position (another user, namespace, limit or terminal), az runs here as ever."""
import os
import sys

if sys.orig_argv[1:2] == ["/usr/bin/az"] and "BATCHAID_TEST_AZ" in os.environ:
    import json
    import socket

    def run_there():
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(os.environ["BATCHAID_TEST_AZ"])
            fds = [int(n) for n in os.listdir("/proc/self/fd") if int(n) != s.fileno() and os.path.exists(f"/proc/self/fd/{n}")]
            ask = {"argv": sys.orig_argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "umask": os.umask(0o22), "fds": fds}
            os.umask(ask["umask"])
            data = json.dumps(ask).encode()
            socket.send_fds(s, [len(data).to_bytes(4, "big")], fds)
            s.sendall(data)
            return s.recv(1)

    try:
        status = run_there()
    except OSError:
        status = b""
    if status:
        os._exit(status[0])
