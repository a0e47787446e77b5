# SPDX-License-Identifier: MIT
"""One server for all tests that run Debian's az (support/az_server): az takes seconds to import what it needs, and tens of
milliseconds to do what it is asked."""
import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

from .job import PYTHON, ROOT

HOOK = Path(ROOT) / "test/support/az_server"


class Az:
    cpu = 0.0  # seconds of processor, of the server and all its runs


@contextlib.contextmanager
def az_server():
    """Whatever is started meanwhile has its az run by the server."""
    az, before = Az(), dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="batchaid-az-") as folder, \
            subprocess.Popen([PYTHON, HOOK / "server.py", f"{folder}/socket"], stdin=subprocess.PIPE, cwd=folder) as server:
        path = os.pathsep.join(filter(None, [str(HOOK), before.get("PYTHONPATH")]))
        os.environ.update(BATCHAID_TEST_AZ=f"{folder}/socket", PYTHONPATH=path)
        try:
            yield az
        finally:
            os.environ.clear()
            os.environ.update(before)
            server.stdin.close()
            _, _, usage = os.wait4(server.pid, 0)
            server.returncode = 0
            az.cpu = usage.ru_utime + usage.ru_stime
