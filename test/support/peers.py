# SPDX-License-Identifier: MIT
"""A server of somebody else that ours is compared with."""

import subprocess
import time

from .waiting import PATIENCE

START_S = 60


class Peer:
    """One has answers(): whether it does by now."""

    process = None

    def spawn(self, argv, log):
        """Starts it; what it says goes to the file `log`. Returns once it answers."""
        argv = [str(a) for a in argv]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + START_S * PATIENCE
        while not self.answers():
            assert self.process.poll() is None, f"{argv} ended; see what it wrote to {log.name}"
            assert time.monotonic() < end, f"{argv} did not answer in {START_S} s"
            time.sleep(0.002)
        return self

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
