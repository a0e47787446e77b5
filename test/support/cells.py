# SPDX-License-Identifier: MIT
"""Daemons whose jobs run in containers: by docker or podman, with an agent that is root or somebody's."""

from .containers import Somebody, docker, podman
from .daemon import Daemon
from .world import Place


class Cell:
    """`fill(engine)` brings the images; everything goes with `stack`."""

    def __init__(self, stack, runtime, is_root, user, fill):
        self.runtime, self.is_root, self.user = runtime, is_root, user
        self.somebody = None if is_root else stack.enter_context(Somebody())
        self.engine = stack.enter_context(docker() if runtime == "docker" else podman(self.somebody))
        fill(self.engine)
        if self.somebody and runtime == "docker":
            self.engine.dir.chmod(0o711)
            (self.engine.dir / "docker.sock").chmod(0o666)
        config = {"containers": {"runtimes": [runtime], "user": user}}
        prefix = self.somebody.prefix if self.somebody else ()
        self.daemon = Daemon(config=config, environment=self.engine.environment, prefix=prefix)
        if self.somebody:
            self.somebody.give(self.daemon.dir)
        stack.enter_context(self.daemon)
        self.place = Place(self.daemon).make()
        stack.callback(self.place.remove)
